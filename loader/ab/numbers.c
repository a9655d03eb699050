/*
 * Strict readers of numbers.
 */
#include "numbers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool number_read(const char *text, unsigned long least, unsigned long most, unsigned long *value)
{
	if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
		return false;
	errno = 0;
	*value = strtoul(text, NULL, 10);
	return errno == 0 && *value >= least && *value <= most;
}

/* Digits with at most one point among them, and where they end. */
static bool read_positive(const char *text, double *value, char **end)
{
	size_t length = strspn(text, "0123456789.");
	*value = strtod(text, end);
	return length > 0 && *end == text + length && isfinite(*value) && *value > 0;
}

bool number_read_seconds(const char *text, double *seconds)
{
	char *end;
	return read_positive(text, seconds, &end) && *end == '\0';
}

bool number_read_percent(const char *text, double *ratio)
{
	char *end;
	if (!read_positive(text, ratio, &end) || strcmp(end, "%") != 0 || *ratio >= 100)
		return false;
	*ratio /= 100;
	return true;
}
