/*
 * Taking lines apart, and adding figures by the label that a tool prints.
 */
#include "lines.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define BLANKS       " \t"

char *line_trim(char *line)
{
	line += strspn(line, BLANKS);
	size_t length = strlen(line);
	while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		line[--length] = '\0';
	return line;
}

char *line_after(char *line, const char *prefix)
{
	size_t length = strlen(prefix);
	if (strncmp(line, prefix, length) != 0)
		return NULL;
	line += length;
	return line + strspn(line, BLANKS);
}

char *line_value(char *line, char separator)
{
	char *at = strchr(line, separator);
	if (at == NULL)
		return NULL;
	char *value = at + 1;
	while (at > line && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	*at = '\0';
	return line_trim(value);
}

size_t line_words(char *line, const char *separators, char **words, size_t max)
{
	size_t count = 0;
	char *rest = NULL;
	for (char *word = strtok_r(line, separators, &rest); word != NULL && count < max;
	        word = strtok_r(NULL, separators, &rest))
		words[count++] = word;
	return count;
}

bool text_has(const char *text, size_t size, const char *part)
{
	return memmem(text, size, part, strlen(part)) != NULL;
}

bool text_has_line(const char *text, size_t size, const char *start)
{
	const char *end = text + size;
	size_t length = strlen(start);
	for (const char *at = text; (at = memmem(at, (size_t)(end - at), start, length)) != NULL;
	        at++) {
		const char *before = at;
		while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
			before--;
		if (before == text || before[-1] == '\n' || before[-1] == '\r')
			return true;
	}
	return false;
}

void name_make(char name[NAME_SIZE], const char *prefix, const char *text)
{
	size_t used = 0;
	if (prefix != NULL)
		used = (size_t)snprintf(name, NAME_SIZE / 2, "%s.", prefix);
	if (used >= NAME_SIZE / 2)
		used = NAME_SIZE / 2 - 1;
	size_t length = strcspn(text, "(");
	while (length > 0 && text[length - 1] == ' ')
		length--;
	for (size_t i = 0; i < length && used < NAME_SIZE - 1; i++) {
		unsigned char byte = (unsigned char)text[i];
		name[used++] = isspace(byte) || byte == '.' ? '_' : (char)tolower(byte);
	}
	name[used] = '\0';
}

void name_percentile(char name[NAME_SIZE], const char *prefix, double percentile)
{
	if (percentile == 50)
		snprintf(name, NAME_SIZE, "%s.median", prefix);
	else
		snprintf(name, NAME_SIZE, "%s.p%.7g", prefix, percentile);
}

enum metric_better figure_better(const char *name, enum metric_unit unit)
{
	static const char *const more[] = { "throughput", "bandwidth", "ops", "tps", "qps", "rps" };
	static const char *const less[] = { "errors", "timeouts", "contended", "parked", "latency",
		"runtime", "failed", "misses" };
	const char *dot = strrchr(name, '.'), *last = dot != NULL ? dot + 1 : name;
	for (size_t i = 0; i < COUNT(less); i++)
		if (strcmp(last, less[i]) == 0)
			return BETTER_LESS;
	if (strcmp(last, "stddev") == 0 || unit == UNIT_SECONDS)
		return BETTER_LESS;
	for (size_t i = 0; i < COUNT(more); i++)
		if (strcmp(last, more[i]) == 0)
			return BETTER_MORE;
	return unit == UNIT_RATE || unit == UNIT_BYTE_RATE ? BETTER_MORE : BETTER_UNKNOWN;
}

static bool explain(const char *name, char why[WHY_SIZE])
{
	if (errno == EEXIST)
		why_set(why, "a second %s; a result has one", name);
	else if (errno == E2BIG)
		why_set(why, "%s: more figures than any tool prints", name);
	else
		why_set(why, "no memory");
	return false;
}

bool figure_add(struct result *result, const char *name, double value, enum metric_unit unit,
        unsigned flags, char why[WHY_SIZE])
{
	if (isnan(value))
		return true;
	if (isinf(value)) {
		why_set(why, "%s is too large; a number below 1e308 is needed", name);
		return false;
	}
	return result_add(result, name, value, unit, figure_better(name, unit), flags) ||
	       explain(name, why);
}

bool figure_value(const char *text, enum metric_unit unit, double scale, double *value)
{
	char word[NAME_SIZE];
	text += strspn(text, BLANKS);
	size_t length = strcspn(text, unit == UNIT_SECONDS ? "[(;" : " \t[(;");
	while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
		length--;
	if (length >= sizeof(word))
		return false;
	memcpy(word, text, length);
	word[length] = '\0';
	if (unit == UNIT_SECONDS)
		return parse_time(word, scale, value);
	if (!parse_number(word, value))
		return false;
	*value *= scale;
	return true;
}

bool figure_read(struct result *result, const char *name, const char *text, enum metric_unit unit,
        double scale, char why[WHY_SIZE])
{
	double value;
	if (figure_value(text, unit, scale, &value))
		return figure_add(result, name, value, unit, 0, why);
	why_set(why, "%s is '%.60s'; a %s is needed", name, text,
	        unit == UNIT_SECONDS ? "time" : "number");
	return false;
}

const struct figure *figure_find(const struct figure *figures, size_t count, const char *label)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(figures[i].label, label) == 0)
			return &figures[i];
	return NULL;
}

bool figure_take(struct result *result, const struct figure *figures, size_t count,
        const char *label, const char *text, char why[WHY_SIZE])
{
	const struct figure *figure = figure_find(figures, count, label);
	return figure == NULL ||
	       figure_read(result, figure->name, text, figure->unit, figure->scale, why);
}

bool figure_errors(struct result *result, double count, char why[WHY_SIZE])
{
	if (!(count >= 0 && count < 1e18)) {
		why_set(why, "errors cannot be %g; a count is needed", count);
		return false;
	}
	result->errors += (uint64_t)count;
	for (size_t i = 0; i < result->metric_count; i++) {
		if (strcmp(result->metrics[i].name, "errors") == 0) {
			result->metrics[i].value += count;
			return true;
		}
	}
	return figure_add(result, "errors", count, UNIT_COUNT, 0, why);
}

void *state_new(struct output *output, size_t size)
{
	void *state = calloc(1, size);
	if (state != NULL)
		memcpy(state, &output, sizeof(output));
	return state;
}

bool state_result(struct output *output, const char *label, char why[WHY_SIZE])
{
	if (output_add_result(output, label) != NULL)
		return true;
	return explain("result", why);
}

bool state_label(struct result *result, const char *label, char why[WHY_SIZE])
{
	char *copy = strdup(label);
	if (copy == NULL) {
		why_set(why, "no memory");
		return false;
	}
	free(result->label);
	result->label = copy;
	return true;
}
