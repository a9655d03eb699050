/*
 * The design's arithmetic, and its JSON both ways.
 */
#include "design.h"

#include <stdlib.h>
#include <string.h>

#include "../json_members.h"
#include "../text.h"

unsigned design_block_size(const struct design *design)
{
	return (unsigned)design->arms.count;
}

unsigned design_blocks(const struct design *design)
{
	return design->until > 0 ? design->max_runs : design->runs;
}

struct design_slot design_slot(const struct design *design, unsigned slot)
{
	unsigned size = design_block_size(design), warmups = design->warmups * size;
	bool warmup = slot < warmups;
	unsigned row = warmup ? slot / size : (slot - warmups) / size;
	size_t arm = order_arm(design->order, design->seed, size, row, slot % size);
	return (struct design_slot){
		.arm = (unsigned)arm, .block = warmup ? 0 : row + 1, .warmup = warmup
	};
}

static bool is_utf8(const char *text, char why[WHY_SIZE])
{
	char *valid = text != NULL ? text_valid_utf8(text) : NULL;
	bool good = text == NULL || (valid != NULL && strcmp(valid, text) == 0);
	free(valid);
	if (!good)
		why_set(why, "%.200s: must be UTF-8, to be kept in the experiment's JSON", text);
	return good;
}

static bool are_utf8(const struct texts *texts, char why[WHY_SIZE])
{
	for (size_t i = 0; i < texts->count; i++)
		if (!is_utf8(texts->items[i], why))
			return false;
	return true;
}

bool design_is_utf8(const struct design *design, char why[WHY_SIZE])
{
	const struct server_commands *server = &design->server;
	for (size_t i = 0; i < design->arms.count; i++)
		if (!are_utf8(&design->arms.items[i].settings, why))
			return false;
	return are_utf8(&design->client, why) && are_utf8(&design->metrics, why) &&
	       is_utf8(server->start, why) && is_utf8(server->ready, why) &&
	       is_utf8(server->stop, why) && is_utf8(server->reset, why);
}

static void member_text(json_t *object, const char *key, const char *text)
{
	if (text == NULL)
		json_object_set_new(object, key, json_null());
	else
		member_string(object, key, text);
}

static json_t *arms_json(const struct arms *arms)
{
	json_t *array = json_array();
	for (size_t i = 0; i < arms->count; i++)
		json_array_append_new(
		        array, json_pack("{s:s, s:o}", "name", arms->items[i].name, "settings",
		                       texts_json(&arms->items[i].settings)));
	return array;
}

static json_t *limits_json(const struct time_limits *limits)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "start", limits->start, "ready", limits->ready,
	        "run", limits->run, "stop", limits->stop);
}

json_t *design_json(const struct design *design)
{
	json_t *object = json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:f, s:I}", "arms",
	        arms_json(&design->arms), "order", order_names[design->order], "seed",
	        (json_int_t)design->seed, "runs", (json_int_t)design->runs, "warmups",
	        (json_int_t)design->warmups, "retries", (json_int_t)design->retries, "until",
	        design->until, "max_runs", (json_int_t)design->max_runs);
	json_t *server = json_object();
	member_text(server, "start", design->server.start);
	member_text(server, "ready", design->server.ready);
	member_text(server, "stop", design->server.stop);
	member_text(server, "reset", design->server.reset);
	json_object_set_new(object, "server", server);
	json_object_set_new(object, "limits_s", limits_json(&design->limits));
	json_object_set_new(object, "client", texts_json(&design->client));
	json_object_set_new(object, "metrics", texts_json(&design->metrics));
	member_text(object, "parser", design->parser);
	member_integer(object, "allowed_errors", design->allowed_errors);
	member_text(object, "directory", design->directory);
	return object;
}

/* The readers of one member each clear *good when it is missing or of another type. */
static const json_t *get(const json_t *object, const char *key, const char **missing)
{
	const json_t *member = json_object_get(object, key);
	if (member == NULL)
		*missing = key;
	return member;
}

static unsigned get_count(const json_t *object, const char *key, const char **missing)
{
	const json_t *member = get(object, key, missing);
	json_int_t value = json_integer_value(member);
	if (!json_is_integer(member) || value < 0 || value > UINT32_MAX)
		*missing = key;
	return (unsigned)value;
}

static double get_number(const json_t *object, const char *key, const char **missing)
{
	const json_t *member = get(object, key, missing);
	if (!json_is_number(member))
		*missing = key;
	return json_number_value(member);
}

static char *get_text(const json_t *object, const char *key, const char **missing)
{
	const json_t *member = get(object, key, missing);
	if (!json_is_string(member) && !json_is_null(member))
		*missing = key;
	return json_is_string(member) ? strdup(json_string_value(member)) : NULL;
}

static void read_arms(struct arms *arms, const json_t *array, const char **missing)
{
	size_t i, count = json_array_size(array);
	json_t *item;
	arms->items = calloc(count + 1, sizeof(*arms->items));
	if (arms->items == NULL || count < 2) {
		*missing = "arms";
		return;
	}
	json_array_foreach(array, i, item)
	{
		struct arm *arm = &arms->items[arms->count++];
		arm->name = get_text(item, "name", missing);
		if (arm->name == NULL)
			arm->name = strdup("");
		if (!texts_from_json(&arm->settings, json_object_get(item, "settings")))
			*missing = "settings";
	}
}

static void read_lists(struct design *design, const json_t *object, const char **missing)
{
	if (!texts_from_json(&design->client, json_object_get(object, "client")) ||
	        design->client.count == 0)
		*missing = "client";
	if (!texts_from_json(&design->metrics, json_object_get(object, "metrics")))
		*missing = "metrics";
	read_arms(&design->arms, json_object_get(object, "arms"), missing);
}

bool design_from_json(struct design *design, const json_t *object, char why[WHY_SIZE])
{
	const char *missing = NULL;
	const json_t *server = json_object_get(object, "server");
	const json_t *limits = json_object_get(object, "limits_s");
	const char *order = json_string_value(json_object_get(object, "order"));
	*design = (struct design){
		.seed = (unsigned long)json_integer_value(get(object, "seed", &missing)),
		.runs = get_count(object, "runs", &missing),
		.warmups = get_count(object, "warmups", &missing),
		.retries = get_count(object, "retries", &missing),
		.until = get_number(object, "until", &missing),
		.max_runs = get_count(object, "max_runs", &missing),
		.server = { .start = get_text(server, "start", &missing),
		        .ready = get_text(server, "ready", &missing),
		        .stop = get_text(server, "stop", &missing),
		        .reset = get_text(server, "reset", &missing) },
		.limits = { .start = get_number(limits, "start", &missing),
		        .ready = get_number(limits, "ready", &missing),
		        .run = get_number(limits, "run", &missing),
		        .stop = get_number(limits, "stop", &missing) },
		.parser = get_text(object, "parser", &missing),
		.allowed_errors = get_count(object, "allowed_errors", &missing),
		.directory = get_text(object, "directory", &missing),
	};
	if (order == NULL || !order_by_name(order, &design->order))
		missing = "order";
	read_lists(design, object, &missing);
	if (missing == NULL)
		return true;
	why_set(why, "\"%s\" is missing or malformed", missing);
	design_free(design);
	return false;
}

void design_free(struct design *design)
{
	arms_free(&design->arms);
	free(design->server.start);
	free(design->server.ready);
	free(design->server.stop);
	free(design->server.reset);
	texts_free(&design->client);
	texts_free(&design->metrics);
	free(design->parser);
	free(design->directory);
	*design = (struct design){ 0 };
}
