/*
 * Threads, mutexes and condition variables of C11, which glibc makes of its own without the
 * pthread_ functions.
 */
#include "conform.h"

#include <sched.h>
#include <threads.h>

static const char *thrd_name(int result)
{
	return result == thrd_success    ? "success"
	       : result == thrd_busy     ? "busy"
	       : result == thrd_timedout ? "timedout"
	       : result == thrd_error    ? "error"
	                                 : "nomem";
}

static int try_and_release(void *mutex)
{
	int result = mtx_trylock(mutex);
	if (result == thrd_success)
		mtx_unlock(mutex);
	return result;
}

static const char *tried_elsewhere(mtx_t *mutex)
{
	thrd_t thread;
	int result = -1;
	require(thrd_create(&thread, try_and_release, mutex) == thrd_success, "thrd_create");
	thrd_join(thread, &result);
	return thrd_name(result);
}

static void one_kind(int type)
{
	mtx_t mutex;
	struct timespec past = { 1, 0 };
	say("init %d: %s", type, thrd_name(mtx_init(&mutex, type)));
	say("lock: %s", thrd_name(mtx_lock(&mutex)));
	int tried = mtx_trylock(&mutex);
	say("trylock: %s", thrd_name(tried));
	int timed = mtx_timedlock(&mutex, &past);
	say("timedlock: %s", thrd_name(timed));
	say("trylock by another thread: %s", tried_elsewhere(&mutex));
	for (int left = 1 + (tried == thrd_success) + (timed == thrd_success); left > 0; left--)
		say("unlock: %s", thrd_name(mtx_unlock(&mutex)));
	say("trylock by another thread: %s", tried_elsewhere(&mutex));
	mtx_destroy(&mutex);
}

static void mutexes(void)
{
	one_kind(mtx_plain);
	one_kind(mtx_timed);
	one_kind(mtx_plain | mtx_recursive);
	one_kind(mtx_timed | mtx_recursive);
}

#define TURNS 200

static mtx_t turn_mutex;
static cnd_t turn_cond;
static unsigned turns;

static int take_turns(void *player)
{
	mtx_lock(&turn_mutex);
	while (turns < TURNS) {
		if (turns % 2 == (unsigned long)player) {
			turns++;
			cnd_broadcast(&turn_cond);
			continue;
		}
		cnd_wait(&turn_cond, &turn_mutex);
	}
	mtx_unlock(&turn_mutex);
	return 0;
}

static void turns_of_two(void)
{
	thrd_t other;
	turns = 0;
	mtx_init(&turn_mutex, mtx_plain);
	cnd_init(&turn_cond);
	require(thrd_create(&other, take_turns, (void *)1ul) == thrd_success, "thrd_create");
	take_turns((void *)0ul);
	thrd_join(other, NULL);
	say("%u turns", turns);
	cnd_destroy(&turn_cond);
	mtx_destroy(&turn_mutex);
}

static void waits_until(void)
{
	struct timespec past = { 1, 0 }, odd = { 1, 1000000000 };
	mtx_init(&turn_mutex, mtx_plain);
	cnd_init(&turn_cond);
	mtx_lock(&turn_mutex);
	say("past: %s", thrd_name(cnd_timedwait(&turn_cond, &turn_mutex, &past)));
	say("no time: %s", thrd_name(cnd_timedwait(&turn_cond, &turn_mutex, &odd)));
	say("signal: %s", thrd_name(cnd_signal(&turn_cond)));
	say("broadcast: %s", thrd_name(cnd_broadcast(&turn_cond)));
	say("the mutex elsewhere: %s", tried_elsewhere(&turn_mutex));
	mtx_unlock(&turn_mutex);
	cnd_destroy(&turn_cond);
	mtx_destroy(&turn_mutex);
}

static unsigned calls;

static void call(void)
{
	calls++;
}

static int call_often(void *flag)
{
	for (int i = 0; i < 100; i++)
		call_once(flag, call);
	return 0;
}

static void called_once(void)
{
	once_flag flag = ONCE_FLAG_INIT, other = ONCE_FLAG_INIT;
	thrd_t thread;
	calls = 0;
	require(thrd_create(&thread, call_often, &flag) == thrd_success, "thrd_create");
	call_often(&flag);
	thrd_join(thread, NULL);
	say("%u call", calls);
	call_often(&other);
	say("%u calls", calls);
}

/* glibc makes both of the same words, so calls of either sort may meet on one mutex. */
static void count_by_either(struct counting *counting, unsigned round)
{
	mtx_t *mutex = (mtx_t *)counting->mutex;
	bool first = round % 2 == 0, second = round % 3 == 0;
	require(first ? mtx_lock(mutex) == thrd_success : do_op(OP_LOCK, counting->mutex) == 0,
	        "lock");
	count_up(counting);
	if (round % 4 == 0)
		sched_yield();
	require(second ? mtx_unlock(mutex) == thrd_success : do_op(OP_UNLOCK, counting->mutex) == 0,
	        "unlock");
}

static void both_sorts(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = 500, .once = count_by_either
	};
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

const struct conform_case c11_cases[] = {
	{ "c11-mutexes", mutexes, TRAIT_FIRST },
	{ "c11-turns", turns_of_two, TRAIT_FIRST },
	{ "c11-deadlines", waits_until, TRAIT_FIRST },
	{ "c11-once", called_once, TRAIT_FIRST },
	{ "c11-and-pthread", both_sorts, 0 },
	{ NULL, NULL, 0 },
};
