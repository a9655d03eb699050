/*
 * Draws and compares samples in ministat's form, so that a result can be held beside one of its.
 */
#include "ministat.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "evaluate.h"

/* By the numbers, or'ed, of the sets that have a point in a cell: sets 1 and 2 together look like
 * set 3, as in ministat. */
static const char symbols[] = " x+*%#@O";

struct plot {
	double low, high, step;
	size_t width, height, count;
	unsigned char *points; /* height rows of width cells: numbers of sets, or'ed */
	char *bars;            /* a row for each set, or one for all */
};

static void widen(struct plot *plot, double value)
{
	if (value < plot->low)
		plot->low = value;
	if (value > plot->high)
		plot->high = value;
}

static size_t column(const struct plot *plot, double value)
{
	return (size_t)floor((value - plot->low) / plot->step + 0.5);
}

/* Points of one set that fall into the same column are piled up. Returns the highest pile; draws
 * only where there are cells. */
static size_t pile(struct plot *plot, const double *sorted, size_t n, unsigned number)
{
	size_t height = 0, highest = 0, last = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		size_t at = column(plot, sorted[i]);
		height = at == last ? height + 1 : 1;
		last = at;
		highest = height > highest ? height : highest;
		if (plot->points != NULL)
			plot->points[(height - 1) * plot->width + at] |= (unsigned char)number;
	}
	return highest;
}

static void draw_bar(struct plot *plot, const struct stats_summary *summary, char *bar)
{
	if (summary->n > 1) {
		size_t from = column(plot, summary->mean - summary->stddev);
		size_t to = column(plot, summary->mean + summary->stddev);
		for (size_t i = from; i < to; i++)
			if (bar[i] == ' ')
				bar[i] = '_';
		bar[from] = bar[to] = '|';
	}
	bar[column(plot, summary->median_upper)] = 'M';
	bar[column(plot, summary->mean)] = 'A';
}

static void print_plot(FILE *out, const struct plot *plot, size_t bars)
{
	char edge[512];
	memset(edge, '-', plot->width);
	edge[plot->width] = '\0';
	fprintf(out, "+%s+\n", edge);
	for (size_t row = plot->height; row > 0; row--) {
		fputc('|', out);
		for (size_t i = 0; i < plot->width; i++)
			fputc(symbols[plot->points[(row - 1) * plot->width + i]], out);
		fputs("|\n", out);
	}
	for (size_t row = 0; row < bars; row++)
		fprintf(out, "|%.*s|\n", (int)plot->width, plot->bars + row * plot->width);
	fprintf(out, "+%s+\n", edge);
}

static void *memory(size_t size)
{
	void *bytes = calloc(size + 1, 1);
	if (bytes == NULL)
		abort();
	return bytes;
}

static void plot_sets(FILE *out, const struct ministat_set *sets, size_t count,
        const struct ministat_options *options)
{
	struct plot plot = { .low = INFINITY, .high = -INFINITY, .width = (size_t)options->width };
	double *sorted[MINISTAT_SETS];
	for (size_t i = 0; i < count; i++) {
		const struct stats_summary *summary = &sets[i].summary;
		widen(&plot, summary->min);
		widen(&plot, summary->max);
		if (summary->n > 1) {
			widen(&plot, summary->mean - summary->stddev);
			widen(&plot, summary->mean + summary->stddev);
		}
	}
	plot.step = (plot.high - plot.low) / ((double)plot.width - 1);
	if (!(plot.step > 0) || isinf(plot.step)) {
		fputs("[no plot, span is zero width]\n", out);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		size_t n = sets[i].sample.n;
		sorted[i] = memory(n * sizeof(double));
		memcpy(sorted[i], sets[i].sample.values, n * sizeof(double));
		gsl_sort(sorted[i], 1, n);
		size_t height = pile(&plot, sorted[i], n, 0);
		plot.height = height > plot.height ? height : plot.height;
	}
	size_t bars = options->separate ? count : 1;
	plot.points = memory(plot.height * plot.width);
	plot.bars = memory(bars * plot.width);
	memset(plot.bars, ' ', bars * plot.width);
	for (size_t i = 0; i < count; i++) {
		pile(&plot, sorted[i], sets[i].sample.n, (unsigned)i + 1);
		draw_bar(&plot, &sets[i].summary, plot.bars + (bars > 1 ? i : 0) * plot.width);
		free(sorted[i]);
	}
	print_plot(out, &plot, bars);
	free(plot.points);
	free(plot.bars);
}

static void print_comparison(FILE *out, const struct stats_summary *a,
        const struct stats_summary *b, const struct ministat_options *options)
{
	struct stats_student student = stats_student(a, b, options->level, options->convention);
	char level[LEVEL_SIZE];
	if (options->level < 0.9995) /* has one decimal in ministat's text */
		snprintf(level, sizeof(level), "%.1f", options->level * 100);
	else
		level_text(options->level, level);
	if (!student.proven) {
		fprintf(out, "No difference proven at %s%% confidence\n", level);
		return;
	}
	fprintf(out, "Difference at %s%% confidence\n\t%g +/- %g\n\t%g%% +/- %g%%\n", level,
	        student.difference, student.error, student.relative * 100,
	        student.relative_error * 100);
	fprintf(out, "\t(Student's t, pooled s = %g)\n", student.pooled);
}

static bool has_values(const struct ministat_set *sets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sets[i].sample.n == 0 || sets[i].sample.values == NULL)
			return false;
	return true;
}

static void print_figure(FILE *out, double value)
{
	if (isnan(value))
		fprintf(out, " %13s", "-");
	else
		fprintf(out, " %13.8g", value);
}

static void print_legend(FILE *out, char symbol, const char *name)
{
	fprintf(out, "%c ", symbol);
	text_escape(out, name);
	fputc('\n', out);
}

void ministat_print(FILE *out, const struct ministat_set *sets, size_t count,
        const struct ministat_options *options)
{
	for (size_t i = 0; i < count; i++)
		print_legend(out, symbols[i + 1], sets[i].name);
	if (options->plot && has_values(sets, count))
		plot_sets(out, sets, count, options);
	fputs("    N           Min           Max        Median           Avg        Stddev\n", out);
	for (size_t i = 0; i < count; i++) {
		const struct stats_summary *summary = &sets[i].summary;
		const double figures[] = { summary->min, summary->max, summary->median_upper,
			summary->mean, summary->stddev };
		fprintf(out, "%c %3zu", symbols[i + 1], summary->n);
		for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); k++)
			print_figure(out, figures[k]);
		fputc('\n', out);
		if (options->compare && i > 0)
			print_comparison(out, &sets[0].summary, summary, options);
	}
}
