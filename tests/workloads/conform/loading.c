/*
 * Functions that a program finds by itself, code that runs before main, and libraries that lock
 * while they are loaded.
 */
#include "conform.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct functions {
	const char *name;
	int (*lock)(pthread_mutex_t *mutex);
	int (*trylock)(pthread_mutex_t *mutex);
	int (*unlock)(pthread_mutex_t *mutex);
};

static void find(struct functions *functions, const char *name, void *handle)
{
	functions->name = name;
	functions->lock = (int (*)(pthread_mutex_t *))dlsym(handle, "pthread_mutex_lock");
	functions->trylock = (int (*)(pthread_mutex_t *))dlsym(handle, "pthread_mutex_trylock");
	functions->unlock = (int (*)(pthread_mutex_t *))dlsym(handle, "pthread_mutex_unlock");
	require(functions->lock != NULL && functions->trylock != NULL && functions->unlock != NULL,
	        name);
}

/* As the linker bound them, as a program or a library of its own finds them, and libc's own. */
#define WAYS 4
static struct functions ways[WAYS];

static void find_all(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	require(libc != NULL, "dlopen of libc.so.6");
	ways[0] = (struct functions){ "linked", pthread_mutex_lock, pthread_mutex_trylock,
		pthread_mutex_unlock };
	find(&ways[1], "RTLD_DEFAULT", RTLD_DEFAULT);
	find(&ways[2], "RTLD_NEXT", RTLD_NEXT);
	find(&ways[3], "libc's own", libc);
}

static const char *name_and(const struct functions *a, const struct functions *b)
{
	static char text[64];
	snprintf(text, sizeof(text), "%s, then %s", a->name, b->name);
	return text;
}

static void found_functions(void)
{
	pthread_mutex_t *mutex = new_mutex();
	find_all();
	for (int i = 0; i < WAYS * WAYS; i++) {
		const struct functions *one = &ways[i / WAYS], *other = &ways[i % WAYS];
		say("%s: lock %s", name_and(one, other), result_name(one->lock(mutex)));
		int tried = other->trylock(mutex);
		say("trylock %s", result_name(tried));
		say("unlock %s", result_name(other->unlock(mutex)));
		if (tried == 0)
			say("unlock %s", result_name(one->unlock(mutex)));
		say_op_elsewhere(OP_TRY, mutex);
	}
}

/* Every call by another way. */
static void count_by_ways(struct counting *counting, unsigned round)
{
	static __thread unsigned calls;
	const struct functions *locker = &ways[calls++ % WAYS];
	const struct functions *unlocker = &ways[(calls / WAYS + round) % WAYS];
	require(locker->lock(counting->mutex) == 0, locker->name);
	count_up(counting);
	require(unlocker->unlock(counting->mutex) == 0, unlocker->name);
}

/* Code that slips past a library which stands in front of libc works on the same mutexes. */
static void mixed_functions(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = 1000, .once = count_by_ways
	};
	find_all();
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

static pthread_mutex_t early_mutex = PTHREAD_MUTEX_INITIALIZER;
static int early_results[8], early_count;

static void lock_early(void)
{
	early_results[early_count++] = pthread_mutex_lock(&early_mutex);
	early_results[early_count++] = pthread_mutex_unlock(&early_mutex);
}

/* Before the constructors of libraries, but of one that is to run first of all. */
__attribute__((section(".preinit_array"), used)) static void (*const before_constructors)(
        void) = lock_early;

static void *lock_in_thread(void *unused)
{
	lock_early();
	return unused;
}

__attribute__((constructor)) static void before_main(void)
{
	pthread_t thread;
	lock_early();
	if (pthread_create(&thread, NULL, lock_in_thread, NULL) == 0)
		pthread_join(thread, NULL);
}

static void early(void)
{
	for (int i = 0; i < early_count; i++)
		say("%s before main: %s", i % 2 == 0 ? "lock" : "unlock",
		        result_name(early_results[i]));
	say_op(OP_DESTROY, &early_mutex);
}

/* A library beside this program: ../preload/NAME.so. */
static void *load(const char *name)
{
	char path[4096];
	const char *slash = strrchr(conform_arguments[0], '/');
	snprintf(path, sizeof(path), "%.*s/../preload/%s.so",
	        slash != NULL ? (int)(slash - conform_arguments[0]) : 1,
	        slash != NULL ? conform_arguments[0] : ".", name);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	require(handle != NULL, "dlopen of ../preload/NAME.so");
	return handle;
}

static volatile bool counting_on;

static void *count_until_told(void *mutex)
{
	long counted = 0;
	while (counting_on) {
		require(do_op(OP_LOCK, mutex) == 0, "lock");
		counted++;
		require(do_op(OP_UNLOCK, mutex) == 0, "unlock");
	}
	return counted > 0 ? mutex : NULL;
}

/* The library's constructor and destructor lock, while other threads do. */
static void loaded_library(void)
{
	enum { TIMES = 10 };
	pthread_mutex_t *mutex = new_mutex();
	int counts[TIMES], destructed = 0;
	counting_on = true;
	pthread_t thread = start(count_until_told, mutex);
	for (int i = 0; i < TIMES; i++) {
		void *handle = load("constructor");
		int (*count)(int *) = (int (*)(int *))dlsym(handle, "constructor_count");
		require(count != NULL, "constructor_count");
		counts[i] = count(&destructed);
		require(dlclose(handle) == 0, "dlclose");
	}
	counting_on = false;
	pthread_join(thread, NULL);
	for (int i = 0; i < TIMES; i++)
		require(counts[i] == counts[0], "every load counts the same");
	say("constructor counted %d, destructors %d", counts[0], destructed);
}

const struct conform_case loading_cases[] = {
	{ "found-functions", found_functions, TRAIT_ANSWERS },
	{ "mixed-functions", mixed_functions, 0 },
	{ "early", early, TRAIT_FIRST },
	{ "loaded-library", loaded_library, 0 },
	{ NULL, NULL, 0 },
};
