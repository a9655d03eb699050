/*
 * Collects the doubts about a record: what was lost, what passed by unmeasured, and what the
 * figures cannot say.
 */
#include "trust.h"

#include "alloc_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "uncovered.h"
#include "words.h"

#if defined(__x86_64__)
#define OWN_MACHINE 62
#else
#define OWN_MACHINE 183
#endif

#define NAMED_MAX 3 /* files or functions named in a note; the rest is counted */

void trust_note(struct trust *trust, const char *format, ...)
{
	va_list arguments;
	if (trust->count == TRUST_MAX_NOTES)
		return;
	va_start(arguments, format);
	vsnprintf(trust->notes[trust->count++], TRUST_NOTE_SIZE, format, arguments);
	va_end(arguments);
}

void trust_name(struct trust_names *names, const char *one)
{
	size_t length = names->count > 0 ? strlen(names->text) : 0;
	if (names->count < NAMED_MAX)
		snprintf(names->text + length, sizeof(names->text) - length, "%s%.70s",
		        names->count > 0 ? ", " : "", one);
	names->count++;
}

const char *trust_all_names(struct trust_names *names)
{
	size_t length = strlen(names->text);
	if (names->count > NAMED_MAX)
		snprintf(names->text + length, sizeof(names->text) - length, " and %zu more",
		        names->count - NAMED_MAX);
	return names->text;
}

/* Whether any process ended so. */
static bool any_ended(const struct model *model, enum model_ending ending)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].ending == ending)
			return true;
	return false;
}

/* Whether any process was recorded so. */
static bool any_recorded(const struct model *model, enum record_stats stats)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].record->control.stats == stats)
			return true;
	return false;
}

/* The machine of a process that ran on another one than this; 0: there is none. */
static uint32_t other_machine(const struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].record->header.machine != OWN_MACHINE)
			return model->processes[i].record->header.machine;
	return 0;
}

static void note_process(struct trust *trust, const struct model *model)
{
	uint32_t flags = model->gaps.flags;
	if (model->processes->since)
		trust_note(trust,
		        "only what happened after the earlier copy was made: when that was, and so "
		        "for how long, no record says; the longest waits and holds are those of "
		        "the whole run");
	if (any_ended(model, MODEL_RUNNING))
		trust_note(trust,
		        "still running: the figures are those of a moment, not of one instant");
	if (any_ended(model, MODEL_UNSEEN))
		trust_note(trust,
		        "the end was not seen (a kill, a crash or a raw system call): what was "
		        "counted until then is all here");
	if (any_recorded(model, STATS_OFF))
		trust_note(trust, "ABSHIM_STATS=off: waits are neither counted nor timed");
	if (any_recorded(model, STATS_HOLD))
		trust_note(trust,
		        "ABSHIM_STATS=hold: the clock is read twice for each acquisition, "
		        "some 20 ns that other runs are without: do not compare speeds");
	if (flags & RECORD_FORKED)
		trust_note(trust, "a forked child: counting began at the fork");
	if (flags & RECORD_NO_STACKS)
		trust_note(trust, "no stacks: the process was forked while one was being taken");
	if (flags & RECORD_IN_MEMORY)
		trust_note(trust,
		        "no record file could be made: this record is gone with the process");
	if (flags & RECORD_NOT_TMPFS)
		trust_note(trust,
		        "the record lies on a file system that writes to a disk, which can "
		        "disturb the process: point ABSHIM_DIR to a tmpfs");
	if (flags & RECORD_NO_ROOM)
		trust_note(trust,
		        "the record's file system was full: what found no room there is lost "
		        "from the tables; point ABSHIM_DIR to a larger tmpfs");
	if (flags & RECORD_SECCOMP)
		trust_note(trust,
		        "a seccomp filter was installed: since then the yield strategy parks "
		        "at once, new threads have no name, and the report cannot come from "
		        "the process itself");
	if (other_machine(model) != 0)
		trust_note(trust,
		        "recorded on %s, read on another machine: names come from this "
		        "machine's files where they are the same ones",
		        words_machine(other_machine(model)));
}

static void note_place(struct trust *trust, const struct record_header *header)
{
	if (header->flags & RECORD_ELSEWHERE)
		trust_note(trust, "ABSHIM_DIR was not for this user: the record is in %.300s",
		        header->path[0] != '\0' ? header->path : "memory only");
}

