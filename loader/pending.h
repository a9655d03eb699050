/*
 * Waits that a thread had noted but not yet added to the tables when the record was read.
 */
#ifndef LOADER_PENDING_H
#define LOADER_PENDING_H

#include "record_file.h"

/* Adds them to the record's copies of the tables, so that these agree with the threads' counters.
 */
void pending_settle(struct record *record);

#endif
