/*
 * Runs other programs, a few at a time, for tests that compare what they print.
 */
#ifndef TESTS_RUNS_H
#define TESTS_RUNS_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_WORDS    8
#define RUN_SETTINGS 4
#define RUN_TOO_LONG 1000

/* One run. The first part is the caller's; its texts must outlive the run. */
struct run {
	const char *words[RUN_WORDS];       /* the program's path and arguments, NULL at the end */
	const char *settings[RUN_SETTINGS]; /* NAME=value of the environment, NULL at the end */
	const char *preload;                /* LD_PRELOAD, NULL for none */
	bool quiet;                         /* nothing of it goes to standard error */

	char *output; /* what it wrote to standard output */
	int status;   /* exit status; -SIGNAL when a signal ended it; or RUN_TOO_LONG */
	pid_t pid;
	int fd;
	time_t deadline;
};

static inline time_t runs_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* A new folder for records, in the one that the caller's environment names or in memory. */
static inline char *runs_make_folder(void)
{
	static char folder[4096];
	const char *parents[] = { getenv("ABSHIM_DIR"), "/dev/shm", "/tmp" };
	for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++) {
		if (parents[i] == NULL)
			continue;
		snprintf(folder, sizeof(folder), "%s/runs.XXXXXX", parents[i]);
		if (mkdtemp(folder) != NULL)
			return folder;
	}
	return NULL;
}

/* Removes the records in the folder, also of processes that still run: they keep the mapping. */
static inline void runs_forget_records(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL)
		unlinkat(dirfd(directory), entry->d_name, 0);
	closedir(directory);
}

static inline bool runs_is_ours(const char *variable)
{
	static const char *const names[] = { "ABSHIM_", "LIBPTHREAD_",
		"LD_PRELOAD=", "GLIBC_TUNABLES=" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* The words of a command line, and the variables of an environment. */
struct run_command {
	char *words[32], *variables[512];
	char emulator[1024], preload[8192], folder[4200];
	unsigned word_count, variable_count;
};

static inline void runs_add_word(struct run_command *command, const char *word)
{
	if (command->word_count < sizeof(command->words) / sizeof(*command->words) - 1)
		command->words[command->word_count++] = (char *)word;
}

static inline void runs_add_variable(struct run_command *command, const char *variable)
{
	if (command->variable_count < sizeof(command->variables) / sizeof(*command->variables) - 1)
		command->variables[command->variable_count++] = (char *)variable;
}

/* An emulator takes the preload as an option: it must not be preloaded into itself. */
static inline void runs_fill(struct run_command *command, const struct run *run, const char *folder)
{
	const char *emulator = getenv("EMULATOR");
	memset(command, 0, sizeof(*command));
	snprintf(command->emulator, sizeof(command->emulator), "%s", emulator ? emulator : "");
	for (char *word = strtok(command->emulator, " "); word != NULL; word = strtok(NULL, " "))
		runs_add_word(command, word);
	for (char **variable = environ; *variable != NULL; variable++)
		if (!runs_is_ours(*variable))
			runs_add_variable(command, *variable);
	snprintf(command->preload, sizeof(command->preload), "LD_PRELOAD=%s",
	        run->preload ? run->preload : "");
	/* QEMU forks while its other threads may hold the locks of GLib's own allocator. */
	if (command->word_count > 0)
		runs_add_variable(command, "G_SLICE=always-malloc");
	if (run->preload != NULL && command->word_count > 0) {
		runs_add_word(command, "-E");
		runs_add_word(command, command->preload);
	} else if (run->preload != NULL) {
		runs_add_variable(command, command->preload);
	}
	for (unsigned i = 0; i < RUN_WORDS && run->words[i] != NULL; i++)
		runs_add_word(command, run->words[i]);
	snprintf(command->folder, sizeof(command->folder), "ABSHIM_DIR=%s", folder);
	runs_add_variable(command, command->folder);
	runs_add_variable(command, "ABSHIM_REPORT=none");
	for (unsigned i = 0; i < RUN_SETTINGS && run->settings[i] != NULL; i++)
		runs_add_variable(command, run->settings[i]);
}

static inline bool runs_start(struct run *run, const char *folder, unsigned seconds)
{
	struct run_command command;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	runs_fill(&command, run, folder);
	run->fd = memfd_create("output", MFD_CLOEXEC);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, run->fd, 1);
	if (run->quiet)
		posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	int error = posix_spawnp(
	        &run->pid, command.words[0], &files, &attributes, command.words, command.variables);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	run->deadline = runs_now() + seconds;
	if (error != 0)
		fprintf(stderr, "cannot run %s: %s\n", command.words[0], strerror(error));
	return error == 0;
}

static inline char *runs_read_output(int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return NULL;
	char *text = calloc((size_t)status.st_size + 1, 1);
	if (text != NULL && pread(fd, text, (size_t)status.st_size, 0) != status.st_size) {
		free(text);
		text = NULL;
	}
	close(fd);
	return text;
}

/* Whether the run has ended, by itself or by its deadline; then its output is there. */
static inline bool runs_has_ended(struct run *run)
{
	int status;
	bool late = runs_now() >= run->deadline;
	if (late)
		kill(-run->pid, SIGKILL);
	if (waitpid(run->pid, &status, late ? 0 : WNOHANG) == 0)
		return false;
	kill(-run->pid, SIGKILL); /* children that it left behind */
	run->status = late                ? RUN_TOO_LONG
	              : WIFEXITED(status) ? WEXITSTATUS(status)
	                                  : -WTERMSIG(status);
	run->output = runs_read_output(run->fd);
	return true;
}

/*
 * Carries out all runs, `wide` of them at a time (8 at most), each for `seconds` at most, under
 * $EMULATOR where that is set. Variables that concern the library are the run's own settings only;
 * records are removed. False, having said why, when not all programs could be started.
 */
static inline bool runs_carry_out(struct run *runs, unsigned count, unsigned wide, unsigned seconds)
{
	struct run *running[8] = { NULL };
	unsigned started = 0, ended = 0;
	bool good = true;
	const char *folder = runs_make_folder();
	if (folder == NULL)
		return false;
	while (ended < started || (started < count && good)) {
		for (unsigned i = 0; i < wide && i < 8; i++) {
			if (running[i] != NULL && runs_has_ended(running[i])) {
				running[i] = NULL;
				ended++;
			}
			if (running[i] == NULL && started < count && good) {
				good = runs_start(&runs[started], folder, seconds);
				running[i] = good ? &runs[started++] : NULL;
			}
		}
		runs_forget_records(folder);
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	}
	rmdir(folder);
	return good;
}

#endif
