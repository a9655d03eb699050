/*
 * Selects by key through one mutex: the shape of the published MySQL select-key test (10 threads,
 * 20,000 lookups each, one table) without a server. Its checksum depends only on its options, so
 * that runs which wait for the mutex in different ways can be compared.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOKUPS_PER_FLUSH 32

struct row {
	char username[32];
	char pass[32];
	uint32_t uid, gid;
	char comment[120];
};

/* Rows in the order of their keys; usernames are in that order too. */
static struct table {
	pthread_mutex_t lock;
	struct row *rows;
	size_t row_count;
	uint64_t hits;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct statistics {
	pthread_mutex_t lock;
	uint64_t queries, bytes_sent, checksum;
} statistics = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct client {
	pthread_t thread;
	unsigned number;
	uint64_t lookups;
	uint64_t random;
};

static struct options {
	unsigned threads;
	uint64_t lookups;
	size_t rows;
} options = { .threads = 10, .lookups = 20000, .rows = 90000 };

/* splitmix64: every seed gives a usable sequence. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void table_fill(void)
{
	uint64_t random = 1;

	table.rows = calloc(options.rows, sizeof(*table.rows));
	if (!table.rows) {
		perror("selectkey: rows");
		exit(1);
	}
	table.row_count = options.rows;
	for (size_t i = 0; i < options.rows; i++) {
		struct row *row = &table.rows[i];

		snprintf(row->username, sizeof(row->username), "user%010zu", i);
		snprintf(row->pass, sizeof(row->pass), "%016" PRIx64, random_next(&random));
		row->uid = (uint32_t)i;
		row->gid = (uint32_t)(random_next(&random) % 1000);
		for (size_t c = 0; c < sizeof(row->comment) - 1; c++)
			row->comment[c] = (char)('a' + random_next(&random) % 26);
	}
}

/* Copies the row out under the table's lock; a missing key is a fault of this program. */
static void table_select(const char *username, struct row *out)
{
	size_t low = 0, high;

	pthread_mutex_lock(&table.lock);
	high = table.row_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(table.rows[middle].username, username) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == table.row_count || strcmp(table.rows[low].username, username) != 0)
		abort();
	*out = table.rows[low];
	pthread_mutex_unlock(&table.lock);
}

static void table_add_hits(uint64_t hits)
{
	pthread_mutex_lock(&table.lock);
	table.hits += hits;
	pthread_mutex_unlock(&table.lock);
}

static void statistics_add(uint64_t bytes_sent, uint64_t checksum)
{
	pthread_mutex_lock(&statistics.lock);
	statistics.queries++;
	statistics.bytes_sent += bytes_sent;
	statistics.checksum += checksum;
	pthread_mutex_unlock(&statistics.lock);
}

/* What a server does outside its locks: the query's text into a key, the row into a reply. */
static void client_query(struct client *client)
{
	char key[32], reply[256];
	uint64_t hash = 0xcbf29ce484222325u;
	struct row row;
	int length;

	snprintf(key, sizeof(key), "user%010" PRIu64, random_next(&client->random) % options.rows);
	table_select(key, &row);
	length = snprintf(reply, sizeof(reply), "%s\t%s\t%" PRIu32 "\t%" PRIu32 "\t%s\n",
	        row.username, row.pass, row.uid, row.gid, row.comment);
	for (int i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)reply[i]) * 0x100000001b3u;
	statistics_add((uint64_t)length, hash);
}

static void *client_run(void *argument)
{
	struct client *client = argument;
	char name[16];

	snprintf(name, sizeof(name), "client-%u", client->number % 1000);
	pthread_setname_np(pthread_self(), name);
	for (uint64_t done = 1; done <= client->lookups; done++) {
		client_query(client);
		if (done % LOOKUPS_PER_FLUSH == 0)
			table_add_hits(LOOKUPS_PER_FLUSH);
	}
	table_add_hits(client->lookups % LOOKUPS_PER_FLUSH);
	return NULL;
}

static double run_all(struct client *clients)
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned i = 0; i < options.threads; i++) {
		clients[i] =
		        (struct client){ .number = i, .lookups = options.lookups, .random = i };
		if (pthread_create(&clients[i].thread, NULL, client_run, &clients[i])) {
			fprintf(stderr, "selectkey: cannot create thread %u\n", i);
			exit(1);
		}
	}
	for (unsigned i = 0; i < options.threads; i++)
		pthread_join(clients[i].thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

int main(int argc, char **argv)
{
	struct client *clients;
	double seconds;
	uint64_t all;

	for (int c; (c = getopt(argc, argv, "t:n:r:")) != -1;) {
		if (c == 't')
			options.threads = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'n')
			options.lookups = strtoull(optarg, NULL, 10);
		else if (c == 'r')
			options.rows = strtoull(optarg, NULL, 10);
		if (c == '?' || !options.threads || !options.lookups || !options.rows) {
			fprintf(stderr, "usage: selectkey [-t THREADS] [-n LOOKUPS] [-r ROWS]\n");
			return 2;
		}
	}
	table_fill();
	clients = calloc(options.threads, sizeof(*clients));
	if (!clients)
		return 1;
	seconds = run_all(clients);
	all = options.threads * options.lookups;
	printf("lookups/s: %.0f\nchecksum: %016" PRIx64 "\nthreads: %u\n", (double)all / seconds,
	        statistics.checksum, options.threads);
	return statistics.queries != all || table.hits != all;
}
