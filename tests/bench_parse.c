/*
 * Parses the output of a tool from its standard input, and prints what that took: one line for
 * scripts/bench.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "loader/parse/parse.h"

static double now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Counts what it passes on from standard input. */
static ssize_t count_read(void *cookie, char *buffer, size_t size)
{
	ssize_t got = read(STDIN_FILENO, buffer, size);
	*(uint64_t *)cookie += got > 0 ? (uint64_t)got : 0;
	return got;
}

int main(void)
{
	uint64_t bytes = 0;
	char why[WHY_SIZE];
	struct rusage usage;
	FILE *in = fopencookie(&bytes, "r", (cookie_io_functions_t){ .read = count_read });
	if (in == NULL)
		return EXIT_FAILURE;
	double began = now(CLOCK_MONOTONIC), began_cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	struct output *output = output_read_stream(in, "stdin", NULL, why);
	double wall = now(CLOCK_MONOTONIC) - began;
	double cpu = now(CLOCK_PROCESS_CPUTIME_ID) - began_cpu;
	fclose(in);
	if (output == NULL || output->results[0].incomplete) {
		fprintf(stderr, "bench_parse: %s\n", output == NULL ? why : output->results[0].why);
		output_free(output);
		return EXIT_FAILURE;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%s %lu %.6f %.6f %ld\n", output->parser->name, bytes, wall, cpu, usage.ru_maxrss);
	output_free(output);
	return EXIT_SUCCESS;
}
