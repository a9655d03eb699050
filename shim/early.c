/*
 * Reads the initial environment where the loader says that the initial stack is
 * (__libc_stack_end, which AArch64's points at argc), and from /proc where it cannot say so yet.
 * Calls nothing that is reached through a relocated address: no string functions either.
 */
#include "early.h"

#include <fcntl.h>
#include <link.h>
#include <stddef.h>

#include "glob.h"
#include "probes/sys.h"
#include "settings.h"

#define VALUE_MAX 512u

/* Weak, so that the link needs no more than libc: the loader that defines it is always there. */
extern void *__libc_stack_end __attribute__((weak));

/* Points to itself once it has been relocated. */
static void *volatile const myself = (void *)&myself;

bool early_is_relocated(void)
{
	return myself == (void *)&myself;
}

/* The value in "NAME=value", NULL for another variable. */
static const char *value_of(const char *string, const char *name)
{
	while (*name != '\0')
		if (*string++ != *name++)
			return NULL;
	return *string == '=' ? string + 1 : NULL;
}

static bool same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Copies a value; too long a one is none. */
static bool copy_value(char *to, const char *from)
{
	for (unsigned i = 0; i < VALUE_MAX; i++)
		if ((to[i] = from[i]) == '\0')
			return true;
	return false;
}

/* The environment as the kernel left it: argc, argv, NULL, environment, NULL. */
static char *const *initial_environment(void)
{
	if (!early_is_relocated() || &__libc_stack_end == NULL || __libc_stack_end == NULL)
		return NULL;
	char *const *stack = __libc_stack_end;
	return stack + 1 + *(const long *)__libc_stack_end + 1;
}

static bool find_on_stack(char *const *environment, const char *name, char *value)
{
	for (; *environment != NULL; environment++) {
		const char *found = value_of(*environment, name);
		if (found != NULL)
			return copy_value(value, found);
	}
	return false;
}

/* The variables lie in the file one behind the other, a NUL after each. */
static bool find_in_proc(const char *name, char *value)
{
	char chunk[256], entry[VALUE_MAX + 32];
	unsigned length = 0;
	bool found = false;
	int fd = sys_open("/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
	long got;
	while (fd >= 0 && !found && (got = sys_read(fd, chunk, sizeof(chunk))) > 0) {
		for (long i = 0; i < got && !found; i++) {
			entry[length] = chunk[i];
			if (chunk[i] != '\0') {
				length += length < sizeof(entry) - 2;
				continue;
			}
			length = 0;
			const char *text = value_of(entry, name);
			found = text != NULL && copy_value(value, text);
		}
	}
	if (fd >= 0)
		sys_close(fd);
	return found;
}

static bool find(const char *name, char *value)
{
	char *const *environment = initial_environment();
	return environment != NULL ? find_on_stack(environment, name, value)
	                           : find_in_proc(name, value);
}

/* Whether ABSHIM_MATCH leaves this program to us; as settings_read, a malformed one does. */
static bool program_matches(void)
{
	char pattern[VALUE_MAX], path[VALUE_MAX];
	if (!find("ABSHIM_MATCH", pattern) || !glob_is_valid(pattern))
		return true;
	long length = sys_call6(SYS_readlinkat, AT_FDCWD, SYS_ARG("/proc/self/exe"), SYS_ARG(path),
	        sizeof(path) - 1, 0, 0);
	if (length <= 0)
		return true;
	path[length] = '\0';
	const char *name = path;
	for (const char *c = path; *c != '\0'; c++)
		if (*c == '/')
			name = c + 1;
	return glob_matches(pattern, name);
}

bool early_wants_llsc(void)
{
	static enum { UNKNOWN, NO, YES } answer;
	if (answer == UNKNOWN) {
		char value[VALUE_MAX];
		bool wants = find("ABSHIM_ATOMICS", value) && same(value, "llsc");
		answer = wants && program_matches() ? YES : NO;
	}
	return answer == YES;
}

bool early_auxv(unsigned long type, unsigned long *value)
{
	ElfW(auxv_t) entry;
	bool found = false;
	int fd = sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
	while (fd >= 0 && !found && sys_read(fd, &entry, sizeof(entry)) == sizeof(entry) &&
	        entry.a_type != AT_NULL)
		found = entry.a_type == type;
	if (fd >= 0)
		sys_close(fd);
	*value = found ? entry.a_un.a_val : 0;
	return found;
}
