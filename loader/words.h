/*
 * Words for the numbers in a record: every report says them the same way.
 */
#ifndef LOADER_WORDS_H
#define LOADER_WORDS_H

#include "model.h"

#define WORDS_SIZE 128

/* The part of a path after its last slash. */
const char *words_base_name(const char *path);

/* "exit(0)", "killed by signal 9 (Killed)", "running", ... */
const char *words_ending(const struct process_row *process, char buffer[WORDS_SIZE]);

/* "exit", "_exit", "abort", ...: header.end_kind. */
const char *words_end_kind(uint32_t kind);

/* "normal", "recursive", "errorcheck", "adaptive"; "other" for what the shim does not handle. */
const char *words_mutex_type(uint32_t kind);
bool words_mutex_is_shared(uint32_t kind);

/* "x86-64" or "AArch64" of an ELF e_machine; NULL for any other. */
const char *words_machine(uint32_t machine);

/* "yield:30", with the polls before it where there are any. */
const char *words_strategy(const struct record_control *control, char buffer[WORDS_SIZE]);

/* "rwlock=spin:100 stacks=16": what is not at its default, but for the mutexes; empty for nothing.
 */
#define WORDS_SETTINGS_SIZE 256
void words_settings(const struct record_control *control, char buffer[WORDS_SETTINGS_SIZE]);

/* "isb", ... of control.pause; "unknown" for a damaged record. */
const char *words_pause(uint32_t pause);

/* "native", "lse" or "llsc" of control.atomics; "unknown" for a damaged record. */
const char *words_atomics(uint32_t choice);

/*
 * The value of a variable in the record's settings, copied to buffer; false when it is not set
 * there.
 */
bool words_setting(const struct record_header *header, const char *name, char *buffer, size_t size);

/* "mutex", "rwlock", ... as in probes/counters.def; "unknown" for a damaged record. */
const char *words_family(uint32_t family);

/* "on", "off" or "hold". */
const char *words_stats(uint32_t stats);
const char *words_alloc(uint32_t choice);

#endif
