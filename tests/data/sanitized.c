/*
 * What sanitizers let pass and what they must find, in a program that locks: `clean` prints a sum
 * and ends with status 5; the others do the wrong that their name says, once.
 *
 *	sanitized clean|race|order|freed|leak
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define TIMES   2000

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static long sum, turn;
static long *volatile shared; /* hidden from the optimizer */

static void *add(void *unused)
{
	(void)unused;
	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(&first);
		sum++;
		pthread_mutex_unlock(&first);
	}
	return NULL;
}

/* Every thread waits for its number, and hands on. */
static void *take_turn(void *number)
{
	for (int i = 0; i < TIMES / 20; i++) {
		pthread_mutex_lock(&first);
		while (turn % THREADS != (long)number)
			pthread_cond_wait(&turned, &first);
		turn++;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&first);
	}
	return NULL;
}

static void *add_without_lock(void *unused)
{
	(void)unused;
	(*shared)++;
	return NULL;
}

static void *lock_in_one_order(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	return NULL;
}

static void *lock_in_the_other(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	return NULL;
}

static void run_threads(void *(*function)(void *))
{
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, function, (void *)i) != 0)
			exit(99);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	shared = calloc(1, sizeof(*shared));
	if (strcmp(what, "race") == 0) {
		run_threads(add_without_lock);
	} else if (strcmp(what, "order") == 0) {
		run_threads(lock_in_one_order);
		run_threads(lock_in_the_other);
	} else if (strcmp(what, "freed") == 0) {
		free(shared);
		return (int)*shared;
	} else if (strcmp(what, "leak") == 0) {
		shared = NULL;
	} else {
		run_threads(add);
		run_threads(take_turn);
		printf("sum %ld, turns %ld\n", sum, turn);
	}
	free(shared);
	return 5;
}
