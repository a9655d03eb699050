/*
 * What a process did after a copy of its record was made.
 */
#ifndef LOADER_SINCE_H
#define LOADER_SINCE_H

#include "record_file.h"

/*
 * Takes all that the earlier copy counts out of the record; maxima stay those of the whole. False
 * with a reason when it is no earlier copy of this record: then nothing has changed.
 */
bool since_subtract(struct record *record, const struct record *earlier, char why[WHY_SIZE]);

#endif
