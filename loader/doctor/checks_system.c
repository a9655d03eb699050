/*
 * What else on the machine moves figures, or keeps them from being read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ab/machine.h"
#include "../host.h"
#include "doctor.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

void check_load(struct doctor *doctor)
{
	char line[HOST_LINE], online[HOST_LINE];
	host_line(doctor->root, HOST_CPUS "/online", online);
	unsigned cpus = host_list_count(online);
	double load;
	if (!host_line(doctor->root, "/proc/loadavg", line) || sscanf(line, "%lf", &load) != 1 ||
	        cpus == 0) {
		doctor_say(doctor, "load", FINDING_UNKNOWN, "the kernel does not say");
		return;
	}
	bool much = load > MACHINE_MUCH_LOAD * cpus;
	doctor_say(doctor, "load", much ? FINDING_WARN : FINDING_OK,
	        "%.2f threads at work on %u CPUs over the last minute", load, cpus);
	if (much)
		doctor_advise(doctor, "end what else runs (top -o %%CPU shows it), or wait for it");
}

void check_huge_pages(struct doctor *doctor)
{
	char word[HOST_LINE];
	host_huge_pages(doctor->root, word);
	if (*word == '\0') {
		doctor_say(doctor, "huge_pages", FINDING_UNKNOWN,
		        "the kernel has no transparent huge pages");
	} else if (strcmp(word, "always") != 0) {
		doctor_say(doctor, "huge_pages", FINDING_OK, "%.100s", word);
	} else {
		doctor_say(doctor, "huge_pages", FINDING_WARN,
		        "always: memory is moved while the target runs, from run to run at other "
		        "times");
		doctor_advise(doctor, "echo madvise > " HOST_HUGE_PAGES);
	}
}

void check_swap(struct doctor *doctor)
{
	char total[HOST_LINE], rest[HOST_LINE];
	if (!host_field(doctor->root, "/proc/meminfo", "SwapTotal", total)) {
		doctor_say(doctor, "swap", FINDING_UNKNOWN, "the kernel does not say");
		return;
	}
	host_field(doctor->root, "/proc/meminfo", "SwapFree", rest);
	double all = strtod(total, NULL) / 1024, used = all - strtod(rest, NULL) / 1024;
	if (!(all > 0)) {
		doctor_say(doctor, "swap", FINDING_OK, "none");
		return;
	}
	doctor_say(doctor, "swap", FINDING_WARN,
	        "%.0f MiB, %.0f of them in use: a run may wait for its memory", all, used);
	doctor_advise(doctor, "swapoff -a");
}

void check_perf(struct doctor *doctor)
{
	char line[HOST_LINE];
	if (!host_line(doctor->root, PARANOID, line)) {
		doctor_say(doctor, "perf", FINDING_UNKNOWN, "the kernel has no performance events");
		return;
	}
	/* From kernel.rst: above 1 not the kernel's part; above 2, on Debian and Ubuntu, nothing.
	 */
	long paranoid = strtol(line, NULL, 10);
	if (doctor->privileged || paranoid <= 1) {
		doctor_say(doctor, "perf", FINDING_OK, "perf_event_paranoid is %ld%s", paranoid,
		        doctor->privileged ? ", which does not hold root back" : "");
		return;
	}
	doctor_say(doctor, "perf", FINDING_WARN, "perf_event_paranoid is %ld: this user sees %s",
	        paranoid, paranoid > 2 ? "no events" : "nothing of the kernel");
	doctor_advise(doctor, "sysctl kernel.perf_event_paranoid=1");
}

/* Core files are no longer than the soft limit; a program that takes them ignores it. */
void check_core_dumps(struct doctor *doctor)
{
	char pattern[HOST_LINE], limit[HOST_LINE];
	if (!host_line(doctor->root, "/proc/sys/kernel/core_pattern", pattern) ||
	        !host_field(doctor->root, "/proc/self/limits", "Max core file size", limit)) {
		doctor_say(doctor, "core_dumps", FINDING_UNKNOWN, "the kernel does not say");
	} else if (*pattern == '|' && strstr(pattern, "apport") != NULL) {
		doctor_say(doctor, "core_dumps", FINDING_WARN,
		        "apport takes them, and drops those of programs from no package");
		doctor_advise(doctor, "sysctl kernel.core_pattern=core.%%e.%%p");
	} else if (*pattern == '|') {
		doctor_say(doctor, "core_dumps", FINDING_OK, "taken by %.200s", pattern + 1);
	} else if (limit[0] == '0') {
		doctor_say(doctor, "core_dumps", FINDING_WARN,
		        "none is written (the limit is 0): a crash of the target leaves nothing to "
		        "look at but its record");
		doctor_advise(doctor, "ulimit -c unlimited");
	} else {
		doctor_say(doctor, "core_dumps", FINDING_OK, "written to %.200s", pattern);
	}
}
