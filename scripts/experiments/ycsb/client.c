/*
 * Each thread has a session, choosers and histograms of its own. They share which records there
 * are: numbers are claimed in order, and count as there when all before them are.
 */
#include "client.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW 65536 /* of records being inserted at a time */

struct phase {
	const struct store *store;
	const struct workload *workload;
	bool loading;
	double deadline; /* seconds; 0: none */
	_Atomic uint64_t claimed, there;
	_Atomic unsigned char inserted[WINDOW];
	_Atomic uint64_t finished; /* threads */
};

struct worker {
	struct phase *phase;
	pthread_t thread;
	uint64_t share; /* operations to do */
	_Atomic uint64_t done;
	uint64_t random;
	struct chooser chooser;
	void *session;
	char *record, *bytes;
	size_t record_size;
	struct measured *measured;
};

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Since the time `start`. */
static void measure(struct worker *worker, enum section section, double start, enum outcome outcome)
{
	double us = (now() - start) * 1e6;
	struct measured *measured = worker->measured;
	struct histogram *histograms = outcome == OUTCOME_OK ? measured->good : measured->failed;
	histogram_add(&histograms[section], us > 0 ? (uint64_t)us : 0);
	measured->outcomes[section][outcome]++;
}

/* The ring's mark at `there` is taken back by the one that moves `there` past it. */
static void acknowledge(struct phase *phase, uint64_t number)
{
	while (number - phase->there >= WINDOW)
		sched_yield();
	phase->inserted[number % WINDOW] = 1;
	for (uint64_t at = phase->there; atomic_exchange(&phase->inserted[at % WINDOW], 0) == 1;)
		phase->there = ++at;
}

static void do_insert(struct worker *worker)
{
	struct phase *phase = worker->phase;
	char key[KEY_SIZE];
	uint64_t number = atomic_fetch_add(&phase->claimed, 1);
	workload_key(number, key);
	workload_fill(worker->record, worker->record_size, &worker->random);
	double start = now();
	enum outcome outcome =
	        phase->store->insert(worker->session, key, worker->record, worker->record_size);
	measure(worker, (enum section)OPERATION_INSERT, start, outcome);
	acknowledge(phase, number);
}

static enum outcome do_read(struct worker *worker, const char *key)
{
	double start = now();
	enum outcome outcome = worker->phase->store->read(
	        worker->session, key, worker->record, worker->record_size);
	measure(worker, (enum section)OPERATION_READ, start, outcome);
	return outcome;
}

static enum outcome do_update(struct worker *worker, const char *key)
{
	const struct workload *workload = worker->phase->workload;
	size_t size = (size_t)workload->field_size, at = 0;
	if (workload->write_all)
		size = worker->record_size;
	else
		at = size * random_below(&worker->random, (uint64_t)workload->fields);
	workload_fill(worker->bytes, size, &worker->random);
	double start = now();
	enum outcome outcome =
	        worker->phase->store->update(worker->session, key, worker->bytes, at, size);
	measure(worker, (enum section)OPERATION_UPDATE, start, outcome);
	return outcome;
}

static void do_scan(struct worker *worker, const char *key)
{
	const struct workload *workload = worker->phase->workload;
	uint64_t range = (uint64_t)(workload->longest_scan - workload->shortest_scan) + 1;
	unsigned count =
	        (unsigned)workload->shortest_scan + (unsigned)random_below(&worker->random, range);
	double start = now();
	enum outcome outcome = worker->phase->store->scan(
	        worker->session, key, count, worker->record, worker->record_size);
	measure(worker, (enum section)OPERATION_SCAN, start, outcome);
}

static void do_read_modify_write(struct worker *worker, const char *key)
{
	double start = now();
	enum outcome outcome = do_read(worker, key);
	if (outcome == OUTCOME_OK)
		outcome = do_update(worker, key);
	measure(worker, (enum section)OPERATION_READ_MODIFY_WRITE, start, outcome);
}

