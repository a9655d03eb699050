/*
 * Uses threads where it finds them, as libraries do that also serve programs without: by weak
 * references, which a preloaded library may make good. Prints what has come out.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#pragma weak pthread_once
#pragma weak pthread_rwlock_rdlock
#pragma weak pthread_rwlock_wrlock
#pragma weak pthread_rwlock_unlock
#pragma weak pthread_spin_init
#pragma weak pthread_spin_lock
#pragma weak pthread_spin_unlock
#pragma weak pthread_barrier_init
#pragma weak sem_init
#pragma weak sem_wait
#pragma weak sem_post

static unsigned runs;

static void run(void)
{
	runs++;
}

static int lock_all(void)
{
	static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	int failed = 0;
	for (int i = 0; pthread_rwlock_rdlock != NULL && i < 3; i++) {
		failed += pthread_rwlock_rdlock(&lock) + pthread_rwlock_unlock(&lock);
		failed += pthread_rwlock_wrlock(&lock) + pthread_rwlock_unlock(&lock);
	}
	pthread_spinlock_t spinlock;
	if (pthread_spin_init != NULL)
		failed += pthread_spin_init(&spinlock, 0) + pthread_spin_lock(&spinlock) +
		          pthread_spin_unlock(&spinlock);
	sem_t semaphore;
	if (sem_init != NULL)
		failed += sem_init(&semaphore, 0, 1) + sem_wait(&semaphore) + sem_post(&semaphore);
	pthread_barrier_t barrier;
	if (pthread_barrier_init != NULL)
		failed += pthread_barrier_init(&barrier, NULL, 1);
	return failed;
}

int main(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	for (int i = 0; i < 3; i++)
		if (pthread_once != NULL)
			pthread_once(&once, run);
		else if (runs == 0)
			run();
	printf("%u run, %d failed\n", runs, lock_all());
	return 0;
}
