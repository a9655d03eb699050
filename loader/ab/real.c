/*
 * A run for real: the server's start, the client, the server's end, and what they leave behind.
 */
#include "real.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../command.h"
#include "../elf.h"
#include "../preflight.h"
#include "../preload.h"
#include "machine.h"
#include "records.h"
#include "stage.h"

bool real_base_environment(struct environment *environment)
{
	if (!environment_copy(environment, environ))
		return false;
	for (size_t i = environment->count; i-- > 0;) {
		char name[64];
		if (i >= environment->count) /* one that was there twice */
			continue;
		size_t length = strcspn(environment->strings[i], "=");
		if (strncmp(environment->strings[i], "AB_", 3) != 0 || length >= sizeof(name))
			continue;
		memcpy(name, environment->strings[i], length);
		name[length] = '\0';
		environment_unset(environment, name);
	}
	return true;
}

/* Everything that runs between the two readings of the machine. */
static void do_run(struct stage *stage)
{
	bool with_server = stage->design->server.start != NULL;
	bool good = !with_server || server_start(stage);
	if (good)
		good = client_run(stage);
	if (with_server)
		server_stop(stage);
	children_end_strays(NULL);
}

static void measure(struct stage *stage, const struct machine_reading *before)
{
	double own = 0;
	files_check_space(stage);
	files_check_sizes(stage);
	files_check_preloads(stage);
	if (stage->client.ended) {
		measure_output(stage);
		measure_usage(stage, "client", &stage->client);
		own += machine_cpu(&stage->client.usage);
	}
	if (stage->server.ended) {
		measure_usage(stage, "server", &stage->server);
		own += machine_cpu(&stage->server.usage);
	}
	measure_per_operation(stage->run);
	records_collect(stage);
	machine_measure(stage->run, before, own);
	machine_measure_lost(stage->run, children_clock() - before->wall);
	if (stage->run->valid)
		measure_check_metrics(stage);
}

static enum launch_end run(struct launcher *launcher, const struct design *design, struct run *run,
        const char *directory)
{
	struct real_launcher *real =
	        (struct real_launcher *)((char *)launcher -
	                                 offsetof(struct real_launcher, launcher));
	const struct run_places places = { .base = &real->base,
		.library = real->library,
		.sanitizer = real->sanitizer,
		.records = real->records,
		.directory = directory };
	struct stage stage = { .design = design, .run = run, .places = &places };
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	run->started = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	double started = children_clock();
	struct machine_reading before = machine_read();
	if (children_interrupted() == 0)
		do_run(&stage);
	if (children_interrupted() != 0)
		return LAUNCH_INTERRUPTED;
	measure(&stage, &before);
	run->seconds = children_clock() - started;
	return stage.hopeless ? LAUNCH_HOPELESS : LAUNCH_ENDED;
}

/* The settings of every arm, and the target in its environment: its PATH may be another one. What
 * runs behind the server's shell is known later. */
static int check_programs(
        struct real_launcher *real, const struct design *design, char why[WHY_SIZE])
{
	const struct run_places places = { .base = &real->base,
		.library = real->library,
		.sanitizer = "",
		.records = real->records,
		.directory = "" };
	for (unsigned i = 0; i < design->arms.count; i++) {
		struct run run = { .arm = i };
		struct environment environment;
		struct preflight preflight = { .path = NULL };
		if (!run_environment_target(&environment, design, &run, &places)) {
			why_set(why, "no memory for the environment");
			return EXIT_OWN_FAILURE;
		}
		int status = preflight_check_settings(&environment, why);
		if (status == 0 && design->server.start == NULL)
			status = preflight_check(
			        &preflight, design->client.items[0], &environment, why);
		environment_free(&environment);
		free(preflight.path);
		if (status != 0)
			return status;
		memcpy(real->sanitizer, preflight.sanitizer, sizeof(real->sanitizer));
	}
	return 0;
}

int real_prepare(struct real_launcher *real, const struct design *design, char why[WHY_SIZE])
{
	_Static_assert(sizeof(real->sanitizer) == ELF_NAME_SIZE, "as in preflight.h");
	*real = (struct real_launcher){ .launcher = { run } };
	real->library = preload_find_library(why);
	if (real->library == NULL)
		return EXIT_OWN_FAILURE;
	real->records = records_make_directory();
	if (real->records == NULL) {
		why_set(why, "no directory for records can be made in /dev/shm or /tmp");
		return EXIT_OWN_FAILURE;
	}
	if (!real_base_environment(&real->base)) {
		why_set(why, "no memory for the environment");
		return EXIT_OWN_FAILURE;
	}
	return check_programs(real, design, why);
}

void real_finish(struct real_launcher *real)
{
	environment_free(&real->base);
	if (real->records != NULL)
		records_remove_directory(real->records);
	free(real->records);
	free(real->library);
}
