/*
 * Waits for a lock of every kind, a few calls deep, while another thread holds it for a moment; the
 * threads have names that formats must quote. Prints how many rounds it made.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS  10
#define HOLD_US 2000

enum { MUTEX, READ, WRITE, SPINLOCK, SEM, ONCE, FUTEX, BARRIER, KINDS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static sem_t sem;
static pthread_once_t once;
static unsigned futex;
static pthread_barrier_t barrier, turn;
static int kind;

static void rest(void)
{
	usleep(HOLD_US);
}

static void wait_futex(void)
{
	while (__atomic_load_n(&futex, __ATOMIC_ACQUIRE) != 0)
		syscall(SYS_futex, &futex, FUTEX_WAIT, 1, NULL, NULL, 0);
}

static void __attribute__((noinline)) take(void)
{
	switch (kind) {
	case MUTEX:
		pthread_mutex_lock(&mutex);
		break;
	case READ:
		pthread_rwlock_rdlock(&rwlock);
		break;
	case WRITE:
		pthread_rwlock_wrlock(&rwlock);
		break;
	case SPINLOCK:
		pthread_spin_lock(&spinlock);
		break;
	case SEM:
		sem_wait(&sem);
		break;
	case ONCE:
		pthread_once(&once, rest);
		break;
	case FUTEX:
		wait_futex();
		break;
	case BARRIER:
		pthread_barrier_wait(&barrier);
		break;
	}
}

static void __attribute__((noinline)) give(void)
{
	switch (kind) {
	case MUTEX:
		pthread_mutex_unlock(&mutex);
		break;
	case READ:
	case WRITE:
		pthread_rwlock_unlock(&rwlock);
		break;
	case SPINLOCK:
		pthread_spin_unlock(&spinlock);
		break;
	case SEM:
		sem_post(&sem);
		break;
	}
}

static void __attribute__((noinline)) wait_and_give(void)
{
	take();
	give();
}

static void *waiter(void *unused)
{
	pthread_setname_np(pthread_self(), "a\"b,c;d\\\n\t'");
	for (int round = 0; round < ROUNDS * KINDS; round++) {
		pthread_barrier_wait(&turn);
		wait_and_give();
		pthread_barrier_wait(&turn);
	}
	return unused;
}

/* What the other thread will wait for. A once and a futex have no holder. */
static void hold(void)
{
	if (kind == READ)
		pthread_rwlock_wrlock(&rwlock);
	else if (kind != ONCE && kind != FUTEX && kind != BARRIER)
		take();
	once = PTHREAD_ONCE_INIT;
	__atomic_store_n(&futex, 1, __ATOMIC_RELEASE);
}

static void release(void)
{
	__atomic_store_n(&futex, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &futex, FUTEX_WAKE, 1, NULL, NULL, 0);
	give();
	if (kind == BARRIER)
		take();
}

int main(void)
{
	pthread_t thread;
	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	sem_init(&sem, 0, 1);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_barrier_init(&turn, NULL, 2);
	if (pthread_create(&thread, NULL, waiter, NULL) != 0)
		return EXIT_FAILURE;
	for (int round = 0; round < ROUNDS * KINDS; round++) {
		kind = round % KINDS;
		hold();
		pthread_barrier_wait(&turn);
		if (kind == ONCE)
			take();
		else
			rest();
		release();
		pthread_barrier_wait(&turn);
	}
	pthread_join(thread, NULL);
	printf("%d rounds\n", ROUNDS * KINDS);
	return EXIT_SUCCESS;
}
