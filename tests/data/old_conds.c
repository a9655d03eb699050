/*
 * Bound to the condition variables that glibc had before 2.3.2 (x86-64): two threads take turns,
 * and four are released at once. Prints how often each call was made.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

__asm__(".symver pthread_cond_init, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver pthread_cond_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver pthread_cond_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver pthread_cond_signal, pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver pthread_cond_broadcast, pthread_cond_broadcast@GLIBC_2.2.5");
__asm__(".symver pthread_cond_destroy, pthread_cond_destroy@GLIBC_2.2.5");

#define TURNS   1000
#define WAITERS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static int turn, waiting, released;
static unsigned long acquired, waits, signals, broadcasts;

static void acquire(void)
{
	pthread_mutex_lock(&mutex);
	acquired++;
}

static void wait_for_change(void)
{
	pthread_cond_wait(&changed, &mutex);
	waits++;
}

static void *take_turns(void *argument)
{
	int self = argument != NULL;
	for (int i = 0; i < TURNS; i++) {
		acquire();
		while (turn % 2 != self)
			wait_for_change();
		turn++;
		signals++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *wait_for_all(void *unused)
{
	acquire();
	waiting++;
	broadcasts++;
	pthread_cond_broadcast(&changed);
	while (waiting < WAITERS)
		wait_for_change();
	released++;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static int time_out(void)
{
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_nsec = 0;
	acquire();
	int result = pthread_cond_timedwait(&changed, &mutex, &deadline);
	waits++;
	pthread_mutex_unlock(&mutex);
	return result;
}

int main(void)
{
	pthread_t threads[WAITERS];
	pthread_cond_init(&changed, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, take_turns, i != 0 ? &turn : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&threads[i], NULL, wait_for_all, NULL);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	int result = time_out();
	printf("turns %d, released %d, timed wait %d\n", turn, released, result);
	printf("acquired %lu waits %lu signals %lu broadcasts %lu timed_out 1\n", acquired, waits,
	        signals, broadcasts);
	return pthread_cond_destroy(&changed);
}
