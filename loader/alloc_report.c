/*
 * Words and JSON of record_allocation.
 */
#include "alloc_report.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "json_members.h"
#include "probes/allocation.h"
#include "probes/allocation_names.h"
#include "words.h"

static bool is_read(const struct record_allocation *allocation)
{
	return allocation->tunables[0] != TUNABLE_NOT_READ;
}

/* Whether the tunable has a value of its own: 0 is also what the loader says of one not set. */
static bool is_set(const struct record_allocation *allocation, int tunable)
{
	uint64_t value = allocation->tunables[tunable];
	return value != TUNABLE_NOT_READ &&
	       (value != 0 || (allocation->tunables_set & 1u << tunable) != 0);
}

/* The name of the file that the allocator's path leads to, which mostly has its version in it. */
static void file_name(const char *path, char name[NAME_MAX + 1])
{
	char *real = realpath(path, NULL);
	snprintf(name, NAME_MAX + 1, "%s", words_base_name(real != NULL ? real : path));
	free(real);
}

static const char *tlab_words(uint32_t tlab)
{
	switch (tlab) {
	case TLAB_LEFT:
		return "Java's own choice of TLABs";
	case TLAB_ON:
		return "Java was told -XX:+UseTLAB";
	case TLAB_OFF:
		return "Java was told -XX:-UseTLAB";
	case TLAB_IS_ON:
		return "Java's UseTLAB is on";
	case TLAB_IS_OFF:
		return "Java's UseTLAB is off";
	default:
		return NULL;
	}
}

bool alloc_is_notable(const struct record *record)
{
	const struct record_allocation *allocation = &record->header.allocation;
	if (allocation->libc_version[0] == '\0')
		return false; /* the process has not said */
	return record->control.alloc != ALLOC_LIBC || record->control.stats == STATS_ALLOC ||
	       !allocation->is_libc || tlab_words(allocation->tlab) != NULL;
}

static void add(char buffer[ALLOC_WORDS_SIZE], const char *text)
{
	size_t length = strlen(buffer);
	snprintf(buffer + length, ALLOC_WORDS_SIZE - length, "%s", text);
}

static void add_tunables(char buffer[ALLOC_WORDS_SIZE], const struct record_allocation *allocation)
{
	bool any = false;
	if (!is_read(allocation)) {
		add(buffer, "; its settings are not readable here");
		return;
	}
	for (int i = 0; i < TUNABLE_COUNT; i++) {
		char one[64];
		if (!is_set(allocation, i))
			continue;
		snprintf(one, sizeof(one), "%s%s=%" PRIu64,
		        any ? " " : "; in force: ", allocation_name((enum record_tunable)i),
		        allocation->tunables[i]);
		add(buffer, one);
		any = true;
	}
	if (!any)
		add(buffer, "; its own defaults in force");
}

const char *alloc_words(const struct record *record, char buffer[ALLOC_WORDS_SIZE])
{
	const struct record_allocation *allocation = &record->header.allocation;
	char name[NAME_MAX + 1];
	buffer[0] = '\0';
	if (allocation->is_libc) {
		snprintf(buffer, ALLOC_WORDS_SIZE, "malloc of glibc %.15s",
		        allocation->libc_version);
		add_tunables(buffer, allocation);
	} else if (allocation->path[0] == '\0') {
		add(buffer, "the program's own malloc");
	} else {
		file_name(allocation->path, name);
		snprintf(buffer, ALLOC_WORDS_SIZE, "malloc of %.255s", name);
	}
	if (tlab_words(allocation->tlab) != NULL) {
		add(buffer, "; ");
		add(buffer, tlab_words(allocation->tlab));
	}
	return buffer;
}

json_t *alloc_object(const struct record *record)
{
	static const char *const tlab[] = {
		[TLAB_LEFT] = "left",
		[TLAB_ON] = "told_on",
		[TLAB_OFF] = "told_off",
		[TLAB_IS_ON] = "on",
		[TLAB_IS_OFF] = "off",
	};
	const struct record_allocation *allocation = &record->header.allocation;
	json_t *object = json_object(), *tunables = json_object();
	member_string(object, "choice", words_alloc(record->control.alloc));
	member_bool(object, "is_libc", allocation->is_libc != 0);
	member_known(object, "path", allocation->path);
	member_known(object, "libc_version", allocation->libc_version);
	member_bool(object, "readable", is_read(allocation));
	for (int i = 0; i < TUNABLE_COUNT; i++) {
		const char *name = allocation_name((enum record_tunable)i);
		if (is_set(allocation, i))
			member_integer(tunables, name, allocation->tunables[i]);
		else
			json_object_set_new(tunables, name, json_null());
	}
	json_object_set_new(object, "tunables", tunables);
	uint32_t told = allocation->tlab;
	member_known(
	        object, "tlab", told > 0 && told < sizeof(tlab) / sizeof(*tlab) ? tlab[told] : "");
	if (allocation->counted != 0)
		member_integer(object, "frees_sampling", ALLOCATION_SAMPLE);
	else
		json_object_set_new(object, "frees_sampling", json_null());
	return object;
}

void trust_alloc(struct trust *trust, const struct model *model)
{
	bool counted = false, mutes = false;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct record *record = model->processes[i].record;
		const struct record_allocation *allocation = &record->header.allocation;
		counted = counted || record->control.stats == STATS_ALLOC;
		mutes = mutes || (record->control.alloc != ALLOC_LIBC && allocation->is_libc &&
		                         allocation->tlab == TLAB_NO_JVM && !is_read(allocation));
	}
	if (counted)
		trust_note(trust,
		        "ABSHIM_STATS=alloc: every malloc and free costs more than in other runs: "
		        "do not compare speeds; who got a block is known of one address in %u, "
		        "and frees_foreign is a share of frees_sampled",
		        ALLOCATION_SAMPLE);
	if (mutes)
		trust_note(trust, "ABSHIM_ALLOC was set by GLIBC_TUNABLES, but this glibc does "
		                  "not let its settings be read back");
}
