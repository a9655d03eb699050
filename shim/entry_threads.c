/*
 * The functions of <threads.h>, in its order. glibc makes its mtx_t, cnd_t and once_flag of the
 * words of the pthread_ types, and calls none of its own public names for them.
 */
#include <threads.h>

#include <errno.h>
#include <pthread.h>

#include "cond_calls.h"
#include "export.h"
#include "lifetime.h"
#include "mutex_calls.h"
#include "once.h"
#include "real.h"
#include "thread.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) &&
                       sizeof(cnd_t) == sizeof(pthread_cond_t) &&
                       sizeof(once_flag) == sizeof(pthread_once_t),
        "C11's types are those of pthread");

static pthread_mutex_t *mutex_of(mtx_t *mutex)
{
	return (pthread_mutex_t *)mutex;
}

static pthread_cond_t *cond_of(cnd_t *cond)
{
	return (pthread_cond_t *)cond;
}

/* An error number in the words of C11: glibc, nptl/thrd_priv.h. */
static inline int c11_result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	case EBUSY:
		return thrd_busy;
	default:
		return thrd_error;
	}
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	thread_creates();
	int result = REAL(thrd_create)(thread, function, argument);
	if (result == thrd_success)
		thread_created();
	return result;
}

EXPORT int mtx_init(mtx_t *mutex, int type)
{
	lifetime_ends(mutex_of(mutex), FAMILY_mutex);
	int result = REAL(mtx_init)(mutex, type);
	if (result == thrd_success)
		lifetime_begins(mutex_of(mutex), CALL_SITE);
	return result;
}

EXPORT int mtx_lock(mtx_t *mutex)
{
	return c11_result(mutex_lock(mutex_of(mutex), CALL_SITE));
}

EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
	return c11_result(mutex_timedlock(mutex_of(mutex), deadline, CALL_SITE));
}

EXPORT int mtx_trylock(mtx_t *mutex)
{
	return c11_result(mutex_trylock(mutex_of(mutex), CALL_SITE));
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
	return c11_result(mutex_unlock(mutex_of(mutex), CALL_SITE));
}

EXPORT void mtx_destroy(mtx_t *mutex)
{
	REAL(mtx_destroy)(mutex);
	lifetime_ends(mutex_of(mutex), FAMILY_mutex);
}

EXPORT void call_once(once_flag *flag, void (*function)(void))
{
	once_call((pthread_once_t *)flag, function, CALL_SITE);
}

EXPORT int cnd_signal(cnd_t *cond)
{
	return c11_result(cond_signal(cond_of(cond), REAL(pthread_cond_signal)));
}

EXPORT int cnd_broadcast(cnd_t *cond)
{
	return c11_result(cond_broadcast(cond_of(cond), REAL(pthread_cond_broadcast)));
}

EXPORT int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	return c11_result(
	        cond_wait(cond_of(cond), mutex_of(mutex), CALL_SITE, REAL(pthread_cond_wait)));
}

EXPORT int cnd_timedwait(
        cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
	return c11_result(cond_timedwait(
	        cond_of(cond), mutex_of(mutex), deadline, CALL_SITE, REAL(pthread_cond_timedwait)));
}
