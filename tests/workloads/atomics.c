/*
 * Atomics of every kind that C has, in several threads, with results that are wrong where one is
 * not atomic, out of order, or changes what it must not. It is built three times: with outline
 * atomics, with inline LSE, and with inline loops of exclusives (AArch64).
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#define THREADS     4
#define ROUNDS      2000
#define FRAMES      64
#define HWCAP_BIT_8 (1ul << 8)

static _Atomic uint8_t byte;
static _Atomic uint16_t half;
static _Atomic uint32_t word, swapped, lock;
static _Atomic uint64_t number, bits, compared;
static uint64_t guarded; /* by lock */

/* Not by the linkage table, which no unwind table describes: signals arrive anywhere. */
static int (*const volatile yield)(void) = sched_yield;

static void turn_bits(uint64_t mine)
{
	atomic_fetch_or_explicit(&bits, mine, memory_order_acquire);
	atomic_fetch_xor_explicit(&bits, mine << 32, memory_order_release);
	if ((atomic_fetch_and(&bits, ~mine) & mine) == 0)
		abort();
}

static void compare_and_swap(void)
{
	uint64_t seen = atomic_load_explicit(&compared, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&compared, &seen, seen + 3))
		continue;
}

static void enter_and_leave(void)
{
	while (atomic_exchange_explicit(&lock, 1, memory_order_acquire) != 0)
		yield();
	guarded++;
	atomic_store_explicit(&lock, 0, memory_order_release);
}

static _Thread_local volatile bool working;

static __attribute__((noinline)) void *work(void *argument)
{
	working = true;
	uint64_t mine = UINT64_C(1) << (uintptr_t)argument;
	for (int round = 0; round < ROUNDS; round++) {
		atomic_fetch_add(&byte, 1);
		atomic_fetch_sub_explicit(&half, 3, memory_order_relaxed);
		atomic_fetch_add_explicit(&word, 5, memory_order_acq_rel);
		atomic_fetch_add(&number, atomic_exchange(&swapped, (uint32_t)round) == 7);
		atomic_fetch_add(&number, 2);
		turn_bits(mine);
		compare_and_swap();
		enter_and_leave();
	}
	working = false;
	return NULL;
}

/* The number of 7s swapped out depends on the order; it is at most one a round in which one was
 * swapped in. */
static bool results_are_right(void)
{
	const uint64_t all = (uint64_t)THREADS * ROUNDS;
	return byte == (uint8_t)all && half == (uint16_t)(0 - all * 3) && word == all * 5 &&
	       number >= all * 2 && number <= all * 2 + THREADS && bits == 0 &&
	       compared == all * 3 && guarded == all;
}

static bool run_threads(void)
{
	pthread_t threads[THREADS];
	byte = 0;
	half = 0;
	word = 0;
	number = bits = compared = 0;
	guarded = 0;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return results_are_right();
}

static int judge(bool right)
{
	puts(right ? "right" : "wrong");
	return right ? 0 : 1;
}

static int sum(void)
{
	return judge(run_threads());
}

static const void *expected[4]; /* functions that must be in the chain of calls */

struct chain {
	int frames;
	unsigned found; /* a bit for each that is expected */
};

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument)
{
	int before = 0;
	struct chain *chain = argument;
	uintptr_t address = _Unwind_GetIPInfo(context, &before);
	const void *function = _Unwind_FindEnclosingFunction((void *)(address - !before));
	for (int i = 0; i < 4; i++)
		if (function == expected[i])
			chain->found |= 1u << i;
	return ++chain->frames < FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static bool chain_is_whole(void)
{
	struct chain chain = { 0, 0 };
	_Unwind_Backtrace(visit, &chain);
	for (int i = 0; i < 4; i++)
		if (expected[i] != NULL && (chain.found & 1u << i) == 0)
			return false;
	return true;
}

static _Atomic uint64_t *page;
static atomic_int faults, whole;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	faults++;
	whole += chain_is_whole();
	mprotect(page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}

/* What it returns is left in the register where it was, if the handler's return is clean. */
static __attribute__((noinline)) uint64_t touch(uint64_t operand)
{
	return atomic_fetch_add(page, operand) * 3 + operand;
}

static __attribute__((noinline)) uint64_t touch_below(uint64_t operand)
{
	uint64_t result = touch(operand);
	__asm__ volatile("" ::: "memory");
	return result;
}

/* An atomic faults, wherever it is carried out: the handler sees the calls that led there, and the
 * atomic goes on as if nothing had been. */
static __attribute__((noinline)) int fault(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	bool right = true;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	expected[0] = (const void *)touch;
	expected[1] = (const void *)touch_below;
	expected[2] = (const void *)fault;
	expected[3] = (const void *)on_fault;
	*page = 40;
	mprotect(page, size, PROT_NONE);
	right = touch_below(2) == 122 && *page == 42 && faults == 1 && whole == 1;
	return judge(right);
}

static void on_alarm(int signal)
{
	(void)signal;
	atomic_fetch_add(&swapped, 0);
	if (!working)
		return;
	whole += chain_is_whole();
	faults++;
}

/* Signals arrive anywhere, in the middle of atomics too. */
static int storm(void)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	bool right = true;
	expected[0] = (const void *)on_alarm;
	expected[1] = (const void *)work;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20 || faults < 20; i++)
		right = run_threads() && right;
	setitimer(ITIMER_REAL, &never, NULL);
	return judge(right && whole == faults);
}

