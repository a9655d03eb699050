/*
 * Reader-writer locks among threads and processes: readers share, writers exclude, signals and
 * cancellations change nothing, and a forked child finds the lock as it was.
 */
#include "rwlock_ops.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#define READERS 3

struct meeting {
	pthread_rwlock_t *lock;
	pthread_barrier_t barrier;
	enum rw_op op;
	unsigned failed;
};

static void *meet_inside(void *argument)
{
	struct meeting *meeting = argument;
	int result = rw_do_patiently(meeting->op, meeting->lock);
	pthread_barrier_wait(&meeting->barrier);
	if (result != 0 || rw_do(RW_UNLOCK, meeting->lock) != 0)
		__atomic_fetch_add(&meeting->failed, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* All readers are inside before one leaves. */
static void meet(enum rw_op op, pthread_rwlock_t *lock)
{
	struct meeting meeting = { .lock = lock, .op = op };
	pthread_t threads[READERS];
	pthread_barrier_init(&meeting.barrier, NULL, READERS);
	for (int i = 0; i < READERS; i++)
		threads[i] = start(meet_inside, &meeting);
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&meeting.barrier);
	say("%s: %d readers have met, %u failed", rw_names[op], READERS, meeting.failed);
}

static void readers_at_once(void)
{
	pthread_rwlock_t *lock = new_rwlock();
	for (enum rw_op op = RW_READ; op < RW_WRITE; op++)
		meet(op, lock);
	say_rw(RW_TRY_WRITE, lock);
}

/* Readers and writers that all wait for one writer: they are all served in the end. */
static void all_are_served(void)
{
	static const enum rw_op ops[] = { RW_READ, RW_WRITE, RW_TIMED_READ, RW_TIMED_WRITE,
		RW_CLOCK_MONO_READ, RW_CLOCK_REAL_WRITE, RW_READ, RW_WRITE };
	enum { WAITERS = sizeof(ops) / sizeof(*ops) };
	struct rw_holder waiters[WAITERS];
	pthread_rwlock_t *lock = new_rwlock();
	require(rw_do(RW_WRITE, lock) == 0, "wrlock");
	for (int i = 0; i < WAITERS; i++)
		rw_holder_begin(&waiters[i], ops[i], lock);
	sleep_ms(5);
	say_rw(RW_UNLOCK, lock);
	for (int i = 0; i < WAITERS; i++)
		sem_post(&waiters[i].release);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(waiters[i].thread, NULL);
		say("%s: %s, unlock: %s", rw_names[ops[i]], result_name(waiters[i].locked),
		        result_name(waiters[i].unlocked));
	}
	say_rw(RW_TRY_WRITE, lock);
}

/* Two numbers that only a writer may find different. */
struct ledger {
	pthread_rwlock_t *lock;
	unsigned rounds, reads, torn;
	volatile unsigned long one, other;
};

static void write_once(struct ledger *ledger, unsigned round)
{
	enum rw_op op = round % 2 == 0 ? RW_WRITE : RW_CLOCK_MONO_WRITE;
	require(rw_do_patiently(op, ledger->lock) == 0, "wrlock");
	ledger->one++;
	if (round % 16 == 0)
		sched_yield();
	ledger->other++;
	require(rw_do(RW_UNLOCK, ledger->lock) == 0, "unlock");
}

static void read_once(struct ledger *ledger, unsigned round)
{
	enum rw_op op = round % 2 == 0 ? RW_READ : RW_TIMED_READ;
	require(rw_do_patiently(op, ledger->lock) == 0, "rdlock");
	unsigned long one = ledger->one;
	if (round % 16 == 1)
		sched_yield();
	if (one != ledger->other)
		__atomic_fetch_add(&ledger->torn, 1, __ATOMIC_RELAXED);
	require(rw_do(RW_UNLOCK, ledger->lock) == 0, "unlock");
}

static void *write_and_read(void *argument)
{
	struct ledger *ledger = argument;
	for (unsigned i = 0; i < ledger->rounds; i++) {
		write_once(ledger, i);
		for (unsigned k = 0; k < ledger->reads; k++)
			read_once(ledger, i + k);
	}
	return NULL;
}

static void exclusion(void)
{
	enum { THREADS = 4 };
	struct ledger ledger = { .lock = new_rwlock(), .rounds = 300, .reads = 3 };
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(write_and_read, &ledger);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("%lu and %lu written, %u reads torn", ledger.one, ledger.other, ledger.torn);
	say_rw(RW_TRY_WRITE, ledger.lock);
}

static volatile sig_atomic_t handled;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

