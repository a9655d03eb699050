/*
 * What a reader must know before believing the figures, as sentences.
 */
#ifndef LOADER_TRUST_H
#define LOADER_TRUST_H

#include "model.h"
#include "symbols.h"

#define TRUST_MAX_NOTES 40
#define TRUST_NOTE_SIZE 400

struct trust {
	unsigned count;
	char notes[TRUST_MAX_NOTES][TRUST_NOTE_SIZE];
};

/* Adds a note; one that finds no room is left out. */
void trust_note(struct trust *trust, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Collects what applies to this record. Looks at the files that were mapped. */
void trust_collect(struct trust *trust, const struct model *model, struct symbols *symbols);

/* What an arm of the atomics switch does not do; in trust_atomics.c. */
void trust_atomics(struct trust *trust, const struct model *model);

/* A list of names for a note: the first few, and how many more there are. */
struct trust_names {
	size_t count;
	char text[TRUST_NOTE_SIZE];
};
void trust_name(struct trust_names *names, const char *one);
const char *trust_all_names(struct trust_names *names);

#endif
