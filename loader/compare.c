/*
 * `abshim compare`: what the figures of files, or of an experiment that has been run, say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ab/experiment.h"
#include "command.h"
#include "compare_options.h"
#include "message.h"
#include "verdict/gather.h"
#include "verdict/write.h"

struct read_arm {
	struct output **outputs;
	size_t count;
};

static bool read_arm(const struct compare_arm *arm, const struct compare_options *options,
        struct read_arm *to, char why[WHY_SIZE])
{
	to->outputs = calloc(arm->count + 1, sizeof(*to->outputs));
	if (to->outputs == NULL) {
		why_set(why, "no memory");
		return false;
	}
	for (size_t i = 0; i < arm->count; i++) {
		struct output *output =
		        options->column > 0 || options->delimiters != NULL
		                ? output_read_column(arm->paths[i],
		                          options->column > 0 ? (unsigned)options->column : 1,
		                          options->delimiters, why)
		                : output_read(arm->paths[i], options->as, why);
		if (output == NULL)
			return false;
		to->outputs[to->count++] = output;
	}
	return true;
}

static void free_arms(struct read_arm *arms, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < arms[i].count; k++)
			output_free(arms[i].outputs[k]);
		free(arms[i].outputs);
	}
}

/* The metrics that were asked for, in that order; all of them when none was. NULL: no memory, or a
 * name that is not there (with a message). */
static struct metric_values *choose(const struct metric_values *metrics, size_t count,
        const struct compare_options *options, size_t *chosen)
{
	size_t wanted = options->metric_count > 0 ? options->metric_count : count;
	struct metric_values *to = calloc(wanted + 1, sizeof(*to));
	*chosen = wanted;
	for (size_t i = 0; i < wanted && to != NULL; i++) {
		size_t at = i;
		if (options->metric_count > 0)
			for (at = 0;
			        at < count && strcmp(metrics[at].name, options->metrics[i]) != 0;)
				at++;
		if (at == count) {
			message("compare: --metric %s: there is none in all arms; there are: %s%s",
			        options->metrics[i], count > 0 ? metrics[0].name : "none",
			        count > 1 ? " and others (compare without --metric)" : "");
			free(to);
			return NULL;
		}
		to[i] = metrics[at];
	}
	return to;
}

static bool single_runs(const struct evaluation *evaluation)
{
	for (size_t i = 0; i < evaluation->metric_count; i++)
		for (size_t k = 0; k < evaluation->metrics[i].comparison_count; k++)
			if (evaluation->metrics[i].comparisons[k].kind != VERDICT_UNKNOWN)
				return false;
	return evaluation->metric_count > 0;
}

static int write_result(const struct evaluation *evaluation, const struct compare_options *options)
{
	if (options->json) {
		json_t *json = verdict_json(evaluation);
		bool done = json != NULL && json_dumpf(json, stdout, JSON_INDENT(2)) == 0;
		putchar('\n');
		json_decref(json);
		if (!done)
			message("compare: cannot write the result");
		return done && fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
	}
	struct verdict_style style = { .plot = options->plot,
		.width = options->width,
		.student = options->student,
		.full = options->full };
	verdict_write_text(stdout, evaluation, &style);
	if (single_runs(evaluation))
		puts("\nOne run an arm: no significance can be claimed.");
	if (fflush(stdout) == 0)
		return 0;
	message("compare: cannot write the result: %s", strerror(errno));
	return EXIT_OWN_FAILURE;
}

static int evaluate_metrics(
        const struct metric_values *metrics, size_t count, const struct compare_options *options)
{
	size_t chosen;
	if (count == 0) {
		message("compare: no metric that every arm has");
		return EXIT_UNREADABLE;
	}
	struct metric_values *some = choose(metrics, count, options, &chosen);
	if (some == NULL)
		return EXIT_OWN_FAILURE;
	struct evaluation *evaluation = evaluate(some, chosen, &options->evaluate);
	int status = EXIT_OWN_FAILURE;
	if (evaluation == NULL)
		message("compare: no memory");
	else
		status = write_result(evaluation, options);
	evaluation_free(evaluation);
	free(some);
	return status;
}

