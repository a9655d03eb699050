/*
 * Exclusion: threads count under a mutex without atomic operations, and every count comes out.
 */
#include "conform.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 1000

static void exclude_simply(void)
{
	for (unsigned threads = 2; threads <= 8; threads *= 2) {
		struct counting counting = {
			.mutex = new_mutex(),
			.threads = threads,
			.rounds = ROUNDS,
			.once = count_once,
		};
		say_count_all(&counting);
		say_op(OP_DESTROY, counting.mutex);
	}
}

/* Each call in turn, until it succeeds. */
static void count_by_any_call(struct counting *counting, unsigned round)
{
	enum op op = (enum op)(round % OP_ACQUIRING);
	int result;
	while ((result = do_op_patiently(op, counting->mutex)) == EBUSY)
		sched_yield();
	require(result == 0, op_names[op]);
	count_up(counting);
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static void exclude_by_any_call(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = ROUNDS, .once = count_by_any_call
	};
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

static void count_by_trying(struct counting *counting, unsigned round)
{
	int result;
	(void)round;
	while ((result = do_op(OP_TRY, counting->mutex)) != 0) {
		require(result == EBUSY, "trylock says EBUSY");
		sched_yield();
	}
	count_up(counting);
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static void exclude_by_trying(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = ROUNDS / 2, .once = count_by_trying
	};
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

/* Deadlines so near that many are missed. */
static void count_impatiently(struct counting *counting, unsigned round)
{
	enum op op = OP_TIMED + round % 3;
	clockid_t clock = op == OP_CLOCK_MONO ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	int result;
	do {
		struct timespec deadline = time_after_ms(clock, 0);
		result = do_op_until(op, counting->mutex, &deadline);
		require(result == 0 || result == ETIMEDOUT, "a timeout");
	} while (result != 0);
	count_up(counting);
	if (round % 16 == 0)
		sched_yield();
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static void exclude_impatiently(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = ROUNDS / 4, .once = count_impatiently
	};
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

/* Two more acquisitions inside, which a recursive mutex grants and an error-checking one refuses.
 */
static void count_with_relocks(struct counting *counting, unsigned round)
{
	int granted = 0;
	(void)round;
	require(do_op(OP_LOCK, counting->mutex) == 0, "lock");
	granted += do_op(OP_LOCK, counting->mutex) == 0;
	granted += do_op(OP_TRY, counting->mutex) == 0;
	count_up(counting);
	for (int i = 0; i < granted + 1; i++)
		require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static void exclude_with_relocks(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 4, .rounds = ROUNDS / 2, .once = count_with_relocks
	};
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

/* The holder gives its CPU away, so that the others do have to wait. */
static void count_slowly(struct counting *counting, unsigned round)
{
	(void)round;
	require(do_op(OP_LOCK, counting->mutex) == 0, "lock");
	count_up(counting);
	sched_yield();
	require(do_op(OP_UNLOCK, counting->mutex) == 0, "unlock");
}

static void exclude_slowly(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 8, .rounds = 100, .once = count_slowly
	};
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

static void exclude_many_threads(void)
{
	struct counting counting = {
		.mutex = new_mutex(), .threads = 64, .rounds = 25, .once = count_slowly
	};
	say_count_all(&counting);
	say_op(OP_DESTROY, counting.mutex);
}

#define MANY 4000

static pthread_mutex_t *many;
static unsigned long many_counters[MANY];

static void *count_under_many(void *seed)
{
	unsigned state = *(unsigned *)seed;
	for (int i = 0; i < MANY; i++) {
		state = state * 1103515245 + 12345;
		unsigned which = state / 65536 % MANY;
		require(do_op(OP_LOCK, &many[which]) == 0, "lock");
		many_counters[which]++;
		require(do_op(OP_UNLOCK, &many[which]) == 0, "unlock");
	}
	return NULL;
}

static void exclude_under_many(void)
{
	enum { THREADS = 4 };
	unsigned seeds[THREADS];
	pthread_t threads[THREADS];
	unsigned long sum = 0;
	many = shared_memory(MANY * sizeof(*many));
	memset(many_counters, 0, sizeof(many_counters));
	for (int i = 0; i < MANY; i++)
		require(kind_init(kind_under_test, &many[i]) == 0, "pthread_mutex_init");
	for (int i = 0; i < THREADS; i++) {
		seeds[i] = (unsigned)i;
		threads[i] = start(count_under_many, &seeds[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < MANY; i++) {
		sum += many_counters[i];
		require(do_op(OP_DESTROY, &many[i]) == 0, "destroy");
	}
	say("%d threads count %lu under %d mutexes", THREADS, sum, MANY);
}

/* An object with a count of its users, which the last one takes apart at once after its unlock. */
struct object {
	pthread_mutex_t mutex;
	int users;
};

static const unsigned char rubble = 0xa5;

static void *let_go(void *argument)
{
	struct object *object = argument;
	require(do_op(OP_LOCK, &object->mutex) == 0, "lock");
	bool last = --object->users == 0;
	require(do_op(OP_UNLOCK, &object->mutex) == 0, "unlock");
	if (last) {
		require(do_op(OP_DESTROY, &object->mutex) == 0, "destroy by the last user");
		memset(object, rubble, sizeof(*object));
	}
	return NULL;
}

/* Nobody may write to a mutex after the unlock that let the next owner in: its memory may already
 * be somebody else's. */
static void taken_apart_by_last_user(void)
{
	enum { TIMES = 50, USERS = 3 };
	struct object *object = shared_memory(sizeof(*object));
	int written = 0;
	for (int i = 0; i < TIMES; i++) {
		pthread_t threads[USERS];
		require(kind_init(kind_under_test, &object->mutex) == 0, "pthread_mutex_init");
		object->users = USERS;
		for (int j = 0; j < USERS; j++)
			threads[j] = start(let_go, object);
		for (int j = 0; j < USERS; j++)
			pthread_join(threads[j], NULL);
		for (size_t j = 0; j < sizeof(*object); j++)
			written += ((unsigned char *)object)[j] != rubble;
	}
	say("%d objects, %d bytes written after their end", TIMES, written);
}

static void reused_memory(void)
{
	enum { TIMES = 25 };
	int exact = 0;
	pthread_mutex_t *mutex = shared_memory(sizeof(*mutex));
	for (int i = 0; i < TIMES; i++) {
		struct counting counting = {
			.mutex = mutex, .threads = 2, .rounds = 20, .once = count_slowly
		};
		require(kind_init(kind_under_test, mutex) == 0, "pthread_mutex_init");
		exact += count_all(&counting);
		require(do_op(OP_DESTROY, mutex) == 0, "destroy");
	}
	say("%d of %d times exact", exact, TIMES);
}

const struct conform_case exclusion_cases[] = {
	{ "exclusion", exclude_simply, 0 },
	{ "exclusion-any-call", exclude_by_any_call, 0 },
	{ "exclusion-trylock", exclude_by_trying, 0 },
	{ "exclusion-impatient", exclude_impatiently, 0 },
	{ "exclusion-relocks", exclude_with_relocks, TRAIT_ANSWERS },
	{ "exclusion-slow", exclude_slowly, 0 },
	{ "exclusion-64-threads", exclude_many_threads, 0 },
	{ "exclusion-many-mutexes", exclude_under_many, 0 },
	{ "taken-apart-by-last-user", taken_apart_by_last_user, 0 },
	{ "reused-memory", reused_memory, 0 },
	{ NULL, NULL, 0 },
};
