/*
 * Everything at once that could come into the way of who takes the stacks of waiters: six threads
 * contend for a mutex at the end of many calls; one loads and unloads libraries whose constructors
 * wait for the same mutex; one throws through many calls, and waits for the mutex where the loader
 * holds its lock. Prints what every thread did, and fails when an increment is missing.
 * Arguments: SECONDS LIBRARY...
 */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <thread>
#include <time.h>
#include <vector>

namespace
{

constexpr int contenders = 6, calls = 12;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
uint64_t count; /* under the mutex */
std::atomic<bool> stop;
std::atomic<uint64_t> added, thrown, loaded, walked;

[[gnu::noinline]] void add()
{
	pthread_mutex_lock(&mutex);
	count++;
	for (volatile int i = 0; i < 100; i = i + 1)
		;
	pthread_mutex_unlock(&mutex);
	added++;
}

[[gnu::noinline]] int call(int depth, void (*last)())
{
	volatile int unused = depth;
	if (depth == 0)
		last();
	else
		unused = call(depth - 1, last);
	return unused + 1;
}

void contend()
{
	while (!stop)
		call(calls, add);
}

[[gnu::noinline]] void fail()
{
	add();
	throw std::runtime_error("caught below");
}

/* The loader's lock is held around it. */
int waits_for_mutex(dl_phdr_info *, size_t, void *)
{
	add();
	return 1;
}

void throw_and_walk()
{
	while (!stop) {
		try {
			call(calls, fail);
		} catch (const std::runtime_error &) {
			thrown++;
		}
		dl_iterate_phdr(waits_for_mutex, nullptr);
		walked++;
	}
}

void load_and_unload(char **libraries)
{
	while (!stop) {
		for (char **library = libraries; *library != nullptr; library++) {
			void *handle = dlopen(*library, RTLD_NOW | RTLD_LOCAL);
			if (handle == nullptr) {
				fprintf(stderr, "%s\n", dlerror());
				exit(1);
			}
			dlclose(handle);
			loaded++;
		}
	}
}

} // namespace

int main(int argc, char **argv)
{
	char address[32];
	if (argc < 3) {
		fprintf(stderr, "usage: stacks SECONDS LIBRARY...\n");
		return 2;
	}
	snprintf(address, sizeof(address), "%p", static_cast<void *>(&mutex));
	setenv("CONTENDING_MUTEX", address, 1);

	sched_yield(); /* from here on everything is loaded: see tests/preload/trap.c */
	std::vector<std::thread> threads;
	for (int i = 0; i < contenders; i++)
		threads.emplace_back(contend);
	threads.emplace_back(throw_and_walk);
	threads.emplace_back(load_and_unload, argv + 2);
	timespec length = { atoi(argv[1]), 0 };
	nanosleep(&length, nullptr);
	stop = true;
	for (std::thread &thread : threads)
		thread.join();
	printf("added %ju, thrown %ju, walked %ju, loaded %ju\n", uintmax_t(added),
	        uintmax_t(thrown), uintmax_t(walked), uintmax_t(loaded));
	return count == added && thrown > 0 && walked > 0 && loaded > 0 ? 0 : 1;
}
