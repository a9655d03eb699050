/*
 * Semaphores: what is counted and written of waits that get a unit, give up, are interrupted or
 * cancelled.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

#include "shim/semaphore.h"
#include "tests/locks.h"

static sem_t semaphore;

static void use(int row, uint32_t count)
{
	expect(sem_init(&semaphore, 0, 0), 0);
	locks_use(&locks_control()->sem, row, count);
}

static struct sem_counters counted(void)
{
	return locks_counted().sem;
}

/* The upper half of libc's word counts who waits in libc. */
static uint32_t sleepers(void)
{
	return (uint32_t)(__atomic_load_n((uint64_t *)(void *)&semaphore, __ATOMIC_RELAXED) >> 32);
}

static void wait_for_a_sleeper(void)
{
	while (sleepers() == 0)
		sched_yield();
}

START_TEST(uncontended_calls_count)
{
	struct timespec bad = { INT32_MAX, -1 };
	int value;
	use(_i, 0);
	for (int i = 0; i < 6; i++)
		expect(sem_post(&semaphore), 0);
	errno = ENOTTY;
	expect(sem_wait(&semaphore), 0);
	expect(sem_trywait(&semaphore), 0);
	expect(sem_timedwait(&semaphore, &long_past), 0);
	expect(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &long_past), 0);
	expect(errno, ENOTTY);
	expect(sem_timedwait(&semaphore, &bad), -1);
	expect(errno, EINVAL);
	expect(sem_clockwait(&semaphore, CLOCK_TAI, &long_past), -1);
	expect(errno, EINVAL);
	expect(sem_getvalue(&semaphore, &value), 0);
	expect(value, 2);
	struct sem_counters counts = counted();
	expect(counts.acquired, 4);
	expect(counts.posts, 6);
	expect(counts.contended + counts.try_failed + counts.timed_out, 0);
	expect(record_header->regions[REGION_LOCKS].used, 0);
}
END_TEST

START_TEST(failures_count)
{
	use(_i, 2);
	errno = 0;
	expect(sem_trywait(&semaphore), -1);
	expect(errno, EAGAIN);
	errno = 0;
	expect(sem_timedwait(&semaphore, &long_past), -1);
	expect(errno, ETIMEDOUT);
	errno = 0;
	expect(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &long_past), -1);
	expect(errno, ETIMEDOUT);
	struct sem_counters counts = counted();
	expect(counts.acquired, 0);
	expect(counts.try_failed, 1);
	expect(counts.contended, 2);
	expect(counts.timed_out, 2);
	expect(counts.spun_vain, locks_polls(_i) ? 2 : 0);
	expect(counts.spun + counts.yielded, locks_polls(_i) ? 4 : 0);
	ck_assert_uint_gt(counts.wait_ns_total, counts.wait_ns_max);
}
END_TEST

START_TEST(full_semaphore)
{
	use(_i, 0);
	expect(sem_init(&semaphore, 0, SEM_VALUE_MAX), 0);
	errno = 0;
	expect(sem_post(&semaphore), -1);
	expect(errno, EOVERFLOW);
	expect(counted().posts, 0);
}
END_TEST

static void *wait_for_unit(void *unused)
{
	errno = ENOTTY;
	if (sem_wait(&semaphore) != 0)
		return "no unit";
	return errno == ENOTTY ? unused : "errno has changed";
}

START_TEST(sleeper_gets_a_unit)
{
	use(_i, 1);
	pthread_t thread = locks_start(wait_for_unit, NULL);
	wait_for_a_sleeper();
	expect(sem_post(&semaphore), 0);
	locks_join(thread);
	struct sem_counters counts = counted();
	expect(counts.acquired, 1);
	expect(counts.contended, 1);
	expect(counts.spun_vain, locks_polls(_i));
	expect(counts.lost + counts.spun_useful + counts.interrupted, 0);
	locks_expect_wait(&semaphore, FAMILY_sem, MODE_EXCLUSIVE, wait_for_unit);
	const struct record_lock *row = locks_only(REGION_LOCKS);
	expect(row->wait.wait_ns_total, counts.wait_ns_total);
	expect(sem_destroy(&semaphore), 0);
	expect(row->destroyed, 1);
}
END_TEST

/* Whether a waiter had its unit by polling. */
static bool post_to_a_poller(int row)
{
	use(row, CHOICE_COUNT_MAX);
	uint32_t waits = record_header->regions[REGION_SITES].used + 1;
	pthread_t thread = locks_start(wait_for_unit, NULL);
	while (record_header->regions[REGION_SITES].used < waits)
		sched_yield();
	expect(sem_post(&semaphore), 0);
	locks_join(thread);
	struct sem_counters counts = counted();
	expect(counts.contended, 1);
	expect(counts.spun_useful + counts.spun_vain, 1);
	expect(sem_destroy(&semaphore), 0);
	return counts.spun_useful == 1;
}

