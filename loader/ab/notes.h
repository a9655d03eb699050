/*
 * What makes the figures of an experiment less trustworthy, each with its remedy.
 */
#ifndef LOADER_AB_NOTES_H
#define LOADER_AB_NOTES_H

#include "experiment.h"
#include "journal.h"
#include "texts.h"

/* The values are those of the experiment; their notes are not looked at. False: no memory. */
bool notes_collect(struct texts *notes, const struct experiment *experiment,
        const struct experiment_values *values);

#endif
