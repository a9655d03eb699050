/*
 * glibc reads its tunables before any library has a say, so a program that was started without them
 * is executed once more.
 */
#include "arm.h"

#include <string.h>

#include "again.h"
#include "count.h"
#include "notes.h"
#include "probes/allocation.h"
#include "probes/record_map.h"
#include "shim/auxv.h"
#include "shim/real.h"
#include "shim/settings.h"
#include "tunables.h"

struct record_allocation alloc_notes;

const char *gnu_get_libc_version(void) __attribute__((weak));

const char *alloc_arm_name(void)
{
	return settings.alloc == ALLOC_SHARED ? "shared"
	       : settings.alloc == ALLOC_TLAB ? "tlab"
	                                      : "libc";
}

static _Noreturn void refuse(const char *reason, const char *more, const char *rest)
{
	settings_refuse((const char *const[]){
	        "ABSHIM_ALLOC=", alloc_arm_name(), ": ", reason, more, rest, NULL });
}

static const char *find_variable(char *const *environment, const char *name)
{
	size_t length = strlen(name);
	for (; *environment != NULL; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

/* Who answers the program's calls of malloc: behind the library that counts them, if that is
 * there. NULL: nobody. */
static const struct link_map *find_server(void)
{
	const struct link_map *first = real_defining(NULL, "malloc");
	return first != NULL && first == count_library() ? real_defining(first, "malloc") : first;
}

static void note_server(char *const *environment)
{
	const struct link_map *server = find_server();
	const struct link_map *libc = real_defining(NULL, "gnu_get_libc_version");
	const char *version = gnu_get_libc_version();
	alloc_notes.is_libc = server != NULL && server == libc;
	if (strlen(version) < sizeof(alloc_notes.libc_version))
		strcpy(alloc_notes.libc_version, version);
	if (server != NULL && *server->l_name != '\0')
		record_copy_path(alloc_notes.path, sizeof(alloc_notes.path), server->l_name);
	tunables_read(alloc_notes.tunables);
	for (int i = 0; i < TUNABLE_COUNT; i++) {
		uint64_t number;
		if (allocation_find(find_variable(environment, ALLOCATION_VARIABLE),
		            (enum record_tunable)i, &number))
			alloc_notes.tunables_set |= 1u << i;
	}
}

/* Older names of two of the tunables, which glibc takes as well. */
static void refuse_aliases(char *const *environment)
{
	static const struct {
		const char *name;
		enum record_tunable tunable;
	} aliases[] = {
		{ "MALLOC_ARENA_MAX", TUNABLE_arena_max },
		{ "MALLOC_ARENA_TEST", TUNABLE_arena_test },
	};
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
		const char *value = find_variable(environment, aliases[i].name);
		const char *wanted = allocation_value(settings.alloc, aliases[i].tunable);
		if (value != NULL && wanted != NULL && strcmp(value, wanted) != 0)
			refuse("the arm sets the same as ", aliases[i].name,
			        ", which has another value: unset it");
	}
}

/* Not the allocator's own: what stands in front of it must be libc's. */
static void need_libc(void)
{
	const struct link_map *server = find_server();
	if (server == real_defining(NULL, "gnu_get_libc_version"))
		return;
	if (server == NULL || *server->l_name == '\0')
		refuse("the program brings its own malloc, which glibc's tunables do not reach; "
		       "right is libc",
		        "", "");
	refuse("malloc is that of ", server->l_name,
	        ", which glibc's tunables do not reach; right is libc");
}

static void need_in_force(void)
{
	for (int i = 0; i < TUNABLE_COUNT; i++) {
		const char *wanted = allocation_value(settings.alloc, (enum record_tunable)i);
		uint64_t right;
		if (wanted == NULL || alloc_notes.tunables[i] == TUNABLE_NOT_READ)
			continue;
		if (!allocation_number(wanted, strlen(wanted), &right) ||
		        alloc_notes.tunables[i] != right)
			refuse("GLIBC_TUNABLES is set, but this glibc has not taken from it "
			       "glibc.malloc.",
			        allocation_name((enum record_tunable)i), "");
	}
}

/* A program of Java's launcher, or one that is linked with the virtual machine. */
static bool is_java(void)
{
	return real_named("libjli.so") != NULL || real_named("libjvm.so") != NULL;
}

static void set_variable(struct again *again, const char *name, const char *string)
{
	again->variables[again->count++] = (struct again_variable){ name, string };
}

/* "GLIBC_TUNABLES=" and room for its value. */
static char tunables_string[sizeof(ALLOCATION_VARIABLE) + ALLOCATION_TEXT_SIZE];

static char *tunables_value(void)
{
	memcpy(tunables_string, ALLOCATION_VARIABLE "=", sizeof(ALLOCATION_VARIABLE));
	return tunables_string + sizeof(ALLOCATION_VARIABLE);
}

/* In a Java virtual machine an arm means its thread-local buffers and nothing else: what a parent
 * was given for its own malloc goes. */
static void plan_java(struct again *again, const char *value)
{
	char *text = tunables_value();
	if (allocation_take_away(settings.alloc, value, text))
		set_variable(again, ALLOCATION_VARIABLE, *text != '\0' ? tunables_string : NULL);
}

static void plan_native(struct again *again, char *const *environment)
{
	const char *name = "";
	char *text = tunables_value();
	refuse_aliases(environment);
	need_libc();
	switch (allocation_add(
	        settings.alloc, find_variable(environment, ALLOCATION_VARIABLE), text, &name)) {
	case ALLOCATION_THERE:
		need_in_force();
		break;
	case ALLOCATION_ADDED:
		set_variable(again, ALLOCATION_VARIABLE, tunables_string);
		break;
	case ALLOCATION_CONFLICT:
		refuse("GLIBC_TUNABLES gives another value to glibc.malloc.", name,
		        ": take that out");
	case ALLOCATION_TOO_LONG:
		refuse("GLIBC_TUNABLES is too long to add to", "", "");
	}
}

void alloc_begin(char *const *environment)
{
	struct again again = { .count = 0 };
	note_server(environment);
	if (settings.alloc != ALLOC_LIBC && auxv_find(environment, AT_SECURE) != 0)
		refuse("the program has gained rights by its file, so the loader takes no tunables",
		        "", "");
	if (settings.alloc != ALLOC_LIBC && is_java())
		plan_java(&again, find_variable(environment, ALLOCATION_VARIABLE));
	else if (settings.alloc != ALLOC_LIBC)
		plan_native(&again, environment);
	if (settings.stats == STATS_ALLOC) {
		const char *preload = count_plan(find_variable(environment, "LD_PRELOAD"));
		if (preload != NULL)
			set_variable(&again, "LD_PRELOAD", preload);
	}
	if (again.count == 0)
		return;
	const char *fault = again_execute(&again, environment);
	settings_refuse((const char *const[]){
	        settings.stats == STATS_ALLOC ? "ABSHIM_STATS=alloc" : "ABSHIM_ALLOC=",
	        settings.stats == STATS_ALLOC ? "" : alloc_arm_name(),
	        ": the program would have to be executed again with other variables: ", fault,
	        NULL });
}

void alloc_put(void)
{
	record_header->allocation = alloc_notes;
	record_header->allocation.counted = settings.stats == STATS_ALLOC;
}
