/*
 * Models of one or several records made by hand, and what the writers make of them.
 */
#ifndef TESTS_SIDES_H
#define TESTS_SIDES_H

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/write.h"
#include "tests/synthetic.h"

#define SIDE_RECORDS 4

/* Begins as all zeroes. */
struct side {
	struct model_source sources[SIDE_RECORDS];
	size_t count;
	struct model *model;
	struct symbols *symbols;
};

/* Adds what is in the record made by hand, and frees that. */
static inline struct record *side_add(struct side *side, struct synthetic *made)
{
	char why[WHY_SIZE];
	struct record *record = synthetic_read(made, made->size, why);
	ck_assert_msg(record != NULL, "%s", why);
	ck_assert_uint_lt(side->count, SIDE_RECORDS);
	side->sources[side->count++] = (struct model_source){ .record = record, .wait_status = -1 };
	free(made->bytes);
	made->bytes = NULL;
	return record;
}

static inline void side_build(struct side *side)
{
	side->model = model_build(side->sources, side->count);
	ck_assert_ptr_nonnull(side->model);
	side->symbols = symbols_open(side->model->mapped);
	ck_assert_ptr_nonnull(side->symbols);
}

static inline void side_close(struct side *side)
{
	symbols_close(side->symbols);
	model_free(side->model);
	for (size_t i = 0; i < side->count; i++)
		record_free((struct record *)side->sources[i].record);
	*side = (struct side){ .count = 0 };
}

/* What a writer makes of it; the caller frees it. */
static inline char *side_written(
        const struct side *side, write_function *write, const struct write_options *options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	ck_assert(write(out, side->model, side->symbols, options));
	fclose(out);
	return text;
}

/* The same of the difference between two. */
static inline char *sides_written(const struct side *a, const struct side *b,
        write_diff_function *write, const struct write_options *options)
{
	const struct write_side sides[2] = { { a->model, a->symbols }, { b->model, b->symbols } };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	ck_assert(write(out, sides, options));
	fclose(out);
	return text;
}

static inline json_t *parsed(char *text)
{
	json_t *report = json_loads(text, 0, NULL);
	ck_assert_msg(report != NULL, "no JSON: %s", text);
	free(text);
	return report;
}

static inline void expect_in(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line) != NULL, "\"%s\" is not in:\n%s", line, text);
}

static inline void expect_not_in(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line) == NULL, "\"%s\" is in:\n%s", line, text);
}

/* No line is longer than a report's width. */
static inline void expect_width(const char *text)
{
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
		ck_assert_msg(strcspn(line, "\n") <= PLACE_TEXT_WIDTH, "%.*s",
		        (int)strcspn(line, "\n"), line);
}

#endif
