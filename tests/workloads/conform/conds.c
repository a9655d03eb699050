/*
 * Condition variables, whose mutex is of the kind under test: the wait gives it up and takes it
 * back inside libc.
 */
#include "conform.h"

#include <errno.h>

#define FAR_MS 3600000

static const pthread_cond_t no_cond = PTHREAD_COND_INITIALIZER;

enum wait_way { WAIT_PLAIN, WAIT_TIMED, WAIT_CLOCK_REAL, WAIT_CLOCK_MONO, WAITS };

static const char *const wait_names[WAITS] = { "cond_wait", "cond_timedwait",
	"cond_clockwait realtime", "cond_clockwait monotonic" };

static clockid_t wait_clock(enum wait_way way)
{
	return way == WAIT_CLOCK_MONO ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

static int wait_until(enum wait_way way, pthread_cond_t *cond, pthread_mutex_t *mutex,
        const struct timespec *deadline)
{
	errno = EXFULL; /* which no wait sets */
	int result = way == WAIT_PLAIN ? pthread_cond_wait(cond, mutex)
	             : way == WAIT_TIMED
	                     ? pthread_cond_timedwait(cond, mutex, deadline)
	                     : pthread_cond_clockwait(cond, mutex, wait_clock(way), deadline);
	if (errno != EXFULL)
		say("%s sets errno to %s", wait_names[way], result_name(errno));
	return result;
}

static int wait_patiently(enum wait_way way, pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	struct timespec deadline = time_after_ms(wait_clock(way), FAR_MS);
	return wait_until(way, cond, mutex, &deadline);
}

/* Threads that wait for one variable until a number is theirs. */
struct meeting {
	pthread_mutex_t *mutex;
	pthread_cond_t cond;
	enum wait_way way;
	int waiting, admitted, passed, failed;
};

static void *pass_when_admitted(void *argument)
{
	struct meeting *meeting = argument;
	require(do_op(OP_LOCK, meeting->mutex) == 0, "lock");
	meeting->waiting++;
	while (meeting->admitted == 0)
		meeting->failed +=
		        wait_patiently(meeting->way, &meeting->cond, meeting->mutex) != 0;
	meeting->admitted--;
	meeting->waiting--;
	meeting->passed++;
	require(do_op(OP_UNLOCK, meeting->mutex) == 0, "unlock");
	return NULL;
}

/* Ends with the mutex held and all waiting. */
static void await_waiters(struct meeting *meeting, int count)
{
	for (;;) {
		require(do_op(OP_LOCK, meeting->mutex) == 0, "lock");
		if (meeting->waiting == count)
			return;
		require(do_op(OP_UNLOCK, meeting->mutex) == 0, "unlock");
		sleep_ms(0);
	}
}

#define GUESTS 4

static void meeting_start(struct meeting *meeting, enum wait_way way, pthread_t *threads)
{
	*meeting = (struct meeting){ .mutex = new_mutex(), .cond = no_cond, .way = way };
	for (int i = 0; i < GUESTS; i++)
		threads[i] = start(pass_when_admitted, meeting);
}

static void meeting_end(struct meeting *meeting, pthread_t *threads)
{
	for (int i = 0; i < GUESTS; i++)
		pthread_join(threads[i], NULL);
	say("%s: %d passed, %d waits failed", wait_names[meeting->way], meeting->passed,
	        meeting->failed);
	say("cond_destroy: %s", result_name(pthread_cond_destroy(&meeting->cond)));
	say_op(OP_DESTROY, meeting->mutex);
}

static void broadcast_to_four(void)
{
	struct meeting meeting;
	pthread_t threads[GUESTS];
	for (enum wait_way way = 0; way < WAITS; way++) {
		meeting_start(&meeting, way, threads);
		await_waiters(&meeting, GUESTS);
		meeting.admitted = GUESTS;
		say("broadcast: %s", result_name(pthread_cond_broadcast(&meeting.cond)));
		sleep_ms(1); /* they come to wait for the mutex */
		say_op(OP_UNLOCK, meeting.mutex);
		meeting_end(&meeting, threads);
	}
}

static void signal_to_each(void)
{
	struct meeting meeting;
	pthread_t threads[GUESTS];
	for (enum wait_way way = 0; way < WAITS; way++) {
		meeting_start(&meeting, way, threads);
		for (int i = GUESTS; i > 0; i--) {
			await_waiters(&meeting, i);
			meeting.admitted = 1;
			if (i % 2 == 0) /* with the mutex held and without */
				pthread_cond_signal(&meeting.cond);
			do_op(OP_UNLOCK, meeting.mutex);
			if (i % 2 != 0)
				pthread_cond_signal(&meeting.cond);
		}
		meeting_end(&meeting, threads);
	}
}

struct game {
	pthread_mutex_t *mutex;
	pthread_cond_t cond;
	unsigned turns;
};

#define TURNS 300

static void play(struct game *game, unsigned player)
{
	require(do_op(OP_LOCK, game->mutex) == 0, "lock");
	while (game->turns < TURNS) {
		if (game->turns % 2 == player) {
			game->turns++;
			pthread_cond_signal(&game->cond);
		} else {
			enum wait_way way = (enum wait_way)(game->turns % WAITS);
			require(wait_patiently(way, &game->cond, game->mutex) == 0, "wait");
		}
	}
	require(do_op(OP_UNLOCK, game->mutex) == 0, "unlock");
}

static void *play_second(void *game)
{
	play(game, 1);
	return NULL;
}

static void ping_pong(void)
{
	struct game game = { .mutex = new_mutex(), .cond = no_cond };
	pthread_t other = start(play_second, &game);
	play(&game, 0);
	pthread_join(other, NULL);
	say("%u turns", game.turns);
	say_op(OP_DESTROY, game.mutex);
}

/* A bounded buffer with two producers and two consumers. */
struct buffer {
	pthread_mutex_t *mutex;
	pthread_cond_t filled, emptied;
	unsigned long items[4], sum;
	unsigned used, produced, consumed;
};

#define ITEMS 400

static void *produce(void *argument)
{
	struct buffer *buffer = argument;
	for (unsigned i = 1; i <= ITEMS; i++) {
		require(do_op(OP_LOCK, buffer->mutex) == 0, "lock");
		while (buffer->used == 4)
			pthread_cond_wait(&buffer->emptied, buffer->mutex);
		buffer->items[buffer->used++] = i;
		buffer->produced++;
		pthread_cond_signal(&buffer->filled);
		require(do_op(OP_UNLOCK, buffer->mutex) == 0, "unlock");
	}
	return NULL;
}

static void *consume(void *argument)
{
	struct buffer *buffer = argument;
	for (unsigned i = 0; i < ITEMS; i++) {
		require(do_op(OP_LOCK, buffer->mutex) == 0, "lock");
		while (buffer->used == 0)
			pthread_cond_wait(&buffer->filled, buffer->mutex);
		buffer->sum += buffer->items[--buffer->used];
		buffer->consumed++;
		require(do_op(OP_UNLOCK, buffer->mutex) == 0, "unlock");
		pthread_cond_signal(&buffer->emptied);
	}
	return NULL;
}

static void bounded_buffer(void)
{
	struct buffer buffer = { .mutex = new_mutex(), .filled = no_cond, .emptied = no_cond };
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		threads[i] = start(i % 2 == 0 ? produce : consume, &buffer);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	say("produced %u, consumed %u, sum %lu", buffer.produced, buffer.consumed, buffer.sum);
	say_op(OP_DESTROY, buffer.mutex);
}

/* Waits to the end of a near deadline, which must not come early. */
static void time_out(enum wait_way way, clockid_t clock, pthread_cond_t *cond,
        pthread_mutex_t *mutex, const char *name)
{
	struct timespec deadline = time_after_ms(clock, 5);
	int result;
	while ((result = wait_until(way, cond, mutex, &deadline)) == 0)
		; /* a wake-up without a signal */
	say("%s: %s, %s", name, result_name(result),
	        time_has_come(clock, &deadline) ? "at its deadline" : "EARLY");
}

static void timeouts(void)
{
	pthread_mutex_t *mutex = new_mutex();
	pthread_cond_t cond = no_cond, monotonic;
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	require(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0, "setclock");
	pthread_cond_init(&monotonic, &attributes);
	say_op(OP_LOCK, mutex);
	for (enum wait_way way = WAIT_TIMED; way < WAITS; way++)
		time_out(way, wait_clock(way), &cond, mutex, wait_names[way]);
	time_out(WAIT_TIMED, CLOCK_MONOTONIC, &monotonic, mutex, "with a monotonic attribute");
	time_out(WAIT_CLOCK_REAL, CLOCK_REALTIME, &monotonic, mutex, "the other clock");
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_DESTROY, mutex);
}

