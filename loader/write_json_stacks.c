/*
 * Stacks and the sampled waits that had them, in a JSON report.
 */
#include "write_json.h"

#include <search.h>
#include <stdlib.h>

#include "json_members.h"

/* The frames of a return address, which many stacks share. */
struct call {
	struct code code;
	json_t *frames;
};

struct calls {
	struct symbols *symbols;
	void *tree; /* of struct call */
	struct place places[SYMBOL_MAX_INLINED];
};

static int compare_calls(const void *left, const void *right)
{
	const struct code *a = &((const struct call *)left)->code;
	const struct code *b = &((const struct call *)right)->code;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

static void free_call(void *pointer)
{
	struct call *call = pointer;
	json_decref(call->frames);
	free(call);
}

/* The function that was called from, and those that it was inlined in. */
static json_t *frames_of(struct calls *calls, struct code code)
{
	json_t *frames = json_array();
	unsigned count = symbols_find_frames(calls->symbols, code, calls->places);
	for (unsigned i = 0; i < count; i++) {
		json_t *frame = json_object();
		member_place(frame, &calls->places[i]);
		member_bool(frame, "inlined", i + 1 < count);
		json_array_append_new(frames, frame);
	}
	return frames;
}

/* NULL: no memory. The reference is the tree's. */
static json_t *find_frames(struct calls *calls, struct code code)
{
	const struct call key = { .code = code };
	struct call *const *found = tfind(&key, &calls->tree, compare_calls);
	if (found != NULL)
		return (*found)->frames;
	struct call *call = malloc(sizeof(*call));
	if (call == NULL)
		return NULL;
	*call = (struct call){ .code = code, .frames = frames_of(calls, code) };
	if (call->frames != NULL && tsearch(call, &calls->tree, compare_calls) != NULL)
		return call->frames;
	free_call(call);
	return NULL;
}

static const char *end_word(uint32_t end)
{
	static const char *const words[] = {
		[STACK_COMPLETE] = "complete",
		[STACK_DEPTH] = "depth",
		[STACK_SIGNAL] = "signal",
		[STACK_UNKNOWN] = "unknown",
	};
	return words[end < sizeof(words) / sizeof(*words) ? end : STACK_UNKNOWN];
}

static json_t *stack_object(struct calls *calls, const struct stack_row *row)
{
	json_t *object = json_object(), *frames = json_array();
	member_id(object, "id", row->id);
	member_id(object, "process", row->process);
	member_string(object, "end", end_word(row->end));
	member_integer(object, "holders", row->holders);
	member_integer(object, "waits", row->waits);
	member_integer(object, "wait_ns_total", row->wait_ns_total);
	bool complete = true;
	for (uint32_t i = 0; i < row->depth; i++)
		if (json_array_extend(frames, find_frames(calls, row->frames[i])) != 0)
			complete = false;
	json_object_set_new(object, "frames", frames);
	if (complete)
		return object;
	json_decref(object);
	return NULL;
}

json_t *json_stacks(const struct model *model, struct symbols *symbols)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	json_t *array = json_array();
	bool complete = calls != NULL;
	if (complete)
		calls->symbols = symbols;
	for (size_t i = 0; complete && i < model->stack_count; i++)
		complete =
		        json_array_append_new(array, stack_object(calls, &model->stacks[i])) == 0;
	if (calls != NULL)
		tdestroy(calls->tree, free_call);
	free(calls);
	if (complete)
		return array;
	json_decref(array);
	return NULL;
}

json_t *json_samples(const struct model *model)
{
	json_t *array = json_array();
	for (size_t i = 0; i < model->sample_count; i++) {
		const struct sample_row *row = &model->samples[i];
		json_t *object = json_object();
		member_id(object, "site", row->site);
		member_id(object, "stack", row->stack);
		member_integer(object, "waits", row->waits);
		member_integer(object, "wait_ns_total", row->wait_ns_total);
		json_array_append_new(array, object);
	}
	return array;
}

json_t *json_sampling(const struct model *model)
{
	const struct model_gaps *gaps = &model->gaps;
	json_t *object = json_object();
	member_integer(object, "depth", model->processes->record->control.stack_depth);
	member_integer(object, "due", gaps->stacks_due);
	member_integer(object, "taken", gaps->stacks_taken);
	member_integer(object, "skipped", gaps->stacks_skipped);
	member_integer(object, "lost", gaps->stacks_lost);
	member_integer(object, "cost_ns", gaps->stack_ns_total);
	return object;
}
