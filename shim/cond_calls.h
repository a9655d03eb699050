/*
 * What a program may ask of a condition variable, by whichever of libc's names: pthread_cond_ or
 * C11's cnd_.
 *
 * site: the return address of the program's call, which acquires the mutex anew. All return error
 * numbers as pthread_cond_ does. Deadlines are absolute.
 */
#ifndef SHIM_COND_CALLS_H
#define SHIM_COND_CALLS_H

#include <pthread.h>
#include <time.h>

int cond_signal(pthread_cond_t *cond);
int cond_broadcast(pthread_cond_t *cond);
int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const void *site);

/* By the condition variable's own clock. */
int cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline,
        const void *site);

int cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
        const struct timespec *deadline, const void *site);

#endif
