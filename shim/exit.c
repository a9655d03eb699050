/*
 * Sees the end of the process coming and closes its record.
 */
#include "exit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "origin.h"
#include "probes/clock.h"
#include "probes/modules.h"
#include "probes/record_map.h"
#include "probes/sys.h"
#include "probes/threads.h"
#include "real.h"
#include "reporter.h"
#include "settings.h"
#include "signals.h"
#include "stacks.h"
#include "start.h"
#include "summary.h"
#include "totals.h"

#define OTHER_PATIENCE_MS 30000 /* more than the reporter takes */

/* Process ids: a forked child inherits the words but has an end of its own. */
static int claimed_by, finished_by;

static bool unlinked;           /* exec: the empty record's name is gone */
static bool stderr_vouched_for; /* when the seccomp filter was installed */

static void set_flag(enum record_flag flag)
{
	__atomic_fetch_or(&record_header->flags, flag, __ATOMIC_RELAXED);
}

bool exit_is_ours(void)
{
	return start_has_record() && record_header->pid == sys_getpid();
}

static void close_record(enum record_end kind, int status, enum record_state state)
{
	/* Without a vdso the clock is a system call, which a filter may forbid. */
	if (!record_filtered() || getauxval(AT_SYSINFO_EHDR) != 0)
		record_header->end_ns = clock_monotonic_ns();
	record_header->end_kind = kind;
	record_header->exit_status = status;
	__atomic_store_n(&record_header->state, state, __ATOMIC_RELEASE); /* pairs with readers */
}

/* What the switch of atomics did is worth a report where there is nothing to count too; a forked
 * child has nothing to say of that which its parent has not. */
static bool has_anything(void)
{
	return totals_any() ||
	       (settings.atomics != ATOMICS_NATIVE && (record_header->flags & RECORD_FORKED) == 0);
}

/* A record of nothing says only that the shim was there, which `abshim run` wants to know of its
 * own child. */
static bool is_kept(void)
{
	return has_anything() || settings.run_pid == (int)sys_call3(SYS_getppid, 0, 0, 0);
}

static void remove_record(void)
{
	if (origin_root_same())
		record_unlink();
}

static void print_report(void)
{
	bool with_stderr = origin_stderr_same();
	if (settings.report == REPORT_STDERR && !with_stderr)
		return;
	if (reporter_run(with_stderr)) {
		set_flag(RECORD_REPORTED);
		return;
	}
	if (!with_stderr)
		return;
	if (settings.report == REPORT_PATH)
		summary_write_place();
	else if (summary_write())
		set_flag(RECORD_SUMMARISED);
}

static void end_process(enum record_end kind, int status)
{
	record_thread_names();
	close_record(kind, status, RECORD_ENDED);
	if (!is_kept())
		remove_record();
	else if (has_anything() && settings.stats != STATS_OFF && settings.report != REPORT_NONE)
		print_report();
}

/* Whose process this is cannot be asked any more, nor can the signals be blocked. */
static void end_filtered(enum record_end kind, int status)
{
	close_record(kind, status, RECORD_ENDED);
	if (stderr_vouched_for && has_anything() && settings.stats != STATS_OFF &&
	        settings.report != REPORT_NONE && summary_write_blindly())
		set_flag(RECORD_SUMMARISED);
}

/* Another thread has come first: the process must not end before its report is out. */
static void wait_for_other(int pid)
{
	struct timespec pause = { 0, 1000000 };
	for (int i = 0; i < OTHER_PATIENCE_MS; i++) {
		/* Pairs with the release in exit_report. */
		if (__atomic_load_n(&finished_by, __ATOMIC_ACQUIRE) == pid)
			return;
		sys_call3(SYS_nanosleep, SYS_ARG(&pause), 0, 0);
	}
}

void exit_report(enum record_end kind, int status)
{
	if (!start_has_record())
		return;
	if (record_filtered()) {
		end_filtered(kind, status);
		return;
	}
	int pid = sys_getpid();
	if (record_header->pid != pid)
		return;
	uint64_t mask = signals_set_mask(SIGNALS_ALL);
	if (__atomic_exchange_n(&claimed_by, pid, __ATOMIC_ACQ_REL) != pid) {
		end_process(kind, status);
		__atomic_store_n(&finished_by, pid, __ATOMIC_RELEASE);
	} else {
		wait_for_other(pid);
	}
	signals_set_mask(mask);
}

/* The program may ask for its own single thread only: others hold on to their slots. */
static bool is_single(void)
{
	return __atomic_load_n(&record_header->regions[REGION_THREADS].used, __ATOMIC_RELAXED) <= 1;
}

void exit_before_exec(void)
{
	if (!start_has_record() || record_filtered() || !exit_is_ours())
		return;
	record_thread_names();
	close_record(END_EXEC, -1, RECORD_EXECED);
	if (is_single() && !is_kept()) {
		remove_record();
		unlinked = true;
	}
}

void exit_after_failed_exec(void)
{
	if (!start_has_record() || record_filtered() || !exit_is_ours())
		return;
	if (unlinked) {
		unlinked = false;
		start_renew();
		return;
	}
	record_header->end_ns = 0;
	record_header->end_kind = END_NONE;
	__atomic_store_n(&record_header->state, RECORD_RUNNING, __ATOMIC_RELEASE); /* as above */
}

bool exit_before_filter(void)
{
	if (!start_has_record() || record_filtered() || !exit_is_ours())
		return true;
	record_modules_refresh();
	for (int id = 0; id < REGION_COUNT; id++)
		record_reserve(id, record_header->regions[id].capacity - 1);
	stderr_vouched_for = origin_stderr_same() && origin_stderr_is_harmless();
	stacks_hold_off();
	set_flag(RECORD_SECCOMP);
	return false;
}

void exit_without_filter(void)
{
	__atomic_fetch_and(&record_header->flags, ~(uint32_t)RECORD_SECCOMP, __ATOMIC_RELAXED);
	stacks_allow();
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	exit_report(END_EXIT, status);
}

static void at_quick_exit_status(void *unused, int status)
{
	(void)unused;
	exit_report(END_QUICK_EXIT, status);
}

void exit_watch(void)
{
	origin_remember();
	/* The first one registered is the last one called. */
	real_functions.on_exit(at_exit, NULL);
	/* Handlers get their argument and the exit status, as those of __cxa_atexit. */
	real_functions.__cxa_at_quick_exit((void (*)(void *))(uintptr_t)at_quick_exit_status, NULL);
}
