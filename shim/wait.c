/*
 * Runs the strategy in force and records the wait: thread, lock, call site, holder.
 */
#include "wait.h"

#include <errno.h>

#include "control.h"
#include "mutex.h"
#include "probes/counters.h"
#include "probes/record_map.h"
#include "start.h"
#include "strategy.h"
#include "thread.h"
#include "waiting.h"

enum strategy {
#define STRATEGY(name, count, help) STRATEGY_##name,
#include "strategies.def"
#undef STRATEGY
};

#define glibc_wait NULL /* libc's own function: it wants the whole mutex, see libc_wait */
static int (*const strategies[])(struct wait *wait) = {
#define STRATEGY(name, count, help) name##_wait,
#include "strategies.def"
#undef STRATEGY
};
#undef glibc_wait

static int libc_wait(pthread_mutex_t *mutex, const struct wait_limit *limit)
{
	if (limit->deadline == NULL)
		return REAL(pthread_mutex_lock)(mutex);
	if (limit->clocklock)
		return REAL(pthread_mutex_clocklock)(mutex, limit->clock, limit->deadline);
	return REAL(pthread_mutex_timedlock)(mutex, limit->deadline);
}

static void count_strategy(struct record_thread *self, const struct wait *wait, bool stats)
{
	bool polled = wait->polls + wait->yields != 0;
	if (!stats)
		return;
	counter_add(&self->counters.mutex.spun, wait->polls);
	counter_add(&self->counters.mutex.yielded, wait->yields);
	counter_add(&self->counters.mutex.parked, wait->parks);
	if (polled && wait->parks == 0)
		counter_add(&self->counters.mutex.spun_useful, 1);
	else if (polled)
		counter_add(&self->counters.mutex.spun_vain, 1);
}

/* The strategy's wait on the mutex's own word. */
static int strategy_wait(pthread_mutex_t *mutex, struct record_thread *self, uint32_t strategy,
        const struct wait_limit *limit)
{
	int kind = mutex_kind(mutex);
	uint32_t pre_spins = control_count(&control()->mutex_pre_spins);
	struct wait wait = {
		.word = &mutex->__data.__lock,
		.line = mutex_is_shared(kind) ? NULL : mutex_line(mutex),
		.count = control_count(&control()->mutex.count),
		.may_poll = thread_may_poll(),
		.may_yield = !record_filtered(),
		.shared = mutex_is_shared(kind),
		.era = start_era(),
		.seed = thread_seed(),
		.hint = control_hint(),
		.polls_learned = mutex_polls_learned(mutex),
		.deadline = limit->deadline,
		.clock = limit->clock,
	};
	int result = -1;
	for (uint32_t i = 0; result < 0 && wait.may_poll && i < pre_spins; i++)
		if (wait_poll(&wait))
			result = 0;
	if (result < 0)
		result = strategies[strategy](&wait);
	if (result == 0 && wait.polls_learned != mutex_polls_learned(mutex))
		mutex_learn_polls(mutex, wait.polls_learned);
	count_strategy(self, &wait, control_stats_on());
	return result;
}

static void count_wait(
        struct record_thread *self, const struct waiting *waiting, uint64_t wait_ns, int result)
{
	counter_add(&self->counters.mutex.contended, 1);
	counter_add(&self->counters.mutex.wait_ns_total, wait_ns);
	counter_max(&self->counters.mutex.wait_ns_max, wait_ns);
	if (result == ETIMEDOUT)
		counter_add(&self->counters.mutex.timed_out, 1);
	if (waiting->lost)
		counter_add(&self->counters.mutex.lost, 1);
}

/* Waits as the strategy in force says; on success the mutex is the thread's in every word. */
static int acquire_contended(pthread_mutex_t *mutex, struct record_thread *self, const void *site,
        const struct wait_limit *limit)
{
	uint32_t strategy = __atomic_load_n(&control()->mutex.strategy, __ATOMIC_RELAXED);
	int result;
	if (strategy == STRATEGY_glibc || strategy >= sizeof(strategies) / sizeof(*strategies)) {
		result = libc_wait(mutex, limit);
		if (result == 0)
			mutex_set_site(mutex, site);
	} else {
		result = strategy_wait(mutex, self, strategy, limit);
		if (result == 0)
			mutex_own(mutex, self->tid, site);
	}
	return result;
}

/* Blames the holder. It is not known while it is about to sign the mutex or has just struck its
 * name out: a second look, some work later, mostly finds it. */
static void blame_holder(struct waiting *waiting, const pthread_mutex_t *mutex,
        uint32_t first_owner, uint64_t first_site)
{
	if (first_site == 0) {
		first_owner = mutex_owner(mutex);
		first_site = mutex_site(mutex);
	}
	waiting_blame(waiting, first_owner, first_site);
}

int wait_for_mutex(pthread_mutex_t *mutex, struct record_thread *self, const void *site,
        const struct wait_limit *limit)
{
	if (!control_stats_on())
		return acquire_contended(mutex, self, site, limit);
	uint32_t owner = mutex_owner(mutex);
	uint64_t owner_site = mutex_site(mutex);
	struct wait_event event = {
		.lock = (uint64_t)(uintptr_t)mutex,
		.family = FAMILY_mutex,
		.kind = (uint32_t)mutex_kind(mutex),
		.site = (uint64_t)(uintptr_t)site,
	};
	struct waiting waiting = waiting_begin(self, &event);
	blame_holder(&waiting, mutex, owner, owner_site);
	int result = acquire_contended(mutex, self, site, limit);
	uint64_t wait_ns = waiting_end(&waiting, result == 0);
	count_wait(self, &waiting, wait_ns, result);
	return result;
}
