/*
 * A program bound, as old ones are, to second names of libc's functions. Prints how often each sort
 * of call was made.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#define VERSION "GLIBC_2.2.5"
#else
#define VERSION "GLIBC_2.17"
#endif

#define OLD(name)                                                                                  \
	extern __typeof__(name) old_##name;                                                        \
	__asm__(".symver old_" #name ", __" #name "@" VERSION)

OLD(pthread_mutex_init);
OLD(pthread_mutex_destroy);
OLD(pthread_mutex_trylock);
OLD(pthread_mutex_lock);
OLD(pthread_mutex_unlock);
OLD(pthread_rwlock_init);
OLD(pthread_rwlock_destroy);
OLD(pthread_rwlock_rdlock);
OLD(pthread_rwlock_tryrdlock);
OLD(pthread_rwlock_wrlock);
OLD(pthread_rwlock_trywrlock);
OLD(pthread_rwlock_unlock);
OLD(pthread_once);

#define ROUNDS 1000

static unsigned runs;

static void require(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "old_names: failed: %s\n", what);
	exit(99);
}

static void run(void)
{
	runs++;
}

static void mutexes(pthread_mutex_t *mutex)
{
	require(old_pthread_mutex_init(mutex, NULL) == 0, "init");
	for (int i = 0; i < ROUNDS; i++) {
		require(old_pthread_mutex_lock(mutex) == 0, "lock");
		require(old_pthread_mutex_trylock(mutex) == EBUSY, "trylock of a taken one");
		require(old_pthread_mutex_unlock(mutex) == 0, "unlock");
		require(old_pthread_mutex_trylock(mutex) == 0, "trylock");
		require(old_pthread_mutex_unlock(mutex) == 0, "unlock");
	}
	require(old_pthread_mutex_destroy(mutex) == 0, "destroy");
}

static void rwlocks(pthread_rwlock_t *lock)
{
	require(old_pthread_rwlock_init(lock, NULL) == 0, "rwlock init");
	for (int i = 0; i < ROUNDS; i++) {
		require(old_pthread_rwlock_rdlock(lock) == 0, "rdlock");
		require(old_pthread_rwlock_tryrdlock(lock) == 0, "tryrdlock");
		require(old_pthread_rwlock_trywrlock(lock) == EBUSY, "trywrlock of a read one");
		require(old_pthread_rwlock_unlock(lock) == 0, "unlock");
		require(old_pthread_rwlock_unlock(lock) == 0, "unlock");
		require(old_pthread_rwlock_wrlock(lock) == 0, "wrlock");
		require(old_pthread_rwlock_unlock(lock) == 0, "unlock");
	}
	require(old_pthread_rwlock_destroy(lock) == 0, "rwlock destroy");
}

int main(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_mutex_t mutex;
	pthread_rwlock_t lock;
	mutexes(&mutex);
	rwlocks(&lock);
	for (int i = 0; i < ROUNDS; i++)
		require(old_pthread_once(&once, run) == 0, "once");
	printf("mutex %d %d rwlock %d %d %d once %d %u\n", 2 * ROUNDS, ROUNDS, 2 * ROUNDS, ROUNDS,
	        ROUNDS, ROUNDS - 1, runs);
	return 0;
}
