/*
 * Makes a row of each lock, call site or thread name, gives it the key of its group, and merges
 * neighbours.
 */
#include "group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "text.h"
#include "words.h"

static const char *const names[] = {
	[GROUP_NONE] = "none",
	[GROUP_LOCK] = "lock",
	[GROUP_SITE] = "site",
	[GROUP_CREATION] = "creation",
	[GROUP_THREAD] = "thread",
	[GROUP_TYPE] = "type",
};

const char *group_name(enum group_by by)
{
	return names[by];
}

enum group_by group_by_name(const char *name)
{
	for (int by = GROUP_LOCK; by <= GROUP_TYPE; by++)
		if (strcmp(names[by], name) == 0)
			return (enum group_by)by;
	return GROUP_NONE;
}

/* "pid 4711 ", where there are several. */
static void put_pid(const struct model *model, uint32_t process, char text[32])
{
	text[0] = '\0';
	if (model->process_count > 1)
		snprintf(
		        text, 32, "pid %" PRId32 " ", model->processes[process].record->header.pid);
}

/* Names the row after a place. False: no memory. */
static bool name_by_place(struct group_row *row, const char *before, const struct place *place)
{
	char text[PLACE_TEXT_WIDTH + 1];
	char *key = place_key(place);
	row->column = place->column;
	place_text(place, GROUP_LABEL_WIDTH - (unsigned)strlen(before), text);
	snprintf(row->label, sizeof(row->label), "%s%.*s", before, GROUP_LABEL_WIDTH, text);
	if (key == NULL || asprintf(&row->key, "%s%s", before, key) < 0)
		row->key = NULL;
	free(key);
	return row->key != NULL;
}

static bool name_by_word(struct group_row *row, const char *word)
{
	snprintf(row->label, sizeof(row->label), "%.*s", GROUP_LABEL_WIDTH, word);
	row->key = strdup(word);
	return row->key != NULL;
}

static void add_lock(struct group_row *row, const struct record_lock *lock)
{
	const struct hold_totals hold = family_hold(lock);
	row->family = lock->family < FAMILY_COUNT ? lock->family : FAMILY_COUNT;
	row->members = 1;
	row->acquired = hold.acquired;
	row->waits = lock->wait.waits;
	row->wait_ns_total = lock->wait.wait_ns_total;
	row->wait_ns_max = lock->wait.wait_ns_max;
	row->hold_ns_total = hold.hold_ns_total;
	row->hold_ns_max = hold.hold_ns_max;
}

static bool name_lock(const struct model *model, struct symbols *symbols,
        const struct lock_row *lock, struct group_row *row)
{
	struct place place;
	char before[32];
	symbols_find_lock(symbols, lock->process, &lock->lock, &place);
	put_pid(model, lock->process, before);
	row->id = lock->id;
	return name_by_place(row, before, &place);
}

static bool name_creation(const struct model *model, struct symbols *symbols,
        const struct lock_row *lock, struct group_row *row)
{
	struct place place;
	const struct site_row *first = model_site(model, lock->first_site);
	bool in_data = symbols_find_lock(symbols, lock->process, &lock->lock, &place);
	/* The elements of an array are locks of one kind. */
	if (in_data && place.name[0] != '\0') {
		place.name_offset = 0;
		return name_by_place(row, "", &place);
	}
	if (lock->created.address != 0) {
		symbols_find_call(symbols, lock->created, &place);
		return name_by_place(row, "created in ", &place);
	}
	if (in_data)
		return name_by_place(row, "", &place);
	if (first == NULL)
		return name_by_word(row, "not known");
	symbols_find_call(symbols, first->code, &place);
	return name_by_place(row, "first in ", &place);
}

static bool name_type(const struct lock_row *lock, struct group_row *row)
{
	char word[64];
	snprintf(word, sizeof(word), "%s%s%s%s", words_family(lock->lock.family),
	        lock->lock.family == FAMILY_mutex ? " " : "",
	        lock->lock.family == FAMILY_mutex ? words_mutex_type(lock->lock.kind) : "",
	        words_mutex_is_shared(lock->lock.kind) ? ", shared" : "");
	return name_by_word(row, word);
}

static bool add_locks(struct groups *groups, const struct model *model, struct symbols *symbols)
{
	for (size_t i = 0; i < model->lock_count; i++) {
		const struct lock_row *lock = &model->locks[i];
		struct group_row *row = &groups->rows[groups->count++];
		bool named = groups->by == GROUP_LOCK   ? name_lock(model, symbols, lock, row)
		             : groups->by == GROUP_TYPE ? name_type(lock, row)
		                                        : name_creation(model, symbols, lock, row);
		if (!named)
			return false;
		add_lock(row, &lock->lock);
	}
	return true;
}

