/*
 * Every kind of mutex that glibc has, made by attributes or by a static initialiser, and those of
 * the other locks.
 */
#include "conform.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const pthread_mutex_t static_normal = PTHREAD_MUTEX_INITIALIZER;
static const pthread_mutex_t static_recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const pthread_mutex_t static_errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static const pthread_mutex_t static_adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

#define UNCHECKED  (TRAIT_UNCHECKED | TRAIT_PLAIN)
#define ERRORCHECK (TRAIT_CHECKED | TRAIT_ANSWERS | TRAIT_PLAIN)
#define RECURSIVE  (ERRORCHECK | TRAIT_RECURSIVE)

#define NORMAL PTHREAD_MUTEX_NORMAL
#define RECURS PTHREAD_MUTEX_RECURSIVE
#define ERRORS PTHREAD_MUTEX_ERRORCHECK
#define ADAPTS PTHREAD_MUTEX_ADAPTIVE_NP
#define NONE   PTHREAD_PRIO_NONE

#define READER PTHREAD_RWLOCK_PREFER_READER_NP
#define WRITER PTHREAD_RWLOCK_PREFER_WRITER_NP
#define NONREC PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP

const struct kind kinds[] = {
	{ "normal", -1, NONE, 0, 0, NULL, UNCHECKED | TRAIT_FIRST },
	{ "normal-set", NORMAL, NONE, 0, 0, NULL, UNCHECKED },
	{ "recursive", RECURS, NONE, 0, 0, NULL, RECURSIVE },
	{ "errorcheck", ERRORS, NONE, 0, 0, NULL, ERRORCHECK },
	{ "adaptive", ADAPTS, NONE, 0, 0, NULL, UNCHECKED },
	{ "normal-shared", -1, NONE, 0, 1, NULL, UNCHECKED | TRAIT_SHARED },
	{ "normal-set-shared", NORMAL, NONE, 0, 1, NULL, UNCHECKED | TRAIT_SHARED },
	{ "recursive-shared", RECURS, NONE, 0, 1, NULL, RECURSIVE | TRAIT_SHARED },
	{ "errorcheck-shared", ERRORS, NONE, 0, 1, NULL, ERRORCHECK | TRAIT_SHARED },
	{ "adaptive-shared", ADAPTS, NONE, 0, 1, NULL, UNCHECKED | TRAIT_SHARED },
	{ "static-normal", -1, NONE, 0, 0, &static_normal, UNCHECKED },
	{ "static-recursive", -1, NONE, 0, 0, &static_recursive, RECURSIVE },
	{ "static-errorcheck", -1, NONE, 0, 0, &static_errorcheck, ERRORCHECK },
	{ "static-adaptive", -1, NONE, 0, 0, &static_adaptive, UNCHECKED },
	{ "robust", -1, NONE, 1, 0, NULL, TRAIT_CHECKED | TRAIT_ROBUST },
	{ "robust-recursive", RECURS, NONE, 1, 1, NULL,
	        TRAIT_CHECKED | TRAIT_ANSWERS | TRAIT_RECURSIVE | TRAIT_ROBUST | TRAIT_SHARED },
	{ "inherit", -1, PTHREAD_PRIO_INHERIT, 0, 0, NULL, 0 },
	{ "protect", -1, PTHREAD_PRIO_PROTECT, 0, 0, NULL, 0 },
	{ "rwlock-static", -1, NONE, 0, 0, NULL, TRAIT_RWLOCK | TRAIT_RECURSIVE },
	{ "rwlock-reader", READER, NONE, 0, 0, NULL, TRAIT_RWLOCK | TRAIT_RECURSIVE },
	{ "rwlock-writer", WRITER, NONE, 0, 0, NULL, TRAIT_RWLOCK | TRAIT_RECURSIVE },
	{ "rwlock-nonrecursive", NONREC, NONE, 0, 0, NULL, TRAIT_RWLOCK },
	{ "rwlock-reader-shared", READER, NONE, 0, 1, NULL,
	        TRAIT_RWLOCK | TRAIT_RECURSIVE | TRAIT_SHARED },
	{ "rwlock-nonrecursive-shared", NONREC, NONE, 0, 1, NULL, TRAIT_RWLOCK | TRAIT_SHARED },
	{ "spinlock", -1, NONE, 0, 0, NULL, TRAIT_SPINLOCK },
	{ "spinlock-shared", -1, NONE, 0, 1, NULL, TRAIT_SPINLOCK | TRAIT_SHARED },
	{ "sem", -1, NONE, 0, 0, NULL, TRAIT_SEM },
	{ "sem-shared", -1, NONE, 0, 1, NULL, TRAIT_SEM | TRAIT_SHARED },
	{ "barrier", -1, NONE, 0, 0, NULL, TRAIT_BARRIER },
	{ "barrier-shared", -1, NONE, 0, 1, NULL, TRAIT_BARRIER | TRAIT_SHARED },
	{ "once", -1, NONE, 0, 0, NULL, TRAIT_ONCE },
	{ NULL, 0, 0, 0, 0, NULL, 0 },
};

const struct kind *kind_find(const char *name)
{
	for (const struct kind *kind = kinds; kind->name != NULL; kind++)
		if (strcmp(kind->name, name) == 0)
			return kind;
	return NULL;
}

static void *lock_and_die(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

static bool deaths_are_told(void)
{
	static pthread_mutex_t mutex;
	pthread_t thread;
	kind_init(kind_find("robust"), &mutex);
	if (pthread_create(&thread, NULL, lock_and_die, &mutex) != 0)
		return false;
	pthread_join(thread, NULL);
	if (pthread_mutex_trylock(&mutex) != EOWNERDEAD)
		return false;
	pthread_mutex_consistent(&mutex);
	return pthread_mutex_unlock(&mutex) == 0;
}

unsigned system_traits(void)
{
	static unsigned traits;
	static bool known;
	const char *emulator = getenv("EMULATOR");
	if (known)
		return traits;
	if (deaths_are_told())
		traits |= TRAIT_DEATHS;
	/* User emulation of QEMU 7.2 dies of it. */
	if (emulator == NULL || *emulator == '\0')
		traits |= TRAIT_CHILD_THREADS;
	known = true;
	return traits;
}

/* glibc raises the owner's priority to the ceiling, which the scheduler takes for realtime threads
 * only; those that they start inherit it. */
int kind_prepare(const struct kind *kind)
{
	struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_RR) };
	if (kind->protocol != PTHREAD_PRIO_PROTECT)
		return 0;
	return pthread_setschedparam(pthread_self(), SCHED_RR, &param);
}

int kind_init(const struct kind *kind, pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attributes;
	if (kind->initialiser != NULL) {
		memcpy(mutex, kind->initialiser, sizeof(*mutex));
		return 0;
	}
	pthread_mutexattr_init(&attributes);
	if (kind->type >= 0)
		pthread_mutexattr_settype(&attributes, kind->type);
	pthread_mutexattr_setprotocol(&attributes, kind->protocol);
	if (kind->protocol == PTHREAD_PRIO_PROTECT)
		pthread_mutexattr_setprioceiling(&attributes, sched_get_priority_min(SCHED_RR));
	pthread_mutexattr_setrobust(
	        &attributes, kind->robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setpshared(
	        &attributes, kind->shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	int result = pthread_mutex_init(mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return result;
}