/* Waiters get a signal every ms; none of them may notice. */
static void signalled_waiters(void)
{
	static const enum rw_op ops[] = { RW_READ, RW_WRITE, RW_TIMED_READ, RW_CLOCK_MONO_WRITE };
	enum { WAITERS = sizeof(ops) / sizeof(*ops) };
	struct sigaction action = { .sa_handler = count_signal }; /* no SA_RESTART */
	struct rw_holder waiters[WAITERS];
	pthread_rwlock_t *lock = new_rwlock();
	handled = 0;
	sigaction(SIGUSR1, &action, NULL);
	require(rw_do(RW_WRITE, lock) == 0, "wrlock");
	for (int i = 0; i < WAITERS; i++)
		rw_holder_begin(&waiters[i], ops[i], lock);
	while (handled < WAITERS * 5) {
		for (int i = 0; i < WAITERS; i++)
			pthread_kill(waiters[i].thread, SIGUSR1);
		sleep_ms(1);
	}
	say_rw(RW_UNLOCK, lock);
	for (int i = 0; i < WAITERS; i++)
		sem_post(&waiters[i].release);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(waiters[i].thread, NULL);
		say("%s: %s", rw_names[ops[i]], result_name(waiters[i].locked));
	}
}

static void *lock_then_test(void *argument)
{
	struct rw_holder *holder = argument;
	sem_post(&holder->held);
	holder->locked = rw_do_patiently(holder->op, holder->lock);
	holder->unlocked = rw_do(RW_UNLOCK, holder->lock);
	pthread_testcancel();
	return NULL;
}

/* A pending cancellation, before and during the wait: these are no cancellation points. */
static void cancelled_waiters(void)
{
	pthread_rwlock_t *lock = new_rwlock();
	for (enum rw_op op = 0; op < RW_ACQUIRING; op++) {
		struct rw_holder waiter = { .lock = lock, .op = op, .locked = -1 };
		bool tries = op == RW_TRY_READ || op == RW_TRY_WRITE;
		void *value;
		semaphore_init(&waiter.held);
		if (!tries)
			require(rw_do(RW_WRITE, lock) == 0, "wrlock");
		waiter.thread = start(lock_then_test, &waiter);
		semaphore_wait(&waiter.held);
		if (tries)
			sleep_ms(1);
		pthread_cancel(waiter.thread);
		sleep_ms(2);
		if (!tries)
			require(rw_do(RW_UNLOCK, lock) == 0, "unlock");
		pthread_join(waiter.thread, &value);
		say("%s: %s, unlock: %s", rw_names[op], result_name(waiter.locked),
		        result_name(waiter.unlocked));
	}
	say_rw(RW_TRY_WRITE, lock);
}

static int try_all(void *lock)
{
	for (enum rw_op op = 0; op < RW_ACQUIRING; op++)
		if (op != RW_READ && op != RW_WRITE)
			say_rw(op, lock);
	return 0;
}

static int release_and_try_all(void *lock)
{
	say("unlock: %s", result_name(rw_do(RW_UNLOCK, lock)));
	return try_all(lock);
}

/* The lock lies in memory that parent and child share: a child is another thread. */
static void in_forked_children(void)
{
	pthread_rwlock_t *lock = new_rwlock();
	say("free: %d", in_child(try_all, lock));
	require(rw_do(RW_READ, lock) == 0, "rdlock");
	say("read by the parent: %d", in_child(try_all, lock));
	say("released by the child: %d", in_child(release_and_try_all, lock));
	require(rw_do(RW_WRITE, lock) == 0, "wrlock");
	say("written by the parent: %d", in_child(try_all, lock));
	say_rw(RW_UNLOCK, lock);
	say_rw(RW_TRY_WRITE, lock);
}

static int write_many(void *argument)
{
	struct ledger *ledger = argument;
	write_and_read(ledger);
	return ledger->torn == 0 ? 0 : 1;
}

static void *write_in_child(void *argument)
{
	say("a child: %d", in_child(write_many, argument));
	return NULL;
}

/* Two children and their parent count under one lock. */
static void among_processes(void)
{
	struct ledger *ledger = shared_memory(sizeof(*ledger));
	ledger->lock = new_rwlock();
	ledger->rounds = 200;
	ledger->reads = 2;
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		threads[i] = start(write_in_child, ledger);
	write_and_read(ledger);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	say("%lu and %lu written, %u reads torn", ledger->one, ledger->other, ledger->torn);
	say_rw(RW_TRY_WRITE, ledger->lock);
}

const struct conform_case rwlock_threads_cases[] = {
	{ "rw-readers-at-once", readers_at_once, 0 },
	{ "rw-all-are-served", all_are_served, 0 },
	{ "rw-exclusion", exclusion, 0 },
	{ "rw-signalled", signalled_waiters, 0 },
	{ "rw-cancelled", cancelled_waiters, 0 },
	{ "rw-forked", in_forked_children, 0 },
	{ "rw-processes", among_processes, TRAIT_SHARED },
	{ NULL, NULL, 0 },
};