static bool add_sites(struct groups *groups, const struct model *model, struct symbols *symbols)
{
	for (size_t i = 0; i < model->place_count; i++) {
		const struct site_row *site = &model->places[i];
		struct group_row *row = &groups->rows[groups->count++];
		struct place place;
		char before[32] = "";
		symbols_find_call(symbols, site->code, &place);
		/* Code in no file is another one in each process. */
		if (site->code.file == MAPPED_NONE)
			put_pid(model, site->process, before);
		if (!name_by_place(row, before, &place))
			return false;
		row->family = site->family;
		row->members = site->locks;
		row->waits = site->wait.waits;
		row->wait_ns_total = site->wait.wait_ns_total;
		row->wait_ns_max = site->wait.wait_ns_max;
	}
	return true;
}

static void add_sum(struct group_row *row, const struct counters *counters)
{
	const struct family_sum sum = family_sum_all(counters);
	row->family = FAMILY_COUNT;
	row->acquired = sum.acquired;
	row->waits = sum.waits;
	row->wait_ns_total = sum.wait_ns_total;
	row->wait_ns_max = sum.wait_ns_max;
	row->hold_ns_total = sum.hold_ns_total;
	row->hold_ns_max = sum.hold_ns_max;
}

static bool add_threads(struct groups *groups, const struct model *model)
{
	for (size_t i = 0; i < model->name_count; i++) {
		const struct thread_row *thread = &model->names[i];
		struct group_row *row = &groups->rows[groups->count++];
		if (!name_by_word(row, thread->name[0] != '\0' ? thread->name : "(no name)"))
			return false;
		add_sum(row, &thread->counters);
		row->members = (uint64_t)thread->running + thread->ended;
	}
	return true;
}

static int compare_keys(const void *left, const void *right)
{
	const struct group_row *a = left, *b = right;
	int order = strcmp(a->key, b->key);
	return order != 0 ? order : (a->family > b->family) - (a->family < b->family);
}

