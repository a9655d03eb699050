/*
 * The records of one run: what they prove and what they count.
 */
#include "records.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../atomics_rows.h"
#include "../command.h"
#include "../model.h"
#include "../record_file.h"
#include "probes/counters.h"
#include "records_alloc.h"
#include "records_atomics.h"
#include "stage.h"

/* All records in a directory. */
struct collection {
	struct record **records;
	char **names; /* of their files */
	size_t count;
};

static bool is_record(const char *name)
{
	size_t length = strlen(name), suffix = strlen(RECORD_SUFFIX);
	return length > suffix && strcmp(name + length - suffix, RECORD_SUFFIX) == 0;
}

bool records_exist(const struct stage *stage)
{
	DIR *directory = opendir(stage->places->records);
	struct dirent *entry;
	bool found = false;
	while (directory != NULL && !found && (entry = readdir(directory)) != NULL)
		found = is_record(entry->d_name);
	if (directory != NULL)
		closedir(directory);
	return found;
}

static void add_record(struct collection *all, const char *directory, const char *name)
{
	char path[4096], why[WHY_SIZE];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	struct record *record = record_read_path(path, why);
	struct record **records = realloc(all->records, (all->count + 1) * sizeof(struct record *));
	if (records != NULL)
		all->records = records;
	char **names = realloc(all->names, (all->count + 1) * sizeof(char *));
	if (names != NULL)
		all->names = names;
	if (record == NULL || records == NULL || names == NULL) {
		record_free(record);
		return;
	}
	records[all->count] = record;
	names[all->count] = strdup(name);
	all->count++;
}

static void read_all(struct collection *all, const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	*all = (struct collection){ NULL, NULL, 0 };
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (is_record(entry->d_name))
			add_record(all, path, entry->d_name);
	if (directory != NULL)
		closedir(directory);
}

static void free_all(struct collection *all)
{
	for (size_t i = 0; i < all->count; i++) {
		record_free(all->records[i]);
		free(all->names[i]);
	}
	free(all->records);
	free(all->names);
}

bool records_show_server(const struct stage *stage)
{
	struct collection all;
	char *shell = realpath("/bin/sh", NULL);
	bool found = false;
	read_all(&all, stage->places->records);
	for (size_t i = 0; i < all.count && !found; i++) {
		const struct record_header *header = &all.records[i]->header;
		found = header->state != RECORD_EXECED &&
		        (shell == NULL || strcmp(header->executable, shell) != 0);
	}
	free_all(&all);
	free(shell);
	return found;
}

/* As `abshim run` demands it: a record of the very process, at its last program. */
static bool is_proven(const struct collection *all, pid_t pid)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct record_header *header = &all->records[i]->header;
		if (header->pid == pid && header->state != RECORD_EXECED)
			return true;
	}
	return false;
}

static bool add_counter(struct run *run, const struct counters *counters, size_t row)
{
	char name[128];
	const struct counter *counter = &counter_table[row];
	bool is_wait = strstr(counter->name, "wait_ns") != NULL;
	bool is_loss =
	        strcmp(counter->name, "contended") == 0 || strcmp(counter->name, "parked") == 0;
	uint64_t value = counter_value(counters, row);
	snprintf(name, sizeof(name), "shim.%s.%s", counter_families[counter->family].name,
	        counter->name);
	return value == 0 || run_add(run, name, (double)value, UNIT_COUNT,
	                             is_wait || is_loss ? BETTER_LESS : BETTER_UNKNOWN);
}

/* The sums over all processes. A counter that is missing from a run is 0. */
static void add_counters(struct run *run, const struct collection *all)
{
	struct model_source *sources = calloc(all->count + 1, sizeof(*sources));
	for (size_t i = 0; i < all->count && sources != NULL; i++)
		sources[i] = (struct model_source){ .record = all->records[i], .wait_status = 0 };
	struct model *model =
	        sources != NULL && all->count > 0 ? model_build(sources, all->count) : NULL;
	for (size_t row = 0; row < COUNTER_COUNT && model != NULL; row++)
		add_counter(run, &model->counters, row);
	if (model != NULL && model->gaps.threads_created > 0)
		run_add(run, "shim.threads_created", (double)model->gaps.threads_created,
		        UNIT_COUNT, BETTER_UNKNOWN);
	if (model != NULL)
		records_measure_atomics(run, model);
	model_free(model);
	free(sources);
}

bool records_is_shell(const char *executable)
{
	static const char *const names[] = { "sh", "dash", "bash", "ksh", "zsh", "busybox" };
	const char *slash = strrchr(executable, '/'),
	           *name = slash != NULL ? slash + 1 : executable;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool has_counters(const struct run *run)
{
	for (size_t i = 0; i < run->metric_count; i++)
		if (strncmp(run->metrics[i].name, "shim.", 5) == 0 &&
		        strncmp(run->metrics[i].name, RECORDS_ATOMICS, strlen(RECORDS_ATOMICS)) !=
		                0)
			return true;
	return false;
}

static bool are_shells(const struct collection *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->records[i]->header.state != RECORD_EXECED &&
		        !records_is_shell(all->records[i]->header.executable))
			return false;
	return all->count > 0;
}

static void keep(const struct stage *stage, const struct collection *all)
{
	for (size_t i = 0; i < all->count; i++) {
		char *from, *to = stage_path(stage, all->names[i]);
		if (asprintf(&from, "%s/%s", stage->places->records, all->names[i]) < 0)
			from = NULL;
		bool empty = model_record_is_empty(all->records[i]) &&
		             !atomics_recorded(all->records[i]);
		if (from != NULL && to != NULL && !empty && !records_move(from, to))
			run_refuse(stage->run, "its record cannot be kept at %s", to);
		if (from != NULL)
			unlink(from);
		free(from);
		free(to);
	}
}

void records_collect(struct stage *stage)
{
	struct collection all;
	bool is_target = stage->design->server.start == NULL;
	read_all(&all, stage->places->records);
	if (is_target && stage->client.pid != 0 && stage->run->valid &&
	        !is_proven(&all, stage->client.pid))
		run_refuse(stage->run, "libabshim.so never started in %s: it was not switched",
		        stage->design->client.items[0]);
	if (stage->run->valid)
		records_check_atomics(
		        stage, all.records, all.count, is_target ? stage->client.pid : 0);
	if (stage->run->valid)
		records_check_alloc(
		        stage, all.records, all.count, is_target ? stage->client.pid : 0);
	add_counters(stage->run, &all);
	stage->run->only_shell = are_shells(&all) && !has_counters(stage->run);
	keep(stage, &all);
	free_all(&all);
}
