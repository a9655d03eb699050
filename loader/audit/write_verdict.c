/*
 * The verdicts of an audit: how far the switch of atomics reaches, and what a preload can take
 * over.
 */
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "write.h"

#define MOST_VERDICTS 8u /* of files that are no programs */

/* " of what could be read" where that is not all. */
static const char *limit(const struct survey *survey, const struct target *target)
{
	return target_is_complete(survey, target) ? "" : ", of what could be read";
}

static void put_reach(FILE *out, const struct survey *survey, const struct target *target,
        const struct audit_sum *sum)
{
	char numbers[6][TEXT_NUMBER_SIZE];
	uint64_t reached = sum->switchable + sum->rewritable, all = reached + sum->fixed;
	if (all == 0) {
		fprintf(out, "  no atomic instructions in %s%s\n",
		        text_things(numbers[0], sum->files, "file"), limit(survey, target));
		return;
	}
	fprintf(out,
	        "  LSE switch %s %s of %s in %s for AArch64 (switchable %s, rewritable %s, fixed "
	        "%s)%s\n",
	        target_bar(survey, target) == NULL ? "reaches" : "would reach",
	        text_percent(numbers[0], reached, all), text_things(numbers[1], all, "atomic site"),
	        text_things(numbers[5], sum->files, "file"),
	        text_count(numbers[2], sum->switchable), text_count(numbers[3], sum->rewritable),
	        text_count(numbers[4], sum->fixed), limit(survey, target));
}

static void put_locked(FILE *out, const struct survey *survey, const struct target *target,
        const struct audit_sum *sum)
{
	char numbers[2][TEXT_NUMBER_SIZE];
	fprintf(out, "  x86-64 has no LSE switch: %s in %s%s\n",
	        text_things(numbers[0], sum->locked, "atomic instruction"),
	        text_things(numbers[1], sum->files, "file"), limit(survey, target));
}

/* A line about a file: what, its path, why. */
static void put_file(
        FILE *out, const struct survey *survey, const char *what, const struct audit_file *file)
{
	fprintf(out, "  %s", what);
	text_escape(out, survey_own_path(survey, file->path));
	fputs(": ", out);
	text_escape(out, file->why);
	fputc('\n', out);
}

/* Files of a program whose calls no preload gets, though it gets into the program. */
static void put_unreached(FILE *out, const struct survey *survey, const struct target *target)
{
	for (size_t i = 0; i < target->row_count; i++) {
		const struct audit_file *file = &survey->list.files[target->rows[i]];
		if (file->kind == AUDIT_REFUSED || file->interposable)
			continue;
		put_file(out, survey, "out of its reach: ", file);
	}
}

/* What libabshim.so can do in a program, or could do in files that are none. */
static void put_preload(FILE *out, const struct survey *survey, const struct target *target)
{
	char numbers[2][TEXT_NUMBER_SIZE];
	struct audit_sum arm = audit_sum(survey, target, "aarch64");
	struct audit_sum x86 = audit_sum(survey, target, "x86-64");
	const char *bar = target_bar(survey, target);
	const struct audit_file *first = &survey->list.files[target->rows[0]];
	if (bar != NULL) {
		fputs("  libabshim.so cannot get in: ", out);
		text_escape(out, bar);
		fputs("; so neither its locks nor its atomics can be switched\n", out);
		return;
	}
	fprintf(out, "  libabshim.so takes over calls in %s of %s: in those that make any\n",
	        text_count(numbers[0], arm.callers + x86.callers),
	        text_things(numbers[1], arm.files + x86.files, "file"));
	if (first->interposable && *first->why != '\0')
		put_file(out, survey, "", first);
	put_unreached(out, survey, target);
}

static void put_kind(FILE *out, const struct survey *survey, const struct target *target)
{
	bool is_static = survey->list.files[target->rows[0]].is_static;
	if (target->kind == TARGET_PROGRAM && !is_static)
		fputs("  libraries that it would open while it runs (dlopen) are not among these: "
		      "audit the PID of a running one\n",
		        out);
	if (target->kind == TARGET_PROCESS)
		fputs("  as it is mapped now\n", out);
}

static void put_unread(FILE *out, const struct audit_sum *sum)
{
	char number[TEXT_NUMBER_SIZE];
	if (sum->unread > 0)
		fprintf(out, "  %s could not be read whole: the notes say why\n",
		        text_things(number, sum->unread, "file"));
	if (sum->codeless > 0)
		fprintf(out, "  %s without code (debug information, core dumps) left out\n",
		        text_things(number, sum->codeless, "file"));
}

static void put_target(FILE *out, const struct survey *survey, const struct target *target)
{
	struct audit_sum arm = audit_sum(survey, target, "aarch64");
	struct audit_sum x86 = audit_sum(survey, target, "x86-64");
	text_escape(out, target->name);
	fputc('\n', out);
	for (size_t i = 0; i < target->notes.count; i++) {
		fputs("  ", out);
		text_escape(out, target->notes.items[i]);
		fputc('\n', out);
	}
	put_unread(out, &arm);
	/* What most files are for comes first. */
	bool x86_first = x86.files > arm.files;
	if (x86.files > 0 && x86_first)
		put_locked(out, survey, target, &x86);
	if (arm.files > 0)
		put_reach(out, survey, target, &arm);
	if (x86.files > 0 && !x86_first)
		put_locked(out, survey, target, &x86);
	if (arm.files + x86.files > 0 && target->kind != TARGET_DIRECTORY)
		put_preload(out, survey, target);
	if (arm.files + x86.files > 0)
		put_kind(out, survey, target);
}

/* Many files, of which none is a program: a word on all of them together. False: no memory. */
static bool put_together(FILE *out, const struct survey *survey)
{
	struct target all = {
		.name = (char *)"all of these", .kind = TARGET_DIRECTORY, .whole = true
	};
	all.rows = calloc(survey->list.count + 1, sizeof(*all.rows));
	for (size_t i = 0; all.rows != NULL && i < survey->list.count; i++)
		all.rows[all.row_count++] = i;
	if (all.rows == NULL)
		return false;
	put_target(out, survey, &all);
	free(all.rows);
	return true;
}

void audit_write_verdicts(FILE *out, const struct survey *survey)
{
	bool are_files = survey->target_count > MOST_VERDICTS;
	for (size_t i = 0; i < survey->target_count; i++)
		are_files &= survey->targets[i].kind == TARGET_FILE && survey->targets[i].whole;
	if (are_files && put_together(out, survey))
		return;
	for (size_t i = 0; i < survey->target_count; i++)
		put_target(out, survey, &survey->targets[i]);
}
