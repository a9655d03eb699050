/*
 * A server of several processes: forks children, in each of which two threads take one mutex by
 * turns, so that it is contended for certain, and waits for them.
 *
 *	forking CHILDREN TURNS	every child acquires the mutex 2 * TURNS times
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t turns_mutex = PTHREAD_MUTEX_INITIALIZER;
static long turns;

/* Holds the mutex while the other thread comes for it. */
static void *take_turns(void *unused)
{
	const struct timespec pause = { 0, 50000 };
	for (long i = 0; i < turns; i++) {
		pthread_mutex_lock(&turns_mutex);
		nanosleep(&pause, NULL);
		pthread_mutex_unlock(&turns_mutex);
	}
	return unused;
}

static void run_child(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, take_turns, NULL) != 0)
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: forking CHILDREN TURNS\n");
		return 2;
	}
	turns = atol(argv[2]);
	for (int i = atoi(argv[1]); i > 0; i--) {
		pid_t child = fork();
		if (child < 0)
			return 1;
		if (child == 0)
			run_child();
	}
	int status, failed = 0;
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
