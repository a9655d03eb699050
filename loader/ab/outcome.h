/*
 * What an experiment's directory says, at the end of `abshim ab` and for whoever asks again.
 */
#ifndef LOADER_AB_OUTCOME_H
#define LOADER_AB_OUTCOME_H

#include <jansson.h>
#include <stdio.h>

#include "../verdict/evaluate.h"
#include "experiment.h"

/*
 * After the verdict on the chosen metrics: CPU time for each operation; what could be shown at all;
 * which of the others differ most, since they may say why; the notes; how complete it is.
 */
void outcome_write_text(FILE *out, const struct experiment_values *values);

/* The same as members of the verdict's object: "experiment", "until", "resolution", "others",
 * "notes".
 */
void outcome_add_json(json_t *object, const struct experiment_values *values);

/* Evaluates a directory and writes everything to stdout. Returns 0 or EXIT_OWN_FAILURE after one
 * line on stderr. */
int outcome_print(const char *directory, bool json);

#endif
