/*
 * Libraries that a program loads: each waits in vain for a lock of its own, in a function of its
 * own. They are as large as each other, so that one may come to lie where another was.
 */
#include <pthread.h>
#include <time.h>

void plugin_run(void);

static inline __attribute__((always_inline)) void wait_in_vain(pthread_mutex_t *mutex)
{
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_nsec += 1000000;
	deadline.tv_sec += deadline.tv_nsec / 1000000000;
	deadline.tv_nsec %= 1000000000;
	pthread_mutex_lock(mutex);
	pthread_mutex_timedlock(mutex, &deadline);
	pthread_mutex_unlock(mutex);
}
