/*
 * What the files of a target come to.
 */
#include <string.h>

#include "../words.h"
#include "write.h"

const char *audit_kind_word(enum audit_kind kind)
{
	static const char *const words[] = {
		[AUDIT_EXEC] = "exec",
		[AUDIT_PIE] = "pie",
		[AUDIT_SHARED] = "shared",
		[AUDIT_RELOCATABLE] = "relocatable",
		[AUDIT_REFUSED] = "refused",
	};
	return words[kind];
}

const char *target_kind_word(enum target_kind kind)
{
	static const char *const words[] = {
		[TARGET_FILE] = "file",
		[TARGET_PROGRAM] = "program",
		[TARGET_PROCESS] = "process",
		[TARGET_DIRECTORY] = "directory",
	};
	return words[kind];
}

static bool is_missed(const struct target *target, const struct audit_file *file)
{
	return !file->complete && !(file->codeless && target->kind == TARGET_DIRECTORY);
}

struct audit_sum audit_sum(
        const struct survey *survey, const struct target *target, const char *machine)
{
	struct audit_sum sum = { .files = 0 };
	for (size_t i = 0; i < target->row_count; i++) {
		const struct audit_file *file = &survey->list.files[target->rows[i]];
		sum.unread += is_missed(target, file);
		sum.codeless += !file->complete && !is_missed(target, file);
		if (file->kind == AUDIT_REFUSED || strcmp(file->machine, machine) != 0)
			continue;
		sum.files++;
		sum.switchable += file->switchable;
		sum.rewritable += file->rewritable;
		sum.fixed += file->fixed;
		sum.locked += file->locked;
		sum.callers += file->interposable &&
		               survey->interpositions[target->rows[i]].imports.count > 0;
	}
	return sum;
}

bool target_is_complete(const struct survey *survey, const struct target *target)
{
	bool complete = target->whole;
	for (size_t i = 0; i < target->row_count; i++)
		complete &= !is_missed(target, &survey->list.files[target->rows[i]]);
	return complete;
}

const char *target_bar(const struct survey *survey, const struct target *target)
{
	bool runs = target->kind == TARGET_PROGRAM || target->kind == TARGET_PROCESS;
	if (!runs || target->row_count == 0 || !survey->interpositions[target->rows[0]].barred)
		return NULL;
	return survey->list.files[target->rows[0]].why;
}