static void do_operation(struct worker *worker)
{
	struct phase *phase = worker->phase;
	enum operation operation = workload_draw(phase->workload, &worker->random);
	if (phase->loading || operation == OPERATION_INSERT) {
		do_insert(worker);
		return;
	}
	char key[KEY_SIZE];
	workload_key(chooser_draw(&worker->chooser, phase->there, &worker->random), key);
	if (operation == OPERATION_READ)
		do_read(worker, key);
	else if (operation == OPERATION_UPDATE)
		do_update(worker, key);
	else if (operation == OPERATION_SCAN)
		do_scan(worker, key);
	else
		do_read_modify_write(worker, key);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct phase *phase = worker->phase;
	worker->session = phase->store->begin();
	for (uint64_t i = 0; i < worker->share; i++) {
		if (phase->deadline > 0 && now() >= phase->deadline)
			break;
		do_operation(worker);
		atomic_store_explicit(&worker->done, i + 1, memory_order_relaxed);
	}
	double start = now();
	phase->store->end(worker->session);
	measure(worker, SECTION_CLEANUP, start, OUTCOME_OK);
	phase->finished++;
	return NULL;
}

static void *must(void *memory)
{
	if (memory == NULL)
		store_die("the threads", "no memory");
	return memory;
}

static void start_worker(struct worker *worker, struct phase *phase, uint64_t index)
{
	const struct workload *workload = phase->workload;
	double inserts = (double)workload->operations * workload->proportions[OPERATION_INSERT];
	worker->phase = phase;
	/* Twice as many as are expected, as YCSB has it. */
	chooser_init(&worker->chooser, workload->distribution, (uint64_t)workload->records,
	        (uint64_t)(inserts * 2));
	worker->random = (uint64_t)workload->seed << 20 | index << 1 | phase->loading;
	worker->random = random_next(&worker->random);
	worker->record_size = (size_t)(workload->fields * workload->field_size);
	worker->record = must(malloc(worker->record_size));
	worker->bytes = must(malloc(worker->record_size));
	worker->measured = must(calloc(1, sizeof(*worker->measured)));
	int error = pthread_create(&worker->thread, NULL, work, worker);
	if (error != 0)
		store_die("a thread", strerror(error));
}

static void join_worker(struct worker *worker, struct measured *all)
{
	struct measured *own = worker->measured;
	pthread_join(worker->thread, NULL);
	for (unsigned i = 0; i < SECTIONS; i++) {
		histogram_join(&all->good[i], &own->good[i]);
		histogram_join(&all->failed[i], &own->failed[i]);
		for (unsigned k = 0; k < OUTCOMES; k++)
			all->outcomes[i][k] += own->outcomes[i][k];
	}
	all->operations += worker->done;
	free(worker->record);
	free(worker->bytes);
	free(own);
}

static void watch_workers(struct phase *phase, struct worker *workers, uint64_t threads,
        double start, uint64_t wanted, client_watch *watch)
{
	const struct timespec tenth = { .tv_nsec = 100000000 };
	while (phase->finished < threads) {
		uint64_t done = 0;
		nanosleep(&tenth, NULL);
		for (uint64_t i = 0; i < threads; i++)
			done += atomic_load_explicit(&workers[i].done, memory_order_relaxed);
		watch(now() - start, done, wanted);
	}
}

struct measured *client_run(const struct store *store, const struct workload *workload,
        bool loading, client_watch *watch)
{
	struct phase *phase = must(calloc(1, sizeof(*phase)));
	uint64_t wanted = (uint64_t)(loading ? workload->records : workload->operations);
	uint64_t threads = (uint64_t)workload->threads;
	if (threads > wanted && wanted > 0)
		threads = wanted;
	struct worker *workers = must(calloc(threads, sizeof(*workers)));
	struct measured *all = must(calloc(1, sizeof(*all)));
	double start = now();
	phase->store = store;
	phase->workload = workload;
	phase->loading = loading;
	phase->claimed = phase->there = loading ? 0 : (uint64_t)workload->records;
	if (workload->most_seconds > 0)
		phase->deadline = start + (double)workload->most_seconds;
	for (uint64_t i = 0; i < threads; i++) {
		workers[i].share = wanted / threads + (i < wanted % threads);
		start_worker(&workers[i], phase, i);
	}
	if (watch != NULL)
		watch_workers(phase, workers, threads, start, wanted, watch);
	for (uint64_t i = 0; i < threads; i++)
		join_worker(&workers[i], all);
	all->runtime_ms = (now() - start) * 1e3;
	free(workers);
	free(phase);
	return all;
}
