/*
 * An audit for people: a table for each machine, the file with the most atomics first; what could
 * not be read; notes; and a verdict on each argument.
 */
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "columns.h"
#include "write.h"

/* A row of a table: the number of a file. */
struct ranking {
	const struct survey *survey;
	size_t *rows;
	size_t count;
};

static uint64_t sites(const struct audit_file *file)
{
	return file->switchable + file->rewritable + file->fixed;
}

static int by_atomics(const void *a, const void *b, void *context)
{
	const struct audit_file *files = context;
	const struct audit_file *one = &files[*(const size_t *)a],
	                        *two = &files[*(const size_t *)b];
	uint64_t of_one = sites(one) + one->locked, of_two = sites(two) + two->locked;
	if (of_one != of_two)
		return of_one < of_two ? 1 : -1;
	return strcmp(one->path, two->path);
}

/* The files of a machine, the largest first; count 0 where there is none, or no memory. */
static struct ranking rank(const struct survey *survey, const char *machine)
{
	struct ranking ranking = { survey, calloc(survey->list.count + 1, sizeof(size_t)), 0 };
	for (size_t i = 0; ranking.rows != NULL && i < survey->list.count; i++) {
		const struct audit_file *file = &survey->list.files[i];
		bool is_of = strcmp(file->machine, machine) == 0;
		if (file->kind != AUDIT_REFUSED && is_of)
			ranking.rows[ranking.count++] = i;
	}
	if (ranking.count > 0)
		qsort_r(ranking.rows, ranking.count, sizeof(size_t), by_atomics,
		        survey->list.files);
	return ranking;
}

static const char *flag_word(enum audit_flag flag)
{
	return flag == AUDIT_FLAG_NONE ? "-" : flag == AUDIT_FLAG_ONE ? "one" : "differ";
}

static void put_aarch64(struct columns *columns, const struct audit_file *file)
{
	char reach[TEXT_NUMBER_SIZE];
	columns_count(columns, sites(file));
	columns_count(columns, file->lse_inline);
	columns_count(columns, file->lse_outline);
	columns_count(columns, file->llsc_inline);
	columns_count(columns, file->llsc_outline);
	columns_count(columns, file->helpers);
	columns_count(columns, file->helper_calls);
	columns_text(columns, flag_word(file->flag));
	columns_text(
	        columns, text_percent(reach, file->switchable + file->rewritable, sites(file)));
}

static void put_x86_64(struct columns *columns, const struct audit_file *file)
{
	columns_count(columns, file->locked);
}

static void put_other(struct columns *columns, const struct audit_file *file)
{
	columns_text(columns, file->machine);
}

static const struct kind_of_table {
	const char *machine, *title;
	const char *headings[12]; /* before those that all tables have */
	void (*put)(struct columns *columns, const struct audit_file *file);
} tables[] = {
	{ "aarch64", "AArch64",
	        { "sites", "LSE", "out", "LL/SC", "out", "helpers", "calls", "flag", "reach" },
	        put_aarch64 },
	{ "x86-64", "x86-64", { "locked" }, put_x86_64 },
};

#define TABLES (sizeof(tables) / sizeof(*tables))

static void put_last_columns(
        struct columns *columns, const struct survey *survey, const struct audit_file *file)
{
	columns_text(
	        columns, file->kind == AUDIT_RELOCATABLE ? "object" : audit_kind_word(file->kind));
	columns_name(
	        columns, survey_own_path(survey, file->path), file->complete ? "" : " (in part)");
}

static void put_table(
        FILE *out, const struct ranking *ranking, const struct kind_of_table *kind, size_t top)
{
	size_t shown = ranking->count < top ? ranking->count : top;
	char number[TEXT_NUMBER_SIZE];
	fprintf(out, "%s, %s, by atomic instructions", kind->title,
	        text_things(number, ranking->count, "file"));
	if (shown < ranking->count)
		fprintf(out, " (%zu of them; --top N shows more)", shown);
	fputc('\n', out);
	struct columns *columns = columns_new();
	for (size_t i = 0; columns != NULL && kind->headings[i] != NULL; i++)
		columns_text(columns, kind->headings[i]);
	columns_text(columns, "kind");
	columns_name(columns, "file", "");
	for (size_t i = 0; columns != NULL && i < shown; i++) {
		const struct audit_file *file = &ranking->survey->list.files[ranking->rows[i]];
		kind->put(columns, file);
		put_last_columns(columns, ranking->survey, file);
	}
	columns_print(columns, out);
	fputc('\n', out);
}

