/*
 * Which atomics a loaded object holds, and which of them the switch can change.
 */
#ifndef SHIM_ATOMICS_SURVEY_H
#define SHIM_ATOMICS_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"
#include "marks.h"
#include "probes/record.h"

/* An instruction, or a loop of exclusives, of the family that is not wanted. */
struct site {
	uint64_t address;
	uint32_t word; /* the first one */
	uint8_t words; /* 1, or the loop's length */
	uint8_t left;  /* enum record_left, LEFT_COUNT: nothing speaks against it */
};

#define SURVEY_TESTS 128u
#define SURVEY_FLAGS 4u

struct survey {
	const struct image *image;
	const struct marks *marks;
	bool wants_lse;   /* the family that is not wanted is that of exclusives, else LSE */
	uint32_t helpers; /* outline helpers */
	uint32_t flag_count;
	uint64_t flags[SURVEY_FLAGS]; /* the bytes that they read; objects made by two compilers
	                                 have two */
	uint64_t tests[SURVEY_TESTS]; /* branches that test it, of as many helpers */
	bool disagree;      /* they read more bytes, or one that is no data of the object's */
	struct site *sites; /* sorted by address; memory of its own */
	size_t count, room;
	uint32_t found;            /* instructions or loops outside helpers */
	uint32_t left[LEFT_COUNT]; /* of these, without those of sites */
	uint32_t outside;          /* words that look like such, but lie in no function of unwind
	                              tables that tell of the code, and are not marked as code */
	uint32_t kept;             /* instructions or loops of the wanted family outside helpers */
	int error;                 /* errno when not all could be looked at, else 0 */
};

/* Fills in the survey; survey_end gives its memory back. */
void survey_make(struct survey *survey, const struct image *image, const struct marks *marks,
        bool wants_lse);
void survey_end(struct survey *survey);

#endif
