/*
 * Experiments of made-up runs for test programs: no program is started and no time goes by.
 */
#ifndef TESTS_FAKE_RUNS_H
#define TESTS_FAKE_RUNS_H

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/ab/conduct.h"

/* What becomes of the run of a number. */
enum fake_fate { FAKE_GOOD, FAKE_INVALID, FAKE_INTERRUPTED, FAKE_HOPELESS };

struct fake {
	struct launcher launcher;
	enum fake_fate (*fate)(unsigned number); /* NULL: all are good */
	double noise;                            /* of values around 100, of arm b around 110 */
	const char *log; /* a file that gets each number begun, NULL: none */
	unsigned calls;
	unsigned switched; /* objects, by the atomics switch */
};

static inline void fake_log(const struct fake *fake, unsigned number)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u\n", number);
	int fd = fake->log != NULL ? open(fake->log, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	if (fd < 0)
		return;
	ck_assert_int_eq(write(fd, text, (size_t)length), length);
	close(fd);
}

static inline enum launch_end fake_run(struct launcher *launcher, const struct design *design,
        struct run *run, const char *directory)
{
	struct fake *fake = (struct fake *)launcher;
	enum fake_fate fate = fake->fate != NULL ? fake->fate(run->number) : FAKE_GOOD;
	ck_assert(access(directory, W_OK) == 0);
	ck_assert_uint_lt(run->arm, design->arms.count);
	fake->calls++;
	fake_log(fake, run->number);
	if (fate == FAKE_INTERRUPTED)
		return LAUNCH_INTERRUPTED;
	if (fate != FAKE_GOOD)
		run_refuse(run, "the client did not end in time");
	/* 37 and 101 have no common factor: values that look unlike each other. */
	double value = 100 + 10 * (double)run->arm + fake->noise * (run->number * 37 % 101) / 101;
	ck_assert(run_add(run, "throughput", value, UNIT_RATE, BETTER_MORE));
	if (fake->switched > 0)
		ck_assert(run_add(
		        run, "shim.atomics.switched", fake->switched, UNIT_COUNT, BETTER_UNKNOWN));
	run->seconds = 1;
	return fate == FAKE_HOPELESS ? LAUNCH_HOPELESS : LAUNCH_ENDED;
}

static inline struct fake fake_launcher(void)
{
	return (struct fake){ .launcher = { fake_run }, .noise = 1 };
}

/* Arms a and b and as many more as asked for, called c, d, ... */
static inline struct design fake_design(unsigned arms, unsigned runs)
{
	char why[WHY_SIZE];
	struct design design = DESIGN_DEFAULTS;
	for (unsigned i = 0; i < arms; i++) {
		char name[2] = { (char)('a' + i), '\0' }, setting[32];
		snprintf(setting, sizeof(setting), "LETTER=%s", name);
		ck_assert(arms_add(&design.arms, name, setting, why));
	}
	design.runs = runs;
	design.seed = 7;
	design.directory = strdup("/");
	ck_assert(texts_add(&design.client, "client"));
	return design;
}

/* A new directory in memory, where syncing costs nothing; remove it with fake_remove(). */
static inline char *fake_directory(void)
{
	char *path = strdup("/dev/shm/abshim-fake-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

static inline void fake_remove(char *path)
{
	char command[256];
	ck_assert(strstr(path, "/abshim-fake-") != NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	ck_assert_int_eq(system(command), 0);
	free(path);
}

/* Makes the experiment PARENT/x; the design is taken over. */
static inline void fake_create(
        struct experiment *experiment, const char *parent, struct design *design)
{
	char path[256], why[WHY_SIZE] = "";
	json_t *machine = json_object();
	snprintf(path, sizeof(path), "%s/x", parent);
	ck_assert_msg(journal_create(experiment, path, design, machine, why), "%s", why);
	json_decref(machine);
}

static inline void fake_resume(struct experiment *experiment, const char *parent)
{
	char path[256], why[WHY_SIZE] = "";
	snprintf(path, sizeof(path), "%s/x", parent);
	ck_assert_msg(journal_open(experiment, path, JOURNAL_RESUME, why), "%s", why);
}

static inline enum conduct_end fake_conduct(struct experiment *experiment, struct fake *fake)
{
	char why[WHY_SIZE] = "";
	struct conduct_observer nobody = { NULL, NULL };
	return conduct(experiment, &fake->launcher, &nobody, why);
}

/* The letters of the arms whose runs are valid, in order; the caller's to free. */
static inline char *fake_letters(const struct experiment *experiment)
{
	char *letters = calloc(experiment->run_count + 1, 1);
	size_t count = 0;
	for (size_t i = 0; i < experiment->run_count; i++)
		if (experiment->runs[i].valid)
			letters[count++] = (char)('a' + experiment->runs[i].arm);
	return letters;
}

#endif
