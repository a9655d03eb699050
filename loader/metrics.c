/*
 * Writes metric families, samples and their labels.
 */
#include "metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define SECOND_NS UINT64_C(1000000000)

/* In label values and help texts; quotes need none in help texts but are allowed it there. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static bool ends_in(const char *text, const char *ending)
{
	size_t length = strlen(text), size = strlen(ending);
	return length >= size && strcmp(text + length - size, ending) == 0;
}

void metrics_begin(
        struct metrics *metrics, enum metric_type type, const char *name, const char *help)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	metrics->name = name;
	metrics->type = type;
	metrics->seconds = ends_in(name, "_seconds");
	fprintf(metrics->out, "# TYPE %s %s\n", name, types[type]);
	if (metrics->seconds)
		fprintf(metrics->out, "# UNIT %s seconds\n", name);
	fprintf(metrics->out, "# HELP %s ", name);
	put_escaped(metrics->out, help);
	fputc('\n', metrics->out);
}

void metrics_open(struct metrics *metrics, const char *suffix)
{
	if (suffix == NULL)
		suffix = metrics->type == METRIC_COUNTER ? "_total" : "";
	fprintf(metrics->out, "%s%s", metrics->name, suffix);
	metrics->has_labels = false;
}

void metrics_label(struct metrics *metrics, const char *key, const char *value)
{
	char *valid = text_valid_utf8(value);
	if (valid == NULL) {
		metrics->failed = true;
		return;
	}
	fprintf(metrics->out, "%c%s=\"", metrics->has_labels ? ',' : '{', key);
	put_escaped(metrics->out, valid);
	fputc('"', metrics->out);
	metrics->has_labels = true;
	free(valid);
}

void metrics_count(struct metrics *metrics, uint64_t value)
{
	fprintf(metrics->out, "%s %" PRIu64 "\n", metrics->has_labels ? "}" : "", value);
}

void metrics_time(struct metrics *metrics, uint64_t ns)
{
	fprintf(metrics->out, "%s %" PRIu64 ".%09" PRIu64 "\n", metrics->has_labels ? "}" : "",
	        ns / SECOND_NS, ns % SECOND_NS);
}

void metrics_value(struct metrics *metrics, uint64_t value)
{
	if (metrics->seconds)
		metrics_time(metrics, value);
	else
		metrics_count(metrics, value);
}

void metrics_end(struct metrics *metrics)
{
	fputs("# EOF\n", metrics->out);
}
