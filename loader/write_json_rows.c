/*
 * The tables of a JSON report that name places: locks, call sites, and who blocked whom.
 */
#include "write_json.h"

#include "holders.h"
#include "json_members.h"
#include "words.h"

void member_id(json_t *object, const char *key, uint32_t id)
{
	json_object_set_new(object, key, id == MODEL_NONE ? json_null() : json_integer(id));
}

void member_place(json_t *object, const struct place *place)
{
	member_address(object, "address", place->address);
	member_known(object, "function", place->name);
	member_known(object, "file", place->file);
	json_object_set_new(
	        object, "line", place->line != 0 ? json_integer(place->line) : json_null());
	member_known(object, "module", place->module);
	if (place->module[0] != '\0')
		member_address(object, "offset", place->module_offset);
	else
		json_object_set_new(object, "offset", json_null());
}

static void set_wait(json_t *object, const struct wait_totals *wait)
{
	member_integer(object, "waits", wait->waits);
	member_integer(object, "wait_ns_total", wait->wait_ns_total);
	member_integer(object, "wait_ns_max", wait->wait_ns_max);
	json_t *histogram = json_array();
	for (int bucket = 0; bucket < RECORD_BUCKETS; bucket++)
		json_array_append_new(histogram, member_value(wait->histogram[bucket]));
	json_object_set_new(object, "histogram", histogram);
}

/* Null where nobody looked. */
static void set_hold(json_t *object, const char *key, const struct hold_totals *hold, bool known)
{
	json_t *member = known ? json_object() : json_null();
	if (known) {
		member_integer(member, "acquired", hold->acquired);
		member_integer(member, "hold_ns_total", hold->hold_ns_total);
		member_integer(member, "hold_ns_max", hold->hold_ns_max);
	}
	json_object_set_new(object, key, member);
}

/* Where code was called from, or null. */
static json_t *place_object(struct symbols *symbols, struct code code)
{
	struct place place;
	if (code.address == 0)
		return json_null();
	json_t *object = json_object();
	symbols_find_call(symbols, code, &place);
	member_place(object, &place);
	return object;
}

static void set_type(json_t *object, const struct record_lock *lock)
{
	bool is_mutex = lock->family == FAMILY_mutex;
	member_string(object, "type", words_family(lock->family));
	member_known(object, "kind", is_mutex ? words_mutex_type(lock->kind) : "");
	member_bool(object, "shared", is_mutex && words_mutex_is_shared(lock->kind));
}

json_t *json_locks(const struct model *model, struct symbols *symbols)
{
	json_t *array = json_array();
	for (size_t i = 0; i < model->lock_count; i++) {
		const struct lock_row *row = &model->locks[i];
		struct place place;
		json_t *object = json_object();
		member_id(object, "id", row->id);
		member_id(object, "process", row->process);
		member_address(object, "address", row->lock.address);
		symbols_find_lock(symbols, row->process, &row->lock, &place);
		member_known(object, "symbol", place.name);
		member_integer(object, "symbol_offset", place.name_offset);
		member_known(object, "module", place.module);
		set_type(object, &row->lock);
		member_bool(object, "destroyed", row->lock.destroyed != 0);
		member_id(object, "first_site", row->first_site);
		json_object_set_new(object, "created", place_object(symbols, row->created));
		set_wait(object, &row->lock.wait);
		bool timed = model->processes[row->process].record->control.stats == STATS_HOLD;
		bool is_rwlock = row->lock.family == FAMILY_rwlock;
		set_hold(object, "hold", &row->lock.hold,
		        timed && (is_rwlock || row->lock.family == FAMILY_mutex));
		set_hold(object, "read_hold", &row->lock.read_hold, timed && is_rwlock);
		json_array_append_new(array, object);
	}
	return array;
}

json_t *json_sites(const struct model *model, struct symbols *symbols)
{
	json_t *array = json_array();
	for (size_t i = 0; i < model->site_count; i++) {
		const struct site_row *row = &model->sites[i];
		struct place place;
		json_t *object = json_object();
		member_id(object, "id", row->id);
		member_id(object, "process", row->process);
		member_id(object, "lock", row->lock);
		symbols_find_call(symbols, row->code, &place);
		member_place(object, &place);
		member_string(object, "mode", row->mode == MODE_SHARED ? "shared" : "exclusive");
		set_wait(object, &row->wait);
		json_array_append_new(array, object);
	}
	return array;
}

/* The stacks that were taken of those who had acquired a lock there. */
static json_t *stack_ids(const struct holders *holders, const struct blame_row *row)
{
	const struct stack_row *const *stacks;
	json_t *array = json_array();
	size_t count = holders_find(holders, row->process, row->holder, &stacks);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_integer(stacks[i]->id));
	return array;
}

json_t *json_blame(const struct model *model, struct symbols *symbols)
{
	struct holders holders;
	if (!holders_open(&holders, model))
		return NULL;
	json_t *array = json_array();
	for (size_t i = 0; i < model->blame_count; i++) {
		const struct blame_row *row = &model->blames[i];
		json_t *object = json_object(), *holder = place_object(symbols, row->holder);
		member_id(object, "site", row->site);
		if (json_is_object(holder))
			json_object_set_new(holder, "stacks", stack_ids(&holders, row));
		json_object_set_new(object, "holder", holder);
		member_integer(object, "waits", row->waits);
		member_integer(object, "wait_ns_total", row->wait_ns_total);
		member_integer(object, "wait_ns_max", row->wait_ns_max);
		json_array_append_new(array, object);
	}
	holders_close(&holders);
	return array;
}
