/*
 * Allocates in known ways.
 *   counts GETTERS BLOCKS   threads get blocks and hand them to one that frees them, and to nobody
 *   arenas THREADS          prints how many arenas malloc_info knows once each thread has a block
 *   cached BLOCKS           prints how many of so many freed blocks the thread keeps for itself
 *   show [ARGUMENT]...      prints how the program was started
 *   spawn PROGRAM [ARG]...  runs a program by posix_spawn and by fork and exec
 */
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/alloc_count/owners.h"

#define GETTERS_MOST 16
#define CACHED_BYTES 512u

extern char **environ;

/* owners.h of the library itself, for its arithmetic alone. */
uint64_t owners_table[OWNERS];

static unsigned long blocks;
static void **handed[GETTERS_MOST];
static pthread_barrier_t barrier;

static void name_thread(const char *name)
{
	pthread_setname_np(pthread_self(), name);
}

/* One block of 24 bytes, or grown to that from 8 in every fourth case. */
static void *get_block(unsigned long i)
{
	void *block = NULL;
	switch (i % 4) {
	case 0:
		return malloc(24);
	case 1:
		return calloc(4, 6);
	case 2:
		return posix_memalign(&block, 64, 24) == 0 ? block : NULL;
	default:
		return realloc(malloc(8), 24);
	}
}

static void *get(void *argument)
{
	name_thread("getter");
	void **mine = argument;
	for (unsigned long i = 0; i < blocks; i++)
		mine[i] = get_block(i);
	return NULL;
}

/* For itself. */
static void *use(void *argument)
{
	name_thread("user");
	for (unsigned long i = 0; i < blocks; i++) {
		void *volatile block = get_block(i);
		free(block);
	}
	free(NULL);
	return argument;
}

static void *give(void *argument)
{
	unsigned getters = *(unsigned *)argument;
	name_thread("giver");
	for (unsigned i = 0; i < getters; i++)
		for (unsigned long at = 0; at < blocks; at++)
			free(handed[i][at]);
	return NULL;
}

/* How many of the blocks have a place of their own in the table: of two on one place, the later. */
static unsigned long count_sampled(unsigned getters)
{
	unsigned long count = 0;
	for (unsigned i = 0; i < getters; i++)
		for (unsigned long at = 0; at < blocks; at++) {
			uint64_t hash = owners_hash(handed[i][at]);
			if (!owners_sampled(hash))
				continue;
			count += *owners_place(hash) == 0;
			*owners_place(hash) = 1;
		}
	return count;
}

static void run_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, argument) != 0)
		exit(2);
	pthread_join(thread, NULL);
}

static int do_counts(char **arguments)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	unsigned getters = (unsigned)atoi(arguments[0]);
	blocks = strtoul(arguments[1], NULL, 10);
	if (getters > GETTERS_MOST)
		return 2;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	for (unsigned i = 0; i < getters; i++) {
		handed[i] = malloc(blocks * sizeof(void *));
		run_thread(get, handed[i]);
	}
	printf("%lu\n", count_sampled(getters));
	run_thread(give, &getters);
	run_thread(use, NULL);
	return 0;
}

static void *stay(void *argument)
{
	void *volatile block = malloc(100);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	free(block);
	return argument;
}

static void print_arenas(void)
{
	char *text = NULL;
	size_t size = 0;
	unsigned count = 0;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL || malloc_info(0, out) != 0)
		exit(2);
	fclose(out);
	for (const char *at = text; (at = strstr(at, "<heap nr=")) != NULL; at++)
		count++;
	printf("%u\n", count);
	free(text);
}

static int do_arenas(char **arguments)
{
	unsigned threads = (unsigned)atoi(arguments[0]);
	pthread_t made[threads];
	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&made[i], NULL, stay, NULL) != 0)
			return 2;
	pthread_barrier_wait(&barrier);
	print_arenas();
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(made[i], NULL);
	return 0;
}

/* Bytes that malloc holds to be in use: blocks in a thread's cache are. mallinfo2 is newer than
 * the oldest libc. */
static size_t bytes_in_use(void)
{
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	return (size_t)mallinfo().uordblks;
}

static int do_cached(char **arguments)
{
	unsigned count = (unsigned)atoi(arguments[0]);
	void *got[count];
	for (unsigned i = 0; i < count; i++)
		got[i] = malloc(CACHED_BYTES);
	size_t whole = malloc_usable_size(got[0]) + sizeof(size_t), before = bytes_in_use();
	for (unsigned i = 0; i < count; i++)
		free(got[i]);
	printf("%zu\n", count - (before - bytes_in_use()) / whole);
	return 0;
}

static void show_lines(const char *path, const char *first, const char *second)
{
	char line[4096];
	FILE *file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, first, strlen(first)) == 0 ||
		        strncmp(line, second, strlen(second)) == 0)
			fputs(line, stdout);
	if (file != NULL)
		fclose(file);
}

/* Descriptors that were there at the start: this is called before others are opened. */
static void show_descriptors(void)
{
	for (int fd = 0; fd < 64; fd++) {
		char path[32], target[512];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		printf("fd %d %s\n", fd, fd > 2 ? target : "");
	}
}

static bool is_ours(const char *variable)
{
	static const char *const own[] = { "LD_PRELOAD=", "ABSHIM_", "GLIBC_TUNABLES=", "_=" };
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strncmp(variable, own[i], strlen(own[i])) == 0)
			return true;
	return false;
}

static int do_show(int argc, char **argv)
{
	char directory[4096];
	struct rlimit limit;
	show_descriptors();
	for (int i = 0; i < argc; i++)
		printf("argument [%s]\n", argv[i]);
	for (char **variable = environ; *variable != NULL; variable++)
		if (!is_ours(*variable))
			printf("variable [%s]\n", *variable);
	printf("executed as %s\n", (const char *)getauxval(AT_EXECFN));
	printf("directory %s\n", getcwd(directory, sizeof(directory)));
	show_lines("/proc/self/status", "Name:", "SigBlk:");
	show_lines("/proc/self/status", "SigIgn:", "Umask:");
	getrlimit(RLIMIT_NOFILE, &limit);
	printf("files %lu, nice %d\n", (unsigned long)limit.rlim_cur, getpriority(PRIO_PROCESS, 0));
	return 0;
}

static int do_spawn(char **arguments)
{
	int status, statuses = 0;
	pid_t pid;
	if (posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ) != 0)
		return 2;
	waitpid(pid, &status, 0);
	statuses |= status;
	pid = fork();
	if (pid == 0) {
		execvp(arguments[0], arguments);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return (statuses | status) != 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "counts") == 0 && argc == 4)
		return do_counts(argv + 2);
	if (strcmp(what, "arenas") == 0 && argc == 3)
		return do_arenas(argv + 2);
	if (strcmp(what, "cached") == 0 && argc == 3)
		return do_cached(argv + 2);
	if (strcmp(what, "show") == 0)
		return do_show(argc, argv);
	if (strcmp(what, "spawn") == 0 && argc > 2)
		return do_spawn(argv + 2);
	fprintf(stderr, "%s counts|arenas|cached|show|spawn ...\n", argv[0]);
	return 2;
}
