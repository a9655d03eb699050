/*
 * What asks for the CPU's abilities by itself. "wide_atomics sum LIBATOMIC": 16-byte atomics of
 * libatomic, which chooses among its functions when it is loaded, in several threads; prints
 * "right" when the sums are exact. "wide_atomics ask PLUGIN": prints what a library that is opened
 * is told, as the Java virtual machine is by its launcher.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ROUNDS  1000

typedef unsigned __int128 wide;

/* The interface of libatomic (gcc's wiki, "Atomic/GCCMM/LIbrary"). */
static struct {
	wide (*load)(const wide *from, int order);
	wide (*exchange)(wide *at, wide value, int order);
	bool (*compare_exchange)(wide *at, wide *expected, wide value, int success, int failure);
	wide (*fetch_add)(wide *at, wide value, int order);
	wide (*fetch_xor)(wide *at, wide value, int order);
} library;

/* Both halves change with each step. */
static const wide step = ((wide)3 << 64) + UINT64_MAX;

static wide added, compared, turned, chain;

static void *find(void *handle, const char *name)
{
	void *function = dlsym(handle, name);
	if (function == NULL) {
		puts(dlerror());
		exit(1);
	}
	return function;
}

static void find_all(void *handle)
{
	*(void **)&library.load = find(handle, "__atomic_load_16");
	*(void **)&library.exchange = find(handle, "__atomic_exchange_16");
	*(void **)&library.compare_exchange = find(handle, "__atomic_compare_exchange_16");
	*(void **)&library.fetch_add = find(handle, "__atomic_fetch_add_16");
	*(void **)&library.fetch_xor = find(handle, "__atomic_fetch_xor_16");
}

/* Each thread swaps its sum out and in again, which loses nothing. */
static void *work(void *unused)
{
	(void)unused;
	wide mine = 0;
	for (int round = 0; round < ROUNDS; round++) {
		library.fetch_add(&added, step, __ATOMIC_SEQ_CST);
		wide seen = library.load(&compared, __ATOMIC_ACQUIRE);
		while (!library.compare_exchange(
		        &compared, &seen, seen + step, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		library.fetch_xor(&turned, step, __ATOMIC_RELEASE);
		mine = library.exchange(&chain, mine + 1, __ATOMIC_ACQ_REL);
	}
	library.fetch_add(&chain, mine, __ATOMIC_SEQ_CST);
	return NULL;
}

static int sum(const char *path)
{
	const wide all = (wide)THREADS * ROUNDS;
	pthread_t threads[THREADS];
	void *handle = dlopen(path, RTLD_NOW);
	if (handle == NULL) {
		puts(dlerror());
		return 1;
	}
	find_all(handle);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	bool right = added == all * step && compared == all * step && turned == 0 && chain == all;
	puts(right ? "right" : "wrong");
	return right ? 0 : 1;
}

static int ask(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (handle == NULL) {
		puts(dlerror());
		return 1;
	}
	int (*answer)(void);
	*(void **)&answer = find(handle, "plugin_result");
	printf("LSE %d\n", answer());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "sum") == 0)
		return sum(argv[2]);
	if (argc == 3 && strcmp(argv[1], "ask") == 0)
		return ask(argv[2]);
	return 2;
}
