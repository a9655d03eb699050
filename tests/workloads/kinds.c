/*
 * Threads that count under one mutex of every kind in turn. Prints, kind by kind, what came out;
 * and, last, how many acquisitions of plain kinds and how many calls for other kinds there were.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS  2000

struct kind {
	const char *name;
	int type, protocol, robust, shared;
};

static const struct kind kinds[] = {
	{ "normal", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, 0, 0 },
	{ "normal shared", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, 0, 1 },
	{ "recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, 0, 0 },
	{ "errorcheck", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, 0, 0 },
	{ "adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, 0, 0 },
	{ "robust", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, 1, 0 },
	{ "robust recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, 1, 1 },
	{ "inherit", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, 0, 0 },
	{ "inherit robust", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, 1, 1 },
	{ "protect", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_PROTECT, 0, 0 },
};

static pthread_mutex_t mutex;
static unsigned long counter, plain_acquisitions, other_calls;

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "kinds: failed: %s\n", what);
	exit(99);
}

static bool is_plain(const struct kind *kind)
{
	return kind->protocol == PTHREAD_PRIO_NONE && !kind->robust;
}

/* Counts two calls, an acquisition and a release, that have been made by this thread. */
static void note(const struct kind *kind)
{
	if (is_plain(kind))
		__atomic_fetch_add(&plain_acquisitions, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&other_calls, 2, __ATOMIC_RELAXED);
}

static void *count(void *argument)
{
	const struct kind *kind = argument;
	bool twice = kind->type == PTHREAD_MUTEX_RECURSIVE;
	for (int i = 0; i < ROUNDS; i++) {
		require(pthread_mutex_lock(&mutex) == 0, "pthread_mutex_lock");
		require(!twice || pthread_mutex_lock(&mutex) == 0, "a second pthread_mutex_lock");
		counter++;
		require(!twice || pthread_mutex_unlock(&mutex) == 0, "an inner unlock");
		require(pthread_mutex_unlock(&mutex) == 0, "pthread_mutex_unlock");
		note(kind);
		if (twice)
			note(kind);
	}
	return NULL;
}

/* Sets up the mutex. False where the system grants no such kind to this user. */
static bool make_mutex(const struct kind *kind)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, kind->type);
	pthread_mutexattr_setprotocol(&attributes, kind->protocol);
	pthread_mutexattr_setrobust(
	        &attributes, kind->robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setpshared(
	        &attributes, kind->shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	if (pthread_mutex_init(&mutex, &attributes) != 0)
		return false;
	int result = pthread_mutex_lock(&mutex);
	note(kind);
	if (result == 0)
		return pthread_mutex_unlock(&mutex) == 0;
	other_calls--; /* there was no release */
	return false;
}

static void run(const struct kind *kind)
{
	pthread_t threads[THREADS];
	counter = 0;
	if (!make_mutex(kind)) {
		printf("%s: not granted\n", kind->name);
		return;
	}
	for (int i = 0; i < THREADS; i++)
		require(pthread_create(&threads[i], NULL, count, (void *)kind) == 0,
		        "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%s: %lu\n", kind->name, counter);
	pthread_mutex_destroy(&mutex);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		run(&kinds[i]);
	printf("plain acquisitions %lu, other calls %lu\n", plain_acquisitions, other_calls);
	return 0;
}
