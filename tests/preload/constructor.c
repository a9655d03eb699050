/*
 * A library whose constructor and destructor lock and start threads, for programs that load it
 * while they run.
 */
#include <pthread.h>
#include <stddef.h>

#define THREADS 2
#define ROUNDS  50

int constructor_count(int *destructed);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counted;
static int *destructors; /* the program's counter of destructors */

static void count(void)
{
	pthread_mutex_lock(&mutex);
	counted++;
	pthread_mutex_unlock(&mutex);
}

static void *count_often(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		count();
	return unused;
}

__attribute__((constructor)) static void construct(void)
{
	pthread_t threads[THREADS];
	int started = 0;
	count();
	while (started < THREADS && pthread_create(&threads[started], NULL, count_often, NULL) == 0)
		started++;
	while (started > 0)
		pthread_join(threads[--started], NULL);
}

__attribute__((destructor)) static void destruct(void)
{
	pthread_mutex_lock(&mutex);
	if (destructors != NULL)
		++*destructors;
	pthread_mutex_unlock(&mutex);
	pthread_mutex_destroy(&mutex);
}

int constructor_count(int *destructed)
{
	pthread_mutex_lock(&mutex);
	destructors = destructed;
	int result = counted;
	pthread_mutex_unlock(&mutex);
	return result;
}
