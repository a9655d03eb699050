/*
 * The slow path of a mutex: carries a contended wait out as the strategy in force says, and writes
 * down what it cost.
 */
#ifndef SHIM_WAIT_H
#define SHIM_WAIT_H

#include <pthread.h>

#include "limit.h"
#include "probes/record.h"

/*
 * Waits for a plain mutex whose word was found taken. On success the mutex has its owner, its user
 * count and its site. self: the calling thread. site: the return address of its call.
 * Returns 0, ETIMEDOUT, EINVAL, or what libc's function returned.
 */
int wait_for_mutex(pthread_mutex_t *mutex, struct record_thread *self, const void *site,
        const struct wait_limit *limit);

#endif
