/*
 * Many short threads, a few at a time, that end in every way a thread can; or many threads alive at
 * once. Prints how often their one mutex was acquired, which is counted under that mutex.
 *
 *	threads short NUMBER	ends by return, pthread_exit, cancellation, detached, renamed, late
 *	threads live NUMBER	all NUMBER threads exist before the first of them ends
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH      8
#define NAMES      1000 /* more than a record has rows for */
#define LATE_TIMES 3
#define LIVE_LOCKS 100
#define STACK_SIZE 65536

enum way { WAY_RETURN, WAY_EXIT, WAY_CANCELLED, WAY_DETACHED, WAY_RENAMED, WAY_LATE, WAYS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long acquired, ended;
static pthread_key_t late_key;
static pthread_attr_t attributes;
static pthread_barrier_t all_alive;

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "threads: failed: %s\n", what);
	exit(99);
}

/* Acquires the mutex once. `ends` says that it is the thread's last time. Returns how many threads
 * have had theirs. */
static unsigned long acquire(bool ends)
{
	pthread_mutex_lock(&mutex);
	acquired++;
	ended += ends;
	unsigned long now = ended;
	pthread_mutex_unlock(&mutex);
	return now;
}

/* A destructor of thread-specific data, which asks to be called again. */
static void acquire_late(void *value)
{
	unsigned long times = (unsigned long)value;
	acquire(times == 1);
	if (times > 1)
		pthread_setspecific(late_key, (void *)(times - 1));
}

static void acquire_at_cancellation(void *unused)
{
	(void)unused;
	acquire(true);
}

static void wait_for_cancellation(void)
{
	pthread_cleanup_push(acquire_at_cancellation, NULL);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
}

static void *live_shortly(void *argument)
{
	unsigned long number = (unsigned long)argument;
	enum way way = (enum way)(number % WAYS);
	char name[16];
	acquire(way != WAY_CANCELLED && way != WAY_LATE);
	switch (way) {
	case WAY_EXIT:
		pthread_exit(NULL);
	case WAY_CANCELLED:
		wait_for_cancellation();
		break;
	case WAY_RENAMED:
		snprintf(name, sizeof(name), "name-%lu", number / WAYS % NAMES);
		pthread_setname_np(pthread_self(), name);
		break;
	case WAY_LATE:
		pthread_setspecific(late_key, (void *)LATE_TIMES);
		break;
	default:
		break;
	}
	return NULL;
}

static pthread_t start(void *(*function)(void *), unsigned long argument)
{
	pthread_t thread;
	require(pthread_create(&thread, &attributes, function, (void *)argument) == 0,
	        "pthread_create");
	return thread;
}

static void run_batch(unsigned long first)
{
	pthread_t threads[BATCH];
	for (unsigned long i = 0; i < BATCH; i++) {
		threads[i] = start(live_shortly, first + i);
		if ((first + i) % WAYS == WAY_DETACHED)
			pthread_detach(threads[i]);
	}
	for (unsigned long i = 0; i < BATCH; i++) {
		if ((first + i) % WAYS == WAY_DETACHED)
			continue;
		if ((first + i) % WAYS == WAY_CANCELLED)
			pthread_cancel(threads[i]);
		pthread_join(threads[i], NULL);
	}
}

static void run_short(unsigned long number)
{
	pthread_key_create(&late_key, acquire_late);
	for (unsigned long first = 0; first < number; first += BATCH)
		run_batch(first);
	while (acquire(false) != number)
		usleep(1000);
}

static void *live_long(void *unused)
{
	acquire(false);
	pthread_barrier_wait(&all_alive);
	for (int i = 1; i < LIVE_LOCKS; i++)
		acquire(i == LIVE_LOCKS - 1);
	return unused;
}

static void run_live(unsigned long number)
{
	pthread_t *threads = calloc(number, sizeof(*threads));
	require(threads != NULL, "calloc");
	pthread_barrier_init(&all_alive, NULL, (unsigned)number);
	for (unsigned long i = 0; i < number; i++)
		threads[i] = start(live_long, i);
	for (unsigned long i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
	require(acquire(false) == number, "every thread has ended");
	free(threads);
}

int main(int argc, char **argv)
{
	unsigned long number = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	require(number > 0 && number % BATCH == 0, "usage: threads short|live NUMBER");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	if (strcmp(argv[1], "short") == 0)
		run_short(number);
	else
		run_live(number);
	printf("acquired %lu, ended %lu\n", acquired, ended);
	return 0;
}
