/*
 * Tables of variables and strategies, and the parser of -s.
 */
#include "settings.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/record.h"

#define COUNT_MAX 1000000u /* the largest N that the shim takes */

const struct setting_strategy setting_strategies[] = {
#define STRATEGY(name, count, help) { #name, count, FOR_MUTEX, help },
#include "shim/strategies.def"
#undef STRATEGY
#define POLLING(name, count, families, help) { #name, count, families, help },
#include "shim/pollings.def"
#undef POLLING
};

const size_t setting_strategy_count = sizeof(setting_strategies) / sizeof(*setting_strategies);

static bool check_mutex(const char *value, char why[WHY_SIZE]);
static bool check_rwlock(const char *value, char why[WHY_SIZE]);
static bool check_spinlock(const char *value, char why[WHY_SIZE]);
static bool check_sem(const char *value, char why[WHY_SIZE]);
static bool check_futex(const char *value, char why[WHY_SIZE]);
static bool check_pause(const char *value, char why[WHY_SIZE]);
static bool check_atomics(const char *value, char why[WHY_SIZE]);
static bool check_alloc(const char *value, char why[WHY_SIZE]);
static bool check_stacks(const char *value, char why[WHY_SIZE]);
static bool check_stats(const char *value, char why[WHY_SIZE]);
static bool check_report(const char *value, char why[WHY_SIZE]);
static bool check_directory(const char *value, char why[WHY_SIZE]);
static bool check_match(const char *value, char why[WHY_SIZE]);

const struct setting_variable setting_variables[] = {
	{ "mutex", "ABSHIM_MUTEX", "NAME[:N]", "glibc", "how threads wait for a mutex" },
	{ "rwlock", "ABSHIM_RWLOCK", "NAME[:N]", "glibc",
	        "what threads do before libc waits for a reader-writer lock" },
	{ "spinlock", "ABSHIM_SPINLOCK", "NAME[:N]", "glibc", "how threads wait for a spinlock" },
	{ "sem", "ABSHIM_SEM", "NAME[:N]", "glibc",
	        "what threads do before libc waits for a semaphore" },
	{ "futex", "ABSHIM_FUTEX", "NAME[:N]", "kernel",
	        "what a FUTEX_WAIT by syscall() does before it sleeps" },
	{ "pause", "ABSHIM_PAUSE", "HINT", "default",
	        "the hint to the CPU between two polls: "
	        "default, nop, pause (x86-64), isb, yield, sb (AArch64)" },
	{ "atomics", "ABSHIM_ATOMICS", "native|lse|llsc", "native",
	        "AArch64: which family of atomics the whole process executes" },
	{ "alloc", "ABSHIM_ALLOC", "libc|shared|tlab", "libc",
	        "where threads get memory: shared, all from one place; tlab, each from its own" },
	{ "stats", "ABSHIM_STATS", "on|off|hold|alloc", "on",
	        "whether waits are counted and timed, and a report printed; hold: hold times too; "
	        "alloc: allocations too" },
	{ "stacks", "ABSHIM_STACKS", "0..64", "0", "frames of the stacks taken at waits" },
	{ "report", "ABSHIM_REPORT", "stderr|none|PATH", "stderr",
	        "where the report goes; in PATH %p is the pid, %e the program; JSON for .json" },
	{ "dir", "ABSHIM_DIR", "DIRECTORY", "",
	        "where records lie; default a private one in tmpfs" },
	{ "match", "ABSHIM_MATCH", "GLOB", "", "programs of other names are left alone" },
	{ NULL, "LIBPTHREAD_YIELDLOOPS", "N", "", "FreeBSD's name for mutex=yield:N" },
	{ NULL, "LIBPTHREAD_SPINLOOPS", "N", "",
	        "FreeBSD's name for mutex=spin:N; both: spin, then yield" },
};

const size_t setting_variable_count = sizeof(setting_variables) / sizeof(*setting_variables);

/* In the order of the table; those without a key are not checked here. */
static bool (*const checks[])(const char *value, char why[WHY_SIZE]) = {
	check_mutex,
	check_rwlock,
	check_spinlock,
	check_sem,
	check_futex,
	check_pause,
	check_atomics,
	check_alloc,
	check_stats,
	check_stacks,
	check_report,
	check_directory,
	check_match,
};

static void append(char *text, size_t size, const char *more)
{
	size_t length = strlen(text);
	snprintf(text + length, size - length, "%s", more);
}

