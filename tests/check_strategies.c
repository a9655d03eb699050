/*
 * Each strategy by itself, on a plain word in place of a mutex: it excludes, ends at its deadline,
 * polls no more than it may, and speaks glibc's protocol. Made of atomics alone, so the thread
 * sanitizer can follow.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/clock.h"
#include "shim/futex.h"
#include "shim/strategy.h"

#define ERA          7u
#define THREADS_MOST 8
#define SLEEP_NS     20000000u

#define glibc_wait NULL /* libc's own function waits */
static const struct strategy {
	const char *name;
	int (*wait)(struct wait *wait);
	uint32_t count;
} strategies[] = {
#define STRATEGY(name, count, help) { #name, name##_wait, count },
#include "shim/strategies.def"
#undef STRATEGY
};
#undef glibc_wait

#define STRATEGIES ((int)(sizeof(strategies) / sizeof(*strategies)))

/* What a mutex has of it: the word, the line, what was learned. */
struct lock {
	int word, polls_learned;
	uint64_t line;
};

static uint32_t *seed(void)
{
	static __thread uint32_t state;
	if (state == 0)
		state = (uint32_t)(uintptr_t)&state | 1;
	return &state;
}

static struct wait wait_on(struct lock *lock, uint32_t count)
{
	return (struct wait){
		.word = &lock->word,
		.line = &lock->line,
		.count = count,
		.may_poll = true,
		.may_yield = true,
		.era = ERA,
		.seed = seed(),
		.clock = CLOCK_MONOTONIC,
	};
}

static void release(struct lock *lock, bool shared)
{
	if (__atomic_exchange_n(&lock->word, WORD_FREE, __ATOMIC_RELEASE) == WORD_WAITED)
		futex_wake_one(&lock->word, shared);
}

static void await_word(struct lock *lock, int value)
{
	while (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) != value)
		sched_yield();
}

static void expect_idle(const struct lock *lock)
{
	ck_assert_int_eq(lock->word, WORD_FREE);
	ck_assert_uint_eq(lock->line, 0);
}

/* Threads that count under the lock. */
struct crowd {
	const struct strategy *strategy;
	struct lock lock;
	struct wait wait; /* as every thread begins */
	int rounds;
	uint64_t counted, also; /* not atomic: the lock guards them */
};

static void *count_under_lock(void *argument)
{
	struct crowd *crowd = argument;
	for (int i = 0; i < crowd->rounds; i++) {
		struct wait wait = crowd->wait;
		wait.seed = seed();
		if (!wait_try(&wait) && crowd->strategy->wait(&wait) != 0)
			return "the wait failed";
		crowd->counted++;
		if (i % 16 == 0) /* in the middle, so that others find the word taken */
			sched_yield();
		crowd->also++;
		release(&crowd->lock, crowd->wait.shared);
	}
	return NULL;
}

static void expect_exclusion(struct crowd *crowd, int threads)
{
	pthread_t thread[THREADS_MOST];
	crowd->counted = crowd->also = 0;
	for (int i = 0; i < threads; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, count_under_lock, crowd), 0);
	for (int i = 0; i < threads; i++) {
		void *complaint;
		ck_assert_int_eq(pthread_join(thread[i], &complaint), 0);
		ck_assert_msg(complaint == NULL, "%s: %s", crowd->strategy->name,
		        (const char *)complaint);
	}
	ck_assert_uint_eq(crowd->counted, (uint64_t)threads * (uint64_t)crowd->rounds);
	ck_assert_uint_eq(crowd->also, crowd->counted);
	expect_idle(&crowd->lock);
}

START_TEST(counters_are_exact)
{
	const struct strategy *strategy = &strategies[_i];
	const uint32_t counts[] = { strategy->count, 1, 0 };
	for (int kind = 0; kind < 6; kind++) {
		struct crowd crowd = { .strategy = strategy, .rounds = 1000 };
		crowd.wait = wait_on(&crowd.lock, counts[kind % 3]);
		crowd.wait.may_poll = kind < 3;
		expect_exclusion(&crowd, 2);
		expect_exclusion(&crowd, THREADS_MOST);
	}
}
END_TEST

