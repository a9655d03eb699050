/*
 * Futexes by syscall(), with every argument that the kernel looks at and every answer that it
 * gives. Prints what came back; and, last, how many calls of each sort there were. "futex filtered"
 * makes those that need one thread under a seccomp filter, which lets everything pass.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define WAITERS 3
#define HOPS    2000

static uint32_t word, other;
static unsigned long waits, wakes, woken, passed, timed_out, interrupted;

#define ADD(counter, amount)                                                                       \
	__atomic_fetch_add(&(counter), (unsigned long)(amount), __ATOMIC_SEQ_CST)

/* The call, counted; -errno for an error. errno must be left alone by a success. */
static long futex(void *address, int operation, uint32_t value, const void *timeout, void *second,
        uint32_t value3)
{
	int command = operation & FUTEX_CMD_MASK;
	errno = 4321;
	long result = syscall(SYS_futex, address, operation, value, timeout, second, value3);
	if (result != -1 && errno != 4321)
		printf("errno changed to %d\n", errno);
	if (address == NULL)
		return -errno; /* is not counted */
	if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) {
		ADD(waits, 1);
		ADD(timed_out, result == -1 && errno == ETIMEDOUT);
		ADD(interrupted, result == -1 && errno == EINTR);
	} else if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET ||
	           command == FUTEX_WAKE_OP) {
		ADD(wakes, 1);
		ADD(woken, result > 0 ? result : 0);
	} else {
		ADD(passed, 1);
	}
	return result == -1 ? -errno : result;
}

static void say(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np((int)-result) : "done");
}

static struct timespec from_now(clockid_t clock, long ns)
{
	struct timespec at;
	clock_gettime(clock, &at);
	at.tv_nsec += ns;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

static void changed(int flags)
{
	struct timespec second = { 1, 0 };
	word = 7;
	say("changed", futex(&word, FUTEX_WAIT | flags, 8, NULL, NULL, 0));
	say("changed, timed", futex(&word, FUTEX_WAIT | flags, 8, &second, NULL, 0));
	say("changed, by bits", futex(&word, FUTEX_WAIT_BITSET | flags, 8, NULL, NULL, 1));
	say("changed, late", futex(&word, FUTEX_WAIT_BITSET | flags, 8, &second, NULL, 1));
}

static void deadlines(int flags)
{
	struct timespec none = { 0, 0 }, soon = { 0, 3000000 }, past = { 1, 0 };
	struct timespec absolute = from_now(CLOCK_MONOTONIC, 3000000);
	struct timespec real = from_now(CLOCK_REALTIME, 3000000);
	word = 7;
	say("no time", futex(&word, FUTEX_WAIT | flags, 7, &none, NULL, 0));
	say("soon", futex(&word, FUTEX_WAIT | flags, 7, &soon, NULL, 0));
	say("past", futex(&word, FUTEX_WAIT_BITSET | flags, 7, &past, NULL, 1));
	say("at a time", futex(&word, FUTEX_WAIT_BITSET | flags, 7, &absolute, NULL, 1));
	say("that time is over",
	        from_now(CLOCK_MONOTONIC, 0).tv_sec < absolute.tv_sec ? -EBUSY : 0);
	say("at a time of day",
	        futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | flags, 7, &real, NULL, 1));
}

