/*
 * How numbers and foreign names look in a text report.
 */
#ifndef LOADER_TEXT_H
#define LOADER_TEXT_H

#include <stdint.h>
#include <stdio.h>

#define TEXT_NUMBER_SIZE 40

/* "0 ns", "812 ns", "1.23 us", "45.6 ms", "7.89 s", "12,345 s": three significant digits. */
const char *text_duration(char buffer[TEXT_NUMBER_SIZE], uint64_t ns);

/* "1,234,567"; from 10^12 "1.234e+12". */
const char *text_count(char buffer[TEXT_NUMBER_SIZE], uint64_t count);

/* "1 wait", "1,234 waits": of a thing whose plural ends in s. */
const char *text_things(char buffer[TEXT_NUMBER_SIZE], uint64_t count, const char *thing);

/* "12.3 %" of part in whole; "-" when whole is 0. */
const char *text_percent(char buffer[TEXT_NUMBER_SIZE], uint64_t part, uint64_t whole);

/* Copies text to `to`, in width columns of a byte each: what is left out of the middle leaves "..".
 */
void text_shorten(const char *text, unsigned width, char *to);

/* Writes text so that no byte of it can steer a terminal: control and direction-changing characters
 * and broken UTF-8 become \xNN. */
void text_escape(FILE *out, const char *text);

/* A valid UTF-8 copy of text, broken bytes replaced by U+FFFD. NULL: no memory. */
char *text_valid_utf8(const char *text);

#endif
