/*
 * A program with a malloc of its own that takes a mutex: whatever allocates, libc included, comes
 * through the library. Prints how often the mutex was acquired, which is counted under it.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  5000
#define ARENA   (64u << 20)
#define SIZES   28 /* free lists, of powers of two */

/* What lies before each block. */
union head {
	struct {
		unsigned size_log2;
		union head *next; /* in a free list */
	} in;
	max_align_t alignment;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long acquired;
static _Alignas(max_align_t) char arena[ARENA];
static size_t arena_used;
static union head *free_lists[SIZES];

static void acquire(void)
{
	pthread_mutex_lock(&mutex);
	acquired++;
}

static unsigned log2_for(size_t size)
{
	unsigned log2 = 4;
	while (((size_t)1 << log2) < size)
		log2++;
	return log2;
}

/* Apart from malloc, of which the compiler knows too much. */
static __attribute__((noinline)) void *take(size_t size)
{
	unsigned log2 = log2_for(size);
	size_t bytes = sizeof(union head) + ((size_t)1 << log2);
	union head *head = NULL;
	if (log2 < SIZES) {
		acquire();
		head = free_lists[log2];
		if (head != NULL) {
			free_lists[log2] = head->in.next;
		} else if (arena_used + bytes <= ARENA) {
			head = (union head *)(arena + arena_used);
			arena_used += bytes;
		}
		pthread_mutex_unlock(&mutex);
	}
	if (head == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	head->in.size_log2 = log2;
	return head + 1;
}

void *malloc(size_t size)
{
	return take(size);
}

void free(void *block)
{
	union head *head = (union head *)block - 1;
	if (block == NULL)
		return;
	acquire();
	head->in.next = free_lists[head->in.size_log2];
	free_lists[head->in.size_log2] = head;
	pthread_mutex_unlock(&mutex);
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	void *block = take(bytes);
	if (block != NULL)
		memset(block, 0, bytes);
	return block;
}

void *realloc(void *block, size_t size)
{
	if (block == NULL)
		return take(size);
	size_t old = (size_t)1 << ((union head *)block - 1)->in.size_log2;
	void *other = take(size);
	if (other == NULL)
		return NULL;
	memcpy(other, block, old < size ? old : size);
	free(block);
	return other;
}

static void *allocate(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	void *kept[16] = { NULL };
	for (int i = 0; i < ROUNDS; i++) {
		unsigned slot = (unsigned)rand_r(&seed) % 16;
		free(kept[slot]);
		kept[slot] = malloc((size_t)rand_r(&seed) % 500);
	}
	for (int i = 0; i < 16; i++)
		free(kept[i]);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	char line[64];
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, allocate, (void *)(i + 1)) != 0)
			return 99;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	int length = snprintf(line, sizeof(line), "acquired %lu\n", acquired);
	return write(1, line, (size_t)length) == length && acquired > THREADS * ROUNDS ? 0 : 99;
}
