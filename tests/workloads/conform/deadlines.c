/*
 * Deadlines and clocks: which are refused, and when; a refusal comes only where the call would have
 * to wait.
 */
#include "conform.h"

#include <errno.h>

static const struct odd_deadline {
	const char *name;
	struct timespec time;
} odd_deadlines[] = {
	{ "nsec -1", { 1, -1 } },
	{ "nsec 1000000000", { 1, 1000000000 } },
	{ "sec -1", { -1, 0 } },
	{ "sec -1 nsec -1", { -1, -1 } },
	{ "sec -1 nsec 999999999", { -1, 999999999 } },
	{ "sec 0", { 0, 0 } },
	{ "long past", { 1, 0 } },
};

#define ODD_DEADLINES (sizeof(odd_deadlines) / sizeof(*odd_deadlines))

/* All odd deadlines with all timed operations. */
static void try_odd_deadlines(const char *state, pthread_mutex_t *mutex)
{
	for (size_t i = 0; i < ODD_DEADLINES; i++) {
		for (enum op op = OP_TIMED; op < OP_ACQUIRING; op++) {
			int result = do_op_until(op, mutex, &odd_deadlines[i].time);
			say("%s, %s, %s: %s", state, op_names[op], odd_deadlines[i].name,
			        result_name(result));
			if (result == 0)
				say_op(OP_UNLOCK, mutex);
		}
	}
}

static void odd_when_free(void)
{
	try_odd_deadlines("free", new_mutex());
}

static void odd_when_held(void)
{
	struct holder holder;
	pthread_mutex_t *mutex = new_mutex();
	holder_start(&holder, mutex);
	try_odd_deadlines("held", mutex);
	holder_end(&holder);
	say_op(OP_LOCK, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_DESTROY, mutex);
}

static void odd_when_own(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	try_odd_deadlines("own", mutex);
	say_op(OP_UNLOCK, mutex);
	say_op_elsewhere(OP_TRY, mutex);
}

static const struct clock {
	const char *name;
	clockid_t id;
} clocks[] = {
	{ "realtime", CLOCK_REALTIME },
	{ "monotonic", CLOCK_MONOTONIC },
	{ "boottime", CLOCK_BOOTTIME },
	{ "monotonic raw", CLOCK_MONOTONIC_RAW },
	{ "monotonic coarse", CLOCK_MONOTONIC_COARSE },
	{ "tai", CLOCK_TAI },
	{ "process time", CLOCK_PROCESS_CPUTIME_ID },
	{ "thread time", CLOCK_THREAD_CPUTIME_ID },
	{ "no clock", 99 },
	{ "a negative clock", -1 },
};

static void try_clocks(const char *state, pthread_mutex_t *mutex)
{
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		struct timespec past = { 1, 0 };
		int result = pthread_mutex_clocklock(mutex, clocks[i].id, &past);
		say("%s, %s: %s", state, clocks[i].name, result_name(result));
		if (result == 0)
			say_op(OP_UNLOCK, mutex);
	}
}

static void clocks_when_free(void)
{
	try_clocks("free", new_mutex());
}

static void clocks_when_held(void)
{
	struct holder holder;
	pthread_mutex_t *mutex = new_mutex();
	holder_start(&holder, mutex);
	try_clocks("held", mutex);
	holder_end(&holder);
}

static void clocks_when_own(void)
{
	pthread_mutex_t *mutex = new_mutex();
	say_op(OP_LOCK, mutex);
	try_clocks("own", mutex);
	say_op(OP_UNLOCK, mutex);
}

static void *give_up_once(void *mutex)
{
	for (enum op op = OP_TIMED; op < OP_ACQUIRING; op++)
		require(do_op(op, mutex) == ETIMEDOUT, "a timeout");
	return NULL;
}

/* Those who gave up leave nothing behind that hinders the others. */
static void given_up_among_waiters(void)
{
	enum { THREADS = 4 };
	struct holder holder, waiter;
	pthread_t threads[THREADS];
	pthread_mutex_t *mutex = new_mutex();
	holder_start(&holder, mutex);
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(give_up_once, mutex);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say_op(OP_TRY, mutex);
	holder_end(&holder);
	holder_start(&waiter, mutex);
	say_op(OP_TIMED, mutex);
	holder_end(&waiter);
	struct counting counting = {
		.mutex = mutex, .threads = 4, .rounds = 100, .once = count_once
	};
	say_count_all(&counting);
	say_op(OP_DESTROY, mutex);
}

static void *wait_and_leave(void *mutex)
{
	require(do_op(OP_LOCK, mutex) == 0, "lock");
	require(do_op(OP_UNLOCK, mutex) == 0, "unlock");
	return NULL;
}

/* A deadline holds although others came first and wait without one. */
static void given_up_behind_waiters(void)
{
	enum { THREADS = 3 };
	struct holder holder;
	pthread_t threads[THREADS];
	pthread_mutex_t *mutex = new_mutex();
	holder_start(&holder, mutex);
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(wait_and_leave, mutex);
	sleep_ms(2);
	for (enum op op = OP_TRY; op < OP_ACQUIRING; op++)
		say_op(op, mutex);
	holder_end(&holder);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say_op(OP_DESTROY, mutex);
}

struct patient {
	pthread_mutex_t *mutex;
	enum op op;
};

static int wait_patiently(void *argument)
{
	const struct patient *patient = argument;
	int result = do_op_patiently(patient->op, patient->mutex);
	if (result == 0)
		do_op(OP_UNLOCK, patient->mutex);
	return result;
}

static void *let_go_later(void *holder)
{
	sleep_ms(3);
	holder_end(holder);
	return NULL;
}

static void granted_before_deadline(void)
{
	pthread_mutex_t *mutex = new_mutex();
	for (enum op op = 0; op < OP_ACQUIRING; op++) {
		struct holder holder;
		struct patient patient = { mutex, op };
		if (op == OP_TRY)
			continue;
		holder_start(&holder, mutex);
		pthread_t other = start(let_go_later, &holder);
		say("%s: %s", op_names[op], result_name(elsewhere(wait_patiently, &patient)));
		pthread_join(other, NULL);
	}
}

const struct conform_case deadlines_cases[] = {
	{ "odd-deadlines-free", odd_when_free, 0 },
	{ "odd-deadlines-held", odd_when_held, 0 },
	{ "odd-deadlines-own", odd_when_own, TRAIT_ANSWERS },
	{ "odd-deadlines-relock", odd_when_own, TRAIT_UNCHECKED },
	{ "clocks-free", clocks_when_free, 0 },
	{ "clocks-held", clocks_when_held, 0 },
	{ "clocks-own", clocks_when_own, 0 },
	{ "given-up-among-waiters", given_up_among_waiters, 0 },
	{ "given-up-behind-waiters", given_up_behind_waiters, 0 },
	{ "granted-before-deadline", granted_before_deadline, 0 },
	{ NULL, NULL, 0 },
};
