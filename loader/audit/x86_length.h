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

/* Walks from an instruction's start to the next atomic one before stop, whose length is set; else
 * to the first that begins at stop or behind it. What is no instruction counts as one of a byte. Up
 * to end may be read. */
size_t x86_next_atomic(
        const unsigned char *bytes, size_t from, size_t stop, size_t end, unsigned *length);

#endif