static void faults(void)
{
	struct timespec odd = { 0, 1000000000 }, negative = { -1, 0 };
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	word = 7;
	say("no address", futex(NULL, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	say("no page", futex(page, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	say("no page, by bits", futex(page, FUTEX_WAIT_BITSET, 0, NULL, NULL, 1));
	munmap(page, 4096);
	say("no mapping", futex(page, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	say("no timeout's page", futex(&word, FUTEX_WAIT_PRIVATE, 7, page, NULL, 0));
	say("the same, changed", futex(&word, FUTEX_WAIT_PRIVATE, 8, page, NULL, 0));
	say("odd address", futex((char *)&word + 1, FUTEX_WAIT_PRIVATE, 7, NULL, NULL, 0));
	say("odd timeout", futex(&word, FUTEX_WAIT_PRIVATE, 7, &odd, NULL, 0));
	say("odd timeout, changed", futex(&word, FUTEX_WAIT_PRIVATE, 8, &odd, NULL, 0));
	say("negative timeout", futex(&word, FUTEX_WAIT_BITSET, 7, &negative, NULL, 1));
	say("no bits", futex(&word, FUTEX_WAIT_BITSET, 7, NULL, NULL, 0));
	say("no bits, changed", futex(&word, FUTEX_WAIT_BITSET, 8, NULL, NULL, 0));
	say("wake by no bits", futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0));
	say("no such operation", futex(&word, 99, 7, NULL, NULL, 0));
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void signals(int flags, const struct timespec *timeout, const char *what)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
	word = 7;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	say(what, futex(&word, FUTEX_WAIT_PRIVATE, 7, timeout, NULL, 0));
}

static void *wait_once(void *bits)
{
	long result = 0;
	while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 7 && (result == 0 || result == -EINTR))
		result = futex(&word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 7, NULL, NULL,
		        (uint32_t)(uintptr_t)bits);
	return (void *)(result == -EAGAIN ? 0 : result);
}

static void start(pthread_t *threads)
{
	word = 7;
	for (uintptr_t i = 0; i < WAITERS; i++)
		pthread_create(&threads[i], NULL, wait_once, (void *)(1ul << i));
}

static void end(pthread_t *threads)
{
	__atomic_store_n(&word, 8, __ATOMIC_SEQ_CST);
	futex(&word, FUTEX_WAKE_PRIVATE, WAITERS, NULL, NULL, 0);
	for (int i = 0; i < WAITERS; i++) {
		void *result;
		pthread_join(threads[i], &result);
		say("a waiter", (long)result);
	}
}

/* Repeats a call until it answers what is wanted: the waiters must have gone to sleep. */
static void insist(const char *what, long wanted, int operation, const void *timeout, void *second,
        uint32_t value, uint32_t value3)
{
	long sum = 0;
	while (sum < wanted) {
		long result = futex(&word, operation, value, timeout, second, value3);
		if (result < 0) {
			say(what, result);
			return;
		}
		sum += result;
		sched_yield();
	}
	printf("%s: %ld\n", what, sum);
}

/* Each of these wakes for nothing: the waiters find the word as it was. */
static void wake_all_ways(void)
{
	pthread_t threads[WAITERS];
	uint32_t set_other = (uint32_t)FUTEX_OP(FUTEX_OP_SET, 55, FUTEX_OP_CMP_EQ, 99);
	start(threads);
	insist("wake one", 1, FUTEX_WAKE_PRIVATE, NULL, NULL, 1, 0);
	insist("wake by bits", 1, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, NULL, NULL, 9, 2);
	other = 1;
	insist("wake and set", 1, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, (void *)9ul, &other, 1,
	        set_other);
	printf("was set to %u\n", other);
	end(threads);
}

static void requeue(void)
{
	pthread_t threads[WAITERS];
	start(threads);
	say("requeue, changed",
	        futex(&word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, (void *)9ul, &other, 8));
	/* Nobody is woken, the waiters move on one by one. */
	insist("requeue", WAITERS, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, (void *)9ul, &other, 0,
	        7);
	__atomic_store_n(&word, 8, __ATOMIC_SEQ_CST);
	printf("wake the moved: %ld\n", futex(&other, FUTEX_WAKE_PRIVATE, WAITERS, NULL, NULL, 0));
	end(threads);
}

static void inheriting(void)
{
	word = 0;
	say("lock", futex(&word, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0));
	say("lock again", futex(&word, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0));
	say("unlock", futex(&word, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0));
}

/* Two threads hand the word to and fro. */
static void *hop(void *argument)
{
	uint32_t self = (uint32_t)(uintptr_t)argument;
	for (unsigned i = 0; i < HOPS; i++) {
		uint32_t now;
		while ((now = __atomic_load_n(&word, __ATOMIC_SEQ_CST)) % 2 != self)
			futex(&word, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		__atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
		futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void hops(void)
{
	pthread_t thread;
	word = 0;
	pthread_create(&thread, NULL, hop, (void *)1ul);
	hop((void *)0ul);
	pthread_join(thread, NULL);
	printf("hops: %u\n", word);
}

/* A lock that threads make of the word: 0 free, 1 taken, 2 taken with waiters. */
static void own_lock(void)
{
	uint32_t now = 0;
	if (__atomic_compare_exchange_n(&word, &now, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE) != 0)
		futex(&word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 2, NULL, NULL,
		        FUTEX_BITSET_MATCH_ANY);
}

static void own_unlock(void)
{
	if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2)
		futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *count(void *counter)
{
	for (int i = 0; i < HOPS; i++) {
		own_lock();
		*(unsigned long *)counter += 1;
		if (i % 16 == 0)
			sched_yield();
		own_unlock();
	}
	return NULL;
}

static void count_under_own_lock(void)
{
	pthread_t threads[WAITERS];
	unsigned long counter = 0;
	word = 0;
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&threads[i], NULL, count, &counter);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
	printf("counted: %lu\n", counter);
}

static void filter(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, all };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		exit(77);
}

int main(int argc, char **argv)
{
	struct timespec far = { 1000, 0 };
	if (argc > 1 && strcmp(argv[1], "filtered") == 0) {
		filter();
		changed(0);
		deadlines(FUTEX_PRIVATE_FLAG);
		faults();
		return 0;
	}
	changed(0);
	changed(FUTEX_PRIVATE_FLAG);
	deadlines(0);
	deadlines(FUTEX_PRIVATE_FLAG);
	faults();
	signals(0, NULL, "a signal");
	signals(0, &far, "a signal, timed");
	signals(SA_RESTART, &far, "a signal that restarts, timed");
	wake_all_ways();
	requeue();
	inheriting();
	hops();
	count_under_own_lock();
	printf("waits %lu wakes %lu woken %lu passed %lu timed_out %lu interrupted %lu\n", waits,
	        wakes, woken, passed, timed_out, interrupted);
	return 0;
}
