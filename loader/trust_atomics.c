/*
 * The doubts about an arm of the atomics switch: what of the process still executes the other
 * family, and what its arm measures besides.
 */
#include <string.h>

#include "atomics_rows.h"
#include "text.h"
#include "trust.h"
#include "words.h"

/* Names the objects of which something is true; returns how many. */
static size_t name_objects(struct trust_names *names, const struct atomics_rows *rows,
        bool (*is_so)(const struct record_atomics *made))
{
	*names = (struct trust_names){ .count = 0 };
	for (size_t i = 0; i < rows->count; i++)
		if (is_so(&rows->rows[i].made))
			trust_name(names, words_base_name(rows->rows[i].made.path));
	return names->count;
}

static bool has_left(const struct record_atomics *made)
{
	return made->inline_rewritten < made->inline_found;
}

static bool is_protected(const struct record_atomics *made)
{
	return made->outline == OUTLINE_PROTECTED;
}

static bool disagrees(const struct record_atomics *made)
{
	return made->outline == OUTLINE_DISAGREE;
}

static bool is_unreadable(const struct record_atomics *made)
{
	return made->unreadable != 0;
}

static bool is_early(const struct record_atomics *made)
{
	return made->early != 0;
}

static void note_left(struct trust *trust, const struct atomics_rows *rows)
{
	struct trust_names names;
	char left[TEXT_NUMBER_SIZE], found[TEXT_NUMBER_SIZE];
	const struct atomics_total *total = &rows->total;
	if (name_objects(&names, rows, has_left) > 0)
		trust_note(trust,
		        "%s of %s inline atomics stay as they were built (reasons below): %s",
		        text_count(left, total->found - total->rewritten),
		        text_count(found, total->found), trust_all_names(&names));
	if (name_objects(&names, rows, is_protected) > 0)
		trust_note(trust,
		        "the flag of outline atomics cannot be written, so they go by the CPU as "
		        "ever: %s",
		        trust_all_names(&names));
	if (name_objects(&names, rows, disagrees) > 0)
		trust_note(trust,
		        "outline atomics whose flags are too many or no data, of which none was "
		        "set: %s",
		        trust_all_names(&names));
	if (name_objects(&names, rows, is_unreadable) > 0)
		trust_note(trust, "code in which inline atomics could not be looked for: %s",
		        trust_all_names(&names));
	if (name_objects(&names, rows, is_early) > 0)
		trust_note(trust,
		        "initialised before all others (DF_1_INITFIRST), so code ran before "
		        "anything was switched: %s",
		        trust_all_names(&names));
}

static void note_cost(struct trust *trust, const struct atomics_rows *rows)
{
	char count[TEXT_NUMBER_SIZE];
	if (rows->total.rewritten == 0)
		return;
	uint32_t choice = rows->rows[0].choice;
	trust_note(trust,
	        "%s rewritten: each takes two branches more and may save registers%s, so this "
	        "is slower than a program that was built for %s",
	        text_things(count, rows->total.rewritten, "inline atomic"),
	        choice == ATOMICS_LLSC ? ", and has a barrier more where it orders both ways" : "",
	        atomics_family(choice));
}

/* Whether what a process opened after its start could not be switched. */
static bool is_unhooked(const struct record *record)
{
	return (record->header.flags & RECORD_ATOMICS_UNHOOKED) != 0;
}

/* Whether a process was told to switch and does not say what came of it. */
static bool is_silent(const struct record *record)
{
	return record->control.atomics != ATOMICS_NATIVE && !atomics_recorded(record);
}

void trust_atomics(struct trust *trust, const struct model *model)
{
	struct atomics_rows rows = atomics_rows_new(model);
	char count[TEXT_NUMBER_SIZE];
	bool silent = false, unhooked = false;
	for (size_t i = 0; i < model->process_count; i++) {
		silent = silent || is_silent(model->processes[i].record);
		unhooked = unhooked || is_unhooked(model->processes[i].record);
	}
	if (unhooked)
		trust_note(trust, "this system's ld.so is not one that the atomics switch knows: "
		                  "what is opened by dlopen goes by the CPU as ever");
	if (silent)
		trust_note(trust, "ABSHIM_ATOMICS is set, but a process does not say what that "
		                  "did to it: take it for not switched");
	if (rows.lost > 0)
		trust_note(trust,
		        "no room for what the atomics switch did to %s: they are not listed",
		        text_things(count, rows.lost, "object"));
	note_left(trust, &rows);
	note_cost(trust, &rows);
	if (rows.count > 0)
		trust_note(trust, "the atomics switch reaches files that ld.so loads: not the "
		                  "kernel, nor code that is made at run time, but for HotSpot's");
	atomics_rows_free(&rows);
}
