/*
 * A plugin that needs threads, for a program that does not: on older glibc libpthread comes into
 * the process with it. Returns how often it acquired its mutex.
 */
#include <pthread.h>

#define THREADS 4
#define ROUNDS  2500

unsigned long plugin_run(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_grown = PTHREAD_COND_INITIALIZER;
static unsigned long acquired;

static void *count(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		acquired++;
		pthread_cond_signal(&has_grown);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

unsigned long plugin_run(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], 0, count, 0) != 0)
			return 0;
	pthread_mutex_lock(&mutex);
	acquired++;
	while (acquired < THREADS * ROUNDS / 2)
		pthread_cond_wait(&has_grown, &mutex);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], 0);
	return acquired;
}