static void odd_deadlines(void)
{
	static const struct timespec odd[] = { { 1, -1 }, { 1, 1000000000 }, { -1, 0 }, { 0, 0 },
		{ 1, 0 } };
	pthread_mutex_t *mutex = new_mutex();
	pthread_cond_t cond = no_cond;
	say_op(OP_LOCK, mutex);
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		for (enum wait_way way = WAIT_TIMED; way < WAITS; way++)
			say("%s, sec %ld nsec %ld: %s", wait_names[way], (long)odd[i].tv_sec,
			        odd[i].tv_nsec,
			        result_name(wait_until(way, &cond, mutex, &odd[i])));
	say("no clock: %s", result_name(pthread_cond_clockwait(&cond, mutex, 99, &odd[3])));
	say("boottime: %s",
	        result_name(pthread_cond_clockwait(&cond, mutex, CLOCK_BOOTTIME, &odd[3])));
	say_op_elsewhere(OP_TRY, mutex);
	say_op(OP_UNLOCK, mutex);
	say_op(OP_DESTROY, mutex);
}

static void mutex_not_owned(void)
{
	pthread_mutex_t *mutex = new_mutex();
	pthread_cond_t cond = no_cond;
	struct timespec past = { 1, 0 };
	struct holder holder;
	for (enum wait_way way = 0; way < WAITS; way++)
		say("%s, free: %s", wait_names[way],
		        result_name(wait_until(way, &cond, mutex, &past)));
	holder_start(&holder, mutex);
	for (enum wait_way way = 0; way < WAITS; way++)
		say("%s, another's: %s", wait_names[way],
		        result_name(wait_until(way, &cond, mutex, &past)));
	holder_end(&holder);
	say_op(OP_TRY, mutex);
	say_op(OP_UNLOCK, mutex);
}

