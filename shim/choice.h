/*
 * Choices of the form NAME[:N] from a table, as settings give them.
 */
#ifndef SHIM_CHOICE_H
#define SHIM_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/choices.h"
#include "probes/record.h"

#define CHOICE_COUNT_MAX 1000000u

/* The first row for the family with its default N: libc's or the kernel's own way. */
void choice_default(struct record_choice *choice, enum choice_family family);

/* Parses NAME[:N]; NULL, or what is wrong with it and what would be right: a text that holds until
 * the next call. */
const char *choice_parse(
        struct record_choice *choice, enum choice_family family, const char *value);

/* A row by its name with a given N, 0: its default one. The name must exist. */
void choice_set(
        struct record_choice *choice, enum choice_family family, const char *name, uint32_t count);

/* Parses a decimal number from 1 to CHOICE_COUNT_MAX: digits only. */
bool choice_parse_count(const char *text, uint32_t *count);

#endif
