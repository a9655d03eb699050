/*
 * Runs, their metrics, and their lines.
 */
#include "run_line.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../json_members.h"

static const char *const unit_words[] = { [UNIT_NONE] = "",
	[UNIT_COUNT] = "count",
	[UNIT_RATE] = "1/s",
	[UNIT_SECONDS] = "s",
	[UNIT_BYTES] = "B",
	[UNIT_BYTE_RATE] = "B/s",
	[UNIT_RATIO] = "ratio" };

static const char *const better_words[] = {
	[BETTER_UNKNOWN] = "unknown", [BETTER_MORE] = "more", [BETTER_LESS] = "less"
};

#define COUNT_OF(words) (sizeof(words) / sizeof(*(words)))

bool run_counts(const struct run *run)
{
	return run->valid && !run->warmup;
}

static const struct run_metric *find(const struct run *run, const char *name)
{
	for (size_t i = 0; i < run->metric_count; i++)
		if (strcmp(run->metrics[i].name, name) == 0)
			return &run->metrics[i];
	return NULL;
}

bool run_add(struct run *run, const char *name, double value, enum metric_unit unit,
        enum metric_better better)
{
	if (find(run, name) != NULL || !isfinite(value))
		return true;
	struct run_metric *grown =
	        realloc(run->metrics, (run->metric_count + 1) * sizeof(*run->metrics));
	if (grown == NULL)
		return false;
	run->metrics = grown;
	char *copy = strdup(name);
	if (copy == NULL)
		return false;
	grown[run->metric_count++] = (struct run_metric){ copy, value, unit, better };
	return true;
}

const struct run_metric *run_metric(const struct run *run, const char *name)
{
	char of_client[128];
	const struct run_metric *metric = find(run, name);
	if (metric != NULL)
		return metric;
	snprintf(of_client, sizeof(of_client), "client.%s", name);
	return find(run, of_client);
}

void run_refuse(struct run *run, const char *format, ...)
{
	va_list arguments;
	if (run->why[0] != '\0')
		return;
	run->valid = false;
	va_start(arguments, format);
	vsnprintf(run->why, sizeof(run->why), format, arguments);
	va_end(arguments);
}

static json_t *status_json(int status)
{
	return status == -1 ? json_null() : json_integer(status);
}

static json_t *metrics_json(const struct run *run)
{
	json_t *object = json_object();
	for (size_t i = 0; i < run->metric_count; i++) {
		const struct run_metric *metric = &run->metrics[i];
		json_object_set_new(object, metric->name,
		        json_pack("[f, s, s]", metric->value, unit_words[metric->unit],
		                better_words[metric->better]));
	}
	return object;
}

char *run_line(const struct run *run, const char *arm_name)
{
	json_t *object = json_pack("{s:i, s:s, s:i, s:i, s:b, s:b}", "run", (int)run->number, "arm",
	        arm_name, "block", (int)run->block, "attempt", (int)run->attempt, "warmup",
	        run->warmup, "valid", run->valid);
	member_known(object, "why", run->why);
	member_known(object, "output", run->output);
	json_object_set_new(object, "only_shell", json_boolean(run->only_shell));
	json_object_set_new(object, "started", json_real(run->started));
	json_object_set_new(object, "seconds", json_real(run->seconds));
	json_object_set_new(object, "client_status", status_json(run->client_status));
	json_object_set_new(object, "server_status", status_json(run->server_status));
	json_object_set_new(object, "metrics", metrics_json(run));
	char *text = json_dumps(object, JSON_COMPACT), *line = NULL;
	json_decref(object);
	if (text != NULL && asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}

/* The index of a word, or count. */
static size_t find_word(const char *const *words, size_t count, const char *word)
{
	size_t i = 0;
	while (i < count && (word == NULL || strcmp(words[i], word) != 0))
		i++;
	return i;
}

static bool read_metrics(struct run *run, json_t *object)
{
	const char *name;
	json_t *triple;
	if (!json_is_object(object))
		return false;
	json_object_foreach(object, name, triple)
	{
		size_t unit = find_word(unit_words, COUNT_OF(unit_words),
		        json_string_value(json_array_get(triple, 1)));
		size_t better = find_word(better_words, COUNT_OF(better_words),
		        json_string_value(json_array_get(triple, 2)));
		if (!json_is_number(json_array_get(triple, 0)) || unit == COUNT_OF(unit_words) ||
		        better == COUNT_OF(better_words))
			return false;
		if (!run_add(run, name, json_number_value(json_array_get(triple, 0)),
		            (enum metric_unit)unit, (enum metric_better)better))
			return false;
	}
	return true;
}

static int read_status(const json_t *object, const char *key)
{
	const json_t *status = json_object_get(object, key);
	return json_is_integer(status) ? (int)json_integer_value(status) : -1;
}

static bool read_run(
        struct run *run, const json_t *object, char *const *arm_names, size_t arm_count)
{
	const char *why = json_string_value(json_object_get(object, "why"));
	const char *output = json_string_value(json_object_get(object, "output"));
	json_int_t number = json_integer_value(json_object_get(object, "run"));
	*run = (struct run){
		.number = (unsigned)number,
		.arm = (unsigned)find_word((const char *const *)arm_names, arm_count,
		        json_string_value(json_object_get(object, "arm"))),
		.block = (unsigned)json_integer_value(json_object_get(object, "block")),
		.attempt = (unsigned)json_integer_value(json_object_get(object, "attempt")),
		.warmup = json_is_true(json_object_get(object, "warmup")),
		.only_shell = json_is_true(json_object_get(object, "only_shell")),
		.valid = json_is_true(json_object_get(object, "valid")),
		.started = json_number_value(json_object_get(object, "started")),
		.seconds = json_number_value(json_object_get(object, "seconds")),
		.client_status = read_status(object, "client_status"),
		.server_status = read_status(object, "server_status"),
	};
	snprintf(run->why, sizeof(run->why), "%s", why != NULL ? why : "");
	snprintf(run->output, sizeof(run->output), "%s", output != NULL ? output : "");
	return number > 0 && run->arm < arm_count &&
	       read_metrics(run, json_object_get(object, "metrics"));
}

bool run_from_line(struct run *run, const char *line, size_t length, char *const *arm_names,
        size_t arm_count, char why[WHY_SIZE])
{
	json_error_t error;
	*run = (struct run){ 0 };
	json_t *object = json_loadb(line, length, 0, &error);
	if (object == NULL) {
		why_set(why, "%s", error.text);
		return false;
	}
	bool good = read_run(run, object, arm_names, arm_count);
	json_decref(object);
	if (!good) {
		run_free(run);
		why_set(why, "is not the line of a run of this experiment");
	}
	return good;
}

void run_free(struct run *run)
{
	for (size_t i = 0; i < run->metric_count; i++)
		free(run->metrics[i].name);
	free(run->metrics);
	run->metrics = NULL;
	run->metric_count = 0;
}
