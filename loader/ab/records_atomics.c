/*
 * An arm of the atomics switch: proof that it was in force, and how much it switched.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../atomics_rows.h"
#include "../elf.h"
#include "../words.h"
#include "records_atomics.h"

#define WORD_SIZE 32

const char *const records_atomics_metrics[RECORDS_ATOMICS_METRICS] = {
	"switched",
	"helpers",
	"rewritten",
	"left",
};

bool records_measure_atomics(struct run *run, const struct model *model)
{
	struct atomics_rows rows = atomics_rows_new(model);
	const struct atomics_total *total = &rows.total;
	const uint64_t values[RECORDS_ATOMICS_METRICS] = { total->switched, total->helpers,
		total->rewritten, total->found - total->rewritten };
	bool done = true;
	for (size_t i = 0; i < RECORDS_ATOMICS_METRICS && done; i++) {
		char name[64];
		snprintf(name, sizeof(name), RECORDS_ATOMICS "%s", records_atomics_metrics[i]);
		done = values[i] == 0 ||
		       run_add(run, name, (double)values[i], UNIT_COUNT, BETTER_UNKNOWN);
	}
	atomics_rows_free(&rows);
	return done;
}

/* What the arm asks for, "native" where it asks for nothing. */
static void asked(const struct stage *stage, char value[WORD_SIZE])
{
	struct environment environment;
	snprintf(value, WORD_SIZE, "native");
	if (!run_environment_target(&environment, stage->design, stage->run, stage->places))
		return;
	const char *set = environment_get(&environment, "ABSHIM_ATOMICS");
	if (set != NULL)
		snprintf(value, WORD_SIZE, "%s", set);
	environment_free(&environment);
}

static bool is_go(const char *path)
{
	struct elf_facts facts = { .is_go = false };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		elf_inspect(fd, &facts);
		close(fd);
	}
	return facts.is_go;
}

/* Why the switch was not in force in a process; NULL: it was. */
static const char *find_fault(const struct record *record, const char *wanted, char fault[WHY_SIZE])
{
	const struct record_header *header = &record->header;
	const char *name = words_base_name(header->executable);
	if (strcmp(words_atomics(record->control.atomics), wanted) != 0)
		why_set(fault, "the record of %.100s says atomics=%s, not %s", name,
		        words_atomics(record->control.atomics), wanted);
	else if (!atomics_recorded(record))
		why_set(fault, "%.100s does not say what atomics=%s did to it", name, wanted);
	else if (is_go(header->executable))
		why_set(fault, "%.100s is a Go program, whose atomics atomics=%s does not reach",
		        name, wanted);
	else
		return NULL;
	return fault;
}

void records_check_atomics(
        struct stage *stage, struct record *const *records, size_t count, pid_t pid)
{
	char wanted[WORD_SIZE], fault[WHY_SIZE] = "no record of a program";
	asked(stage, wanted);
	if (strcmp(wanted, "native") == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct record_header *header = &records[i]->header;
		if (header->state == RECORD_EXECED || (header->flags & RECORD_FORKED) != 0 ||
		        (pid != 0 ? header->pid != pid : records_is_shell(header->executable)))
			continue;
		if (find_fault(records[i], wanted, fault) == NULL)
			return;
	}
	run_refuse(stage->run, "the arm was not in force: %s", fault);
}
