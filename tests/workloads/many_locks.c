/*
 * Waits once for each of COUNT mutexes, which nobody will release in time, and prints how many of
 * the waits gave up. Usage: many_locks COUNT
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0, gave_up = 0;
	pthread_mutex_t *mutexes = malloc(count * sizeof(*mutexes));
	static const struct timespec long_ago = { -1, 0 };
	if (count == 0 || mutexes == NULL) {
		fprintf(stderr,
		        "many_locks: wants a number of mutexes for which there is memory\n");
		return 2;
	}
	for (size_t i = 0; i < count; i++) {
		pthread_mutex_init(&mutexes[i], NULL);
		pthread_mutex_lock(&mutexes[i]);
	}
	for (size_t i = 0; i < count; i++)
		gave_up += pthread_mutex_timedlock(&mutexes[i], &long_ago) == ETIMEDOUT;
	printf("%zu\n", gave_up);
	return 0;
}
