/*
 * One table for spreadsheets and scripts, as RFC 4180 has it: a row for each lock, call site or
 * thread name, and one for what the record's tables had no room for.
 */
#include "write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "text.h"
#include "words.h"

static const char heading[] = "process,pid,by,family,name,key,members,acquired,waits,wait_ns_total,"
                              "wait_ns_max,hold_ns_total,hold_ns_max\r\n";

/* A field in quotes. False: no memory. */
static bool put_text(FILE *out, const char *text)
{
	char *valid = text_valid_utf8(text);
	if (valid == NULL)
		return false;
	fputc('"', out);
	for (const char *at = valid; *at != '\0'; at++) {
		if (*at == '"')
			fputc('"', out);
		fputc(*at, out);
	}
	fputs("\",", out);
	free(valid);
	return true;
}

/* What all rows begin with. */
static bool put_process(FILE *out, const struct model *model)
{
	const struct record_header *header = &model->processes->record->header;
	if (!put_text(out, words_base_name(header->executable)))
		return false;
	if (model->process_count == 1)
		fprintf(out, "%" PRId32, header->pid);
	fputc(',', out);
	return true;
}

/* What is not known is an empty field; at the end of a row nothing follows it. */
static void put_number(FILE *out, uint64_t number, bool known, const char *end)
{
	if (known)
		fprintf(out, "%" PRIu64, number);
	fputs(end, out);
}

static bool put_row(FILE *out, const struct model *model, const struct groups *groups,
        const struct group_row *row)
{
	bool is_rest = row == &groups->rest;
	if (!put_process(out, model))
		return false;
	fprintf(out, "%s,%s,", group_name(groups->by),
	        row->family < FAMILY_COUNT ? words_family(row->family) : "");
	if (!put_text(out, is_rest ? "(not in the tables)" : row->label) ||
	        !put_text(out, is_rest ? "" : row->key))
		return false;
	put_number(out, row->members, true, ",");
	put_number(out, row->acquired, groups->acquired_known, ",");
	put_number(out, row->waits, true, ",");
	put_number(out, row->wait_ns_total, true, ",");
	/* The longest of what is in no row is not known. */
	put_number(out, row->wait_ns_max, !is_rest, ",");
	put_number(out, row->hold_ns_total, groups->holds_known, ",");
	put_number(out, row->hold_ns_max, groups->holds_known && !is_rest, "\r\n");
	return true;
}

bool write_csv(FILE *out, const struct model *model, struct symbols *symbols,
        const struct write_options *options)
{
	enum group_by by = options->by != GROUP_NONE ? options->by : GROUP_LOCK;
	struct groups *groups = groups_build(model, symbols, by);
	if (groups == NULL)
		return false;
	fputs(heading, out);
	bool complete = true;
	for (size_t i = 0; complete && i < groups->count; i++)
		complete = put_row(out, model, groups, &groups->rows[i]);
	complete = complete && put_row(out, model, groups, &groups->rest);
	groups_free(groups);
	return complete;
}
