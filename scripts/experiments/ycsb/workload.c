/*
 * Properties by a table: names and defaults are YCSB's, those of cache, seed and status are ours.
 */
#include "workload.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct number {
	const char *name;
	size_t offset;
	long low, high;
};

#define MEMBER(name) offsetof(struct workload, name)

static const struct number numbers[] = {
	{ "recordcount", MEMBER(records), 1, 1000000000 },
	{ "operationcount", MEMBER(operations), 0, 1000000000 },
	{ "threadcount", MEMBER(threads), 1, 10000 },
	{ "fieldcount", MEMBER(fields), 1, 1000 },
	{ "fieldlength", MEMBER(field_size), 1, 1000000 },
	{ "minscanlength", MEMBER(shortest_scan), 1, 1000000 },
	{ "maxscanlength", MEMBER(longest_scan), 1, 1000000 },
	{ "maxexecutiontime", MEMBER(most_seconds), 0, 1000000 },
	{ "status.interval", MEMBER(status_seconds), 1, 1000000 },
	{ "cache.mib", MEMBER(cache_mib), 1, 1000000 },
	{ "seed", MEMBER(seed), 0, 1000000000 },
};

static const char *const proportions[OPERATIONS] = { "readproportion", "updateproportion",
	"insertproportion", "scanproportion", "readmodifywriteproportion" };

static const char *const distributions[] = { "uniform", "zipfian", "latest" };

/* Properties of YCSB that have one value here. */
static const char *const fixed[][2] = { { "readallfields", "true" }, { "insertorder", "hashed" },
	{ "fieldlengthdistribution", "constant" }, { "scanlengthdistribution", "uniform" },
	{ "dataintegrity", "false" }, { "measurementtype", "hdrhistogram" } };

void workload_init(struct workload *workload)
{
	*workload = (struct workload){ .records = 1000,
		.threads = 1,
		.fields = 10,
		.field_size = 100,
		.shortest_scan = 1,
		.longest_scan = 1000,
		.status_seconds = 10,
		.cache_mib = 64,
		.seed = 1,
		.distribution = DISTRIBUTION_UNIFORM };
	workload->proportions[OPERATION_READ] = 0.95;
	workload->proportions[OPERATION_UPDATE] = 0.05;
}

static bool set_number(
        struct workload *workload, const struct number *number, const char *value, char why[200])
{
	char *end;
	errno = 0;
	long found = strtol(value, &end, 10);
	if (end == value || *end != '\0' || errno != 0 || found < number->low ||
	        found > number->high) {
		snprintf(why, 200, "%s=%.60s: a number from %ld to %ld is needed", number->name,
		        value, number->low, number->high);
		return false;
	}
	memcpy((char *)workload + number->offset, &found, sizeof(found));
	return true;
}

static bool set_proportion(double *proportion, const char *name, const char *value, char why[200])
{
	char *end;
	*proportion = strtod(value, &end);
	if (end != value && *end == '\0' && *proportion >= 0 && *proportion <= 1)
		return true;
	snprintf(why, 200, "%s=%.60s: a number from 0 to 1 is needed", name, value);
	return false;
}

static bool set_distribution(struct workload *workload, const char *value, char why[200])
{
	for (unsigned i = 0; i < sizeof(distributions) / sizeof(*distributions); i++) {
		if (strcmp(value, distributions[i]) == 0) {
			workload->distribution = (enum distribution)i;
			return true;
		}
	}
	snprintf(
	        why, 200, "requestdistribution=%.60s: uniform, zipfian or latest is needed", value);
	return false;
}

static bool set_flag(bool *flag, const char *name, const char *value, char why[200])
{
	*flag = strcmp(value, "true") == 0;
	if (*flag || strcmp(value, "false") == 0)
		return true;
	snprintf(why, 200, "%s=%.60s: true or false is needed", name, value);
	return false;
}

static bool set_other(const char *name, const char *value, char why[200])
{
	/* The class has its name since the first versions, in packages of other names. */
	size_t length = strlen(value);
	if (strcmp(name, "workload") == 0 && length >= 12 &&
	        strcmp(value + length - 12, "CoreWorkload") == 0)
		return true;
	for (unsigned i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (strcmp(name, fixed[i][0]) == 0 && strcmp(value, fixed[i][1]) == 0)
			return true;
	snprintf(why, 200, "%.60s=%.60s: that property, or its value, is not known here", name,
	        value);
	return false;
}

bool workload_set(struct workload *workload, const char *text, char why[200])
{
	char name[64];
	const char *value = strchr(text, '=');
	if (value == NULL || (size_t)(value - text) >= sizeof(name)) {
		snprintf(why, 200, "'%.60s': NAME=VALUE is needed", text);
		return false;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(value - text), text);
	value++;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (strcmp(name, numbers[i].name) == 0)
			return set_number(workload, &numbers[i], value, why);
	for (unsigned i = 0; i < OPERATIONS; i++)
		if (strcmp(name, proportions[i]) == 0)
			return set_proportion(&workload->proportions[i], name, value, why);
	if (strcmp(name, "requestdistribution") == 0)
		return set_distribution(workload, value, why);
	if (strcmp(name, "writeallfields") == 0)
		return set_flag(&workload->write_all, name, value, why);
	return set_other(name, value, why);
}

bool workload_read(struct workload *workload, const char *path, char why[200])
{
	char line[512];
	bool good = true;
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		snprintf(why, 200, "%.120s: %s", path, strerror(errno));
		return false;
	}
	while (good && fgets(line, sizeof(line), file) != NULL) {
		char *start = line + strspn(line, " \t");
		size_t length = strcspn(start, "\r\n");
		while (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t'))
			length--;
		start[length] = '\0';
		if (*start != '\0' && *start != '#')
			good = workload_set(workload, start, why);
	}
	fclose(file);
	return good;
}

bool workload_check(const struct workload *workload, char why[200])
{
	double sum = 0;
	for (unsigned i = 0; i < OPERATIONS; i++)
		sum += workload->proportions[i];
	if (!(sum > 0))
		snprintf(why, 200, "no operation has a proportion above 0");
	else if (workload->shortest_scan > workload->longest_scan)
		snprintf(why, 200, "minscanlength=%ld is above maxscanlength=%ld",
		        workload->shortest_scan, workload->longest_scan);
	else
		return true;
	return false;
}

enum operation workload_draw(const struct workload *workload, uint64_t *random)
{
	double sum = 0, at;
	unsigned last = 0;
	for (unsigned i = 0; i < OPERATIONS; i++)
		sum += workload->proportions[i];
	at = random_share(random) * sum;
	for (unsigned i = 0; i < OPERATIONS; i++) {
		if (workload->proportions[i] > 0) {
			last = i;
			if (at < workload->proportions[i])
				break;
		}
		at -= workload->proportions[i];
	}
	return (enum operation)last;
}

void workload_key(uint64_t number, char key[KEY_SIZE])
{
	snprintf(key, KEY_SIZE, "user%llu", (unsigned long long)fnv_hash(number));
}

void workload_fill(char *bytes, unsigned long size, uint64_t *random)
{
	uint64_t drawn = 0;
	for (unsigned long i = 0; i < size; i++) {
		if (i % 8 == 0)
			drawn = random_next(random);
		bytes[i] = (char)(' ' + (drawn & 63));
		drawn >>= 8;
	}
}
