/*
 * The pthread_barrier_ functions: libc waits, we count and time.
 */
#include <pthread.h>

#include "export.h"
#include "lifetime.h"
#include "probes/counters.h"
#include "real.h"
#include "thread.h"
#include "waiting.h"

EXPORT int pthread_barrier_init(
        pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count)
{
	lifetime_ends(barrier, FAMILY_barrier);
	int result = REAL_THREADS(pthread_barrier_init)(barrier, attributes, count);
	if (result == 0)
		lifetime_begins(barrier, CALL_SITE);
	return result;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	int result = REAL_THREADS(pthread_barrier_destroy)(barrier);
	if (result == 0)
		lifetime_ends(barrier, FAMILY_barrier);
	return result;
}

/* The barrier may be gone when libc's function returns. */
EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct record_thread *self = thread_current();
	struct wait_event event = {
		.lock = (uint64_t)(uintptr_t)barrier,
		.site = (uint64_t)(uintptr_t)CALL_SITE,
		.family = FAMILY_barrier,
	};
	if (self == NULL)
		return REAL_THREADS(pthread_barrier_wait)(barrier);
	struct waiting waiting = waiting_begin(self, &event);
	int result = REAL_THREADS(pthread_barrier_wait)(barrier);
	uint64_t wait_ns = waiting_end(&waiting, false);
	struct barrier_counters *counters = &self->counters.barrier;
	counter_add(&counters->waits, 1);
	if (result == PTHREAD_BARRIER_SERIAL_THREAD)
		counter_add(&counters->serial, 1);
	counter_add(&counters->wait_ns_total, wait_ns);
	counter_max(&counters->wait_ns_max, wait_ns);
	if (waiting.lost)
		counter_add(&counters->lost, 1);
	return result;
}
