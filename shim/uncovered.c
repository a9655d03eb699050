/*
 * Keeps what is not covered beside the record, since it stays true in a forked child.
 */
#include "uncovered.h"

#include <stdbool.h>
#include <string.h>

#include "probes/record_map.h"
#include "real.h"
#include "start.h"

#define NOTES_MAX 256u /* as many as a record has room for */

static struct record_uncovered notes[NOTES_MAX];
static uint32_t used;

static void put(const struct record_uncovered *note)
{
	uint32_t entry = record_claim(REGION_UNCOVERED);
	if (entry == RECORD_NONE)
		return;
	struct record_uncovered *row = record_entry(REGION_UNCOVERED, entry);
	memcpy(row->symbol, note->symbol, sizeof(row->symbol));
	memcpy(row->path, note->path, sizeof(row->path));
	__atomic_store_n(&row->reason, note->reason, __ATOMIC_RELEASE); /* pairs with readers */
}

static bool is_noted(const struct record_uncovered *note)
{
	uint32_t count = __atomic_load_n(&used, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < count && i < NOTES_MAX; i++)
		/* Pairs with the release in uncovered_note: the names are complete. */
		if (__atomic_load_n(&notes[i].reason, __ATOMIC_ACQUIRE) == note->reason &&
		        strcmp(notes[i].symbol, note->symbol) == 0 &&
		        strcmp(notes[i].path, note->path) == 0)
			return true;
	return false;
}

void uncovered_note(enum record_uncovered_reason reason, const char *symbol, const char *path)
{
	struct record_uncovered note = { .reason = reason };
	if (symbol != NULL)
		record_copy_path(note.symbol, sizeof(note.symbol), symbol);
	record_copy_path(note.path, sizeof(note.path), path);
	if (is_noted(&note))
		return;
	uint32_t at = __atomic_load_n(&used, __ATOMIC_RELAXED);
	do {
		if (at == NOTES_MAX)
			return;
	} while (!__atomic_compare_exchange_n(
	        &used, &at, at + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	memcpy(notes[at].symbol, note.symbol, sizeof(note.symbol));
	memcpy(notes[at].path, note.path, sizeof(note.path));
	__atomic_store_n(&notes[at].reason, reason, __ATOMIC_RELEASE); /* see is_noted */
	if (start_has_record())
		put(&note);
}

static void note_defined(void *executable, const char *symbol, const char *path)
{
	uncovered_note(UNCOVERED_DEFINED, symbol, *path != '\0' ? path : executable);
}

void uncovered_find_defined(const char *executable)
{
	real_find_before(note_defined, (void *)(uintptr_t)executable);
}

void uncovered_put(void)
{
	for (uint32_t i = 0; i < used; i++)
		if (notes[i].reason != 0)
			put(&notes[i]);
}
