/*
 * A process in which an arm cannot act ends itself; so what is left to be seen is whether there is
 * one that was told of the arm.
 */
#include "records_alloc.h"

#include <stdio.h>
#include <string.h>

#include "../words.h"
#include "records_atomics.h"
#include "run_environment.h"

#define WORD_SIZE 16

/* What the arm asks for, "libc" where it asks for nothing. */
static void asked(const struct stage *stage, char value[WORD_SIZE])
{
	struct environment environment;
	snprintf(value, WORD_SIZE, "libc");
	if (!run_environment_target(&environment, stage->design, stage->run, stage->places))
		return;
	const char *set = environment_get(&environment, "ABSHIM_ALLOC");
	if (set != NULL)
		snprintf(value, WORD_SIZE, "%s", set);
	environment_free(&environment);
}

void records_check_alloc(
        struct stage *stage, struct record *const *records, size_t count, pid_t pid)
{
	char wanted[WORD_SIZE];
	const struct record *other = NULL;
	asked(stage, wanted);
	if (strcmp(wanted, "libc") == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct record_header *header = &records[i]->header;
		if (header->state == RECORD_EXECED ||
		        (pid != 0 ? header->pid != pid : records_is_shell(header->executable)))
			continue;
		if (strcmp(words_alloc(records[i]->control.alloc), wanted) == 0)
			return;
		other = records[i];
	}
	if (other != NULL)
		run_refuse(stage->run,
		        "the arm was not in force: the record of %.100s says alloc=%s, not %s",
		        words_base_name(other->header.executable),
		        words_alloc(other->control.alloc), wanted);
}
