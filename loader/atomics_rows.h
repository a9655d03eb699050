/*
 * What the atomics switch did to the files that processes had loaded, of all records together.
 */
#ifndef LOADER_ATOMICS_ROWS_H
#define LOADER_ATOMICS_ROWS_H

#include <stddef.h>

#include "model.h"

/* One file; where the switch did something else to it in another process, one row for each. */
struct atomics_row {
	uint32_t choice;          /* enum record_atomics_choice */
	uint32_t loads, unloaded; /* how often it was loaded, and how many of these it was unloaded
	                           */
	struct record_atomics made; /* path terminated; base of the first, unloaded to be ignored */
};

enum atomics_reach {
	ATOMICS_ACTIVE,      /* it has helpers or instructions of the other family */
	ATOMICS_UNREACHABLE, /* its code could not be looked at */
	ATOMICS_INERT,       /* there is nothing in it to switch */
};

struct atomics_total {
	size_t objects;           /* rows */
	size_t switched;          /* whose helpers read the flag that was set */
	size_t rewritten_objects; /* in which an instruction was rewritten */
	size_t active;            /* of which either is true, once each */
	size_t unreachable;       /* whose flag or code was out of reach, or whose instructions all
	                             were left */
	size_t inert;
	uint64_t helpers;          /* of the switched ones */
	uint64_t found, rewritten; /* inline sites */
	uint64_t left[LEFT_COUNT]; /* of these */
	uint64_t outside;          /* words that look like such, in no function */
};

struct atomics_rows {
	struct atomics_row *rows; /* active ones first, those with most to switch at the front */
	size_t count;
	struct atomics_total total;
	uint64_t lost; /* files that found no room in the records */
};

/* Without memory: no rows. */
struct atomics_rows atomics_rows_new(const struct model *model);
void atomics_rows_free(struct atomics_rows *rows);

enum atomics_reach atomics_row_reach(const struct atomics_row *row);

/* Whether the record says what the switch did: it was in force. */
bool atomics_recorded(const struct record *record);

/* "LSE" or "LL/SC": what the process executes. */
const char *atomics_family(uint32_t choice);

/* "no atomics", "already LSE", "already LL/SC": why there was nothing to switch in an inert one. */
const char *atomics_inert_words(const struct atomics_row *row);

/* Why instructions were left, by enum record_left. */
extern const char *const atomics_left_text[LEFT_COUNT];
extern const char *const atomics_left_name[LEFT_COUNT];

/* "none", "switched", "disagree", "protected": enum record_outline; "unknown" for any other. */
const char *atomics_outline_name(uint32_t outline);

/*
 * What the switch did to the file, in words, as "outline switched to LSE (22 helpers, flag 0x1a2b);
 * inline rewritten (3 of 4; left: 1 not proved to be code)"; "inert (already LSE)".
 */
#define ATOMICS_WORDS_SIZE 512
const char *atomics_row_words(const struct atomics_row *row, char buffer[ATOMICS_WORDS_SIZE]);

#endif
