/*
 * Whether the library works here: a small program is started under it, as abshim run would, and
 * must leave a record.
 */
#include <gnu/libc-version.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ab/child.h"
#include "../aftermath.h"
#include "../command.h"
#include "../host.h"
#include "../preflight.h"
#include "../preload.h"
#include "../process.h"
#include "../record_file.h"
#include "../settings.h"
#include "doctor.h"

#define PROGRAM     "true"
#define SECONDS     30 /* that it may take */
#define LEAST_MAJOR 2
#define LEAST_MINOR 31

#ifdef __aarch64__
#define IS_AARCH64 true
#define LSE        (1UL << 8) /* HWCAP_ATOMICS */
#else
#define IS_AARCH64 false
#define LSE        0UL
#endif

struct trial {
	int status;           /* 0: the library was at work; else as of preflight_check() */
	char why[WHY_SIZE];   /* it was not */
	char said[HOST_LINE]; /* the program's, on standard error */
	struct record_header header;
};

void judge_libc(struct doctor *doctor, const char *version)
{
	unsigned major = 0, minor = 0;
	bool read = sscanf(version, "%u.%u", &major, &minor) == 2;
	bool good = major > LEAST_MAJOR || (major == LEAST_MAJOR && minor >= LEAST_MINOR);
	if (!read) {
		doctor_say(doctor, "libc", FINDING_UNKNOWN, "glibc %.100s", version);
		return;
	}
	doctor_say(doctor, "libc", good ? FINDING_OK : FINDING_FAIL, "glibc %.100s", version);
	if (!good)
		doctor_advise(doctor,
		        "use a system with glibc %d.%d or later: Debian 11, Ubuntu 20.04",
		        LEAST_MAJOR, LEAST_MINOR);
}

void judge_atomics(struct doctor *doctor, bool aarch64, bool lse)
{
	if (!aarch64) {
		doctor_say(doctor, "atomics", FINDING_OK,
		        "x86-64 has one family of atomics: atomics=lse and llsc are AArch64's");
	} else if (lse) {
		doctor_say(doctor, "atomics", FINDING_OK, "LSE and exclusives: both can be chosen");
	} else {
		doctor_say(doctor, "atomics", FINDING_WARN,
		        "exclusives alone: atomics=lse is refused");
		doctor_advise(doctor, "compare the two on a CPU of ARMv8.1 or later");
	}
}

void judge_place(struct doctor *doctor, const struct doctor_place *place)
{
	double free_mib = (double)place->free_bytes / (1 << 20);
	double record_mib = (double)place->record_bytes / (1 << 20);
	if (!place->tmpfs) {
		doctor_say(doctor, "records", FINDING_WARN,
		        "in %.300s, which is not in memory: counting may wait for a disk",
		        place->path);
		doctor_advise(doctor, "mount -t tmpfs -o mode=1777 tmpfs /dev/shm, and leave "
		                      "ABSHIM_DIR unset");
	} else if (place->free_bytes < place->record_bytes) {
		doctor_say(doctor, "records", FINDING_WARN,
		        "in %.300s with %.0f MiB free: a record may need %.0f", place->path,
		        free_mib, record_mib);
		doctor_advise(doctor, "mount -o remount,size=256m /dev/shm; or start the container "
		                      "with --shm-size=256m");
	} else {
		doctor_say(doctor, "records", FINDING_OK,
		        "in %.300s, in memory, %.0f MiB free: a record needs %.0f at most",
		        place->path, free_mib, record_mib);
	}
}

/* The environment, without what might have been set for other runs. */
static bool fill_environment(struct environment *environment, const char *sanitizer,
        const char *stacks, char why[WHY_SIZE])
{
	char pid[24];
	for (size_t i = 0; i < setting_variable_count; i++)
		if (strcmp(setting_variables[i].name, "ABSHIM_DIR") != 0)
			environment_unset(environment, setting_variables[i].name);
	char *library = preload_find_library(why);
	if (library == NULL)
		return false;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	bool done = preload_set(environment, library, sanitizer) &&
	            environment_set(environment, "ABSHIM_RUN_PID", pid) &&
	            environment_set(environment, "ABSHIM_REPORT", "none") &&
	            environment_set(environment, "ABSHIM_STACKS", stacks);
	free(library);
	if (!done)
		why_set(why, "no memory for the environment");
	return done;
}

/* Reads what the program left, and removes it. */
static void take_record(
        struct trial *trial, struct aftermath *aftermath, const struct environment *environment)
{
	char why[WHY_SIZE], *path = aftermath_find_record(aftermath->pid);
	struct record *record = path != NULL ? record_read_found(path, why) : NULL;
	if (record != NULL)
		trial->header = record->header;
	record_free(record);
	aftermath_settle(aftermath, environment);
	if (path != NULL && aftermath->found > 0)
		unlink(path);
	free(path);
}

static void take_words(struct trial *trial, int fd)
{
	ssize_t got = pread(fd, trial->said, sizeof(trial->said) - 1, 0);
	trial->said[got > 0 ? got : 0] = '\0';
	trial->said[strcspn(trial->said, "\n")] = '\0';
}

