/*
 * What a program may ask of a condition variable, by whichever of libc's names: pthread_cond_ or
 * C11's cnd_.
 *
 * site: the return address of the program's call, which acquires the mutex anew. All return error
 * numbers as pthread_cond_ does. Deadlines are absolute. libc: the function that does it, of the
 * family that the condition variable is of.
 */
#ifndef SHIM_COND_CALLS_H
#define SHIM_COND_CALLS_H

#include <pthread.h>
#include <time.h>

int cond_signal(pthread_cond_t *cond, __typeof__(pthread_cond_signal) *libc);
int cond_broadcast(pthread_cond_t *cond, __typeof__(pthread_cond_broadcast) *libc);
int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const void *site,
        __typeof__(pthread_cond_wait) *libc);

/* By the condition variable's own clock. */
int cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline,
        const void *site, __typeof__(pthread_cond_timedwait) *libc);

int cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
        const struct timespec *deadline, const void *site);

#endif
