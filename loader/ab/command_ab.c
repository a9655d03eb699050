/*
 * `abshim ab`: an experiment from its options, or from where it was ended, to its verdict.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../command.h"
#include "../launch.h"
#include "../message.h"
#include "../text.h"
#include "child.h"
#include "conduct.h"
#include "leftovers.h"
#include "machine.h"
#include "options.h"
#include "outcome.h"
#include "progress.h"
#include "real.h"
#include "records.h"

#define SEED_MAX 999999999u /* short enough to be typed again */

/* What the options leave open. */
static bool settle_design(struct ab_options *options)
{
	struct design *design = &options->design;
	unsigned random;
	if (!options->seeded) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			random = (unsigned)getpid();
		design->seed = random % SEED_MAX + 1;
	}
	design->directory = getcwd(NULL, 0);
	if (design->directory == NULL)
		message("ab: the working directory: %s", strerror(errno));
	return design->directory != NULL;
}

static void print_head(const struct experiment *experiment)
{
	const struct design *design = &experiment->design;
	fprintf(stderr, "experiment %s: order %s, seed %lu, %u warm-up%s and ", experiment->path,
	        order_names[design->order], design->seed, design->warmups,
	        design->warmups == 1 ? "" : "s");
	if (design->until > 0)
		fprintf(stderr, "at most %u runs of each arm, until +-%g %%\n", design->max_runs,
		        design->until * 100);
	else
		fprintf(stderr, "%u runs of each arm\n", design->runs);
	for (size_t i = 0; i < design->arms.count; i++) {
		char *text = arm_text(&design->arms.items[i]);
		fprintf(stderr, "arm %s: ", design->arms.items[i].name);
		text_escape(stderr, text != NULL && *text != '\0' ? text : "(no setting)");
		fputc('\n', stderr);
		free(text);
	}
}

/* Ends what an earlier command left behind in the experiment. */
static void clean_up(const struct experiment *experiment)
{
	char *records = journal_note(experiment);
	unsigned count = leftovers_end(experiment->path);
	if (count > 0)
		message("ab: ended %u process%s left over from before", count,
		        count == 1 ? "" : "es");
	if (records != NULL)
		records_remove_directory(records);
	free(records);
}

static bool was_refused(int wait_status)
{
	return wait_status != -1 && WIFEXITED(wait_status) &&
	       WEXITSTATUS(wait_status) == EXIT_REFUSED;
}

static int exit_status(const struct experiment *experiment, enum conduct_end end, const char *why)
{
	const struct run *last =
	        experiment->run_count > 0 ? &experiment->runs[experiment->run_count - 1] : NULL;
	switch (end) {
	case CONDUCT_COMPLETE:
		return 0;
	case CONDUCT_INTERRUPTED:
		message("ab: ended early; go on with abshim ab --resume %s", experiment->path);
		return 0;
	case CONDUCT_BROKEN:
		message("ab: %s", why);
		return EXIT_OWN_FAILURE;
	case CONDUCT_INVALID:
		message("ab: run %u is invalid, at attempt %u of %u: %s; its files are in "
		        "%s/runs/%05u",
		        last->number, last->attempt, experiment->design.retries + 1, last->why,
		        experiment->path, last->number);
		return EXIT_INVALID_RUN;
	case CONDUCT_HOPELESS:
		break;
	}
	message("ab: %s; the run's files are in %s/runs/%05u", last->why, experiment->path,
	        last->number);
	return was_refused(last->client_status) || was_refused(last->server_status)
	               ? EXIT_REFUSED
	               : EXIT_INVALID_RUN;
}

