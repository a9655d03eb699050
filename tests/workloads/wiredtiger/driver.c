/*
 * Threads that read and increment the records of a WiredTiger table, as mongod does through the
 *same library. Prints what is known of the outcome: how many operations there were and what all
 *records add up to, which is the number of increments.
 *
 *	wiredtiger FOLDER THREADS OPERATIONS WRITE_PERCENT CACHE_MIB	OPERATIONS in each thread
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wiredtiger.h>

#define RECORDS     20000
#define PADDING     200 /* bytes, so that a small cache must evict */
#define MAX_THREADS 64

struct worker {
	pthread_t thread;
	uint64_t random;
	unsigned long reads, writes;
};

static WT_CONNECTION *connection;
static unsigned long operations;
static unsigned write_percent;
static const char padding[PADDING + 1] = { [0 ... PADDING - 1] = 'x' };

static void require(int error, const char *what)
{
	if (error == 0)
		return;
	fprintf(stderr, "wiredtiger: failed: %s: %s\n", what, wiredtiger_strerror(error));
	exit(99);
}

/* xorshift64 of G. Marsaglia. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static WT_CURSOR *open_table(WT_SESSION **session)
{
	WT_CURSOR *cursor;
	require(connection->open_session(connection, NULL, NULL, session), "open_session");
	require((*session)->open_cursor(*session, "table:counts", NULL, NULL, &cursor),
	        "open_cursor");
	return cursor;
}

/* One attempt at adding to the record's count, in a transaction. */
static int try_increment(WT_SESSION *session, WT_CURSOR *cursor, int key)
{
	uint64_t count;
	const char *rest;
	require(session->begin_transaction(session, "isolation=snapshot"), "begin_transaction");
	cursor->set_key(cursor, key);
	int error = cursor->search(cursor);
	if (error == 0)
		error = cursor->get_value(cursor, &count, &rest);
	if (error != 0)
		return error;
	cursor->set_value(cursor, count + 1, padding);
	return cursor->update(cursor);
}

/* Again from the start where another thread's increment or the cache's eviction came between. */
static void increment(WT_SESSION *session, WT_CURSOR *cursor, int key)
{
	int error = try_increment(session, cursor, key);
	while (error == WT_ROLLBACK) {
		require(session->rollback_transaction(session, NULL), "rollback_transaction");
		error = try_increment(session, cursor, key);
	}
	require(error, "update");
	require(session->commit_transaction(session, NULL), "commit_transaction");
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	WT_SESSION *session;
	WT_CURSOR *cursor = open_table(&session);
	for (unsigned long i = 0; i < operations; i++) {
		int key = (int)(draw(&worker->random) % RECORDS);
		if (draw(&worker->random) % 100 < write_percent) {
			increment(session, cursor, key);
			worker->writes++;
		} else {
			cursor->set_key(cursor, key);
			require(cursor->search(cursor), "search");
			worker->reads++;
		}
		require(cursor->reset(cursor), "reset");
	}
	require(session->close(session, NULL), "close session");
	return NULL;
}

static void fill(void)
{
	WT_SESSION *session;
	require(connection->open_session(connection, NULL, NULL, &session), "open_session");
	require(session->create(session, "table:counts", "key_format=i,value_format=QS"), "create");
	require(session->close(session, NULL), "close session");
	WT_CURSOR *cursor = open_table(&session);
	for (int key = 0; key < RECORDS; key++) {
		cursor->set_key(cursor, key);
		cursor->set_value(cursor, UINT64_C(0), padding);
		require(cursor->insert(cursor), "insert");
	}
	require(session->close(session, NULL), "close session");
}

static uint64_t add_up(void)
{
	WT_SESSION *session;
	WT_CURSOR *cursor = open_table(&session);
	uint64_t sum = 0, count;
	const char *rest;
	int error;
	while ((error = cursor->next(cursor)) == 0) {
		require(cursor->get_value(cursor, &count, &rest), "get_value");
		sum += count;
	}
	require(error == WT_NOTFOUND ? 0 : error, "next");
	require(session->close(session, NULL), "close session");
	return sum;
}

int main(int argc, char **argv)
{
	struct worker workers[MAX_THREADS] = { 0 };
	unsigned long threads = argc == 6 ? strtoul(argv[2], NULL, 10) : 0, reads = 0, writes = 0;
	if (threads == 0 || threads > MAX_THREADS) {
		fprintf(stderr,
		        "usage: wiredtiger FOLDER THREADS OPERATIONS WRITE_PERCENT CACHE_MIB\n");
		return 64;
	}
	operations = strtoul(argv[3], NULL, 10);
	write_percent = (unsigned)strtoul(argv[4], NULL, 10);
	char settings[100];
	snprintf(settings, sizeof(settings), "create,log=(enabled),cache_size=%sM", argv[5]);
	require(wiredtiger_open(argv[1], NULL, settings, &connection), "wiredtiger_open");
	fill();
	for (unsigned long i = 0; i < threads; i++) {
		workers[i].random = i + 1;
		require(pthread_create(&workers[i].thread, NULL, work, &workers[i]),
		        "pthread_create");
	}
	for (unsigned long i = 0; i < threads; i++) {
		require(pthread_join(workers[i].thread, NULL), "pthread_join");
		reads += workers[i].reads;
		writes += workers[i].writes;
	}
	printf("reads %lu, writes %lu, sum %lu\n", reads, writes, (unsigned long)add_up());
	require(connection->close(connection, NULL), "close connection");
	return 0;
}