/* Machines whose instructions are not counted. */
static void put_other_machines(FILE *out, const struct survey *survey)
{
	const struct kind_of_table kind = { "", "Other machines", { "machine" }, put_other };
	struct ranking ranking = { survey, calloc(survey->list.count + 1, sizeof(size_t)), 0 };
	for (size_t i = 0; ranking.rows != NULL && i < survey->list.count; i++) {
		const struct audit_file *file = &survey->list.files[i];
		bool known = file->kind == AUDIT_REFUSED;
		for (size_t j = 0; j < TABLES; j++)
			known |= strcmp(file->machine, tables[j].machine) == 0;
		if (!known)
			ranking.rows[ranking.count++] = i;
	}
	if (ranking.count > 0)
		put_table(out, &ranking, &kind, SIZE_MAX);
	free(ranking.rows);
}

struct family_sum {
	const char *name;
	uint64_t in_line, outline;
};

static int by_count(const void *a, const void *b)
{
	const struct family_sum *one = a, *two = b;
	uint64_t of_one = one->in_line + one->outline, of_two = two->in_line + two->outline;
	return of_one != of_two ? (of_one < of_two ? 1 : -1) : strcmp(one->name, two->name);
}

/* Adds a file's instructions to those of the files before it. False: no memory. */
static bool add_families(struct family_sum **sums, size_t *count, const struct audit_file *file)
{
	for (size_t i = 0; i < file->family_count; i++) {
		const struct audit_family *family = &file->families[i];
		size_t at = 0;
		while (at < *count && strcmp((*sums)[at].name, family->name) != 0)
			at++;
		if (at == *count) {
			struct family_sum *more = reallocarray(*sums, *count + 1, sizeof(*more));
			if (more == NULL)
				return false;
			*sums = more;
			more[(*count)++] = (struct family_sum){ family->name, 0, 0 };
		}
		(*sums)[at].in_line += family->in_line;
		(*sums)[at].outline += family->outline;
	}
	return true;
}

static void put_families(FILE *out, const struct ranking *ranking, const struct kind_of_table *kind)
{
	struct family_sum *sums = NULL;
	size_t count = 0;
	for (size_t i = 0; i < ranking->count; i++)
		if (!add_families(&sums, &count, &ranking->survey->list.files[ranking->rows[i]]))
			break;
	if (count > 0)
		qsort(sums, count, sizeof(*sums), by_count);
	fprintf(out, "%s, instructions of all these files\n", kind->title);
	struct columns *columns = columns_new();
	columns_text(columns, "inline");
	columns_text(columns, "outline");
	columns_name(columns, "instruction", "");
	for (size_t i = 0; i < count; i++) {
		columns_count(columns, sums[i].in_line);
		columns_count(columns, sums[i].outline);
		columns_name(columns, sums[i].name, "");
	}
	columns_print(columns, out);
	fputc('\n', out);
	free(sums);
}

static void put_note(FILE *out, const char *about, const char *note)
{
	fputs("  ", out);
	text_escape(out, about);
	fputs(": ", out);
	text_escape(out, note);
	fputc('\n', out);
}

/* What is to be said of files: of those that were not read at all, or of the others. */
static void put_notes(FILE *out, const struct survey *survey, bool refused, size_t top)
{
	size_t count = 0;
	for (size_t i = 0; i < survey->list.count; i++) {
		const struct audit_file *file = &survey->list.files[i];
		if ((file->kind == AUDIT_REFUSED) != refused)
			continue;
		for (size_t j = 0; j < file->note_count; j++) {
			if (count == 0)
				fputs(refused ? "Not read\n" : "Notes\n", out);
			if (count++ < top)
				put_note(out, survey_own_path(survey, file->path), file->notes[j]);
		}
	}
	if (count > top)
		fprintf(out, "  and %zu more; --top N shows more\n", count - top);
	if (count > 0)
		fputc('\n', out);
}

void audit_write_text(FILE *out, const struct survey *survey, const struct audit_style *style)
{
	for (size_t i = 0; i < TABLES; i++) {
		struct ranking ranking = rank(survey, tables[i].machine);
		if (ranking.count > 0)
			put_table(out, &ranking, &tables[i], style->top);
		if (ranking.count > 0 && style->families)
			put_families(out, &ranking, &tables[i]);
		free(ranking.rows);
	}
	put_other_machines(out, survey);
	put_notes(out, survey, true, style->top);
	put_notes(out, survey, false, style->top);
	audit_write_verdicts(out, survey);
}
