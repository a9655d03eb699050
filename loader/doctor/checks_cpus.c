/*
 * Whether the CPUs keep one speed and are all there for the target.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host.h"
#include "doctor.h"

#define CGROUPS "/sys/fs/cgroup"

void check_governor(struct doctor *doctor)
{
	char path[128], governor[HOST_LINE], possible[HOST_LINE], other[HOST_LINE] = "";
	unsigned known = 0, wrong = 0;
	host_line(doctor->root, HOST_CPUS "/possible", possible);
	unsigned count = host_list_count(possible);
	for (unsigned cpu = 0; cpu < count; cpu++) {
		snprintf(path, sizeof(path), HOST_CPUS "/cpu%u/cpufreq/scaling_governor", cpu);
		if (!host_line(doctor->root, path, governor))
			continue;
		known++;
		if (strcmp(governor, "performance") == 0)
			continue;
		wrong++;
		memcpy(other, governor, sizeof(other));
	}
	if (known == 0) {
		doctor_say(doctor, "governor", FINDING_UNKNOWN,
		        "the kernel does not govern the CPUs' clock, as in virtual machines");
	} else if (wrong == 0) {
		doctor_say(doctor, "governor", FINDING_OK, "performance on %u CPUs", known);
	} else {
		doctor_say(doctor, "governor", FINDING_WARN,
		        "%.100s on %u of %u CPUs: their clock changes with the load", other, wrong,
		        known);
		doctor_advise(doctor, HOST_GOVERNOR_REMEDY);
	}
}

void check_turbo(struct doctor *doctor)
{
	char line[HOST_LINE];
	const char *turbo = host_turbo(doctor->root);
	if (*turbo == '\0') {
		doctor_say(doctor, "turbo", FINDING_UNKNOWN, "the kernel does not say");
		return;
	}
	if (strcmp(turbo, "off") == 0) {
		doctor_say(doctor, "turbo", FINDING_OK, "off");
		return;
	}
	doctor_say(doctor, "turbo", FINDING_WARN,
	        "on: the clock depends on heat and on what other cores do");
	if (host_line(doctor->root, HOST_TURBO_INTEL, line))
		doctor_advise(doctor, "echo 1 > " HOST_TURBO_INTEL);
	else
		doctor_advise(doctor, "echo 0 > " HOST_TURBO_OTHER);
}

void check_smt(struct doctor *doctor)
{
	char line[HOST_LINE];
	if (!host_line(doctor->root, HOST_CPUS "/smt/active", line)) {
		doctor_say(doctor, "smt", FINDING_UNKNOWN, "the kernel does not say");
	} else if (strcmp(line, "1") != 0) {
		doctor_say(doctor, "smt", FINDING_OK,
		        "off: no CPU that the kernel knows of shares its core");
	} else {
		doctor_say(doctor, "smt", FINDING_WARN,
		        "on: two CPUs share a core, so that who spins slows its sibling down");
		doctor_advise(doctor, "echo off > " HOST_CPUS "/smt/control");
	}
}

void check_affinity(struct doctor *doctor)
{
	char allowed[HOST_LINE], online[HOST_LINE];
	host_field(doctor->root, "/proc/self/status", "Cpus_allowed_list", allowed);
	host_line(doctor->root, HOST_CPUS "/online", online);
	unsigned may = host_list_count(allowed), are = host_list_count(online);
	if (may == 0 || are == 0) {
		doctor_say(doctor, "affinity", FINDING_UNKNOWN, "the kernel does not say");
	} else if (are == 1 || may == 1) {
		doctor_say(doctor, "affinity", FINDING_WARN,
		        "one CPU of %u: threads that wait never poll, whatever the strategy", are);
		if (are == 1)
			doctor_advise(doctor, "give the machine more CPUs");
		else
			doctor_advise(doctor, "taskset -a -p -c %.200s $$", online);
	} else if (may < are) {
		doctor_say(doctor, "affinity", FINDING_WARN, "%u of %u CPUs (%.200s)", may, are,
		        allowed);
		doctor_advise(doctor, "taskset -a -p -c %.200s $$", online);
	} else {
		doctor_say(doctor, "affinity", FINDING_OK, "all %u CPUs", are);
	}
}

struct quota {
	double cpus; /* the least of all groups above the process */
	char file[PATH_MAX];
};

/* The quota of one group: in version 2 in one file, in version 1 in two. */
static void take_group(
        const struct doctor *doctor, const char *folder, bool second, struct quota *quota)
{
	char path[PATH_MAX + 32], line[HOST_LINE];
	double microseconds = 0, period = 100000;
	snprintf(path, sizeof(path), "%s/%s", folder, second ? "cpu.max" : "cpu.cfs_quota_us");
	if (!host_line(doctor->root, path, line) ||
	        sscanf(line, "%lf %lf", &microseconds, &period) < 1 || microseconds <= 0)
		return;
	char file[PATH_MAX];
	snprintf(file, sizeof(file), "%.*s", (int)sizeof(file) - 1, path);
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
	if (!second && host_line(doctor->root, path, line))
		period = strtod(line, NULL);
	if (!(period > 0) || (*quota->file != '\0' && quota->cpus <= microseconds / period))
		return;
	quota->cpus = microseconds / period;
	memcpy(quota->file, file, sizeof(file));
}

/* The group of that name and all above it. A container may not see its own, but then sees it as the
 * topmost. */
static void take_groups(
        const struct doctor *doctor, const char *name, bool second, struct quota *quota)
{
	const char *top = second ? CGROUPS : CGROUPS "/cpu";
	char folder[PATH_MAX];
	if (snprintf(folder, sizeof(folder), "%s%s", top, name) >= (int)sizeof(folder))
		return;
	for (size_t length = strlen(folder); length >= strlen(top); length--) {
		if (folder[length] != '\0' && folder[length] != '/')
			continue;
		folder[length] = '\0';
		take_group(doctor, folder, second, quota);
	}
}

/* "4:cpu,cpuacct:/name" of version 1, "0::/name" of version 2. */
static void take_line(const struct doctor *doctor, char *line, struct quota *quota)
{
	char *controllers = strchr(line, ':');
	char *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
	if (name == NULL)
		return;
	*controllers++ = *name++ = '\0';
	name[strcspn(name, "\n")] = '\0';
	bool second = *controllers == '\0', first = false;
	for (char *at = strtok(controllers, ","); at != NULL; at = strtok(NULL, ","))
		first = first || strcmp(at, "cpu") == 0;
	if (first || second)
		take_groups(doctor, name, second, quota);
}

void check_quota(struct doctor *doctor)
{
	char *path, *line = NULL;
	size_t room = 0;
	struct quota quota = { .cpus = 0 };
	if (asprintf(&path, "%s/proc/self/cgroup", doctor->root) < 0)
		return;
	FILE *in = fopen(path, "re");
	free(path);
	while (in != NULL && getline(&line, &room, in) > 0)
		take_line(doctor, line, &quota);
	free(line);
	if (in == NULL) {
		doctor_say(doctor, "quota", FINDING_UNKNOWN, "the kernel does not say");
		return;
	}
	fclose(in);
	if (*quota.file == '\0') {
		doctor_say(doctor, "quota", FINDING_OK, "no control group limits the CPUs' time");
		return;
	}
	bool second = strstr(quota.file, "/cpu.max") != NULL;
	doctor_say(doctor, "quota", FINDING_WARN,
	        "%.3g CPUs by %.300s: all threads stop when that is used up", quota.cpus,
	        quota.file);
	doctor_advise(doctor, "echo %s > %.300s; or start the container without --cpus",
	        second ? "max" : "-1", quota.file);
}