/* A busy machine may keep the posting thread from running for longer than the other polls. */
START_TEST(useful_polls)
{
	int tries = locks_polls(_i) ? 50 : 0;
	while (tries > 0 && !post_to_a_poller(_i))
		expect(--tries > 0, true);
}
END_TEST

static void do_nothing(int signal)
{
	(void)signal;
}

static void *be_interrupted(void *unused)
{
	errno = 0;
	if (sem_wait(&semaphore) != -1 || errno != EINTR)
		return "not interrupted";
	return unused;
}

START_TEST(interrupted_waits_count)
{
	struct sigaction action = { .sa_handler = do_nothing };
	use(_i, 1);
	sigaction(SIGUSR1, &action, NULL);
	pthread_t thread = locks_start(be_interrupted, NULL);
	wait_for_a_sleeper();
	while (sleepers() != 0) {
		pthread_kill(thread, SIGUSR1);
		locks_sleep_ms(1);
	}
	locks_join(thread);
	struct sem_counters counts = counted();
	expect(counts.interrupted, 1);
	expect(counts.contended, 1);
	expect(counts.acquired, 0);
}
END_TEST

static int cleaned_up;

static void clean_up(void *unused)
{
	(void)unused;
	cleaned_up++;
	/* The shim goes on in what a cancelled thread still does. */
	sem_post(&semaphore);
	sem_trywait(&semaphore);
}

static void *be_cancelled(void *unused)
{
	pthread_cleanup_push(clean_up, NULL);
	sem_wait(&semaphore);
	pthread_cleanup_pop(0);
	return unused;
}

START_TEST(cancelled_waits_leave_nothing)
{
	void *value;
	use(_i, 1);
	for (int i = 1; i <= 3; i++) {
		pthread_t thread = locks_start(be_cancelled, NULL);
		wait_for_a_sleeper();
		expect(pthread_cancel(thread), 0);
		expect(pthread_join(thread, &value), 0);
		ck_assert_ptr_eq(value, PTHREAD_CANCELED);
		expect(cleaned_up, i);
		expect(sleepers(), 0);
	}
	struct sem_counters counts = counted();
	expect(counts.acquired, 3);
	expect(counts.posts, 3);
	expect(counts.contended + counts.wait_ns_total, 0);
	expect(totals_read().threads_ended, 3);
	const struct record_lock *row = locks_only(REGION_LOCKS);
	expect(row->wait.waits, 0);
}
END_TEST

static void post(int signal)
{
	(void)signal;
	sem_post(&semaphore);
}

/* The thread's first call is one in a signal handler. */
static void *be_signalled(void *unused)
{
	raise(SIGUSR1);
	return thread_slot != NULL ? unused : "not counted";
}

START_TEST(posts_of_a_handler_count)
{
	struct sigaction action = { .sa_handler = post };
	use(_i, 0);
	sigaction(SIGUSR1, &action, NULL);
	locks_join(locks_start(be_signalled, NULL));
	raise(SIGUSR1);
	expect(counted().posts, 2);
	expect(sem_trywait(&semaphore), 0);
	expect(sem_trywait(&semaphore), 0);
}
END_TEST

START_TEST(statistics_off)
{
	use(_i, 1);
	locks_control()->stats = STATS_OFF;
	pthread_t thread = locks_start(wait_for_unit, NULL);
	wait_for_a_sleeper();
	expect(sem_post(&semaphore), 0);
	locks_join(thread);
	struct sem_counters counts = counted();
	expect(counts.acquired, 1);
	expect(counts.contended + counts.spun + counts.yielded + counts.wait_ns_total, 0);
	expect(record_header->regions[REGION_LOCKS].used, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("semaphores");
	tcase_set_timeout(cases, 60);
	for (int i = 0; i < POLLINGS; i++) {
		if (!locks_has(i, FOR_SEM))
			continue;
		tcase_add_loop_test(cases, uncontended_calls_count, i, i + 1);
		tcase_add_loop_test(cases, failures_count, i, i + 1);
		tcase_add_loop_test(cases, full_semaphore, i, i + 1);
		tcase_add_loop_test(cases, sleeper_gets_a_unit, i, i + 1);
		tcase_add_loop_test(cases, useful_polls, i, i + 1);
		tcase_add_loop_test(cases, interrupted_waits_count, i, i + 1);
		tcase_add_loop_test(cases, cancelled_waits_leave_nothing, i, i + 1);
		tcase_add_loop_test(cases, posts_of_a_handler_count, i, i + 1);
		tcase_add_loop_test(cases, statistics_off, i, i + 1);
	}
	return locks_run(cases, "check_sem");
}
