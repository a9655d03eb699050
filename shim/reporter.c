/*
 * Finds the abshim command, gives it the record as standard input, and executes it.
 */
#include "reporter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "origin.h"
#include "probes/record_map.h"
#include "probes/sys.h"
#include "settings.h"
#include "signals.h"
#include "spawn.h"
#include "start.h"

#define PATIENCE_NS     UINT64_C(20000000000)
#define MAX_ENVIRONMENT 2048u
#define MAX_PATH        4096u
#define MAX_DESCRIPTORS 65536u /* how many are closed one by one where close_range is missing */
#define LAST_SIGNAL     64

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Built by the caller, read by the child: the caller's stack may be a small one for signals. */
static struct {
	char command[RECORD_PATH_SIZE + 16];
	char to[MAX_PATH];
	char expanded[MAX_PATH];
	const char *arguments[8];
	char *environment[MAX_ENVIRONMENT + 1];
	bool with_stderr;
} job;

/* The command lies beside the library, or where `make install` and packages put it. */
static bool find_command(void)
{
	static const char *const places[] = { "abshim", "../bin/abshim", "../../bin/abshim" };
	const char *slash = strrchr(record_header->library, '/');
	if (record_header->library[0] != '/')
		return false;
	size_t length = (size_t)(slash + 1 - record_header->library);
	memcpy(job.command, record_header->library, length);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		strcpy(job.command + length, places[i]);
		long result = sys_call3(SYS_faccessat, AT_FDCWD, SYS_ARG(job.command), X_OK);
		if (!sys_failed(result))
			return true;
	}
	return false;
}

/* ABSHIM_REPORT with %p, %e and %% replaced, made absolute. */
static bool find_path(void)
{
	const char *slash = strrchr(record_header->executable, '/');
	char digits[24], *end = job.expanded;
	for (const char *c = settings.report_path; *c != '\0'; c++) {
		char one[2] = { *c, '\0' };
		const char *text = one;
		if (*c == '%') {
			c++;
			record_decimal(digits, (uint64_t)record_header->pid);
			if (*c == 'p')
				text = digits;
			else if (*c == 'e')
				text = slash != NULL ? slash + 1 : record_header->executable;
		}
		size_t length = strlen(text);
		if (end + length >= job.expanded + sizeof(job.expanded))
			return false;
		memcpy(end, text, length + 1);
		end += length;
	}
	return start_absolute(job.to, sizeof(job.to), job.expanded);
}

static void list_arguments(void)
{
	const char **argument = job.arguments;
	*argument++ = job.command;
	*argument++ = "report";
	*argument++ = "--at-exit";
	if (settings.report == REPORT_PATH) {
		*argument++ = "--to";
		*argument++ = job.to;
	}
	*argument++ = "-";
	*argument = NULL;
}

/* Whether the kernel can read the 8 bytes around the address. All signals are blocked, so blocking
 * whatever stands there changes nothing. */
static bool is_readable(const void *address)
{
	uintptr_t word = (uintptr_t)address & ~(uintptr_t)7;
	return !sys_failed(
	        sys_call6(SYS_rt_sigprocmask, SIG_BLOCK, (long)word, 0, sizeof(uint64_t), 0, 0));
}

static bool begins_with(const char *string, const char *prefix)
{
	for (; *prefix != '\0'; string++, prefix++) {
		if (((uintptr_t)string & 7) == 0 && !is_readable(string))
			return false;
		if (*string != *prefix)
			return false;
	}
	return true;
}

/* The target's environment as it is now, whatever the target has done to it, without what would
 * load the shim again. */
static void list_environment(void)
{
	static const char *const left_out[] = { "LD_PRELOAD=", "LD_AUDIT=", "ABSHIM_",
		"LIBPTHREAD_" };
	size_t count = 0;
	for (char **string = environ; string != NULL && count < MAX_ENVIRONMENT; string++) {
		if (!is_readable(string) || *string == NULL)
			break;
		bool keep = is_readable(*string);
		for (size_t i = 0; keep && i < sizeof(left_out) / sizeof(*left_out); i++)
			keep = !begins_with(*string, left_out[i]);
		if (keep)
			job.environment[count++] = *string;
	}
	job.environment[count] = NULL;
}

/* Whether the file is this very record: the path may mean another one by now. */
static bool is_our_record(int fd)
{
	struct {
		int32_t pid, parent_pid;
		uint64_t start_ticks, start_ns;
	} there;
	_Static_assert(sizeof(there) == offsetof(struct record_header, start_real_ns) -
	                                        offsetof(struct record_header, pid),
	        "the fields follow each other");
	long result = sys_call6(SYS_pread64, fd, SYS_ARG(&there), sizeof(there),
	        offsetof(struct record_header, pid), 0, 0);
	return result == (long)sizeof(there) && there.pid == record_header->pid &&
	       there.start_ns == record_header->start_ns;
}