struct library {
	const char *name;
	uintptr_t base;
};

static int compare_name(struct dl_phdr_info *object, size_t size, void *argument)
{
	struct library *library = argument;
	const char *path = *object->dlpi_name != '\0' ? object->dlpi_name : program_invocation_name;
	const char *slash = strrchr(path, '/');
	(void)size;
	if (strcmp(slash != NULL ? slash + 1 : path, library->name) != 0)
		return 0;
	library->base = object->dlpi_addr;
	return 1;
}

/* NAME ADDRESS...: prints the bytes at link-time addresses of loaded files. */
static void *print_bytes(void *argument)
{
	for (char **names = argument; names[0] != NULL && names[1] != NULL; names += 2) {
		struct library library = { names[0], 0 };
		if (dl_iterate_phdr(compare_name, &library) == 0)
			printf("%s is not loaded\n", names[0]);
		else
			printf("%s %d\n", names[0],
			        *(volatile uint8_t *)(library.base + strtoul(names[1], NULL, 0)));
	}
	return NULL;
}

static int print_flags(char **names)
{
	pthread_t thread;
	print_bytes(names);
	if (pthread_create(&thread, NULL, print_bytes, names) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 0;
}

extern unsigned long __getauxval(unsigned long type) __attribute__((weak));

static int ask(void)
{
	unsigned long (*found)(unsigned long) =
	        (unsigned long (*)(unsigned long))dlsym(RTLD_DEFAULT, "getauxval");
	printf("getauxval %d\n", (getauxval(AT_HWCAP) & HWCAP_BIT_8) != 0);
	printf("__getauxval %d\n",
	        __getauxval != NULL && (__getauxval(AT_HWCAP) & HWCAP_BIT_8) != 0);
	printf("dlsym %d\n", (found(AT_HWCAP) & HWCAP_BIT_8) != 0);
	printf("page %d\n", getauxval(AT_PAGESZ) == (unsigned long)sysconf(_SC_PAGESIZE));
	errno = 0;
	printf("unknown %lu ", getauxval(123456));
	puts(errno == ENOENT ? "ENOENT" : "no error");
	errno = 0;
	getauxval(AT_HWCAP);
	puts(errno == 0 ? "errno kept" : "errno changed");
	return 0;
}

/* Opens and closes a library again and again, and calls it. */
static int open_library(const char *path, int times)
{
	bool right = true;
	for (int i = 0; i < times; i++) {
		void *library = dlopen(path, RTLD_NOW | (i == times - 1 ? RTLD_GLOBAL : 0));
		if (library == NULL) {
			puts(dlerror());
			return 1;
		}
		int (*run)(void) = (int (*)(void))dlsym(library, "plugin_result");
		right = run() == 42 && right;
		if (i < times - 1)
			dlclose(library);
	}
	return judge(right && run_threads());
}

/* In a namespace of its own, with a libc of its own; or where it finds itself and libc first. */
static int open_apart(const char *path, const char *how)
{
	void *library = strcmp(how, "space") == 0 ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW)
	                                          : dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
	if (library == NULL) {
		puts(dlerror());
		return 1;
	}
	int (*run)(void) = (int (*)(void))dlsym(library, "plugin_result");
	return judge(run() == 42);
}

static int divide(void)
{
	int status = 1;
	pid_t child = fork();
	if (child == 0)
		exit(run_threads() ? 0 : 1);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return judge(run_threads() && status == 0);
}

/* A process that takes no lock leaves no record. */
static void take_a_lock(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "sum";
	take_a_lock();
	if (strcmp(what, "fault") == 0)
		return fault();
	if (strcmp(what, "storm") == 0)
		return storm();
	if (strcmp(what, "flags") == 0)
		return print_flags(argv + 2);
	if (strcmp(what, "ask") == 0)
		return ask();
	if (strcmp(what, "fork") == 0)
		return divide();
	if (strcmp(what, "open") == 0 && argc == 4)
		return open_library(argv[2], atoi(argv[3]));
	if ((strcmp(what, "space") == 0 || strcmp(what, "deep") == 0) && argc == 3)
		return open_apart(argv[2], what);
	return sum();
}
