/*
 * Numbers, times and sizes as tools print them, whatever the locale.
 */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

/* No tool prints more digits, and a double holds fewer. */
#define MAX_WHOLE    32
#define MAX_FRACTION 24
#define NUMBER_SIZE  (MAX_WHOLE + MAX_FRACTION + 16)

struct scaled_unit {
	const char *name;
	double scale;
};

static const struct scaled_unit times[] = {
	{ "ns", 1e-9 },
	{ "nsec", 1e-9 },
	{ "us", 1e-6 },
	{ "usec", 1e-6 },
	{ "\xc2\xb5s", 1e-6 }, /* the micro sign, and the Greek letter */
	{ "\xce\xbcs", 1e-6 },
	{ "ms", 1e-3 },
	{ "msec", 1e-3 },
	{ "milliseconds", 1e-3 },
	{ "s", 1 },
	{ "sec", 1 },
	{ "secs", 1 },
	{ "second", 1 },
	{ "seconds", 1 },
	{ "m", 60 },
	{ "min", 60 },
	{ "h", 3600 },
};

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* The number's text without separators of thousands, copied; its end in the text. */
static const char *copy_number(const char *text, char plain[NUMBER_SIZE])
{
	const char *at = text;
	size_t used = 0, whole = 0, fraction = 0;
	if (*at == '-' || *at == '+')
		plain[used++] = *at++;
	whole = digits(at);
	size_t groups = 0;
	while (whole >= 1 && whole <= 3 && at[whole + 4 * groups] == ',' &&
	        digits(at + whole + 4 * groups + 1) == 3)
		groups++;
	if (whole + 4 * groups > MAX_WHOLE)
		return NULL;
	for (const char *end = at + whole + 4 * groups; at < end; at++)
		if (*at != ',')
			plain[used++] = *at;
	if (*at == '.') {
		fraction = digits(at + 1);
		if (fraction > MAX_FRACTION)
			fraction = MAX_FRACTION;
		memcpy(plain + used, at, fraction + 1);
		used += fraction + 1;
		at += 1 + digits(at + 1);
	}
	if (whole + fraction == 0)
		return NULL;
	if (*at == 'e' || *at == 'E') {
		size_t sign = at[1] == '-' || at[1] == '+', exponent = digits(at + 1 + sign);
		if (exponent > 0 && exponent <= 4) {
			memcpy(plain + used, at, 1 + sign + exponent);
			used += 1 + sign + exponent;
			at += 1 + sign + exponent;
		}
	}
	plain[used] = '\0';
	return at;
}

/* Returns the number's end, NULL when the text does not begin with one. */
static const char *scan_number(const char *text, double *value)
{
	static locale_t c_locale;
	char plain[NUMBER_SIZE];
	const char *word = text + (*text == '-' || *text == '+');
	if (strncasecmp(word, "nan", 3) == 0) {
		*value = NAN;
		return word + 3;
	}
	const char *end = copy_number(text, plain);
	if (end == NULL)
		return NULL;
	if (c_locale == NULL)
		c_locale = newlocale(LC_ALL_MASK, "C", NULL);
	if (c_locale == NULL)
		return NULL;
	*value = strtod_l(plain, NULL, c_locale);
	return isfinite(*value) ? end : NULL;
}

bool parse_number(const char *text, double *value)
{
	const char *end = scan_number(text, value);
	return end != NULL && *end == '\0';
}

/* Takes k, M, G, T or P off the text, with an i or without. */
static double take_prefix(const char **text, double kilo)
{
	static const char prefixes[] = "kMGTP";
	const char *at = **text == 'K' ? prefixes : strchr(prefixes, **text);
	if (**text == '\0' || at == NULL)
		return 1;
	*text += 1;
	if (**text == 'i') {
		*text += 1;
		kilo = 1024;
	}
	double scale = kilo;
	for (; at > prefixes; at--)
		scale *= kilo;
	return scale;
}

bool parse_number_suffixed(const char *text, double *value)
{
	const char *end = scan_number(text, value);
	if (end == NULL)
		return false;
	*value *= take_prefix(&end, 1000);
	return *end == '\0' && !isinf(*value);
}

bool parse_time(const char *text, double unit, double *seconds)
{
	const char *end = scan_number(text, seconds);
	if (end == NULL)
		return false;
	end += strspn(end, " ");
	if (*end == '\0') {
		*seconds *= unit;
		return unit > 0 && !isinf(*seconds);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (strcmp(end, times[i].name) == 0) {
			*seconds *= times[i].scale;
			return !isinf(*seconds);
		}
	}
	return false;
}

bool parse_bytes(const char *text, double kilo, double *bytes)
{
	const char *end = scan_number(text, bytes);
	if (end == NULL)
		return false;
	end += strspn(end, " ");
	*bytes *= take_prefix(&end, kilo);
	return !isinf(*bytes) &&
	       (strcmp(end, "B") == 0 || strcmp(end, "b") == 0 || strcmp(end, "bytes") == 0);
}
