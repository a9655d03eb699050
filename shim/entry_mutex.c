/*
 * The pthread_mutex_ functions.
 */
#include <pthread.h>

#include "export.h"
#include "lifetime.h"
#include "mutex_calls.h"
#include "real.h"

EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	lifetime_ends(mutex, FAMILY_mutex);
	int result = REAL(pthread_mutex_init)(mutex, attributes);
	if (result == 0)
		lifetime_begins(mutex, CALL_SITE);
	return result;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	int result = REAL(pthread_mutex_destroy)(mutex);
	if (result == 0)
		lifetime_ends(mutex, FAMILY_mutex);
	return result;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	return mutex_trylock(mutex, CALL_SITE);
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return mutex_lock(mutex, CALL_SITE);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
	return mutex_timedlock(mutex, deadline, CALL_SITE);
}

EXPORT int pthread_mutex_clocklock(
        pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline)
{
	return mutex_clocklock(mutex, clock, deadline, CALL_SITE);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return mutex_unlock(mutex, CALL_SITE);
}

EXPORT_AS(__pthread_mutex_init, pthread_mutex_init);
EXPORT_AS(__pthread_mutex_destroy, pthread_mutex_destroy);
EXPORT_AS(__pthread_mutex_trylock, pthread_mutex_trylock);
EXPORT_AS(__pthread_mutex_lock, pthread_mutex_lock);
EXPORT_AS(__pthread_mutex_unlock, pthread_mutex_unlock);
