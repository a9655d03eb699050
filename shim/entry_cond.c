/*
 * The pthread_cond_ functions; on x86-64 also those of glibc before 2.3.2, whose condition
 * variables are others.
 */
#include <pthread.h>

#include "cond_calls.h"
#include "export.h"
#include "real.h"

EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	return cond_signal(cond, REAL(pthread_cond_signal));
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	return cond_broadcast(cond, REAL(pthread_cond_broadcast));
}

EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return cond_wait(cond, mutex, CALL_SITE, REAL(pthread_cond_wait));
}

EXPORT int pthread_cond_timedwait(
        pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
	return cond_timedwait(cond, mutex, deadline, CALL_SITE, REAL(pthread_cond_timedwait));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
        const struct timespec *deadline)
{
	return cond_clockwait(cond, mutex, clock, deadline, CALL_SITE);
}

/* Only the library has versions; the shim within a program (a test's) is position-independent in
 * another way. */
#if defined(__x86_64__) && defined(__PIC__) && !defined(__PIE__)
/* The name under which an old program looks for it; the second @ would make it the default. */
#define EXPORT_OLD(name)                                                                           \
	EXPORT __typeof__(name) old_##name;                                                        \
	__asm__(".symver old_" #name ", " #name "@GLIBC_2.2.5")

EXPORT_OLD(pthread_cond_signal);
EXPORT_OLD(pthread_cond_broadcast);
EXPORT_OLD(pthread_cond_wait);
EXPORT_OLD(pthread_cond_timedwait);

int old_pthread_cond_signal(pthread_cond_t *cond)
{
	return cond_signal(cond, REAL(old_pthread_cond_signal));
}

int old_pthread_cond_broadcast(pthread_cond_t *cond)
{
	return cond_broadcast(cond, REAL(old_pthread_cond_broadcast));
}

int old_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return cond_wait(cond, mutex, CALL_SITE, REAL(old_pthread_cond_wait));
}

int old_pthread_cond_timedwait(
        pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
	return cond_timedwait(cond, mutex, deadline, CALL_SITE, REAL(old_pthread_cond_timedwait));
}
#endif
