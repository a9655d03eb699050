/*
 * How long x86-64 instructions are, without decoding what they do.
 */
#ifndef LOADER_AUDIT_X86_LENGTH_H
#define LOADER_AUDIT_X86_LENGTH_H

#include <stdbool.h>
#include <stddef.h>

/* The instruction at bytes[0], count of which may be read: its length, 0 where it is none.
 * *is_atomic: it has a LOCK prefix, or exchanges with memory. */
unsigned x86_length(const unsigned char *bytes, size_t count, bool *is_atomic);

#endif
