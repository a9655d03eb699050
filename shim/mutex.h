/*
 * glibc's pthread_mutex_t: its words and its protocol. The only place that knows the layout, which
 * has been the same since glibc 2.4 on both architectures (struct __pthread_mutex_s).
 */
#ifndef SHIM_MUTEX_H
#define SHIM_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "real.h"
#include "strategy.h"

/* The bits of __kind: glibc, sysdeps/nptl and nptl/pthreadP.h. */
enum mutex_kind {
	KIND_NORMAL = 0,
	KIND_RECURSIVE = 1,
	KIND_ERRORCHECK = 2,
	KIND_ADAPTIVE = 3,
	KIND_TYPE = 3,
	KIND_SHARED = 128,
	KIND_ELISION = 256,
	KIND_NO_ELISION = 512, /* set by pthread_mutexattr_settype(PTHREAD_MUTEX_NORMAL) */
};

_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0 &&
                       offsetof(pthread_mutex_t, __data.__count) == 4 &&
                       offsetof(pthread_mutex_t, __data.__owner) == 8 &&
                       offsetof(pthread_mutex_t, __data.__nusers) == 12 &&
                       offsetof(pthread_mutex_t, __data.__kind) == 16 &&
                       offsetof(pthread_mutex_t, __data.__list) == 24,
        "the mutex words of glibc on 64-bit machines");

static inline int mutex_kind(const pthread_mutex_t *mutex)
{
	/* libc may set the elision bit at any time. */
	return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
}

/* NORMAL, RECURSIVE, ERRORCHECK or ADAPTIVE, private or shared; no other bit. */
static inline bool mutex_is_plain(int kind)
{
	return (kind & ~(KIND_TYPE | KIND_SHARED | KIND_NO_ELISION)) == 0;
}

/* A plain one without an owner check: the fast path's single branch. */
static inline bool mutex_is_plain_normal(int kind)
{
	return (kind & ~(KIND_SHARED | KIND_NO_ELISION)) == KIND_NORMAL;
}

static inline bool mutex_is_shared(int kind)
{
	return (kind & KIND_SHARED) != 0;
}

/* While the process has one thread, a private lock needs no atomic operation: as in libc. */
static inline bool mutex_alone(int kind)
{
	return *real_single_threaded != 0 && !mutex_is_shared(kind);
}

/* Takes a free word. */
static inline bool mutex_try(pthread_mutex_t *mutex, int kind)
{
	int *word = &mutex->__data.__lock;
	int expected = WORD_FREE;
	if (mutex_alone(kind)) {
		if (*word != WORD_FREE)
			return false;
		*word = WORD_TAKEN;
		return true;
	}
	/* Pairs with the release in mutex_release and in libc's own unlock. */
	return __atomic_compare_exchange_n(
	        word, &expected, WORD_TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * The list links are libc's for robust mutexes only. In the plain ones, one holds the line of the
 * queue strategy, the other the return address of the call that acquired the mutex, from there to
 * its release. Both are 0 when idle.
 */
static inline uint64_t *mutex_line(pthread_mutex_t *mutex)
{
	return (uint64_t *)&mutex->__data.__list.__prev;
}

static inline void mutex_set_site(pthread_mutex_t *mutex, const void *site)
{
	__atomic_store_n((const void **)&mutex->__data.__list.__next, site, __ATOMIC_RELAXED);
}

static inline uint64_t mutex_site(const pthread_mutex_t *mutex)
{
	return (uint64_t)(uintptr_t)__atomic_load_n(&mutex->__data.__list.__next, __ATOMIC_RELAXED);
}

static inline uint32_t mutex_owner(const pthread_mutex_t *mutex)
{
	return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
}

/* How often the owner of a recursive mutex has acquired it; at most 1 for other types. */
static inline uint32_t mutex_depth(const pthread_mutex_t *mutex)
{
	return mutex->__data.__count;
}

/* How many polls the mutex used to need: libc's own word for PTHREAD_MUTEX_ADAPTIVE_NP. */
static inline int mutex_polls_learned(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__spins, __ATOMIC_RELAXED);
}

static inline void mutex_learn_polls(pthread_mutex_t *mutex, int polls)
{
	__atomic_store_n(
	        &mutex->__data.__spins, (__typeof__(mutex->__data.__spins))polls, __ATOMIC_RELAXED);
}

/* Writes down the new owner of a taken word. */
static inline void mutex_own(pthread_mutex_t *mutex, uint32_t tid, const void *site)
{
	__atomic_store_n(&mutex->__data.__owner, (int)tid, __ATOMIC_RELAXED);
	mutex->__data.__nusers++;
	mutex_set_site(mutex, site);
}

/* Forgets the owner of a word that is still taken. */
static inline void mutex_disown(pthread_mutex_t *mutex)
{
	mutex_set_site(mutex, NULL);
	__atomic_store_n(&mutex->__data.__owner, 0, __ATOMIC_RELAXED);
	mutex->__data.__nusers--;
}

/* Gives the word back; true when a sleeper has to be woken. */
static inline bool mutex_release(pthread_mutex_t *mutex, int kind)
{
	int *word = &mutex->__data.__lock;
	mutex_disown(mutex);
	if (mutex_alone(kind)) {
		*word = WORD_FREE;
		return false;
	}
	/* Pairs with the acquire of the next owner. */
	return __atomic_exchange_n(word, WORD_FREE, __ATOMIC_RELEASE) == WORD_WAITED;
}

#endif
