/*
 * Reads the files of the arms, and refuses what is no measurement.
 */
#include "compare_read.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Fourth powers and ratios of figures stay within a double. */
#define SMALLEST 1e-40
#define LARGEST  1e40

bool is_directory(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_usual(double value)
{
	double size = fabs(value);
	return isnan(value) || value == 0 || (size >= SMALLEST && size <= LARGEST);
}

/* Returns the name of what holds an unusual figure, NULL when all are usual. */
static const char *find_unusual(const struct result *result, double *figure)
{
	for (size_t i = 0; i < result->metric_count; i++)
		if (!is_usual(*figure = result->metrics[i].value))
			return result->metrics[i].name;
	for (size_t i = 0; i < result->series_count; i++)
		for (size_t k = 0; k < result->series[i].count; k++)
			if (!is_usual(*figure = result->series[i].values[k]))
				return result->series[i].name;
	for (size_t i = 0; i < result->summary_count; i++) {
		const struct summary *summary = &result->summaries[i];
		if (!is_usual(*figure = summary->mean) || !is_usual(*figure = summary->stddev) ||
		        !is_usual(*figure = summary->min) || !is_usual(*figure = summary->max))
			return summary->name;
	}
	return NULL;
}

static bool are_usual(const char *path, const struct output *output, char why[WHY_SIZE])
{
	for (size_t i = 0; i < output->result_count; i++) {
		double figure;
		const char *name = find_unusual(&output->results[i], &figure);
		if (name == NULL)
			continue;
		why_set(why, "%s: %s is %g; figures from %g to %g and 0 can be compared", path,
		        name, figure, SMALLEST, LARGEST);
		return false;
	}
	return true;
}

static struct output *read_file(
        const char *path, const struct compare_options *options, char why[WHY_SIZE])
{
	if (is_directory(path)) {
		why_set(why,
		        "%s: is a directory; files are compared, or the directory of one "
		        "experiment alone",
		        path);
		return NULL;
	}
	if (options->column == 0 && options->delimiters == NULL)
		return output_read(path, options->as, why);
	return output_read_column(path, options->column > 0 ? (unsigned)options->column : 1,
	        options->delimiters, why);
}

bool read_arm(struct read_arm *to, const struct compare_arm *arm,
        const struct compare_options *options, char why[WHY_SIZE])
{
	*to = (struct read_arm){ calloc(arm->count + 1, sizeof(*to->outputs)), 0 };
	if (to->outputs == NULL) {
		why_set(why, "compare: no memory");
		return false;
	}
	for (size_t i = 0; i < arm->count; i++) {
		struct output *output = read_file(arm->paths[i], options, why);
		if (output == NULL)
			return false;
		to->outputs[to->count++] = output;
		if (!are_usual(arm->paths[i], output, why))
			return false;
	}
	return true;
}

void read_arm_free(struct read_arm *arm)
{
	for (size_t i = 0; i < arm->count; i++)
		output_free(arm->outputs[i]);
	free(arm->outputs);
}
