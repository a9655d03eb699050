/*
 * Formats numbers for people, and makes names that came from elsewhere harmless.
 */
#include "text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_LIMIT 1000000000000u /* wider than the tables */

const char *text_count(char buffer[TEXT_NUMBER_SIZE], uint64_t count)
{
	char digits[24];
	if (count >= COUNT_LIMIT) {
		snprintf(buffer, TEXT_NUMBER_SIZE, "%.3e", (double)count);
		return buffer;
	}
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = buffer;
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buffer;
}

const char *text_things(char buffer[TEXT_NUMBER_SIZE], uint64_t count, const char *thing)
{
	text_count(buffer, count);
	size_t length = strlen(buffer);
	snprintf(buffer + length, TEXT_NUMBER_SIZE - length, " %s%s", thing, count == 1 ? "" : "s");
	return buffer;
}

const char *text_duration(char buffer[TEXT_NUMBER_SIZE], uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" } };
	size_t unit = 0;
	while (unit < 3 &&
	        ns / units[unit].ns + (ns % units[unit].ns * 2 >= units[unit].ns) >= 1000)
		unit++;
	double value = (double)ns / (double)units[unit].ns;
	if (unit == 0 || value >= 99.95) {
		text_count(buffer, (uint64_t)(value + 0.5));
		size_t length = strlen(buffer);
		snprintf(buffer + length, TEXT_NUMBER_SIZE - length, " %s", units[unit].name);
	} else {
		snprintf(buffer, TEXT_NUMBER_SIZE, "%.*f %s", value < 9.995 ? 2 : 1, value,
		        units[unit].name);
	}
	return buffer;
}

const char *text_percent(char buffer[TEXT_NUMBER_SIZE], uint64_t part, uint64_t whole)
{
	double percent = whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
	if (whole == 0)
		strcpy(buffer, "-");
	else if (percent > 0 && percent < 0.01)
		strcpy(buffer, "<0.01 %");
	else if (percent > 999)
		strcpy(buffer, ">999 %");
	else
		snprintf(buffer, TEXT_NUMBER_SIZE, "%.*f %%", percent < 9.995 ? 2 : 1, percent);
	return buffer;
}

/*
 * The length of the well-formed UTF-8 sequence at text and its code point; 0 when it is malformed.
 * Table 3-7 of the Unicode standard: no overlong forms, no surrogates.
 */
static size_t decode(const unsigned char *text, uint32_t *point)
{
	if (text[0] < 0x80) {
		*point = text[0];
		return 1;
	}
	size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	*point = text[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (text[i] & 0x3fu);
	}
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	if (*point < least[length] || *point > 0x10ffff || (*point >= 0xd800 && *point <= 0xdfff))
		return 0;
	return length;
}

static bool is_harmless(uint32_t point)
{
	if (point < 0x20 || (point >= 0x7f && point < 0xa0))
		return false;
	return !(point >= 0x200e && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202e) &&
	       !(point >= 0x2066 && point <= 0x2069);
}

void text_shorten(const char *text, unsigned width, char *to)
{
	size_t length = strlen(text), dots = width > 2 ? 2 : width;
	if (length <= width) {
		memcpy(to, text, length + 1);
		return;
	}
	size_t head = (width - dots) / 2, tail = width - dots - head;
	/* No character of several bytes is cut in two. */
	while (head > 0 && ((unsigned char)text[head] & 0xc0) == 0x80)
		head--;
	while (tail > 0 && ((unsigned char)text[length - tail] & 0xc0) == 0x80)
		tail--;
	memcpy(to, text, head);
	memset(to + head, '.', dots);
	memcpy(to + head + dots, text + length - tail, tail + 1);
}

void text_escape(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	while (*at != '\0') {
		uint32_t point;
		size_t length = decode(at, &point);
		if (length > 0 && is_harmless(point)) {
			fwrite(at, 1, length, out);
			at += length;
			continue;
		}
		for (size_t i = 0; i < (length > 0 ? length : 1); i++)
			fprintf(out, "\\x%02x", *at++);
	}
}

char *text_valid_utf8(const char *text)
{
	char *copy = malloc(strlen(text) * 3 + 1), *to = copy;
	if (copy == NULL)
		return NULL;
	for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
		uint32_t point;
		size_t length = decode(at, &point);
		memcpy(to, length > 0 ? (const char *)at : "\xef\xbf\xbd", length > 0 ? length : 3);
		to += length > 0 ? length : 3;
		at += length > 0 ? length : 1;
	}
	*to = '\0';
	return copy;
}
