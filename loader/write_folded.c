/*
 * The time waited as folded stacks, which flame graphs are drawn from: one line for each chain of
 * calls, the outermost first, and its nanoseconds.
 */
#include "write.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "place_names.h"
#include "shares.h"
#include "text.h"
#include "words.h"

/* The functions of a return address as they stand in a line, those inlined in others behind them.
 */
struct name {
	struct code code;
	char *text;
};

struct line {
	char *text;
	uint64_t wait_ns;
};

struct folding {
	const struct model *model;
	struct symbols *symbols;
	void *names; /* tree of struct name */
	struct line *lines;
	size_t count;
};

static int compare_names(const void *left, const void *right)
{
	const struct code *a = &((const struct name *)left)->code;
	const struct code *b = &((const struct name *)right)->code;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

static void free_name(void *pointer)
{
	struct name *name = pointer;
	free(name->text);
	free(name);
}

/* One frame: a semicolon would end it. */
static void print_frame(FILE *out, char *name)
{
	for (char *at = name; (at = strchr(at, ';')) != NULL;)
		*at = ':';
	fputc(';', out);
	text_escape(out, name);
}

static char *name_code(struct symbols *symbols, struct code code)
{
	struct place *places = calloc(SYMBOL_MAX_INLINED, sizeof(*places));
	char *text = NULL;
	size_t size;
	FILE *out = places != NULL ? open_memstream(&text, &size) : NULL;
	if (out != NULL) {
		unsigned count = symbols_find_frames(symbols, code, places);
		while (count > 0) {
			char name[PLACE_NAME_SIZE];
			place_function(&places[--count], name);
			print_frame(out, name);
		}
		if (fclose(out) != 0) {
			free(text);
			text = NULL;
		}
	}
	free(places);
	return text;
}

/* NULL: no memory. */
static const char *find_name(struct folding *folding, struct code code)
{
	const struct name key = { .code = code };
	struct name *const *found = tfind(&key, &folding->names, compare_names);
	if (found != NULL)
		return (*found)->text;
	struct name *name = malloc(sizeof(*name));
	if (name == NULL)
		return NULL;
	*name = (struct name){ .code = code, .text = name_code(folding->symbols, code) };
	if (name->text != NULL && tsearch(name, &folding->names, compare_names) != NULL)
		return name->text;
	free_name(name);
	return NULL;
}

static bool print_share(FILE *out, struct folding *folding, const struct share *share)
{
	const struct record *record = folding->model->processes[share->process].record;
	char name[RECORD_PATH_SIZE];
	snprintf(name, sizeof(name), "%s", words_base_name(record->header.executable));
	for (char *at = name; (at = strchr(at, ';')) != NULL;)
		*at = ':';
	text_escape(out, name[0] != '\0' ? name : "[unknown]");
	if (share->depth == 0)
		fprintf(out, ";%s", share_name(share));
	for (uint32_t i = share->depth; i > 0; i--) {
		const char *frames = find_name(folding, share->frames[i - 1]);
		if (frames == NULL)
			return false;
		fputs(frames, out);
	}
	return true;
}

static bool add_line(struct folding *folding, const struct share *share)
{
	struct line *line = &folding->lines[folding->count];
	size_t size;
	FILE *out = open_memstream(&line->text, &size);
	if (out == NULL)
		return false;
	folding->count++;
	line->wait_ns = share->wait_ns;
	bool complete = print_share(out, folding, share);
	return fclose(out) == 0 && complete;
}

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	return strcmp(a->text, b->text);
}

/* Equal lines as one; what waited no time is left out. */
static void print_lines(FILE *out, const struct folding *folding)
{
	uint64_t wait_ns = 0;
	for (size_t i = 0; i < folding->count; i++) {
		const struct line *line = &folding->lines[i];
		wait_ns += line->wait_ns;
		if (i + 1 < folding->count && strcmp(line->text, line[1].text) == 0)
			continue;
		if (wait_ns > 0)
			fprintf(out, "%s %" PRIu64 "\n", line->text, wait_ns);
		wait_ns = 0;
	}
}

bool write_folded(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	struct folding folding = { .model = model, .symbols = symbols };
	struct shares shares;
	bool complete = options->by_holder ? shares_of_holders(&shares, model)
	                                   : shares_of_waiters(&shares, model);
	if (complete) {
		folding.lines = calloc(shares.count + 1, sizeof(*folding.lines));
		complete = folding.lines != NULL;
	}
	for (size_t i = 0; complete && i < shares.count; i++)
		complete = add_line(&folding, &shares.rows[i]);
	if (complete) {
		qsort(folding.lines, folding.count, sizeof(*folding.lines), compare_lines);
		print_lines(out, &folding);
	}
	for (size_t i = 0; i < folding.count; i++)
		free(folding.lines[i].text);
	free(folding.lines);
	tdestroy(folding.names, free_name);
	shares_close(&shares);
	return complete;
}