static int compare_gathered(
        const struct gather_arm *arms, size_t count, const struct compare_options *options)
{
	struct gathered *gathered = gather(arms, count);
	if (gathered == NULL) {
		message("compare: no memory");
		return EXIT_OWN_FAILURE;
	}
	for (size_t i = 0; i < gathered->note_count; i++)
		message("%s", gathered->notes[i]);
	int status = evaluate_metrics(gathered->metrics, gathered->count, options);
	gathered_free(gathered);
	return status;
}

/* The results of a single file, an arm each: the rows of ministat, the commands of hyperfine. */
static int compare_results(const struct read_arm *read, const struct compare_options *options)
{
	struct gather_arm arms[COMPARE_ARMS];
	const struct output *output = read->outputs[0];
	const struct compare_arm *file = &options->arms[0];
	size_t count = output->result_count;
	if (count < 2 || count > COMPARE_ARMS) {
		message("compare: %s: holds %zu result%s, 2 to %d can be compared; or give two "
		        "files, "
		        "-a FILES -b FILES, or the directory of an experiment",
		        file->paths[0], count, count == 1 ? "" : "s", COMPARE_ARMS);
		return EXIT_OWN_FAILURE;
	}
	for (size_t i = 0; i < count; i++)
		arms[i] = (struct gather_arm){ output->results[i].label, file->paths,
			(const struct output *const *)read->outputs, 1, i + 1 };
	return compare_gathered(arms, count, options);
}

static int compare_files(const struct compare_options *options)
{
	struct read_arm read[COMPARE_ARMS] = { { NULL, 0 } };
	struct gather_arm arms[COMPARE_ARMS];
	char why[WHY_SIZE];
	int status = -1;
	size_t done = 0;
	for (; done < options->arm_count && status < 0; done++) {
		const struct compare_arm *arm = &options->arms[done];
		if (!read_arm(arm, options, &read[done], why)) {
			message("%s", why);
			status = EXIT_UNREADABLE;
		}
		arms[done] = (struct gather_arm){ arm->name, arm->paths,
			(const struct output *const *)read[done].outputs, read[done].count, 0 };
	}
	if (status < 0 && done == 1 && read[0].count == 1)
		status = compare_results(&read[0], options);
	else if (status < 0 && done > 1)
		status = compare_gathered(arms, done, options);
	free_arms(read, done);
	return status;
}

static int compare_experiment(const char *directory, const struct compare_options *options)
{
	char why[WHY_SIZE];
	struct experiment_values *values = experiment_load(directory, why);
	if (values == NULL) {
		message("%s", why);
		return EXIT_UNREADABLE;
	}
	for (size_t i = 0; i < values->note_count; i++)
		message("%s", values->notes[i]);
	size_t count = options->metric_count > 0 ? values->count : values->chosen;
	int status = evaluate_metrics(values->metrics, count, options);
	experiment_values_free(values);
	return status;
}

static bool is_directory(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int command_compare(int argc, char **argv)
{
	struct compare_options options;
	int status = compare_parse(argc, argv, &options);
	if (status >= 0)
		return status;
	if (options.arm_count == 1 && options.arms[0].count == 1 &&
	        is_directory(options.arms[0].paths[0]))
		status = compare_experiment(options.arms[0].paths[0], &options);
	else if (options.arm_count == 0 || (options.arm_count == 1 && options.arms[0].count > 1)) {
		message("compare: give two files or more, -a FILES -b FILES, or the directory of "
		        "an experiment; see abshim compare --help");
		status = EXIT_OWN_FAILURE;
	} else {
		status = compare_files(&options);
	}
	compare_options_free(&options);
	return status;
}
