/*
 * C11's threads, mutexes and condition variables: four threads count under mutexes of every type,
 * two take turns, four initialise once. Prints what came out; and, last, how often each sort of
 * call was made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#define THREADS 4
#define ROUNDS  2000
#define TURNS   1000
#define CALLS   10

static mtx_t mutex;
static cnd_t turned;
static unsigned long counter, acquired, failed, timed_out, signals, broadcasts;
static int turn;

static void require(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "c11: failed: %s\n", what);
	exit(99);
}

/* To be called with the mutex held, as all the counts below. */
static void count(int again)
{
	counter++;
	acquired++;
	if (!again)
		return;
	require(mtx_trylock(&mutex) == thrd_success, "mtx_trylock again");
	acquired++;
	require(mtx_unlock(&mutex) == thrd_success, "mtx_unlock of the second");
}

static int count_all(void *argument)
{
	int type = *(int *)argument;
	struct timespec far = { 4000000000, 0 };
	for (int i = 0; i < ROUNDS; i++) {
		int result = i % 4 == 0 ? mtx_timedlock(&mutex, &far) : mtx_lock(&mutex);
		require(result == thrd_success, "mtx_lock");
		count(type & mtx_recursive);
		if (i % 50 == 0)
			thrd_yield();
		require(mtx_unlock(&mutex) == thrd_success, "mtx_unlock");
	}
	return 0;
}

static int find_taken(void *argument)
{
	struct timespec past = { 1, 0 };
	(void)argument;
	require(mtx_trylock(&mutex) == thrd_busy, "mtx_trylock of a taken one");
	require(mtx_timedlock(&mutex, &past) == thrd_timedout, "mtx_timedlock of a taken one");
	return 0;
}

static void run(int threads, thrd_start_t function, void *argument)
{
	thrd_t ids[THREADS];
	for (int i = 0; i < threads; i++)
		require(thrd_create(&ids[i], function, argument) == thrd_success, "thrd_create");
	for (int i = 0; i < threads; i++)
		require(thrd_join(ids[i], NULL) == thrd_success, "thrd_join");
}

static void one_type(int type)
{
	counter = 0;
	require(mtx_init(&mutex, type) == thrd_success, "mtx_init");
	run(THREADS, count_all, &type);
	require(mtx_lock(&mutex) == thrd_success, "mtx_lock");
	acquired++;
	run(1, find_taken, NULL);
	failed++;
	timed_out++;
	require(mtx_unlock(&mutex) == thrd_success, "mtx_unlock");
	printf("type %d: %lu\n", type, counter);
	mtx_destroy(&mutex);
}

static int take_turns(void *argument)
{
	static int next_player;
	struct timespec far = { 4000000000, 0 };
	(void)argument;
	require(mtx_lock(&mutex) == thrd_success, "mtx_lock");
	acquired++;
	int self = next_player++;
	for (int i = 0; i < TURNS; i++) {
		while (turn % 2 != self)
			require((i % 2 ? cnd_wait(&turned, &mutex)
			               : cnd_timedwait(&turned, &mutex, &far)) == thrd_success,
			        "cnd_wait");
		turn++;
		require((i % 2 ? cnd_signal(&turned) : cnd_broadcast(&turned)) == thrd_success,
		        "cnd_signal");
		*(i % 2 ? &signals : &broadcasts) += 1;
	}
	require(mtx_unlock(&mutex) == thrd_success, "mtx_unlock");
	return 0;
}

static void turns_of_two(void)
{
	require(mtx_init(&mutex, mtx_plain) == thrd_success, "mtx_init");
	require(cnd_init(&turned) == thrd_success, "cnd_init");
	run(2, take_turns, NULL);
	printf("turns: %d\n", turn);
	cnd_destroy(&turned);
	mtx_destroy(&mutex);
}

static void initialise(void)
{
	struct timespec moment = { 0, 20000000 };
	thrd_sleep(&moment, NULL);
	counter++;
}

static int initialise_once(void *argument)
{
	static once_flag flag = ONCE_FLAG_INIT;
	(void)argument;
	for (int i = 0; i < CALLS; i++)
		call_once(&flag, initialise);
	return 0;
}

int main(void)
{
	static const int types[] = { mtx_plain, mtx_timed, mtx_plain | mtx_recursive,
		mtx_timed | mtx_recursive };
	for (int i = 0; i < 4; i++)
		one_type(types[i]);
	turns_of_two();
	counter = 0;
	run(THREADS, initialise_once, NULL);
	printf("initialised: %lu\n", counter);
	printf("acquired %lu failed %lu timed_out %lu signals %lu broadcasts %lu threads %d\n",
	        acquired, failed, timed_out, signals, broadcasts, 5 * THREADS + 4 + 2);
	return 0;
}