/* Runs what is left to run, and prints what there is then. */
static int work(struct experiment *experiment, struct real_launcher *real, bool json)
{
	char why[WHY_SIZE] = "";
	struct progress progress;
	progress_init(&progress, stderr);
	print_head(experiment);
	if (chdir(experiment->design.directory) != 0) {
		message("ab: %s: %s", experiment->design.directory, strerror(errno));
		return EXIT_OWN_FAILURE;
	}
	if (!journal_set_note(experiment, real->records)) {
		message("ab: %s/lock: %s", experiment->path, strerror(errno));
		return EXIT_OWN_FAILURE;
	}
	enum conduct_end end = conduct(experiment, &real->launcher, &progress.observer, why);
	progress_end(&progress);
	int failure = exit_status(experiment, end, why);
	int printed = outcome_print(experiment->path, json);
	journal_set_note(experiment, "");
	return failure != 0 ? failure : printed;
}

static int start(struct ab_options *options, struct real_launcher *real)
{
	char why[WHY_SIZE];
	struct experiment experiment;
	json_t *machine = machine_fingerprint(&options->design, real->library);
	bool made = journal_create(&experiment, options->directory, &options->design, machine, why);
	json_decref(machine);
	if (!made) {
		message("ab: %s", why);
		return EXIT_OWN_FAILURE;
	}
	int status = work(&experiment, real, options->json);
	journal_close(&experiment);
	return status;
}

/* --metric list: one run, of which nothing is kept. */
static int list_metrics(const struct design *design, struct real_launcher *real)
{
	char path[] = "/tmp/abshim-ab-list-XXXXXX";
	struct run run = {
		.number = 1, .attempt = 1, .valid = true, .client_status = -1, .server_status = -1
	};
	if (mkdtemp(path) == NULL) {
		message("ab: %s: %s", path, strerror(errno));
		return EXIT_OWN_FAILURE;
	}
	enum launch_end end = real->launcher.run(&real->launcher, design, &run, path);
	for (size_t i = 0; i < run.metric_count; i++)
		printf("%-40s %.10g\n", run.metrics[i].name, run.metrics[i].value);
	if (end != LAUNCH_INTERRUPTED && !run.valid)
		message("ab: the run is invalid: %s", run.why);
	int status = run.valid ? 0 : EXIT_INVALID_RUN;
	run_free(&run);
	records_remove_directory(path);
	return fflush(stdout) == 0 ? status : EXIT_OWN_FAILURE;
}

static int begin(struct ab_options *options)
{
	char why[WHY_SIZE];
	struct real_launcher real;
	if (!settle_design(options))
		return EXIT_OWN_FAILURE;
	int status = real_prepare(&real, &options->design, why);
	if (status != 0)
		message("ab: %s", why);
	else if (options->list)
		status = list_metrics(&options->design, &real);
	else
		status = start(options, &real);
	real_finish(&real);
	return status;
}

/* What is to be run further must be what has been run. */
static bool is_same_machine(
        const struct experiment *experiment, const char *library, char why[WHY_SIZE])
{
	if (conduct_is_complete(experiment))
		return true;
	json_t *now = machine_fingerprint(&experiment->design, library);
	bool same = machine_is_same(experiment->machine, now, why);
	json_decref(now);
	return same;
}

static int go_on(const struct ab_options *options)
{
	char why[WHY_SIZE];
	struct real_launcher real;
	struct experiment experiment;
	if (!journal_open(&experiment, options->resume, JOURNAL_RESUME, why)) {
		message("ab: %s", why);
		return EXIT_OWN_FAILURE;
	}
	clean_up(&experiment);
	int status = real_prepare(&real, &experiment.design, why);
	if (status == 0 && !is_same_machine(&experiment, real.library, why))
		status = EXIT_OWN_FAILURE;
	if (status != 0)
		message("ab: %s", why);
	else
		status = work(&experiment, &real, options->json);
	real_finish(&real);
	journal_close(&experiment);
	return status;
}

int command_ab(int argc, char **argv)
{
	struct ab_options options;
	int status = ab_options_read(&options, argc, argv);
	if (status == -1) {
		children_begin();
		status = options.resume != NULL ? go_on(&options) : begin(&options);
		children_end_strays(NULL);
		int signal = children_interrupted();
		children_finish();
		if (signal != 0)
			launch_end_like(signal);
	}
	design_free(&options.design);
	return status;
}
