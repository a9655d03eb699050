/*
 * The pthread_cond_ functions.
 */
#include <pthread.h>

#include "cond_calls.h"
#include "export.h"

EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	return cond_signal(cond);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	return cond_broadcast(cond);
}

EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return cond_wait(cond, mutex, CALL_SITE);
}

EXPORT int pthread_cond_timedwait(
        pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
	return cond_timedwait(cond, mutex, deadline, CALL_SITE);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
        const struct timespec *deadline)
{
	return cond_clockwait(cond, mutex, clock, deadline, CALL_SITE);
}