const char *setting_families(unsigned families, char *buffer, size_t size)
{
	static const struct {
		enum choice_family family;
		const char *key;
	} keys[] = {
		{ FOR_MUTEX, "mutex" },
		{ FOR_RWLOCK, "rwlock" },
		{ FOR_SPINLOCK, "spinlock" },
		{ FOR_SEM, "sem" },
		{ FOR_FUTEX, "futex" },
	};
	*buffer = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if ((families & keys[i].family) == 0)
			continue;
		append(buffer, size, *buffer != '\0' ? ", " : "");
		append(buffer, size, keys[i].key);
	}
	return buffer;
}

/* The strategies that a key takes. */
static void list_names(unsigned family, char *names, size_t size)
{
	for (size_t i = 0; i < setting_strategy_count; i++) {
		const struct setting_strategy *strategy = &setting_strategies[i];
		if ((strategy->families & family) == 0)
			continue;
		append(names, size, *names != '\0' ? ", " : "");
		append(names, size, strategy->name);
		append(names, size, strategy->count > 0 ? "[:N]" : "");
	}
}

static bool is_number(const char *digits, unsigned long least, unsigned long most)
{
	return *digits != '\0' && digits[strspn(digits, "0123456789")] == '\0' &&
	       strlen(digits) < 10 && strtoul(digits, NULL, 10) >= least &&
	       strtoul(digits, NULL, 10) <= most;
}

static bool check_choice(const char *key, unsigned family, const char *value, char why[WHY_SIZE])
{
	size_t length = strcspn(value, ":");
	char names[256] = "";
	for (size_t i = 0; i < setting_strategy_count; i++) {
		const struct setting_strategy *strategy = &setting_strategies[i];
		if ((strategy->families & family) == 0 || strlen(strategy->name) != length ||
		        strncmp(strategy->name, value, length) != 0)
			continue;
		if (value[length] == '\0')
			return true;
		if (strategy->count == 0) {
			why_set(why, "%s=%.100s: %s takes no number", key, value, strategy->name);
			return false;
		}
		if (is_number(value + length + 1, 1, COUNT_MAX))
			return true;
		why_set(why, "%s=%.100s: N must be a number from 1 to %u", key, value, COUNT_MAX);
		return false;
	}
	list_names(family, names, sizeof(names));
	why_set(why, "%s=%.100s: unknown strategy; right are %s", key, value, names);
	return false;
}

static bool check_mutex(const char *value, char why[WHY_SIZE])
{
	return check_choice("mutex", FOR_MUTEX, value, why);
}

static bool check_rwlock(const char *value, char why[WHY_SIZE])
{
	return check_choice("rwlock", FOR_RWLOCK, value, why);
}

static bool check_spinlock(const char *value, char why[WHY_SIZE])
{
	return check_choice("spinlock", FOR_SPINLOCK, value, why);
}

static bool check_sem(const char *value, char why[WHY_SIZE])
{
	return check_choice("sem", FOR_SEM, value, why);
}

static bool check_futex(const char *value, char why[WHY_SIZE])
{
	return check_choice("futex", FOR_FUTEX, value, why);
}

/* Whether the machine has the switch is the shim's to say. */
static bool check_atomics(const char *value, char why[WHY_SIZE])
{
	if (strcmp(value, "native") == 0 || strcmp(value, "lse") == 0 || strcmp(value, "llsc") == 0)
		return true;
	why_set(why, "atomics=%.100s: right are native, lse and llsc", value);
	return false;
}

/* Whether the arm can act is for preflight_check() and the shim to say. */
static bool check_alloc(const char *value, char why[WHY_SIZE])
{
	if (strcmp(value, "libc") == 0 || strcmp(value, "shared") == 0 ||
	        strcmp(value, "tlab") == 0)
		return true;
	why_set(why, "alloc=%.100s: right are libc, shared and tlab", value);
	return false;
}

/* Which machine has which hint is the program's to say: it may be of another one. */
static bool check_pause(const char *value, char why[WHY_SIZE])
{
	static const char *const names[] = {
#define PAUSE(name, machine, help) #name,
#include "shim/pauses.def"
#undef PAUSE
	};
	char list[128] = "";
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], value) == 0)
			return true;
		append(list, sizeof(list), i > 0 ? ", " : "");
		append(list, sizeof(list), names[i]);
	}
	why_set(why, "pause=%.100s: unknown hint; right are %s", value, list);
	return false;
}

static bool check_stacks(const char *value, char why[WHY_SIZE])
{
	if (is_number(value, 0, RECORD_MAX_STACK))
		return true;
	why_set(why, "stacks=%.100s: must be a number of frames from 0 to %u", value,
	        RECORD_MAX_STACK);
	return false;
}

static bool check_stats(const char *value, char why[WHY_SIZE])
{
	if (strcmp(value, "on") == 0 || strcmp(value, "off") == 0 || strcmp(value, "hold") == 0 ||
	        strcmp(value, "alloc") == 0)
		return true;
	why_set(why, "stats=%.100s: right are on, off, hold and alloc", value);
	return false;
}

