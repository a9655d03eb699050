/*
 * `abshim compare`: what the figures of files, or of an experiment that has been run, say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ab/experiment.h"
#include "ab/outcome.h"
#include "command.h"
#include "compare_metrics.h"
#include "compare_options.h"
#include "compare_read.h"
#include "message.h"
#include "verdict/gather.h"
#include "verdict/write.h"

/* What has to be said when nothing can be claimed of any metric; NULL otherwise. */
static const char *find_caution(const struct evaluation *evaluation)
{
	bool single = true;
	for (size_t i = 0; i < evaluation->metric_count; i++)
		for (size_t k = 0; k < evaluation->metrics[i].comparison_count; k++) {
			const struct comparison *to = &evaluation->metrics[i].comparisons[k];
			if (to->kind != VERDICT_UNKNOWN)
				return NULL;
			single = single && to->reference->summary.n < 2 && to->arm->summary.n < 2;
		}
	return single ? "One run an arm: no significance can be claimed."
	              : "One run alone in an arm: no significance can be claimed.";
}

static int end_output(void)
{
	if (fflush(stdout) == 0)
		return 0;
	message("compare: cannot write the result: %s", strerror(errno));
	return EXIT_OWN_FAILURE;
}

/* experiment: whose figures they are, NULL: files'. */
static int write_result(const struct evaluation *evaluation, const struct compare_options *options,
        const struct experiment_values *experiment)
{
	if (options->json) {
		json_t *json = verdict_json(evaluation);
		if (json != NULL && experiment != NULL)
			outcome_add_json(json, experiment);
		bool done = json != NULL && json_dumpf(json, stdout, JSON_INDENT(2)) == 0;
		putchar('\n');
		json_decref(json);
		if (done)
			return end_output();
		message("compare: cannot write the result");
		return EXIT_OWN_FAILURE;
	}
	struct verdict_style style = { .plot = options->plot,
		.width = options->width,
		.student = options->student,
		.full = options->full };
	verdict_write_text(stdout, evaluation, &style);
	const char *caution = find_caution(evaluation);
	if (caution != NULL && evaluation->metric_count > 0)
		printf("\n%s\n", caution);
	if (experiment != NULL)
		outcome_write_text(stdout, experiment);
	return end_output();
}

static int evaluate_metrics(const struct metric_values *metrics, size_t count,
        const struct compare_options *options, const struct experiment_values *experiment)
{
	size_t chosen;
	if (compare_lists(options)) {
		compare_list(metrics, count);
		return end_output();
	}
	struct metric_values *some = compare_choose(metrics, count, options, &chosen);
	if (some == NULL)
		return EXIT_OWN_FAILURE;
	if (chosen == 0) {
		message("compare: no metric that every arm has");
		/* An experiment's notes say why. */
		if (experiment == NULL) {
			free(some);
			return EXIT_UNREADABLE;
		}
	}
	struct evaluation *evaluation = evaluate(some, chosen, &options->evaluate);
	int status = EXIT_OWN_FAILURE;
	if (evaluation == NULL)
		message("compare: no memory");
	else
		status = write_result(evaluation, options, experiment);
	evaluation_free(evaluation);
	free(some);
	return status == 0 && chosen == 0 ? EXIT_UNREADABLE : status;
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
	int status = evaluate_metrics(gathered->metrics, gathered->count, options, NULL);
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
		if (!read_arm(&read[done], arm, options, why)) {
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
	for (size_t i = 0; i < done; i++)
		read_arm_free(&read[i]);
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
	size_t count = options->metric_count > 0 ? values->count : values->chosen;
	int status = evaluate_metrics(values->metrics, count, options, values);
	experiment_values_free(values);
	return status;
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
