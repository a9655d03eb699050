/*
 * Locks and atomics of every kind between two marks, for a trace of what is executed: threads that
 * wait for each other's mutexes, condition variables, reader-writer locks, semaphores, spinlocks
 * and barriers, allocate memory, print, and use atomics of their own, among them the operation that
 * compilers do by a loop whatever the CPU has (nand). Prints where files are loaded.
 */
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ROUNDS  40

void mark_begin(void);
void mark_end(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static FILE *nowhere;
static unsigned turns, written, spun; /* by mutex, rwlock, spinlock */
static _Atomic uint64_t number, compared;
static _Atomic uint32_t swapped;
static _Atomic uint8_t byte;
static unsigned nand_word;

__attribute__((noinline)) void mark_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void mark_end(void)
{
	__asm__ volatile("" ::: "memory");
}

static void do_once(void)
{
	atomic_fetch_add(&number, 1);
}

/* Held across a yield: whoever runs then has to wait. */
static void take_locks(unsigned round)
{
	pthread_mutex_lock(&mutex);
	sched_yield();
	turns++;
	if (round % 8 == 0)
		pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_rdlock(&rwlock);
	sched_yield();
	pthread_rwlock_unlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
	written++;
	pthread_rwlock_unlock(&rwlock);
	pthread_spin_lock(&spinlock);
	spun++;
	pthread_spin_unlock(&spinlock);
	sem_wait(&sem);
	sched_yield();
	sem_post(&sem);
}

static void use_atomics(unsigned round)
{
	uint64_t seen = atomic_load_explicit(&compared, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&compared, &seen, seen + 3))
		continue;
	atomic_fetch_add(&number, 2);
	atomic_exchange(&swapped, round);
	atomic_fetch_or_explicit(&byte, 1, memory_order_acquire);
	atomic_fetch_xor_explicit(&byte, 2, memory_order_release);
	atomic_fetch_and(&byte, 0xfe);
	__atomic_fetch_nand(&nand_word, round, __ATOMIC_SEQ_CST);
}

static void *work(void *unused)
{
	(void)unused;
	pthread_once(&once, do_once);
	for (unsigned round = 0; round < ROUNDS; round++) {
		take_locks(round);
		use_atomics(round);
		free(malloc(100 + round * 50));
		fprintf(nowhere, "%u\n", round);
		if (round % 16 == 0)
			pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			abort();
	pthread_mutex_lock(&mutex);
	while (turns < THREADS * ROUNDS / 4)
		pthread_cond_wait(&turned, &mutex);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int print_object(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
			continue;
		uintptr_t start = object->dlpi_addr + header->p_vaddr;
		const char *slash = strrchr(object->dlpi_name, '/');
		const char *name = slash != NULL ? slash + 1 : object->dlpi_name;
		printf("object %s %#lx %#lx\n", *name != '\0' ? name : "traced",
		        (unsigned long)start, (unsigned long)(start + header->p_memsz));
	}
	return 0;
}

int main(void)
{
	const uint64_t all = (uint64_t)THREADS * ROUNDS;
	nowhere = fopen("/dev/null", "w");
	if (nowhere == NULL)
		return 1;
	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&sem, 0, 2);
	dl_iterate_phdr(print_object, NULL);
	fflush(stdout);
	mark_begin();
	run_threads();
	mark_end();
	bool right = turns == all && written == all && spun == all && number == all * 2 + 1 &&
	             compared == all * 3;
	puts(right ? "right" : "wrong");
	return right ? 0 : 1;
}