static bool check_report(const char *value, char why[WHY_SIZE])
{
	if (*value == '\0') {
		why_set(why, "report=: right are stderr, none or a path");
		return false;
	}
	for (const char *at = value; (at = strchr(at, '%')) != NULL; at += 2) {
		if (at[1] == 'p' || at[1] == 'e' || at[1] == '%')
			continue;
		why_set(why, "report=%.200s: after %% comes p (pid), e (program) or another %%",
		        value);
		return false;
	}
	return true;
}

static bool check_directory(const char *value, char why[WHY_SIZE])
{
	if (*value != '\0')
		return true;
	why_set(why, "dir=: must be a directory");
	return false;
}

static bool check_match(const char *value, char why[WHY_SIZE])
{
	if (*value != '\0')
		return true;
	why_set(why, "match=: must be a glob on the program's name");
	return false;
}

/* The program may change its directory: paths are made absolute. NULL: no memory. */
static char *absolute(const char *path)
{
	char directory[PATH_MAX];
	char *joined;
	if (*path == '/' || getcwd(directory, sizeof(directory)) == NULL)
		return strdup(path);
	return asprintf(&joined, "%s/%s", directory, path) < 0 ? NULL : joined;
}

static bool is_path(const struct setting_variable *variable, const char *value)
{
	if (strcmp(variable->key, "dir") == 0)
		return true;
	return strcmp(variable->key, "report") == 0 && strcmp(value, "stderr") != 0 &&
	       strcmp(value, "none") != 0;
}

static bool set_own(
        struct environment *environment, size_t index, const char *value, char why[WHY_SIZE])
{
	const struct setting_variable *variable = &setting_variables[index];
	if (!checks[index](value, why))
		return false;
	char *text = is_path(variable, value) ? absolute(value) : strdup(value);
	bool done = text != NULL && environment_set(environment, variable->name, text);
	free(text);
	if (!done)
		why_set(why, "no memory for the environment");
	return done;
}

/* The number of the variable that a key of this length names, or the count when there is none. */
static size_t find_own(const char *key, size_t length)
{
	size_t i = 0;
	for (; i < setting_variable_count; i++) {
		const struct setting_variable *variable = &setting_variables[i];
		if (variable->key == NULL)
			continue;
		if (strlen(variable->key) == length && strncmp(variable->key, key, length) == 0)
			break;
		if (strlen(variable->name) == length && strncmp(variable->name, key, length) == 0)
			break;
	}
	return i;
}

static bool is_name(const char *key, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)key[i]) && key[i] != '_')
			return false;
	return length > 0 && !isdigit((unsigned char)key[0]);
}

bool setting_apply(struct environment *environment, const char *setting, char why[WHY_SIZE])
{
	const char *equals = strchr(setting, '=');
	size_t length = equals != NULL ? (size_t)(equals - setting) : 0;
	char operation = length > 0 ? setting[length - 1] : '=';
	if (operation == '+' || operation == '-')
		length--;
	else
		operation = '=';
	if (equals == NULL || !is_name(setting, length)) {
		why_set(why, "-s %.200s: must be KEY=VALUE, KEY+=VALUE or KEY-=VALUE", setting);
		return false;
	}
	size_t own = find_own(setting, length);
	if (own < setting_variable_count && operation == '=')
		return set_own(environment, own, equals + 1, why);
	if (own < setting_variable_count) {
		why_set(why, "-s %.200s: %s holds one value, so only %.*s=VALUE is right", setting,
		        setting_variables[own].name, (int)length, setting);
		return false;
	}
	if (islower((unsigned char)setting[0]) || strncmp(setting, "ABSHIM_", 7) == 0) {
		char keys[256] = "";
		for (size_t i = 0; i < setting_variable_count; i++)
			if (setting_variables[i].key != NULL) {
				append(keys, sizeof(keys), setting_variables[i].key);
				append(keys, sizeof(keys), ", ");
			}
		why_set(why,
		        "-s %.200s: unknown key; right are %sand names of variables, which begin "
		        "with a capital",
		        setting, keys);
		return false;
	}
	char name[256];
	if (length >= sizeof(name)) {
		why_set(why, "-s %.50s...: the name is longer than 255 bytes", setting);
		return false;
	}
	memcpy(name, setting, length);
	name[length] = '\0';
	bool done = operation == '+'   ? environment_append(environment, name, equals + 1)
	            : operation == '-' ? environment_remove(environment, name, equals + 1)
	                               : environment_set(environment, name, equals + 1);
	if (!done)
		why_set(why, "no memory for the environment");
	return done;
}
