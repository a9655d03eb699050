/*
 * Parses the ABSHIM_ variables and FreeBSD's two names. Runs before libc has set environ and
 * allocates nothing.
 */
#include "settings.h"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include "auxv.h"
#include "choice.h"
#include "glob.h"
#include "probes/record_map.h"
#include "probes/sys.h"

#define PART_MAX 300u /* bytes of one part of a refusal */

struct settings settings;

bool settings_stay_out(void)
{
	return settings.stats == STATS_OFF && strcmp(settings.mutex.name, "glibc") == 0 &&
	       strcmp(settings.rwlock.name, "glibc") == 0 &&
	       strcmp(settings.spinlock.name, "glibc") == 0 &&
	       strcmp(settings.sem.name, "glibc") == 0 &&
	       strcmp(settings.futex.name, "kernel") == 0;
}

static void line_add(char *line, size_t size, const char *text)
{
	size_t at = strlen(line);
	size_t length = strlen(text);
	if (length > size - 1 - at)
		length = size - 1 - at;
	memcpy(line + at, text, length);
	line[at + length] = '\0';
}

_Noreturn void settings_refuse(const char *const *parts)
{
	char line[1024] = "abshim: ";
	for (; *parts != NULL; parts++) {
		/* A long value must leave room for what is wrong with it. */
		size_t room = strlen(line) + PART_MAX;
		line_add(line, room < sizeof(line) - 1 ? room : sizeof(line) - 1, *parts);
	}
	/* Whatever the environment held, this is one line and cannot steer a terminal. */
	for (char *c = line; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	line_add(line, sizeof(line), "\n");
	sys_write(2, line, strlen(line));
	for (;;)
		sys_call3(SYS_exit_group, SETTINGS_EXIT_STATUS, 0, 0);
}

static _Noreturn void refuse(const char *name, const char *value, const char *wanted)
{
	settings_refuse((const char *const[]){ name, "=", value, ": ", wanted, NULL });
}

static void read_choice(struct record_choice *choice, enum choice_family family, const char *name,
        const char *value)
{
	const char *fault = choice_parse(choice, family, value);
	if (fault != NULL)
		refuse(name, value, fault);
}

static void read_mutex(const char *value)
{
	read_choice(&settings.mutex, FOR_MUTEX, "ABSHIM_MUTEX", value);
}

static void read_rwlock(const char *value)
{
	read_choice(&settings.rwlock, FOR_RWLOCK, "ABSHIM_RWLOCK", value);
}

static void read_spinlock(const char *value)
{
	read_choice(&settings.spinlock, FOR_SPINLOCK, "ABSHIM_SPINLOCK", value);
}

static void read_sem(const char *value)
{
	read_choice(&settings.sem, FOR_SEM, "ABSHIM_SEM", value);
}

static void read_futex(const char *value)
{
	read_choice(&settings.futex, FOR_FUTEX, "ABSHIM_FUTEX", value);
}

static const struct {
	const char *name;
	bool here; /* this machine has it */
} pauses[] = {
#if defined(__x86_64__)
#define ON_x86_64   true
#define ON_aarch64  false
#define PAUSES_TEXT "right are default, pause and nop"
#else
#define ON_x86_64   false
#define ON_aarch64  true
#define PAUSES_TEXT "right are default, isb, yield, sb and nop"
#endif
#define ON_any                     true
#define PAUSE(name, machine, help) { #name, ON_##machine },
#include "pauses.def"
#undef PAUSE
};

static void read_pause(const char *value)
{
	for (uint32_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		if (strcmp(pauses[i].name, value) != 0)
			continue;
		if (!pauses[i].here)
			refuse("ABSHIM_PAUSE", value,
			        "this machine has no such hint; " PAUSES_TEXT);
		settings.pause = i;
		return;
	}
	refuse("ABSHIM_PAUSE", value, "unknown hint; " PAUSES_TEXT);
}

/* A hint that this CPU lacks would be an illegal instruction. */
static void check_pause(char *const *environment)
{
#if defined(__aarch64__)
	const unsigned long sb = 1ul << 29; /* HWCAP_SB */
	if (strcmp(pauses[settings.pause].name, "sb") == 0 &&
	        (auxv_find(environment, AT_HWCAP) & sb) == 0)
		refuse("ABSHIM_PAUSE", "sb",
		        "this CPU has no speculation barrier; right are default, isb, yield and "
		        "nop");
#else
	(void)environment;
#endif
}

static void read_atomics(const char *value)
{
	if (strcmp(value, "native") == 0)
		settings.atomics = ATOMICS_NATIVE;
	else if (strcmp(value, "lse") == 0)
		settings.atomics = ATOMICS_LSE;
	else if (strcmp(value, "llsc") == 0)
		settings.atomics = ATOMICS_LLSC;
	else
		refuse("ABSHIM_ATOMICS", value, "right are native, lse and llsc");
}

/* Instructions that this CPU lacks would be illegal ones. SETTINGS_LSE_ANYWHERE: a test wants just
 * that. */
static void check_atomics(char *const *environment)
{
#if defined(SETTINGS_LSE_ANYWHERE)
	(void)environment;
#elif defined(__aarch64__)
	if (settings.atomics == ATOMICS_LSE &&
	        (auxv_find(environment, AT_HWCAP) & AUXV_HWCAP_ATOMICS) == 0)
		refuse("ABSHIM_ATOMICS", "lse",
		        "this CPU has no LSE atomics; right are native and llsc");
#else
	(void)environment;
	if (settings.atomics != ATOMICS_NATIVE)
		refuse("ABSHIM_ATOMICS", settings.atomics == ATOMICS_LSE ? "lse" : "llsc",
		        "this machine has no such switch, which is AArch64's; right is native");
#endif
}

static void read_alloc(const char *value)
{
	if (strcmp(value, "libc") == 0)
		settings.alloc = ALLOC_LIBC;
	else if (strcmp(value, "shared") == 0)
		settings.alloc = ALLOC_SHARED;
	else if (strcmp(value, "tlab") == 0)
		settings.alloc = ALLOC_TLAB;
	else
		refuse("ABSHIM_ALLOC", value, "right are libc, shared and tlab");
}

static void read_stacks(const char *value)
{
	settings.stack_depth = 0;
	if (strcmp(value, "0") != 0 && (!choice_parse_count(value, &settings.stack_depth) ||
	                                       settings.stack_depth > RECORD_MAX_STACK))
		refuse("ABSHIM_STACKS", value, "must be a number of frames from 0 to 64");
}

static void add_text(const char *name, const char *value)
{
	line_add(settings.text, sizeof(settings.text), name);
	line_add(settings.text, sizeof(settings.text), "=");
	line_add(settings.text, sizeof(settings.text), value);
	line_add(settings.text, sizeof(settings.text), "\n");
}

/* One of FreeBSD's two variables: 0 where it is not set, or switches it off. */
static uint32_t loop_count(const char *name, const char *value)
{
	uint32_t count = 0;
	if (value != NULL && strcmp(value, "0") != 0 && !choice_parse_count(value, &count))
		refuse(name, value, "must be a decimal number from 0 to 1000000");
	return count;
}

/* Spinning comes first, then yielding. in_force: no ABSHIM_MUTEX takes precedence. */
static void read_loops(const char *spins, const char *yields, bool in_force)
{
	uint32_t spin_count = loop_count("LIBPTHREAD_SPINLOOPS", spins);
	uint32_t yield_count = loop_count("LIBPTHREAD_YIELDLOOPS", yields);
	if (!in_force || (spins == NULL && yields == NULL))
		return;
	if (yield_count != 0)
		choice_set(&settings.mutex, FOR_MUTEX, "yield", yield_count);
	else if (spin_count != 0)
		choice_set(&settings.mutex, FOR_MUTEX, "spin", spin_count);
	else
		choice_set(&settings.mutex, FOR_MUTEX, "park", 0);
	settings.mutex_pre_spins = yield_count != 0 ? spin_count : 0;
	if (spins != NULL)
		add_text("LIBPTHREAD_SPINLOOPS", spins);
	if (yields != NULL)
		add_text("LIBPTHREAD_YIELDLOOPS", yields);
}

static void read_stats(const char *value)
{
	if (strcmp(value, "on") == 0)
		settings.stats = STATS_ON;
	else if (strcmp(value, "off") == 0)
		settings.stats = STATS_OFF;
	else if (strcmp(value, "hold") == 0)
		settings.stats = STATS_HOLD;
	else if (strcmp(value, "alloc") == 0)
		settings.stats = STATS_ALLOC;
	else
		refuse("ABSHIM_STATS", value, "right are on, off, hold and alloc");
}

/* Whether the path names an open file of whoever opens it: the command that writes the report has
 * none of the program's. */
static bool is_descriptor(const char *path)
{
	static const char *const heads[] = { "/dev/std", "/dev/fd/", "/proc/self/fd/",
		"/proc/thread-self/fd/" };
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (strncmp(path, heads[i], strlen(heads[i])) == 0)
			return true;
	return false;
}

static void read_report(const char *value)
{
	if (strcmp(value, "stderr") == 0) {
		settings.report = REPORT_STDERR;
		return;
	}
	if (strcmp(value, "none") == 0) {
		settings.report = REPORT_NONE;
		return;
	}
	if (*value == '\0' || strlen(value) >= sizeof(settings.report_path))
		refuse("ABSHIM_REPORT", value,
		        "right are stderr, none, or a path (511 bytes at most)");
	for (const char *c = value; (c = strchr(c, '%')) != NULL; c += 2)
		if (c[1] != 'p' && c[1] != 'e' && c[1] != '%')
			refuse("ABSHIM_REPORT", value,
			        "after % comes p (pid), e (executable's name) or another %");
	if (is_descriptor(value))
		refuse("ABSHIM_REPORT", value,
		        "a report cannot go to an open file of the program's but stderr; right are "
		        "stderr, none, or the path of a file");
	settings.report = REPORT_PATH;
	strcpy(settings.report_path, value);
}

static void read_directory(const char *value)
{
	if (*value != '/' || strlen(value) >= sizeof(settings.directory) / 2)
		refuse("ABSHIM_DIR", value, "must be an absolute path (255 bytes at most)");
	strcpy(settings.directory, value);
}

static void read_run_pid(const char *value)
{
	uint32_t pid = 0;
	for (const char *c = value; *c >= '0' && *c <= '9' && pid < INT_MAX / 10; c++)
		pid = pid * 10 + (uint32_t)(*c - '0');
	settings.run_pid = (int)pid;
}

static void read_match(const char *value)
{
	if (!glob_is_valid(value))
		refuse("ABSHIM_MATCH", value,
		        "must be a glob on the executable's name, each [ with its ] and a byte "
		        "after each \\");
}

static const struct {
	const char *name;
	void (*read)(const char *value);
	bool in_text;
} variables[] = {
	{ "ABSHIM_MUTEX", read_mutex, true },
	{ "ABSHIM_RWLOCK", read_rwlock, true },
	{ "ABSHIM_SPINLOCK", read_spinlock, true },
	{ "ABSHIM_SEM", read_sem, true },
	{ "ABSHIM_FUTEX", read_futex, true },
	{ "ABSHIM_PAUSE", read_pause, true },
	{ "ABSHIM_ATOMICS", read_atomics, true },
	{ "ABSHIM_ALLOC", read_alloc, true },
	{ "ABSHIM_STATS", read_stats, true },
	{ "ABSHIM_STACKS", read_stacks, true },
	{ "ABSHIM_REPORT", read_report, true },
	{ "ABSHIM_DIR", read_directory, true },
	{ "ABSHIM_MATCH", read_match, true },
	{ "ABSHIM_RUN_PID", read_run_pid, false },
};

#define VARIABLES_TEXT                                                                             \
	"ABSHIM_MUTEX, ABSHIM_RWLOCK, ABSHIM_SPINLOCK, ABSHIM_SEM, ABSHIM_FUTEX, ABSHIM_PAUSE, "   \
	"ABSHIM_ATOMICS, ABSHIM_ALLOC, ABSHIM_STATS, ABSHIM_STACKS, ABSHIM_REPORT, ABSHIM_DIR, "   \
	"ABSHIM_MATCH"

/* The value when the environment string sets this name, else NULL. */
static const char *value_of(const char *string, const char *name)
{
	size_t length = strlen(name);
	return strncmp(string, name, length) == 0 && string[length] == '=' ? string + length + 1
	                                                                   : NULL;
}

static const char *look_up(char *const *environment, const char *name)
{
	for (; *environment != NULL; environment++) {
		const char *value = value_of(*environment, name);
		if (value != NULL)
			return value;
	}
	return NULL;
}

static void read_variable(const char *string)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = value_of(string, variables[i].name);
		if (value == NULL)
			continue;
		variables[i].read(value);
		if (variables[i].in_text)
			add_text(variables[i].name, value);
		return;
	}
	settings_refuse((const char *const[]){
	        string, ": unknown variable; known are " VARIABLES_TEXT, NULL });
}

