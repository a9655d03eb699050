/*
 * "[SECTION], measurement, value", and "10 sec: 1000 operations; 100 current ops/sec; ...".
 */
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

static const char *const names[SECTIONS] = { "READ", "UPDATE", "INSERT", "SCAN",
	"READ-MODIFY-WRITE", "CLEANUP" };

static const char *const outcomes[OUTCOMES] = { "OK", "NOT_FOUND", "UNEXPECTED_STATE" };

static void print_latencies(
        FILE *file, const char *name, const char *suffix, const struct histogram *histogram)
{
	if (histogram->count == 0)
		return;
	fprintf(file, "[%s%s], Operations, %" PRIu64 "\n", name, suffix, histogram->count);
	fprintf(file, "[%s%s], AverageLatency(us), %.16g\n", name, suffix,
	        (double)histogram->sum / (double)histogram->count);
	fprintf(file, "[%s%s], MinLatency(us), %" PRIu64 "\n", name, suffix, histogram->min);
	fprintf(file, "[%s%s], MaxLatency(us), %" PRIu64 "\n", name, suffix, histogram->max);
	fprintf(file, "[%s%s], 95thPercentileLatency(us), %" PRIu64 "\n", name, suffix,
	        histogram_percentile(histogram, 0.95));
	fprintf(file, "[%s%s], 99thPercentileLatency(us), %" PRIu64 "\n", name, suffix,
	        histogram_percentile(histogram, 0.99));
}

static void print_section(FILE *file, const struct measured *measured, unsigned section)
{
	print_latencies(file, names[section], "", &measured->good[section]);
	for (unsigned i = 0; i < OUTCOMES && section != SECTION_CLEANUP; i++) {
		uint64_t count = measured->outcomes[section][i];
		if (count > 0)
			fprintf(file, "[%s], Return=%s, %" PRIu64 "\n", names[section], outcomes[i],
			        count);
	}
	print_latencies(file, names[section], "-FAILED", &measured->failed[section]);
}

void output_summary(FILE *file, const struct measured *measured)
{
	double runtime_ms = fmax(1, round(measured->runtime_ms));
	fprintf(file, "[OVERALL], RunTime(ms), %.0f\n", runtime_ms);
	fprintf(file, "[OVERALL], Throughput(ops/sec), %.16g\n",
	        1000 * (double)measured->operations / runtime_ms);
	for (unsigned i = 0; i < SECTIONS; i++)
		print_section(file, measured, i);
}

void output_status(
        double seconds, uint64_t operations, uint64_t wanted, uint64_t before, double period)
{
	struct timespec time;
	struct tm parts;
	char date[32];
	clock_gettime(CLOCK_REALTIME, &time);
	localtime_r(&time.tv_sec, &parts);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &parts);
	fprintf(stderr, "%s:%03ld %.0f sec: %" PRIu64 " operations; %.16g current ops/sec;", date,
	        time.tv_nsec / 1000000, seconds, operations,
	        (double)(operations - before) / period);
	if (operations > 0)
		fprintf(stderr, " est completion in %.0f seconds",
		        ceil((double)(wanted - operations) * seconds / (double)operations));
	fputc('\n', stderr);
}
