/*
 * What a reader must know before believing the figures, as sentences.
 */
#ifndef LOADER_TRUST_H
#define LOADER_TRUST_H

#include "model.h"
#include "symbols.h"

#define TRUST_MAX_NOTES 32
#define TRUST_NOTE_SIZE 400

struct trust {
	unsigned count;
	char notes[TRUST_MAX_NOTES][TRUST_NOTE_SIZE];
};

/* Collects what applies to this record. Looks at the files that were mapped. */
void trust_collect(struct trust *trust, const struct model *model, struct symbols *symbols);

#endif