static void judge_end(struct trial *trial, const struct child *child, unsigned records)
{
	int status = child->status;
	trial->status = EXIT_OWN_FAILURE;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_REFUSED)
		trial->status = EXIT_REFUSED;
	if (trial->status == EXIT_REFUSED)
		why_set(trial->why, "%s", trial->said);
	else if (WIFSIGNALED(status))
		why_set(trial->why, "%s was killed by signal %d under libabshim.so", PROGRAM,
		        WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		why_set(trial->why, "%s exited with status %d under libabshim.so: %.200s", PROGRAM,
		        WEXITSTATUS(status), trial->said);
	else if (records == 0)
		why_set(trial->why, "libabshim.so left no record of %s%s%.200s", PROGRAM,
		        *trial->said != '\0' ? ": " : "", trial->said);
	else
		trial->status = 0;
}

/* Runs the program to its end. False: it could not be started. */
static bool run_program(
        struct trial *trial, const char *path, const struct environment *environment)
{
	char *arguments[] = { PROGRAM, NULL }, errors[64];
	int fd = memfd_create("doctor", MFD_CLOEXEC);
	snprintf(errors, sizeof(errors), "/proc/self/fd/%d", fd);
	const struct child_program program = { path, arguments, environment->strings, "/dev/null",
		errors };
	struct child child;
	children_begin();
	int error = child_start(&child, &program);
	if (error == 0) {
		struct aftermath aftermath = { .pid = child.pid,
			.start_ticks = process_start_ticks(child.pid) };
		child_wait(&child, SECONDS);
		child_end(&child, SIGKILL, true, SECONDS);
		aftermath.wait_status = child.status;
		take_words(trial, fd);
		take_record(trial, &aftermath, environment);
		judge_end(trial, &child, aftermath.found);
	} else {
		why_set(trial->why, "%.200s: %s", path, strerror(error));
		trial->status = EXIT_CANNOT_RUN;
	}
	children_finish();
	close(fd);
	return error == 0;
}

static void try_library(struct trial *trial, const char *stacks)
{
	struct environment environment;
	struct preflight preflight = { .path = NULL };
	*trial = (struct trial){ .status = EXIT_OWN_FAILURE };
	if (!environment_copy(&environment, environ)) {
		why_set(trial->why, "no memory for the environment");
		return;
	}
	int status = preflight_check(&preflight, PROGRAM, &environment, trial->why);
	if (status != 0)
		trial->status = status;
	else if (fill_environment(&environment, preflight.sanitizer, stacks, trial->why))
		run_program(trial, preflight.path, &environment);
	free(preflight.path);
	environment_free(&environment);
}

static void check_place(struct doctor *doctor, const struct record_header *header)
{
	struct statfs system;
	char folder[sizeof(header->path)];
	memcpy(folder, header->path, sizeof(folder));
	char *slash = strrchr(folder, '/');
	if (slash == NULL) {
		doctor_say(doctor, "records", FINDING_UNKNOWN, "no record was left to judge by");
		return;
	}
	*slash = '\0';
	struct doctor_place place = { .path = folder,
		.tmpfs = (header->flags & RECORD_NOT_TMPFS) == 0,
		.free_bytes = UINT64_MAX,
		.record_bytes = header->file_size };
	if (statfs(folder, &system) == 0)
		place.free_bytes = (uint64_t)system.f_bavail * (uint64_t)system.f_bsize;
	judge_place(doctor, &place);
}

/* Said last of what stands before a colon: the variable is known here. */
static void check_unwinding(struct doctor *doctor)
{
	static const char variable[] = "ABSHIM_STACKS: ";
	struct trial trial;
	try_library(&trial, "1");
	const char *said = strstr(trial.why, variable);
	if (trial.status == 0) {
		doctor_say(doctor, "libunwind", FINDING_OK, "loads: stacks=N can be asked for");
		return;
	}
	doctor_say(doctor, "libunwind", FINDING_WARN, "%s",
	        said != NULL ? said + strlen(variable) : trial.why);
	doctor_advise(doctor, "apt-get install libunwind8");
}

void check_library(struct doctor *doctor)
{
	struct trial trial;
	judge_libc(doctor, gnu_get_libc_version());
	try_library(&trial, "0");
	bool started = trial.status == 0;
	bool foreign = trial.status == EXIT_CANNOT_RUN || trial.status == EXIT_NOT_FOUND;
	if (started) {
		doctor_say(
		        doctor, "library", FINDING_OK, "libabshim.so was at work in %s", PROGRAM);
		check_place(doctor, &trial.header);
		check_unwinding(doctor);
	} else {
		doctor_say(doctor, "library", foreign ? FINDING_UNKNOWN : FINDING_FAIL, "%s",
		        trial.why);
		if (!foreign)
			doctor_advise(doctor,
			        "abshim run -- %s says more; make install puts "
			        "library and command together",
			        PROGRAM);
		doctor_say(doctor, "records", FINDING_UNKNOWN, "no record was left to judge by");
		doctor_say(doctor, "libunwind", FINDING_UNKNOWN, "the library was not at work");
	}
	judge_atomics(doctor, IS_AARCH64, (getauxval(AT_HWCAP) & LSE) != 0);
}