static bool copy_out(int fd, uint64_t offset, uint64_t size)
{
	while (size > 0) {
		long written =
		        sys_call6(SYS_pwrite64, fd, SYS_ARG((const char *)record_header + offset),
		                (long)size, (long)offset, 0, 0);
		if (sys_failed(written) || written == 0)
			return false;
		offset += (uint64_t)written;
		size -= (uint64_t)written;
	}
	return true;
}

/* Copies what a reader looks at; the rest of the mapping may have no memory behind it. */
static bool copy_record(int fd)
{
	bool copied = !sys_failed(sys_call3(SYS_ftruncate, fd, (long)record_header->file_size, 0));
	copied = copied && copy_out(fd, 0, sizeof(struct record_header));
	for (int id = 0; id < REGION_COUNT && copied; id++) {
		const struct record_region *region = &record_header->regions[id];
		uint32_t used = id == REGION_CONTROL ? 1 : region->used;
		if (id != REGION_LOCK_INDEX && id != REGION_SITE_INDEX &&
		        id != REGION_BLAME_INDEX && id != REGION_CONDS)
			copied = copy_out(fd, region->offset, (uint64_t)used * region->entry_size);
	}
	return copied;
}

/* Opens the record, or a copy where the file is out of reach (another user by now, or no file). */
static bool open_record(void)
{
	int fd = record_header->path[0] != '\0' ? sys_open(record_header->path, O_RDONLY, 0)
	                                        : -ENOENT;
	if (fd == 0 && is_our_record(fd))
		return true;
	if (fd >= 0)
		sys_close(fd);
	fd = (int)sys_call3(SYS_memfd_create, SYS_ARG("abshim"), 0, 0);
	return fd == 0 && copy_record(fd);
}

static void close_from(unsigned first)
{
	if (!sys_failed(sys_call3(SYS_close_range, first, ~0u, 0)))
		return;
	struct rlimit limit = { .rlim_cur = MAX_DESCRIPTORS };
	sys_call6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, SYS_ARG(&limit), 0, 0);
	for (unsigned fd = first; fd < limit.rlim_cur && fd < MAX_DESCRIPTORS; fd++)
		sys_close((int)fd);
}

/* 0: the record; 1: nowhere; 2: the target's stderr or nowhere. The target may have used up its
 * descriptors, so all of them go first; the kernel then hands out the lowest. */
static bool arrange_descriptors(void)
{
	close_from(3);
	sys_close(0);
	sys_close(1);
	if (!job.with_stderr)
		sys_close(2);
	if (!open_record())
		return false;
	if (sys_open("/dev/null", O_RDWR, 0) < 0 &&
	        sys_failed(sys_call3(SYS_memfd_create, SYS_ARG("null"), 0, 0)))
		return false;
	if (job.with_stderr)
		return !sys_failed(sys_call3(SYS_fcntl, 2, F_SETFD, 0));
	return sys_call3(SYS_dup, 1, 0, 0) == 2;
}

/* Limits that the target set for itself do not concern the command. */
static void lift_limits(void)
{
	static const int limits[] = { RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE,
		RLIMIT_NOFILE };
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct rlimit limit;
		if (sys_failed(sys_call6(SYS_prlimit64, 0, limits[i], 0, SYS_ARG(&limit), 0, 0)))
			continue;
		limit.rlim_cur = limit.rlim_max;
		sys_call6(SYS_prlimit64, 0, limits[i], SYS_ARG(&limit), 0, 0, 0);
	}
}

static void reset_signals(void)
{
	struct signal_action action = { 0 };
	for (int number = 1; number <= LAST_SIGNAL; number++)
		signals_action(number, &action, NULL);
	/* In the background of a terminal, print all the same. */
	action.handler = (uintptr_t)SIG_IGN;
	signals_action(SIGTTOU, &action, NULL);
	signals_set_mask(0);
}

/* Runs in the child. */
static int become_command(void *unused)
{
	static char *const no_environment[] = { NULL };
	(void)unused;
	lift_limits();
	if (!arrange_descriptors())
		return 126;
	reset_signals();
	sys_call3(
	        SYS_execve, SYS_ARG(job.command), SYS_ARG(job.arguments), SYS_ARG(job.environment));
	/* The environment may hold a string that cannot be read, or be too long. */
	sys_call3(
	        SYS_execve, SYS_ARG(job.command), SYS_ARG(job.arguments), SYS_ARG(no_environment));
	return 126;
}

bool reporter_run(bool with_stderr)
{
	if (!origin_root_same() || !find_command())
		return false;
	if (settings.report == REPORT_PATH && !find_path())
		return false;
	job.with_stderr = with_stderr;
	list_arguments();
	list_environment();
	return spawn_hidden(become_command, NULL, PATIENCE_NS) == 0;
}
