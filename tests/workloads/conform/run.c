/*
 * Runs a case: bounded in time, its lines kept until it ends, however it does.
 */
#include "run.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASE_SECONDS 60
#define ARENA_SIZE   (1 << 20)
#define LINE_SIZE    256

const struct kind *kind_under_test;

static const char *case_name = "start";
static char lines[1 << 16];
static volatile size_t lines_length;
static pthread_mutex_t lines_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool forked;
static char *arena;
static size_t arena_used;

static void flush_lines(void)
{
	size_t length = lines_length;
	lines_length = 0;
	for (size_t at = 0; at < length;) {
		ssize_t written = write(1, lines + at, length - at);
		if (written <= 0)
			_exit(99);
		at += (size_t)written;
	}
}

static void add_line(const char *text)
{
	size_t length = strlen(text);
	if (length <= sizeof(lines) - lines_length) {
		memcpy(lines + lines_length, text, length);
		lines_length += length;
	}
}

void say(const char *format, ...)
{
	char text[LINE_SIZE], line[LINE_SIZE * 2];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	snprintf(line, sizeof(line), "%s: %s\n", case_name, text);
	pthread_mutex_lock(&lines_mutex);
	add_line(line);
	pthread_mutex_unlock(&lines_mutex);
}

/* Says what has become of the case, in a signal handler. */
static void end_badly(const char *what, int status)
{
	add_line(case_name);
	add_line(": ");
	add_line(what);
	flush_lines();
	_exit(status);
}

void require(bool condition, const char *what)
{
	if (!condition) {
		say("cannot go on: %s", what);
		end_badly("failed\n", 99);
	}
}

static void at_signal(int signal)
{
	if (signal == SIGALRM)
		end_badly("HANGS\n", 98);
	end_badly(signal == SIGSEGV   ? "CRASHES (SIGSEGV)\n"
	          : signal == SIGABRT ? "CRASHES (SIGABRT)\n"
	                              : "CRASHES\n",
	        97);
}

void watch_cases(void)
{
	static const int signals[] = { SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	struct sigaction action = { .sa_handler = at_signal };
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	require(arena != MAP_FAILED, "mmap");
}

void run_case(const struct conform_case *one)
{
	case_name = one->name;
	memset(arena, 0, arena_used);
	arena_used = 0;
	alarm(CASE_SECONDS);
	one->run();
	alarm(0);
	flush_lines();
}

void *shared_memory(size_t size)
{
	char *memory = arena + arena_used;
	arena_used += (size + 63) & ~(size_t)63;
	require(arena_used <= ARENA_SIZE, "the shared memory is too small");
	return memory;
}

pthread_mutex_t *new_mutex(void)
{
	pthread_mutex_t *mutex = shared_memory(sizeof(*mutex));
	require(kind_init(kind_under_test, mutex) == 0, "pthread_mutex_init");
	return mutex;
}

bool is_child(void)
{
	return forked;
}

int in_child(int (*function)(void *argument), void *argument)
{
	int status;
	pid_t child = fork();
	require(child >= 0, "fork");
	if (child == 0) {
		forked = true;
		lines_length = 0; /* the parent's */
		alarm(CASE_SECONDS / 2);
		status = function(argument);
		flush_lines();
		exit(status);
	}
	require(waitpid(child, &status, 0) == child, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
