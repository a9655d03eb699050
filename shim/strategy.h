/*
 * What a strategy is given, and the few steps that all of them are made of. A strategy decides how
 * a thread passes the time between finding the lock word taken and having it; it knows nothing of
 * pthread, counters or the environment.
 */
#ifndef SHIM_STRATEGY_H
#define SHIM_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* glibc's protocol on the lock word: whoever sees WAITED at release wakes one sleeper. */
enum word_state { WORD_FREE = 0, WORD_TAKEN = 1, WORD_WAITED = 2 };

/* What a CPU is told between two polls; hints of other machines are there to be numbered alike. */
enum wait_hint {
#define PAUSE(name, machine, help) HINT_##name,
#include "pauses.def"
#undef PAUSE
};

struct wait {
	int *word;
	uint64_t *line; /* an unused word of the mutex, 0 when idle; NULL when another process may
	                   look at it */
	uint32_t count; /* the strategy's N */
	bool may_poll;  /* false: the thread has one CPU, polling cannot help */
	bool may_yield; /* false: a system call besides the futex's could be fatal */
	bool shared;    /* the word may lie in memory of several processes */
	uint32_t era;   /* of the process: differs between a parent and its forked child */
	uint32_t *seed; /* the thread's random state, never 0 */
	enum wait_hint hint;
	int polls_learned;               /* in and out: how many polls this mutex used to need */
	const struct timespec *deadline; /* absolute, NULL: wait for ever */
	clockid_t clock;                 /* CLOCK_REALTIME or CLOCK_MONOTONIC */

	/* What was done. */
	uint64_t polls, yields, parks;
};

/*
 * Waits until the word is ours (0), or ETIMEDOUT at the deadline, or EINVAL for a deadline that the
 * kernel does not take. A loop before the park is bounded by count.
 */
#define STRATEGY(name, count, help) int name##_wait(struct wait *wait);
#include "strategies.def"
#undef STRATEGY

/* Sleeps in the futex until the word is ours: what every strategy ends with. */
int wait_park(struct wait *wait);

/* One sched_yield. */
void wait_yield(struct wait *wait);

/* Pauses between two polls that grow, up to a cap, and are jittered. */
struct wait_backoff {
	uint32_t pauses; /* of the next round at most; 0 at first */
	uint32_t *seed;  /* the thread's random state, never 0 */
	enum wait_hint hint;
};

/* One round of pauses. */
void wait_back_off(struct wait_backoff *backoff);

static inline bool wait_try(struct wait *wait)
{
	int expected = WORD_FREE;
	/* Pairs with the release of the word by the previous owner. */
	return __atomic_compare_exchange_n(
	        wait->word, &expected, WORD_TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline bool wait_is_free(const struct wait *wait)
{
	return __atomic_load_n(wait->word, __ATOMIC_RELAXED) == WORD_FREE;
}

/* Tells the CPU that this is a polling loop. */
static inline void wait_pause(enum wait_hint hint)
{
	switch (hint) {
	case HINT_nop:
		__asm__ volatile("nop" ::: "memory");
		break;
#if defined(__aarch64__)
	case HINT_yield:
		__asm__ volatile("yield" ::: "memory");
		break;
	case HINT_sb:
		__asm__ volatile(".inst 0xd50330ff" ::: "memory"); /* sb, of Armv8.5 */
		break;
	default:
		__asm__ volatile("isb" ::: "memory"); /* yield is a no-op on most cores */
		break;
#else
	default:
		__asm__ volatile("pause" ::: "memory");
		break;
#endif
	}
}

/* One poll: a pause, a plain load, a try only when the word looks free. */
static inline bool wait_poll(struct wait *wait)
{
	wait->polls++;
	wait_pause(wait->hint);
	return wait_is_free(wait) && wait_try(wait);
}

#endif
