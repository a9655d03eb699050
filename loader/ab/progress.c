/*
 * Lines of progress: where the experiment stands, the last value, the difference so far.
 */
#include "progress.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../text.h"
#include "sequential.h"

#define LEVEL     0.95
#define LINE_SIZE 256

static struct progress *of(struct conduct_observer *observer)
{
	return (struct progress *)((char *)observer - offsetof(struct progress, observer));
}

/* Valid runs at the end; with --until, at most. */
static unsigned total(const struct design *design)
{
	return (design->warmups + design_blocks(design)) * design_block_size(design);
}

/* "b +1.2 % (-0.4 to +2.8 %)" of each arm against the first one; empty while nothing is known. */
static void describe_difference(const struct experiment *experiment, char *text, size_t size)
{
	struct stats_summary a = sequential_summary(experiment, 0);
	size_t length = 0;
	*text = '\0';
	for (unsigned i = 1; i < experiment->design.arms.count && length < size; i++) {
		struct stats_summary b = sequential_summary(experiment, i);
		if (a.n < 2 || b.n < 2)
			return;
		struct stats_difference welch = stats_welch(&a, &b, LEVEL);
		if (isnan(welch.relative_low))
			continue;
		length += (size_t)snprintf(text + length, size - length,
		        ", %s %+.2f %% (%+.2f to %+.2f %%)", experiment->design.arms.items[i].name,
		        welch.relative * 100, welch.relative_low * 100, welch.relative_high * 100);
	}
}

/* ", 1 min 20 s left" by the mean of the runs so far; empty before the first one. */
static void describe_left(const struct experiment *experiment, char *text, size_t size)
{
	double spent = 0;
	unsigned all = total(&experiment->design), filled = journal_filled(experiment);
	*text = '\0';
	for (size_t i = 0; i < experiment->run_count; i++)
		spent += experiment->runs[i].seconds;
	if (experiment->run_count == 0 || filled >= all)
		return;
	double left = spent / (double)experiment->run_count * (all - filled);
	const char *most = experiment->design.until > 0 ? "at most " : "";
	if (left < 60)
		snprintf(text, size, ", %s%.0f s left", most, left);
	else if (left < 3600)
		snprintf(text, size, ", %s%.0f min left", most, left / 60);
	else
		snprintf(text, size, ", %s%.1f h left", most, left / 3600);
}

static void describe_run(
        const struct experiment *experiment, const struct run *run, char *text, size_t size)
{
	char kind[32] = "";
	const struct design *design = &experiment->design;
	if (run->warmup)
		snprintf(kind, sizeof(kind), " (warm-up)");
	if (run->attempt > 1)
		snprintf(kind, sizeof(kind), " (attempt %u)", run->attempt);
	snprintf(text, size, "run %u of %u%s, arm %s%s", journal_filled(experiment) + 1,
	        total(design), design->until > 0 ? " at most" : "",
	        design->arms.items[run->arm].name, kind);
}

static void describe_last(const struct experiment *experiment, char *text, size_t size)
{
	const struct run *last = &experiment->runs[experiment->run_count - 1];
	const char *name = sequential_metric(experiment);
	const struct run_metric *metric = name != NULL ? run_metric(last, name) : NULL;
	*text = '\0';
	if (!last->valid)
		snprintf(text, size, "invalid: %s", last->why);
	else if (metric != NULL)
		snprintf(text, size, "%s %.6g", name, metric->value);
}

/* What fits into the terminal's width. */
static size_t columns(const struct progress *progress)
{
	struct winsize size;
	if (ioctl(fileno(progress->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
		return size.ws_col - 1u;
	return 79;
}

static void replace_line(struct progress *progress, char *line)
{
	if (strlen(line) > columns(progress))
		line[columns(progress)] = '\0';
	fputc('\r', progress->out);
	text_escape(progress->out, line);
	for (size_t i = strlen(line); i < progress->shown; i++)
		fputc(' ', progress->out);
	progress->shown = strlen(line);
	fflush(progress->out);
}

static void begins(struct conduct_observer *observer, const struct experiment *experiment,
        const struct run *run)
{
	struct progress *progress = of(observer);
	char line[5 * LINE_SIZE], which[LINE_SIZE], last[LINE_SIZE] = "", difference[LINE_SIZE],
	                                            left[LINE_SIZE];
	if (!progress->terminal)
		return;
	describe_run(experiment, run, which, sizeof(which));
	if (experiment->run_count > 0)
		describe_last(experiment, last, sizeof(last));
	describe_difference(experiment, difference, sizeof(difference));
	describe_left(experiment, left, sizeof(left));
	snprintf(line, sizeof(line), "%s%s%s%s%s", which, *last != '\0' ? "; last: " : "", last,
	        difference, left);
	replace_line(progress, line);
}

static void ended(struct conduct_observer *observer, const struct experiment *experiment)
{
	struct progress *progress = of(observer);
	const struct run *last = &experiment->runs[experiment->run_count - 1];
	char text[WHY_SIZE + 32], left[LINE_SIZE];
	if (progress->terminal && last->valid)
		return;
	progress_end(progress);
	describe_last(experiment, text, sizeof(text));
	describe_left(experiment, left, sizeof(left));
	fprintf(progress->out, "run %u, arm %s%s: ", last->number,
	        experiment->design.arms.items[last->arm].name, last->warmup ? " (warm-up)" : "");
	text_escape(progress->out, text);
	fprintf(progress->out, "%s\n", left);
	fflush(progress->out);
}

void progress_init(struct progress *progress, FILE *out)
{
	*progress = (struct progress){
		.observer = { begins, ended }, .out = out, .terminal = isatty(fileno(out)) == 1
	};
}

void progress_end(struct progress *progress)
{
	char nothing[] = "";
	if (progress->shown == 0)
		return;
	replace_line(progress, nothing);
	fputc('\r', progress->out);
	fflush(progress->out);
	progress->shown = 0;
}
