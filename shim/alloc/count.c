/*
 * Preloads the counting library right behind this one, and gives it what it needs of the record.
 */
#include "count.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "probes/allocation_names.h"
#include "probes/sys.h"
#include "shim/export.h"
#include "shim/real.h"
#include "shim/settings.h"
#include "shim/start.h"
#include "shim/thread.h"

#define TEXT_SIZE 8192u

static _Noreturn void refuse(const char *reason, const char *more)
{
	settings_refuse((const char *const[]){ "ABSHIM_STATS=alloc: ", reason, more, NULL });
}

/* Between two entries of LD_PRELOAD, ld.so(8). */
static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

static size_t entry_length(const char *entry)
{
	size_t length = 0;
	while (entry[length] != '\0' && !is_separator(entry[length]))
		length++;
	return length;
}

const struct link_map *count_library(void)
{
	return real_named(ALLOCATION_LIBRARY);
}

/* Its path: beside this library. */
static const char *find_path(void)
{
	static char path[RECORD_PATH_SIZE];
	const char *own = real_own_path();
	if (!start_absolute(path, sizeof(path) - sizeof(ALLOCATION_LIBRARY), own))
		refuse("the path of libabshim.so is too long", "");
	char *slash = strrchr(path, '/');
	strcpy(slash != NULL ? slash + 1 : path, ALLOCATION_LIBRARY);
	if (sys_failed(sys_call6(SYS_faccessat, AT_FDCWD, SYS_ARG(path), 4 /* R_OK */, 0, 0, 0)))
		refuse("no library beside libabshim.so: ", path);
	if (path[entry_length(path)] != '\0')
		refuse("LD_PRELOAD cannot hold a path with a blank or colon: ", path);
	return path;
}

/* How long the entry of LD_PRELOAD is that ends with this library's name; *at: where. 0: none. */
static size_t find_own(const char *preload, size_t *at)
{
	static const char name[] = "libabshim.so";
	for (*at = 0; preload[*at] != '\0';) {
		size_t length = entry_length(preload + *at), own = sizeof(name) - 1;
		if (length >= own && strncmp(preload + *at + length - own, name, own) == 0)
			return length;
		*at += length;
		while (is_separator(preload[*at]))
			++*at;
	}
	return 0;
}

static const char *compose(const char *preload)
{
	static char string[TEXT_SIZE] = "LD_PRELOAD=";
	const char *path = find_path();
	size_t at, length = find_own(preload, &at), used = strlen(string);
	if (strlen(preload) + strlen(path) + used + 3 > sizeof(string))
		refuse("LD_PRELOAD is too long to add to", "");
	size_t head = length != 0 ? at + length : 0;
	memcpy(string + used, preload, head);
	used += head;
	if (head != 0)
		string[used++] = ':';
	memcpy(string + used, path, strlen(path));
	used += strlen(path);
	if (head == 0 && *preload != '\0')
		string[used++] = ':';
	strcpy(string + used, preload + head);
	return string;
}

const char *count_plan(const char *preload)
{
	const struct link_map *library = count_library();
	const struct link_map *first = real_defining(NULL, "malloc");
	if (preload == NULL)
		preload = "";
	if (library == NULL && strstr(preload, ALLOCATION_LIBRARY) != NULL)
		refuse(ALLOCATION_LIBRARY " stands in LD_PRELOAD, but could not be loaded", "");
	if (library == NULL && first != NULL && *first->l_name == '\0')
		refuse("the program brings its own malloc, so its calls cannot be counted", "");
	if (library == NULL)
		return compose(preload);
	if (first != library)
		refuse("malloc is that of another file in front of " ALLOCATION_LIBRARY ": ",
		        first != NULL && *first->l_name != '\0' ? first->l_name : "the program");
	return NULL;
}

EXPORT struct alloc_counters *abshim_alloc_counters(void)
{
	struct record_thread *self = thread_slot;
	if (self == NULL && !thread_has_ended())
		self = thread_current();
	return self != NULL ? &self->counters.alloc : NULL;
}

EXPORT void *abshim_alloc_next(const void *dynamic, const char *name)
{
	const struct link_map *library = real_object(dynamic);
	const struct link_map *next = library != NULL ? real_defining(library, name) : NULL;
	return next != NULL ? real_find_in(next, name) : NULL;
}
