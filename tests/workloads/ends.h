/*
 * What the workloads about ends of processes share: mutex acquisitions in exact numbers, and output
 * that leaves nothing in a buffer.
 */
#ifndef WORKLOADS_ENDS_H
#define WORKLOADS_ENDS_H

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORK_HERE    300
#define WORK_THERE   700
#define WORK         (WORK_HERE + WORK_THERE)
#define WRONG_STATUS 99 /* the workload itself has failed */

/* One way to end, by name. Returns the exit status where it returns. */
struct ending {
	const char *name;
	int (*run)(void);
};

static pthread_mutex_t ends_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Prints a line at once. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
	char line[256];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (write(1, line, (size_t)length) != length)
		_exit(WRONG_STATUS);
}

static inline void require(int condition, const char *what)
{
	if (condition)
		return;
	say("failed: %s\n", what);
	_exit(WRONG_STATUS);
}

static inline void lock_times(int times)
{
	for (int i = 0; i < times; i++) {
		pthread_mutex_lock(&ends_mutex);
		pthread_mutex_unlock(&ends_mutex);
	}
}

static inline void *work_there(void *unused)
{
	lock_times(WORK_THERE);
	return unused;
}

static inline pthread_t start_thread(void *(*function)(void *))
{
	pthread_t thread;
	require(pthread_create(&thread, NULL, function, NULL) == 0, "pthread_create");
	return thread;
}

/* WORK acquisitions by two threads, the second of which has ended. */
static inline void work(void)
{
	pthread_t thread = start_thread(work_there);
	lock_times(WORK_HERE);
	pthread_join(thread, NULL);
}

static inline int run_ending(const struct ending *endings, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(endings[i].name, name) == 0)
			return endings[i].run();
	say("no such ending: %s\n", name);
	return WRONG_STATUS;
}

#endif