static void note_gaps(struct trust *trust, const struct model *model)
{
	const struct model_gaps *gaps = &model->gaps;
	char count[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE];
	if (model->counters.mutex.passed_through > 0)
		trust_note(trust,
		        "%s passed through to libc, counted but not timed: robust, "
		        "priority-inheriting, priority-protected or elided mutexes",
		        text_things(count, model->counters.mutex.passed_through, "call"));
	if (gaps->flags & RECORD_ELISION)
		trust_note(trust,
		        "lock elision is on (glibc.elision.enable): elided mutexes pass through");
	if (gaps->threads_lost > 0)
		trust_note(trust, "no room in the record: %s, whose locks are not counted",
		        text_things(count, gaps->threads_lost, "thread"));
	if (gaps->lost_waits > 0)
		trust_note(trust,
		        "only in the totals and with the threads, not in the tables of locks and "
		        "call sites, which were full: %s (%s)",
		        text_things(count, gaps->lost_waits, "wait"),
		        text_duration(time, gaps->lost_ns));
	if (gaps->blames_lost > 0)
		trust_note(trust, "who blocked whom is incomplete: its table was full");
	if (gaps->retired_rest != 0)
		trust_note(trust, "more thread names than room: the rest is under \"(others)\"");
	if (gaps->modules_lost > 0)
		trust_note(trust, "more mapped files than room: some addresses have no name");
	if (model->counters.cond.unsplit > 0)
		trust_note(trust,
		        "%s whose signal was not seen: all their time counts as waiting for it",
		        text_things(count, model->counters.cond.unsplit, "condition wait"));
}

/* What was measured because it was asked for, and is not complete. */
static void note_lost_details(struct trust *trust, const struct model *model)
{
	const struct model_gaps *gaps = &model->gaps;
	const struct counters *counters = &model->counters;
	uint64_t holds = counters->mutex.hold_lost + counters->rwlock.hold_lost;
	char count[TEXT_NUMBER_SIZE];
	if (holds > 0)
		trust_note(trust, "missing from the locks' times held: %s",
		        text_things(count, holds, "acquisition"));
	if (gaps->created_lost > 0)
		trust_note(trust,
		        "no room for where locks were initialised: %s, named by the first use",
		        text_things(count, gaps->created_lost, "lock"));
	if (gaps->stacks_lost > 0)
		trust_note(trust,
		        "more stacks than room: some waits of which one was taken have none");
}

static void note_changed_files(struct trust *trust, struct symbols *symbols)
{
	size_t count = symbols_count_changed(symbols);
	struct trust_names names = { 0 };
	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		trust_name(&names, words_base_name(symbols_changed_path(symbols, i)));
	trust_note(trust,
	        "changed on disk since the process mapped it, so not used for names and lines: %s",
	        trust_all_names(&names));
}

/* The files that were asked for in one way. */
static void note_opened(
        struct trust *trust, const struct uncovered *uncovered, uint32_t reason, const char *asked)
{
	struct trust_names names = { 0 };
	for (size_t i = 0; i < uncovered->count; i++)
		if (uncovered->rows[i].reason == reason)
			trust_name(&names, words_base_name(uncovered->rows[i].path));
	if (names.count > 0)
		trust_note(trust, "calls of %s are not seen: %s", trust_all_names(&names), asked);
}

/* The functions that one file defines: rows [from, to). */
static void note_defined(
        struct trust *trust, const struct record_uncovered *rows, size_t from, size_t to)
{
	struct trust_names names = { 0 };
	for (size_t i = from; i < to; i++)
		trust_name(&names, rows[i].symbol);
	trust_note(trust, "%s itself defines %s: calls are seen only where it hands them on",
	        words_base_name(rows[from].path), trust_all_names(&names));
}

static void note_uncovered(struct trust *trust, const struct model *model)
{
	struct uncovered uncovered = uncovered_new(model);
	const struct record_uncovered *rows = uncovered.rows;
	note_opened(trust, &uncovered, UNCOVERED_DEEPBIND, "the program asked for RTLD_DEEPBIND");
	note_opened(trust, &uncovered, UNCOVERED_NAMESPACE,
	        "the program asked for a namespace of its own (dlmopen)");
	for (size_t from = 0, to; from < uncovered.count; from = to) {
		for (to = from + 1; to < uncovered.count && rows[to].reason == rows[from].reason &&
		                    strcmp(rows[to].path, rows[from].path) == 0;)
			to++;
		if (rows[from].reason == UNCOVERED_DEFINED)
			note_defined(trust, rows, from, to);
	}
	uncovered_free(&uncovered);
}

static void note_limits(struct trust *trust, const struct model *model)
{
	if (strncmp(model->processes->record->control.mutex.name, "glibc", 5) == 0 &&
	        model->counters.mutex.contended > 0)
		trust_note(trust,
		        "the glibc strategy waits inside libc: its spins, yields and parks are "
		        "not visible");
	if (model->counters.cond.waits > 0)
		trust_note(trust,
		        "the relock inside a condition wait is libc's own: it appears as a "
		        "condition wait only");
	if (model->blame_count > 0)
		trust_note(trust, "blame goes to who held the lock when the wait began");
	if (model->lock_count > 0)
		trust_note(trust,
		        "a mutex that is freed without being destroyed (std::mutex never is) "
		        "leaves its row to the next one at its address");
}

void trust_collect(struct trust *trust, const struct model *model, struct symbols *symbols)
{
	trust->count = 0;
	note_process(trust, model);
	note_place(trust, &model->processes->record->header);
	note_gaps(trust, model);
	note_lost_details(trust, model);
	note_uncovered(trust, model);
	trust_atomics(trust, model);
	trust_alloc(trust, model);
	note_changed_files(trust, symbols);
	note_limits(trust, model);
}
