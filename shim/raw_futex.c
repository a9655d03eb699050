/*
 * Counts and times what a program does with futexes of its own, and polls before it sleeps.
 */
#include "raw_futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "polling.h"
#include "probes/clock.h"
#include "probes/sys.h"
#include "real.h"
#include "thread.h"
#include "waiting.h"

#define NS_PER_S       INT64_C(1000000000)
#define FOREVER_S      INT64_C(1000000000) /* a timeout that no polling comes near */
#define SCOPE(futex)   ((futex)->operation & FUTEX_PRIVATE_FLAG)
#define COMMAND(futex) ((int)(futex)->operation & FUTEX_CMD_MASK)

struct futex {
	long word, operation, value, timeout, word2, value3;
};

/* The word that is polled, and when to give up: on CLOCK_MONOTONIC, 0: never. */
struct watch {
	const uint32_t *word;
	uint32_t value;
	uint64_t deadline_ns;
	bool changed;
};

static long kernel(const struct futex *futex)
{
	return REAL(syscall)(SYS_futex, futex->word, futex->operation, futex->value, futex->timeout,
	        futex->word2, futex->value3);
}

static bool is_over(void *argument)
{
	struct watch *watch = argument;
	/* What the program reads next is no older: the kernel's own comparison is a barrier. */
	watch->changed = __atomic_load_n(watch->word, __ATOMIC_SEQ_CST) != watch->value;
	return watch->changed ||
	       (watch->deadline_ns != 0 && clock_monotonic_ns() >= watch->deadline_ns);
}

/* Copies a timeout that the program may read; false where the kernel has to say what is wrong with
 * it, or nothing is left of it. The kernel reads it before it looks at the bits, of which there are
 * none. */
static bool read_timeout(const struct futex *futex, struct timespec *timeout)
{
	long result = sys_call6(SYS_futex, futex->word, FUTEX_WAIT_BITSET | SCOPE(futex),
	        futex->value, futex->timeout, 0, 0);
	if (result != -EINVAL)
		return false;
	*timeout = *(const struct timespec *)(uintptr_t)futex->timeout;
	return timeout->tv_sec >= 0 && timeout->tv_nsec >= 0 && timeout->tv_nsec < NS_PER_S;
}

/* The time that is left, at most FOREVER_S. */
static int64_t left_ns(const struct futex *futex, const struct timespec *timeout)
{
	bool real = (futex->operation & FUTEX_CLOCK_REALTIME) != 0;
	bool absolute = COMMAND(futex) == FUTEX_WAIT_BITSET;
	int64_t now = absolute ? (int64_t)clock_ns(real ? CLOCK_REALTIME : CLOCK_MONOTONIC) : 0;
	if (timeout->tv_sec - now / NS_PER_S >= FOREVER_S)
		return FOREVER_S * NS_PER_S;
	return timeout->tv_sec * NS_PER_S + timeout->tv_nsec - now;
}

/* Whether the word can be read and has the wait's value: 0 or -errno. Moves and wakes nobody. */
static long compare(const struct futex *futex)
{
	return sys_call6(SYS_futex, futex->word, FUTEX_CMP_REQUEUE | SCOPE(futex), 0, 0,
	        futex->word, futex->value);
}

/* The kernel's wait, by what polling has left of a relative timeout. */
static long wait_for_rest(const struct futex *futex, const struct watch *watch)
{
	struct futex rest = *futex;
	struct timespec timeout = { 0, 0 };
	uint64_t now_ns = clock_monotonic_ns();
	if (now_ns < watch->deadline_ns) {
		int64_t left = (int64_t)(watch->deadline_ns - now_ns);
		timeout = (struct timespec){ left / NS_PER_S, left % NS_PER_S };
	}
	rest.timeout = SYS_ARG(&timeout);
	return kernel(&rest);
}

/* Polls, then waits in the kernel. */
static long poll_and_wait(const struct futex *futex, struct polling *polling)
{
	struct watch watch = { .word = (const uint32_t *)(uintptr_t)futex->word,
		.value = (uint32_t)futex->value };
	bool matches_none = COMMAND(futex) == FUTEX_WAIT_BITSET && (uint32_t)futex->value3 == 0;
	struct timespec timeout;
	if (record_filtered() || matches_none)
		return kernel(futex);
	if (futex->timeout != 0) {
		int64_t left = read_timeout(futex, &timeout) ? left_ns(futex, &timeout) : 0;
		if (left <= 0)
			return kernel(futex);
		watch.deadline_ns = clock_monotonic_ns() + (uint64_t)left;
	}
	long equal = compare(futex);
	watch.changed = equal == -EAGAIN;
	if (equal == 0) {
		*polling = polling_run(&control()->futex, is_over, &watch);
		polling->useful = watch.changed;
	} else if (!watch.changed) {
		return kernel(futex);
	}
	if (watch.changed) {
		errno = EAGAIN;
		return -1;
	}
	if (COMMAND(futex) == FUTEX_WAIT && futex->timeout != 0)
		return wait_for_rest(futex, &watch);
	return kernel(futex);
}

static void count_wait(struct record_thread *self, const struct waiting *waiting, uint64_t wait_ns,
        int error, const struct polling *polling)
{
	struct futex_counters *counters = &self->counters.futex;
	counter_add(&counters->waits, 1);
	if (error == 0)
		counter_add(&counters->slept, 1);
	else if (error == EAGAIN)
		counter_add(&counters->changed, 1);
	else if (error == ETIMEDOUT)
		counter_add(&counters->timed_out, 1);
	else if (error == EINTR)
		counter_add(&counters->interrupted, 1);
	polling_count(polling, &counters->spun);
	counter_add(&counters->wait_ns_total, wait_ns);
	counter_max(&counters->wait_ns_max, wait_ns);
	if (waiting->lost)
		counter_add(&counters->lost, 1);
}

static long wait(struct record_thread *self, const struct futex *futex, const void *site)
{
	struct wait_event event = {
		.lock = (uint64_t)futex->word,
		.family = FAMILY_futex,
		.site = (uint64_t)(uintptr_t)site,
	};
	struct polling polling = { 0, 0, false };
	bool polls = polling_strategy(&control()->futex) != POLLING_kernel;
	struct waiting waiting = waiting_begin(self, &event);
	long result = polls ? poll_and_wait(futex, &polling) : kernel(futex);
	uint64_t wait_ns = waiting_end(&waiting, false);
	if (waiting.started_ns != 0)
		count_wait(self, &waiting, wait_ns, result == -1 ? errno : 0, &polling);
	return result;
}

static long wake(struct record_thread *self, const struct futex *futex)
{
	long result = kernel(futex);
	if (!control_stats_on())
		return result;
	counter_add(&self->counters.futex.wakes, 1);
	if (result > 0)
		counter_add(&self->counters.futex.woken, (uint64_t)result);
	return result;
}

long raw_futex(const void *site, long word, long operation, long value, long timeout, long word2,
        long value3)
{
	struct futex futex = { word, operation, value, timeout, word2, value3 };
	struct record_thread *self = thread_current();
	if (self == NULL || word == 0) /* 0 is no lock's address in the record */
		return kernel(&futex);
	switch (COMMAND(&futex)) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return wait(self, &futex, site);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
		return wake(self, &futex);
	default:
		if (control_stats_on())
			counter_add(&self->counters.futex.passed_through, 1);
		return kernel(&futex);
	}
}