/* The word lies in memory of several processes, and there is no line. */
START_TEST(processes_exclude_each_other)
{
	struct crowd *crowd = mmap(
	        NULL, sizeof(*crowd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(crowd, MAP_FAILED);
	*crowd = (struct crowd){ .strategy = &strategies[_i], .rounds = 500 };
	crowd->wait = wait_on(&crowd->lock, strategies[_i].count);
	crowd->wait.line = NULL;
	crowd->wait.shared = true;
	pid_t children[4];
	for (int i = 0; i < 4; i++) {
		children[i] = fork();
		ck_assert_int_ge(children[i], 0);
		if (children[i] == 0)
			_exit(count_under_lock(crowd) != NULL);
	}
	for (int i = 0; i < 4; i++) {
		int status;
		ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(crowd->counted, 4 * 500);
	ck_assert_uint_eq(crowd->also, 4 * 500);
	expect_idle(&crowd->lock);
	munmap(crowd, sizeof(*crowd));
}
END_TEST

static struct timespec at_ns(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
}

/* Waits in vain for a taken word: the wait as it was left. */
static struct wait give_up(struct wait wait, const struct strategy *strategy,
        const struct timespec *deadline, int result)
{
	*wait.word = WORD_TAKEN;
	wait.deadline = deadline;
	ck_assert_int_eq(strategy->wait(&wait), result);
	ck_assert_int_ne(*wait.word, WORD_FREE);
	ck_assert(wait.line == NULL || *wait.line == 0);
	return wait;
}

START_TEST(no_timeout_before_the_deadline)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
	for (int i = 0; i < 4; i++) {
		struct lock lock = { 0, 0, 0 };
		struct wait wait = wait_on(&lock, strategies[_i].count);
		wait.clock = clocks[i % 2];
		wait.shared = i / 2;
		uint64_t end_ns = clock_ns(wait.clock) + SLEEP_NS;
		struct timespec deadline = at_ns(end_ns);
		wait = give_up(wait, &strategies[_i], &deadline, ETIMEDOUT);
		ck_assert_uint_ge(clock_ns(wait.clock), end_ns);
		ck_assert_uint_ge(wait.parks, 1);
		ck_assert_uint_le(wait.polls, wait.count);
		ck_assert_uint_le(wait.yields, wait.count);
	}
}
END_TEST

/* As libc: what has passed times out, what no clock can show is refused, and a free word is taken
 * without a look at the deadline. */
START_TEST(odd_deadlines)
{
	static const struct {
		struct timespec deadline;
		int result;
	} cases[] = {
		{ { 0, 0 }, ETIMEDOUT },
		{ { 1, 999999999 }, ETIMEDOUT },
		{ { -1, 0 }, ETIMEDOUT },
		{ { 1, -1 }, EINVAL },
		{ { 1, 1000000000 }, EINVAL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lock lock = { 0, 0, 0 };
		struct wait wait = wait_on(&lock, 1);
		give_up(wait, &strategies[_i], &cases[i].deadline, cases[i].result);
		lock.word = WORD_FREE;
		wait.deadline = &cases[i].deadline;
		ck_assert_int_eq(strategies[_i].wait(&wait), 0);
		ck_assert_uint_eq(wait.parks, 0);
		ck_assert_int_ne(lock.word, WORD_FREE);
	}
}
END_TEST

/* One waiter that the test watches from outside. */
struct waiter {
	const struct strategy *strategy;
	struct wait wait;
	pthread_t thread;
	int result;
	int *served; /* how many have had the lock, guarded by it; NULL: keep the lock */
	int turn;    /* which of them this one was */
	struct lock *lock;
};

static void *wait_once(void *argument)
{
	struct waiter *waiter = argument;
	waiter->wait.seed = seed();
	waiter->result = waiter->strategy->wait(&waiter->wait);
	if (waiter->served != NULL) {
		waiter->turn = (*waiter->served)++;
		release(waiter->lock, false);
	}
	return NULL;
}

static void start_waiter(struct waiter *waiter)
{
	ck_assert_int_eq(pthread_create(&waiter->thread, NULL, wait_once, waiter), 0);
}

static void end_waiter(struct waiter *waiter)
{
	ck_assert_int_eq(pthread_join(waiter->thread, NULL), 0);
	ck_assert_int_eq(waiter->result, 0);
}

static struct waiter held_and_waited_for(struct lock *lock, int strategy, uint32_t count)
{
	lock->word = WORD_TAKEN;
	return (struct waiter){
		.strategy = &strategies[strategy],
		.wait = wait_on(lock, count),
		.lock = lock,
	};
}

START_TEST(kept_word_is_slept_for)
{
	static struct lock lock;
	for (uint32_t count = 0; count < 3; count++) {
		struct waiter waiter = held_and_waited_for(&lock, _i, count);
		start_waiter(&waiter);
		await_word(&lock, WORD_WAITED);
		usleep(SLEEP_NS / 1000);
		release(&lock, false);
		end_waiter(&waiter);
		/* Who slept cannot know whether others still do: the word says that they may. */
		ck_assert_int_eq(lock.word, WORD_WAITED);
		ck_assert_uint_ge(waiter.wait.parks, 1);
		ck_assert_uint_le(waiter.wait.polls, count);
		ck_assert_uint_le(waiter.wait.yields, count);
		ck_assert_uint_eq(lock.line, 0);
	}
}
END_TEST

/* Three sleepers in one futex: every release wakes the next, and the last leaves the word free. */
START_TEST(every_sleeper_is_woken)
{
	static struct lock lock;
	int served = 0;
	struct waiter waiters[3];
	for (int i = 0; i < 3; i++) {
		waiters[i] = held_and_waited_for(&lock, _i, 0);
		waiters[i].served = &served;
		lock.word = WORD_WAITED;
	}
	for (int i = 0; i < 3; i++)
		start_waiter(&waiters[i]);
	usleep(SLEEP_NS / 1000);
	release(&lock, false);
	for (int i = 0; i < 3; i++)
		end_waiter(&waiters[i]);
	ck_assert_int_eq(served, 3);
	expect_idle(&lock);
}
END_TEST

START_TEST(word_won_without_sleep_tells_of_no_sleeper)
{
	struct lock lock = { 0, 0, 0 };
	struct wait wait = wait_on(&lock, 1);
	ck_assert_int_eq(strategies[_i].wait(&wait), 0);
	ck_assert_uint_eq(wait.parks, 0);
	ck_assert_uint_le(wait.polls + wait.yields, 1);
	ck_assert_int_eq(lock.word, wait.polls + wait.yields > 0 ? WORD_TAKEN : WORD_WAITED);
}
END_TEST

START_TEST(nothing_polls_or_yields_where_it_may_not)
{
	static const struct timespec past = { 1, 0 };
	for (int forbidden = 0; forbidden < 4; forbidden++) {
		struct lock lock = { 0, 0, 0 };
		struct wait wait = wait_on(&lock, 1000);
		wait.may_poll = (forbidden & 1) == 0;
		wait.may_yield = (forbidden & 2) == 0;
		wait = give_up(wait, &strategies[_i], &past, ETIMEDOUT);
		ck_assert(wait.may_poll || wait.polls == 0);
		ck_assert(wait.may_yield || wait.yields == 0);
	}
}
END_TEST

static const struct strategy *strategy_called(const char *name)
{
	for (int i = 0; i < STRATEGIES; i++)
		if (strcmp(strategies[i].name, name) == 0)
			return &strategies[i];
	ck_abort_msg("no strategy is called %s", name);
}

START_TEST(steps_of_a_wait_in_vain)
{
	static const struct timespec past = { 1, 0 };
	static const struct {
		const char *name;
		uint32_t count, polls, yields;
	} cases[] = {
		{ "park", 9, 0, 0 }, { "spin", 1, 1, 0 }, { "spin", 123, 123, 0 },
		{ "yield", 1, 0, 1 }, { "yield", 30, 0, 30 }, { "backoff", 1, 1, 0 },
		{ "backoff", 12, 12, 0 }, { "adaptive", 1, 1, 0 },
		{ "adaptive", 100, 10, 0 }, /* of a mutex that has learned nothing */
		{ "queue", 1, 1, 0 }, { "queue", 50, 50, 0 }, /* with a deadline nobody lines up */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lock lock = { 0, 0, 0 };
		struct wait wait = give_up(wait_on(&lock, cases[i].count),
		        strategy_called(cases[i].name), &past, ETIMEDOUT);
		ck_assert_uint_eq(wait.polls, cases[i].polls);
		ck_assert_uint_eq(wait.yields, cases[i].yields);
		ck_assert_uint_eq(wait.parks, 1);
	}
}
END_TEST

START_TEST(adaptive_learns)
{
	static const struct timespec past = { 1, 0 };
	const struct strategy *adaptive = strategy_called("adaptive");
	struct lock lock = { 0, 0, 0 };
	struct wait wait = wait_on(&lock, 100);
	uint64_t before = 0;
	for (int i = 0; i < 100; i++) {
		wait.polls = 0;
		wait = give_up(wait, adaptive, &past, ETIMEDOUT);
		ck_assert_uint_ge(wait.polls, before);
		ck_assert_uint_le(wait.polls, 100);
		before = wait.polls;
	}
	ck_assert_uint_eq(before, 100);
	for (int learned = wait.polls_learned; learned >= 16; learned = wait.polls_learned) {
		lock.word = WORD_FREE; /* won at the first poll */
		ck_assert_int_eq(adaptive->wait(&wait), 0);
		ck_assert_int_lt(wait.polls_learned, learned);
	}
}
END_TEST

START_TEST(backoff_goes_on_with_its_random_numbers)
{
	static const struct timespec past = { 1, 0 };
	uint32_t numbers[2] = { 1, UINT32_MAX };
	for (int i = 0; i < 100; i++) {
		uint32_t before = numbers[i % 2];
		struct lock lock = { 0, 0, 0 };
		struct wait wait = wait_on(&lock, 1);
		wait.seed = &numbers[i % 2];
		give_up(wait, strategy_called("backoff"), &past, ETIMEDOUT);
		ck_assert_uint_ne(numbers[i % 2], before);
		ck_assert_uint_ne(numbers[i % 2], 0);
	}
}
END_TEST

/* N for the polls of their own lines: 0 parks there, more polls first. */
START_TEST(queue_serves_in_order_of_arrival)
{
	static struct lock lock;
	struct waiter waiters[6];
	int served = 0, queue = (int)(strategy_called("queue") - strategies);
	uint64_t last = 0;
	for (int i = 0; i < 6; i++) {
		waiters[i] = held_and_waited_for(&lock, queue, (uint32_t)_i);
		waiters[i].served = &served;
	}
	for (int i = 0; i < 6; i++) {
		start_waiter(&waiters[i]);
		while (__atomic_load_n(&lock.line, __ATOMIC_RELAXED) == last)
			sched_yield();
		last = __atomic_load_n(&lock.line, __ATOMIC_RELAXED);
		ck_assert_uint_eq(last >> 48, ERA);
	}
	await_word(&lock, WORD_WAITED);
	usleep(SLEEP_NS / 1000);
	release(&lock, false);
	for (int i = 0; i < 6; i++) {
		end_waiter(&waiters[i]);
		ck_assert_int_eq(waiters[i].turn, i);
		ck_assert_uint_ge(waiters[i].wait.parks, 1);
		/* For its turn, for the word, and for the link of the one behind. */
		ck_assert_uint_le(waiters[i].wait.polls, 3 * (uint64_t)_i);
	}
	expect_idle(&lock);
}
END_TEST

/* A forked child finds lines of threads that it does not have. */
START_TEST(line_of_another_era_is_no_line)
{
	static const uint32_t eras[] = { 0, 1, 0xffff, 0x12345 };
	const int queue = (int)(strategy_called("queue") - strategies);
	for (size_t i = 0; i < sizeof(eras) / sizeof(*eras); i++) {
		struct lock lock = { 0, 0, ((eras[i] + 1) & UINT64_C(0xffff)) << 48 | 0x1000 };
		struct waiter waiter = held_and_waited_for(&lock, queue, 10);
		waiter.wait.era = eras[i];
		start_waiter(&waiter);
		await_word(&lock, WORD_WAITED);
		release(&lock, false);
		end_waiter(&waiter);
		release(&lock, false);
		expect_idle(&lock);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("strategies");
	TCase *each = tcase_create("each"), *own = tcase_create("their own ways");
	tcase_set_timeout(each, 60);
	tcase_set_timeout(own, 60);
	for (int i = 0; i < STRATEGIES; i++) {
		if (strategies[i].wait == NULL)
			continue;
		tcase_add_loop_test(each, counters_are_exact, i, i + 1);
		tcase_add_loop_test(each, processes_exclude_each_other, i, i + 1);
		tcase_add_loop_test(each, no_timeout_before_the_deadline, i, i + 1);
		tcase_add_loop_test(each, odd_deadlines, i, i + 1);
		tcase_add_loop_test(each, kept_word_is_slept_for, i, i + 1);
		tcase_add_loop_test(each, every_sleeper_is_woken, i, i + 1);
		tcase_add_loop_test(each, word_won_without_sleep_tells_of_no_sleeper, i, i + 1);
		tcase_add_loop_test(each, nothing_polls_or_yields_where_it_may_not, i, i + 1);
	}
	tcase_add_test(own, steps_of_a_wait_in_vain);
	tcase_add_test(own, adaptive_learns);
	tcase_add_test(own, backoff_goes_on_with_its_random_numbers);
	tcase_add_loop_test(own, queue_serves_in_order_of_arrival, 0, 4);
	tcase_add_test(own, line_of_another_era_is_no_line);
	suite_add_tcase(suite, each);
	suite_add_tcase(suite, own);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