/* The wait gives up one of two acquisitions: the mutex stays held. */
static void mutex_held_twice(void)
{
	pthread_mutex_t *mutex = new_mutex();
	pthread_cond_t cond = no_cond;
	say_op(OP_LOCK, mutex);
	say_op(OP_LOCK, mutex);
	time_out(WAIT_TIMED, CLOCK_REALTIME, &cond, mutex, "held twice");
	for (int i = 0; i < 3; i++) {
		say_op_elsewhere(OP_TRY, mutex);
		say_op(OP_UNLOCK, mutex);
	}
}

static void nobody_waits(void)
{
	pthread_mutex_t *mutex = new_mutex();
	pthread_cond_t cond = no_cond;
	say("signal: %s", result_name(pthread_cond_signal(&cond)));
	say("broadcast: %s", result_name(pthread_cond_broadcast(&cond)));
	say_op(OP_LOCK, mutex);
	say("signal: %s", result_name(pthread_cond_signal(&cond)));
	time_out(WAIT_TIMED, CLOCK_REALTIME, &cond, mutex, "an old signal counts for nothing");
	say_op(OP_UNLOCK, mutex);
	say("cond_destroy: %s", result_name(pthread_cond_destroy(&cond)));
}

/* The variable goes as soon as all have been woken; its memory is used for something else. */
static void destroyed_after_broadcast(void)
{
	struct meeting meeting;
	pthread_t threads[GUESTS];
	meeting_start(&meeting, WAIT_PLAIN, threads);
	await_waiters(&meeting, GUESTS);
	meeting.admitted = GUESTS;
	pthread_cond_broadcast(&meeting.cond);
	do_op(OP_UNLOCK, meeting.mutex);
	say("cond_destroy: %s", result_name(pthread_cond_destroy(&meeting.cond)));
	meeting.cond = no_cond;
	meeting_end(&meeting, threads);
}

static void *admit_and_die(void *argument)
{
	struct meeting *meeting = argument;
	await_waiters(meeting, GUESTS);
	meeting->admitted = GUESTS;
	pthread_cond_broadcast(&meeting->cond);
	return NULL;
}

static void *learn_of_death(void *argument)
{
	struct meeting *meeting = argument;
	require(do_op(OP_LOCK, meeting->mutex) == 0, "lock");
	meeting->waiting++;
	while (meeting->admitted == 0) {
		int result = wait_patiently(WAIT_PLAIN, &meeting->cond, meeting->mutex);
		if (result == EOWNERDEAD)
			meeting->failed++, pthread_mutex_consistent(meeting->mutex);
	}
	meeting->passed++;
	require(do_op(OP_UNLOCK, meeting->mutex) == 0, "unlock");
	return NULL;
}

static void owner_dies_after_broadcast(void)
{
	struct meeting meeting = { .mutex = new_mutex(), .cond = no_cond };
	pthread_t threads[GUESTS];
	for (int i = 0; i < GUESTS; i++)
		threads[i] = start(learn_of_death, &meeting);
	pthread_join(start(admit_and_die, &meeting), NULL);
	for (int i = 0; i < GUESTS; i++)
		pthread_join(threads[i], NULL);
	say("%d passed, %d learned of the death", meeting.passed, meeting.failed);
	say_op(OP_DESTROY, meeting.mutex);
}

const struct conform_case conds_cases[] = {
	{ "cond-broadcast", broadcast_to_four, 0 },
	{ "cond-signal", signal_to_each, 0 },
	{ "cond-ping-pong", ping_pong, 0 },
	{ "cond-buffer", bounded_buffer, 0 },
	{ "cond-timeouts", timeouts, 0 },
	{ "cond-odd-deadlines", odd_deadlines, 0 },
	{ "cond-mutex-not-owned", mutex_not_owned, TRAIT_CHECKED },
	{ "cond-mutex-held-twice", mutex_held_twice, TRAIT_RECURSIVE },
	{ "cond-nobody-waits", nobody_waits, 0 },
	{ "cond-destroyed-at-once", destroyed_after_broadcast, 0 },
	{ "cond-owner-dies", owner_dies_after_broadcast, TRAIT_ROBUST | TRAIT_DEATHS },
	{ NULL, NULL, 0 },
};