static int compare_generations(const void *left, const void *right)
{
	const struct group_row *a = left, *b = right;
	int order = strcmp(a->key, b->key);
	return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

static void lengthen_label(struct group_row *row, const char *suffix)
{
	char label[GROUP_LABEL_WIDTH + 1];
	text_shorten(row->label, GROUP_LABEL_WIDTH - (unsigned)strlen(suffix), label);
	strcpy(stpcpy(row->label, label), suffix);
}

/* Puts "#2" behind the name of the second lock that lay at one place, and so on. False: no memory.
 */
static bool number_row(struct group_row *row, unsigned number)
{
	char suffix[16], *key;
	snprintf(suffix, sizeof(suffix), "#%u", number);
	if (asprintf(&key, "%s%s", row->key, suffix) < 0)
		return false;
	free(row->key);
	row->key = key;
	lengthen_label(row, suffix);
	return true;
}

/* One after the other, several locks can have lain at one address. */
static bool number_generations(struct groups *groups)
{
	size_t first = 0;
	qsort(groups->rows, groups->count, sizeof(*groups->rows), compare_generations);
	for (size_t i = 1; i < groups->count; i++) {
		if (strcmp(groups->rows[i].key, groups->rows[first].key) != 0)
			first = i;
		else if (!number_row(&groups->rows[i], (unsigned)(i - first) + 1))
			return false;
	}
	return true;
}

static int compare_labels(const void *left, const void *right)
{
	const struct group_row *a = left, *b = right;
	return strcmp(a->label, b->label);
}

/* Calls in one line get their columns. */
static void tell_labels_apart(struct groups *groups)
{
	qsort(groups->rows, groups->count, sizeof(*groups->rows), compare_labels);
	for (size_t first = 0, end = 0; first < groups->count; first = end) {
		while (end < groups->count &&
		        compare_labels(&groups->rows[first], &groups->rows[end]) == 0)
			end++;
		for (size_t i = first; end - first > 1 && i < end; i++) {
			char suffix[16];
			snprintf(suffix, sizeof(suffix), ":%u", groups->rows[i].column);
			if (groups->rows[i].column != 0)
				lengthen_label(&groups->rows[i], suffix);
		}
	}
}

static int compare_waits(const void *left, const void *right)
{
	const struct group_row *a = left, *b = right;
	const uint64_t pairs[][2] = {
		{ b->wait_ns_total, a->wait_ns_total },
		{ b->waits, a->waits },
		{ b->hold_ns_total, a->hold_ns_total },
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i][0] != pairs[i][1])
			return pairs[i][0] < pairs[i][1] ? -1 : 1;
	return compare_keys(left, right);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void group_merge(struct group_row *to, const struct group_row *from)
{
	to->members += from->members;
	to->acquired += from->acquired;
	to->waits += from->waits;
	to->wait_ns_total += from->wait_ns_total;
	to->wait_ns_max = larger(to->wait_ns_max, from->wait_ns_max);
	to->hold_ns_total += from->hold_ns_total;
	to->hold_ns_max = larger(to->hold_ns_max, from->hold_ns_max);
}

static void merge_rows(struct groups *groups)
{
	size_t kept = 0;
	qsort(groups->rows, groups->count, sizeof(*groups->rows), compare_keys);
	for (size_t i = 0; i < groups->count; i++) {
		struct group_row *row = &groups->rows[i];
		if (kept > 0 && compare_keys(&groups->rows[kept - 1], row) == 0) {
			group_merge(&groups->rows[kept - 1], row);
			free(row->key);
			continue;
		}
		groups->rows[kept++] = *row;
	}
	groups->count = kept;
}

static uint64_t left_over(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

static void find_rest(struct groups *groups, const struct model *model)
{
	struct group_row sum = { .key = NULL }, *rest = &groups->rest;
	add_sum(&groups->total, &model->counters);
	for (size_t i = 0; i < groups->count; i++)
		group_merge(&sum, &groups->rows[i]);
	rest->family = FAMILY_COUNT;
	rest->acquired = left_over(groups->total.acquired, sum.acquired);
	rest->waits = left_over(groups->total.waits, sum.waits);
	rest->wait_ns_total = left_over(groups->total.wait_ns_total, sum.wait_ns_total);
	rest->hold_ns_total = left_over(groups->total.hold_ns_total, sum.hold_ns_total);
}

static bool are_holds_known(const struct model *model)
{
	bool known = false;
	for (size_t i = 0; i < model->process_count; i++)
		known |= model->processes[i].record->control.stats == STATS_HOLD;
	return known || family_sum_all(&model->counters).hold_ns_total > 0;
}

struct groups *groups_build(const struct model *model, struct symbols *symbols, enum group_by by)
{
	size_t most = by == GROUP_THREAD ? model->name_count
	              : by == GROUP_SITE ? model->place_count
	                                 : model->lock_count;
	struct groups *groups = calloc(1, sizeof(*groups));
	if (groups == NULL)
		return NULL;
	groups->by = by;
	groups->holds_known = by != GROUP_SITE && are_holds_known(model);
	groups->acquired_known = by == GROUP_THREAD || groups->holds_known;
	groups->rows = calloc(most + 1, sizeof(*groups->rows));
	bool ok = groups->rows != NULL;
	if (ok && by == GROUP_THREAD)
		ok = add_threads(groups, model);
	else if (ok && by == GROUP_SITE)
		ok = add_sites(groups, model, symbols);
	else if (ok)
		ok = add_locks(groups, model, symbols);
	if (ok && by == GROUP_LOCK)
		ok = number_generations(groups);
	else if (ok)
		merge_rows(groups);
	if (ok)
		tell_labels_apart(groups);
	if (!ok) {
		groups_free(groups);
		return NULL;
	}
	qsort(groups->rows, groups->count, sizeof(*groups->rows), compare_waits);
	find_rest(groups, model);
	return groups;
}

static int compare_holds(const void *left, const void *right)
{
	const struct group_row *a = *(const struct group_row *const *)left;
	const struct group_row *b = *(const struct group_row *const *)right;
	if (a->hold_ns_total != b->hold_ns_total)
		return a->hold_ns_total < b->hold_ns_total ? 1 : -1;
	return strcmp(a->key, b->key);
}

const struct group_row **groups_held(const struct groups *groups, size_t *count)
{
	const struct group_row **rows = calloc(groups->count + 1, sizeof(*rows));
	*count = 0;
	for (size_t i = 0; rows != NULL && i < groups->count; i++)
		if (groups->rows[i].hold_ns_total > 0)
			rows[(*count)++] = &groups->rows[i];
	if (rows != NULL)
		qsort(rows, *count, sizeof(*rows), compare_holds);
	return rows;
}

void groups_free(struct groups *groups)
{
	if (groups == NULL)
		return;
	for (size_t i = 0; groups->rows != NULL && i < groups->count; i++)
		free(groups->rows[i].key);
	free(groups->rows);
	free(groups);
}
