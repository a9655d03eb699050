/*
 * Turns enumerations and glibc's mutex kinds into words.
 */
#include "words.h"

#include "probes/counters.h"

#include <stdio.h>
#include <string.h>

/* The __kind word of glibc's pthread_mutex_t (sysdeps/nptl/pthreadP.h). */
#define KIND_TYPE_MASK  127u
#define KIND_SHARED_BIT 128u
#define KIND_ELISION    (256u | 512u)

const char *words_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

const char *words_end_kind(uint32_t kind)
{
	static const char *const names[] = {
		[END_NONE] = "none",
		[END_EXIT] = "exit",
		[END_QUICK_EXIT] = "quick_exit",
		[END__EXIT] = "_exit",
		[END_ABORT] = "abort",
		[END_DAEMON] = "daemon",
		[END_EXEC] = "exec",
	};
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

const char *words_ending(const struct process_row *process, char buffer[WORDS_SIZE])
{
	const struct record_header *header = &process->record->header;
	if (process->signal != 0)
		snprintf(buffer, WORDS_SIZE, "killed by signal %d (%s)", process->signal,
		        strsignal(process->signal));
	else if (process->ending == MODEL_RUNNING)
		strcpy(buffer, "running");
	else if (process->ending == MODEL_UNSEEN && process->exit_status >= 0)
		snprintf(buffer, WORDS_SIZE, "ended unseen with status %d", process->exit_status);
	else if (process->ending == MODEL_UNSEEN)
		strcpy(buffer, "ended unseen");
	else if (process->ending == MODEL_REPLACED || header->end_kind == END_EXEC)
		strcpy(buffer, "replaced by exec");
	else if (header->end_kind == END_DAEMON)
		strcpy(buffer, "parent left behind by daemon()");
	else if (header->end_kind == END_ABORT || process->exit_status < 0)
		snprintf(buffer, WORDS_SIZE, "%s()", words_end_kind(header->end_kind));
	else
		snprintf(buffer, WORDS_SIZE, "%s(%d)", words_end_kind(header->end_kind),
		        process->exit_status);
	return buffer;
}

const char *words_mutex_type(uint32_t kind)
{
	static const char *const names[] = { "normal", "recursive", "errorcheck", "adaptive" };
	uint32_t type = kind & KIND_TYPE_MASK & ~KIND_ELISION;
	return type < sizeof(names) / sizeof(*names) ? names[type] : "other";
}

bool words_mutex_is_shared(uint32_t kind)
{
	return (kind & KIND_SHARED_BIT) != 0;
}

const char *words_machine(uint32_t machine)
{
	return machine == 62 ? "x86-64" : machine == 183 ? "AArch64" : NULL;
}

const char *words_strategy(const struct record_control *control, char buffer[WORDS_SIZE])
{
	const char *name = control->mutex.name[0] != '\0' ? control->mutex.name : "unknown";
	if (control->mutex_pre_spins != 0)
		snprintf(buffer, WORDS_SIZE, "spin:%u then %s", control->mutex_pre_spins, name);
	else
		snprintf(buffer, WORDS_SIZE, "%s", name);
	return buffer;
}

const char *words_pause(uint32_t pause)
{
	static const char *const names[] = {
#define PAUSE(name, machine, help) #name,
#include "shim/pauses.def"
#undef PAUSE
	};
	return pause < sizeof(names) / sizeof(*names) ? names[pause] : "unknown";
}

const char *words_atomics(uint32_t choice)
{
	static const char *const names[] = {
		[ATOMICS_NATIVE] = "native",
		[ATOMICS_LSE] = "lse",
		[ATOMICS_LLSC] = "llsc",
	};
	return choice < sizeof(names) / sizeof(*names) ? names[choice] : "unknown";
}

static void add_setting(
        char buffer[WORDS_SETTINGS_SIZE], const char *key, const char *value, const char *standard)
{
	size_t length = strlen(buffer);
	if (value[0] == '\0' || strcmp(value, standard) == 0)
		return;
	snprintf(buffer + length, WORDS_SETTINGS_SIZE - length, "%s%s=%s", length > 0 ? " " : "",
	        key, value);
}

void words_settings(const struct record_control *control, char buffer[WORDS_SETTINGS_SIZE])
{
	char depth[24];
	snprintf(depth, sizeof(depth), "%u", control->stack_depth);
	buffer[0] = '\0';
	add_setting(buffer, "rwlock", control->rwlock.name, "glibc");
	add_setting(buffer, "spinlock", control->spinlock.name, "glibc");
	add_setting(buffer, "sem", control->sem.name, "glibc");
	add_setting(buffer, "futex", control->futex.name, "kernel");
	add_setting(buffer, "pause", words_pause(control->pause), "default");
	add_setting(buffer, "atomics", words_atomics(control->atomics), "native");
	add_setting(buffer, "alloc", words_alloc(control->alloc), "libc");
	add_setting(buffer, "stats", words_stats(control->stats), "on");
	add_setting(buffer, "stacks", depth, "0");
}

bool words_setting(const struct record_header *header, const char *name, char *buffer, size_t size)
{
	size_t name_length = strlen(name);
	for (const char *line = header->settings; *line != '\0';) {
		size_t length = strcspn(line, "\n");
		if (length > name_length && strncmp(line, name, name_length) == 0 &&
		        line[name_length] == '=') {
			snprintf(buffer, size, "%.*s", (int)(length - name_length - 1),
			        line + name_length + 1);
			return true;
		}
		line += length + (line[length] == '\n');
	}
	return false;
}

const char *words_family(uint32_t family)
{
	return family < FAMILY_COUNT ? counter_families[family].name : "unknown";
}

const char *words_stats(uint32_t stats)
{
	static const char *const names[] = {
		[STATS_OFF] = "off",
		[STATS_ON] = "on",
		[STATS_HOLD] = "hold",
		[STATS_ALLOC] = "alloc",
	};
	return stats < sizeof(names) / sizeof(*names) ? names[stats] : "unknown";
}

const char *words_alloc(uint32_t choice)
{
	static const char *const names[] = {
		[ALLOC_LIBC] = "libc",
		[ALLOC_SHARED] = "shared",
		[ALLOC_TLAB] = "tlab",
	};
	return choice < sizeof(names) / sizeof(*names) ? names[choice] : "unknown";
}