void settings_read(char *const *environment, const char *executable)
{
	const char *name = strrchr(executable, '/');
	const char *match = look_up(environment, "ABSHIM_MATCH");
	const char *spins = look_up(environment, "LIBPTHREAD_SPINLOOPS");
	const char *yields = look_up(environment, "LIBPTHREAD_YIELDLOOPS");
	const char *tunables = look_up(environment, "GLIBC_TUNABLES");

	settings.stats = STATS_ON;
	choice_default(&settings.mutex, FOR_MUTEX);
	choice_default(&settings.rwlock, FOR_RWLOCK);
	choice_default(&settings.spinlock, FOR_SPINLOCK);
	choice_default(&settings.sem, FOR_SEM);
	choice_default(&settings.futex, FOR_FUTEX);
	/* A malformed one is refused below. */
	settings.matches = match == NULL || !glob_is_valid(match) ||
	                   glob_matches(match, name != NULL ? name + 1 : executable);
	if (!settings.matches)
		return;
	read_loops(spins, yields, look_up(environment, "ABSHIM_MUTEX") == NULL);
	for (char *const *string = environment; *string != NULL; string++)
		if (strncmp(*string, "ABSHIM_", 7) == 0)
			read_variable(*string);
	check_pause(environment);
	check_atomics(environment);
	if (settings.stack_depth != 0 && settings.stats == STATS_OFF)
		refuse("ABSHIM_STACKS", look_up(environment, "ABSHIM_STACKS"),
		        "stacks are taken of what statistics see: ABSHIM_STATS must be on, hold or "
		        "alloc");
	settings.elision = tunables != NULL && strstr(tunables, "glibc.elision.enable=1") != NULL;
}
