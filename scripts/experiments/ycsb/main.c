/*
 * A load like that of YCSB's core workloads on a store inside this process, for who has no mongod:
 *
 *	ycsb load|run STORE FOLDER [-s] [-threads N] [-P FILE]... [-p NAME=VALUE]...
 *
 * load makes the table in FOLDER, run works on it. Options, properties and output are YCSB's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "output.h"

static struct workload workload;
static bool status;

static struct {
	double seconds;
	uint64_t operations;
} printed;

static _Noreturn void refuse(const char *what, const char *why)
{
	fprintf(stderr, "ycsb: %s%s\n", what, why);
	exit(64);
}

static _Noreturn void usage(void)
{
	fputs("usage: ycsb load|run STORE FOLDER [-s] [-threads N] [-P FILE]... [-p "
	      "NAME=VALUE]...\nstores:",
	        stderr);
	store_list();
	fputc('\n', stderr);
	exit(64);
}

static void set(const char *text)
{
	char why[200];
	if (!workload_set(&workload, text, why))
		refuse("", why);
}

static void take_options(char **argument)
{
	char text[80], why[200];
	for (; *argument != NULL; argument++) {
		const char *option = *argument;
		if (strcmp(option, "-s") == 0) {
			status = true;
			continue;
		}
		if (argument[1] == NULL)
			usage();
		const char *value = *++argument;
		if (strcmp(option, "-P") == 0) {
			if (!workload_read(&workload, value, why))
				refuse("", why);
		} else if (strcmp(option, "-p") == 0) {
			set(value);
		} else if (strcmp(option, "-threads") == 0) {
			snprintf(text, sizeof(text), "threadcount=%s", value);
			set(text);
		} else {
			usage();
		}
	}
	if (!workload_check(&workload, why))
		refuse("", why);
}

static void watch(double seconds, uint64_t operations, uint64_t wanted)
{
	double period = seconds - printed.seconds;
	if (period < (double)workload.status_seconds)
		return;
	output_status(seconds, operations, wanted, printed.operations, period);
	printed.seconds = seconds;
	printed.operations = operations;
}

static const struct store *choose_store(const char *name)
{
	const struct store *store = store_find(name);
	if (store != NULL)
		return store;
	fprintf(stderr, "ycsb: there is no store '%s' here, but:", name);
	store_list();
	fputc('\n', stderr);
	exit(64);
}

int main(int count, char **arguments)
{
	if (count < 4 || (strcmp(arguments[1], "load") != 0 && strcmp(arguments[1], "run") != 0))
		usage();
	bool loading = strcmp(arguments[1], "load") == 0;
	const struct store *store = choose_store(arguments[2]);
	workload_init(&workload);
	take_options(arguments + 4);
	store->open(arguments[3], loading, (unsigned)workload.cache_mib);
	fprintf(stderr, "ycsb: %s on %s %s, %ld threads\n", arguments[1], store->name,
	        store->version(), workload.threads);
	struct measured *measured = client_run(store, &workload, loading, status ? watch : NULL);
	store->close();
	if (status)
		output_status(measured->runtime_ms / 1e3, measured->operations,
		        measured->operations, printed.operations,
		        measured->runtime_ms / 1e3 - printed.seconds);
	output_summary(stdout, measured);
	free(measured);
	return fflush(stdout) == 0 ? 0 : 1;
}
