/*
 * abshim doctor on the files of machines that are not here, and on clocks that jump.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "loader/doctor/doctor.h"
#include "loader/host.h"

#define MS        1000000u
#define CPU_FILES "sys/devices/system/cpu/"

static char root[] = "/tmp/check_loader.XXXXXX";
static struct doctor doctor;

static void start(void)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	doctor = (struct doctor){ .root = root };
}

static void stop(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

/* Makes a file of the machine, with the folders above it. */
static void put(const char *path, const char *text)
{
	char whole[512];
	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *at = strchr(whole + sizeof(root), '/'); at != NULL; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(whole, 0700);
		*at = '/';
	}
	FILE *out = fopen(whole, "we");
	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	fclose(out);
}

/* The finding that a check adds. */
static const struct finding *after(void (*check)(struct doctor *))
{
	size_t count = doctor.count;
	check(&doctor);
	ck_assert_uint_eq(doctor.count, count + 1);
	return &doctor.findings[count];
}

static void expect(const struct finding *finding, const char *name, enum finding_state state,
        const char *found, const char *remedy)
{
	ck_assert_str_eq(finding->name, name);
	ck_assert_int_eq(finding->state, state);
	ck_assert_msg(strstr(finding->found, found) != NULL, "%s: %s", found, finding->found);
	if (*remedy == '\0')
		ck_assert_str_eq(finding->remedy, "");
	else
		ck_assert_msg(
		        strstr(finding->remedy, remedy) != NULL, "%s: %s", remedy, finding->remedy);
}

START_TEST(what_no_file_says_is_unknown)
{
	static void (*const checks[])(struct doctor *) = { check_load, check_governor, check_turbo,
		check_smt, check_affinity, check_quota, check_huge_pages, check_swap, check_perf,
		check_core_dumps };
	static const char *const names[] = { "load", "governor", "turbo", "smt", "affinity",
		"quota", "huge_pages", "swap", "perf", "core_dumps" };
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		expect(after(checks[i]), names[i], FINDING_UNKNOWN, "", "");
}
END_TEST

START_TEST(lists_of_cpus_are_counted)
{
	ck_assert_uint_eq(host_list_count("0"), 1);
	ck_assert_uint_eq(host_list_count("0-3,8,10-11"), 7);
	ck_assert_uint_eq(host_list_count(""), 0);
	ck_assert_uint_eq(host_list_count("3-1"), 0);
}
END_TEST

START_TEST(governors_of_all_cpus_are_read)
{
	put(CPU_FILES "possible", "0-2\n");
	put(CPU_FILES "cpu0/cpufreq/scaling_governor", "performance\n");
	put(CPU_FILES "cpu2/cpufreq/scaling_governor", "performance\n");
	expect(after(check_governor), "governor", FINDING_OK, "performance on 2 CPUs", "");
	put(CPU_FILES "cpu2/cpufreq/scaling_governor", "powersave\n");
	expect(after(check_governor), "governor", FINDING_WARN, "powersave on 1 of 2 CPUs",
	        "cpupower frequency-set -g performance");
}
END_TEST

START_TEST(turbo_is_turned_off_where_it_is_on)
{
	put(CPU_FILES "cpufreq/boost", "0\n");
	expect(after(check_turbo), "turbo", FINDING_OK, "off", "");
	put(CPU_FILES "cpufreq/boost", "1\n");
	expect(after(check_turbo), "turbo", FINDING_WARN,
	        "on:", "echo 0 > /sys/devices/system/cpu/cpufreq/boost");
	put(CPU_FILES "intel_pstate/no_turbo", "0\n");
	expect(after(check_turbo), "turbo", FINDING_WARN,
	        "on:", "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
	put(CPU_FILES "intel_pstate/no_turbo", "1\n");
	expect(after(check_turbo), "turbo", FINDING_OK, "off", "");
}
END_TEST

START_TEST(siblings_are_warned_of)
{
	put(CPU_FILES "smt/active", "1\n");
	expect(after(check_smt), "smt", FINDING_WARN, "share a core", "smt/control");
	put(CPU_FILES "smt/active", "0\n");
	expect(after(check_smt), "smt", FINDING_OK, "off", "");
}
END_TEST

START_TEST(cpus_that_may_be_used_are_counted)
{
	put(CPU_FILES "online", "0-7\n");
	put("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
	expect(after(check_affinity), "affinity", FINDING_OK, "all 8 CPUs", "");
	put("proc/self/status", "Cpus_allowed_list:\t2-3\n");
	expect(after(check_affinity), "affinity", FINDING_WARN, "2 of 8 CPUs (2-3)",
	        "taskset -a -p -c 0-7 $$");
	put("proc/self/status", "Cpus_allowed_list:\t5\n");
	expect(after(check_affinity), "affinity", FINDING_WARN, "never poll", "taskset");
	put(CPU_FILES "online", "0\n");
	put("proc/self/status", "Cpus_allowed_list:\t0\n");
	expect(after(check_affinity), "affinity", FINDING_WARN, "never poll", "more CPUs");
}
END_TEST

START_TEST(quotas_of_groups_above_count)
{
	put("proc/self/cgroup", "0::/a.slice/b.service\n");
	put("sys/fs/cgroup/a.slice/b.service/cpu.max", "max 100000\n");
	expect(after(check_quota), "quota", FINDING_OK, "no control group", "");
	put("sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
	expect(after(check_quota), "quota", FINDING_WARN,
	        "1.5 CPUs by /sys/fs/cgroup/a.slice/cpu.max",
	        "echo max > /sys/fs/cgroup/a.slice/cpu.max");
	put("sys/fs/cgroup/a.slice/b.service/cpu.max", "20000 50000\n");
	expect(after(check_quota), "quota", FINDING_WARN, "0.4 CPUs by", "b.service/cpu.max");
}
END_TEST

START_TEST(quotas_of_the_first_version_are_read)
{
	put("proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/y\n");
	put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	expect(after(check_quota), "quota", FINDING_OK, "no control group", "");
	put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"); /* as a container sees its own */
	put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
	expect(after(check_quota), "quota", FINDING_WARN, "4 CPUs by",
	        "echo -1 > /sys/fs/cgroup/cpu/cpu.cfs_quota_us");
}
END_TEST

START_TEST(the_load_is_judged_by_the_cpus)
{
	put(CPU_FILES "online", "0-7\n");
	put("proc/loadavg", "1.90 0.10 0.10 1/100 1\n");
	expect(after(check_load), "load", FINDING_OK, "1.90 threads at work on 8 CPUs", "");
	put("proc/loadavg", "2.10 0.10 0.10 1/100 1\n");
	expect(after(check_load), "load", FINDING_WARN, "2.10", "end what else runs");
}
END_TEST

START_TEST(memory_is_judged)
{
	put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	expect(after(check_huge_pages), "huge_pages", FINDING_OK, "madvise", "");
	put("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
	expect(after(check_huge_pages), "huge_pages", FINDING_WARN, "always",
	        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
	put("proc/meminfo", "MemTotal: 100 kB\nSwapTotal:             0 kB\nSwapFree: 0 kB\n");
	expect(after(check_swap), "swap", FINDING_OK, "none", "");
	put("proc/meminfo", "SwapTotal:       2097152 kB\nSwapFree:        1048576 kB\n");
	expect(after(check_swap), "swap", FINDING_WARN, "2048 MiB, 1024 of them", "swapoff -a");
}
END_TEST

START_TEST(events_are_judged_by_the_user)
{
	put("proc/sys/kernel/perf_event_paranoid", "1\n");
	expect(after(check_perf), "perf", FINDING_OK, "is 1", "");
	put("proc/sys/kernel/perf_event_paranoid", "2\n");
	expect(after(check_perf), "perf", FINDING_WARN, "nothing of the kernel", "sysctl");
	put("proc/sys/kernel/perf_event_paranoid", "4\n");
	expect(after(check_perf), "perf", FINDING_WARN, "no events", "sysctl");
	doctor.privileged = true;
	expect(after(check_perf), "perf", FINDING_OK, "root", "");
}
END_TEST

#define LIMIT "Max core file size        "

START_TEST(core_dumps_need_a_limit_or_a_taker)
{
	put("proc/sys/kernel/core_pattern", "core\n");
	put("proc/self/limits", LIMIT "0                    unlimited            bytes\n");
	expect(after(check_core_dumps), "core_dumps", FINDING_WARN, "none", "ulimit -c unlimited");
	put("proc/self/limits", LIMIT "unlimited            unlimited            bytes\n");
	expect(after(check_core_dumps), "core_dumps", FINDING_OK, "written to core", "");
	put("proc/sys/kernel/core_pattern", "|/usr/lib/systemd/systemd-coredump %P\n");
	expect(after(check_core_dumps), "core_dumps", FINDING_OK, "systemd-coredump", "");
	put("proc/sys/kernel/core_pattern", "|/usr/share/apport/apport -p%p\n");
	expect(after(check_core_dumps), "core_dumps", FINDING_WARN, "apport",
	        "sysctl kernel.core_pattern=core.%e.%p");
}
END_TEST

START_TEST(versions_of_libc_are_told_apart)
{
	judge_libc(&doctor, "2.31");
	judge_libc(&doctor, "2.100");
	judge_libc(&doctor, "3.0");
	judge_libc(&doctor, "2.30");
	judge_libc(&doctor, "unknown");
	for (size_t i = 0; i < 3; i++)
		expect(&doctor.findings[i], "libc", FINDING_OK, "glibc ", "");
	expect(&doctor.findings[3], "libc", FINDING_FAIL, "glibc 2.30", "2.31 or later");
	expect(&doctor.findings[4], "libc", FINDING_UNKNOWN, "unknown", "");
}
END_TEST

START_TEST(atomics_are_those_of_the_machine)
{
	judge_atomics(&doctor, false, false);
	judge_atomics(&doctor, true, true);
	judge_atomics(&doctor, true, false);
	expect(&doctor.findings[0], "atomics", FINDING_OK, "x86-64", "");
	expect(&doctor.findings[1], "atomics", FINDING_OK, "both", "");
	expect(&doctor.findings[2], "atomics", FINDING_WARN, "refused", "ARMv8.1");
}
END_TEST

START_TEST(records_need_room_in_memory)
{
	struct doctor_place place = { "/dev/shm/abshim-0", true, 64 << 20, 16 << 20 };
	judge_place(&doctor, &place);
	expect(&doctor.findings[0], "records", FINDING_OK, "64 MiB free", "");
	place.free_bytes = 1 << 20;
	judge_place(&doctor, &place);
	expect(&doctor.findings[1], "records", FINDING_WARN, "1 MiB free", "--shm-size");
	place.tmpfs = false;
	judge_place(&doctor, &place);
	expect(&doctor.findings[2], "records", FINDING_WARN, "not in memory", "mount -t tmpfs");
}
END_TEST

/* A thread that began at 1000 ms by the clock and 5 ms by its own, of which nothing was lost. */
static struct lost_cpu begun(struct lost_gap *gaps)
{
	struct lost_cpu cpu = { .gaps = gaps };
	lost_cpu_begin(&cpu, 1000 * (uint64_t)MS, 5 * MS);
	return cpu;
}

START_TEST(a_jump_is_lost_when_the_kernel_counts_it)
{
	struct lost_gap gaps[LOST_GAPS];
	struct lost_cpu cpu = begun(gaps);
	/* 10 ms later, all of it run; then 7 ms away, which count as run. */
	lost_cpu_jump(&cpu, 1010 * (uint64_t)MS, 1017 * (uint64_t)MS, 22 * MS);
	ck_assert_uint_eq(cpu.lost_ns, 7 * MS);
	ck_assert_uint_eq(cpu.waited_ns, 0);
	ck_assert_uint_eq(cpu.lost_count, 1);
	ck_assert_uint_eq(cpu.longest_ns, 7 * MS);
	ck_assert_uint_eq(cpu.gap_count, 1);
	ck_assert_uint_eq(gaps[0].start_ns, 1010 * (uint64_t)MS);
	ck_assert_uint_eq(gaps[0].end_ns, 1017 * (uint64_t)MS);
	/* Then others for 4 ms; then 6 ms of which others had 2. */
	lost_cpu_jump(&cpu, 1020 * (uint64_t)MS, 1024 * (uint64_t)MS, 25 * MS);
	ck_assert_uint_eq(cpu.lost_ns, 7 * MS);
	ck_assert_uint_eq(cpu.waited_ns, 4 * MS);
	lost_cpu_jump(&cpu, 1024 * (uint64_t)MS, 1030 * (uint64_t)MS, 29 * MS);
	ck_assert_uint_eq(cpu.lost_ns, 11 * MS);
	ck_assert_uint_eq(cpu.waited_ns, 6 * MS);
	ck_assert_uint_eq(cpu.lost_count, 2);
	ck_assert_uint_eq(cpu.longest_ns, 7 * MS);
}
END_TEST

START_TEST(interrupts_are_not_lost_time)
{
	struct lost_cpu cpu = begun(NULL);
	lost_cpu_jump(&cpu, 1010 * (uint64_t)MS, 1010 * (uint64_t)MS + LOST_LEAST_NS - 1,
	        15 * MS + LOST_LEAST_NS - 1);
	ck_assert_uint_eq(cpu.lost_ns, 0);
	/* Nor is time that the kernel's clocks disagree about. */
	lost_cpu_jump(&cpu, 1020 * (uint64_t)MS, 1021 * (uint64_t)MS, 20 * MS);
	ck_assert_uint_eq(cpu.lost_ns, 0);
	ck_assert_uint_eq(cpu.waited_ns, MS);
}
END_TEST

/* Two CPUs for 100 ms: away from 10 to 30 and from 25 to 45, and one of them from 90 to 110. */
static struct lost_time two_cpus(struct lost_cpu cpus[2], struct lost_gap gaps[3])
{
	memset(cpus, 0, 2 * sizeof(*cpus));
	gaps[0] = (struct lost_gap){ 90 * MS, 110 * MS };
	gaps[1] = (struct lost_gap){ 10 * MS, 30 * MS };
	gaps[2] = (struct lost_gap){ 25 * MS, 45 * MS };
	cpus[0] = (struct lost_cpu){ .end_ns = 110 * MS,
		.lost_ns = 40 * MS,
		.lost_count = 2,
		.longest_ns = 20 * MS,
		.gaps = gaps,
		.gap_count = 2 };
	cpus[1] = (struct lost_cpu){ .cpu = 1,
		.end_ns = 100 * MS,
		.waited_ns = 10 * MS,
		.lost_ns = 20 * MS,
		.lost_count = 1,
		.longest_ns = 20 * MS,
		.gaps = gaps + 2,
		.gap_count = 1 };
	return (struct lost_time){ cpus, 2 };
}

START_TEST(shares_are_of_the_time_there_was)
{
	struct lost_cpu cpus[2];
	struct lost_gap gaps[3];
	struct lost_time lost = two_cpus(cpus, gaps);
	ck_assert_double_eq_tol(lost_time_share(&lost), 60.0 / 200, 1e-9);
	ck_assert_double_eq_tol(lost_time_at_once(&lost), 1 - 45.0 / 100, 1e-9);
	judge_lost(&doctor, &lost);
	ck_assert_uint_eq(doctor.count, 2);
	expect(&doctor.findings[0], "lost_time", FINDING_WARN, "30.0 %", "client.cpu");
	expect(&doctor.findings[1], "at_once", FINDING_WARN, "all 2 CPUs ran at once 55.0 %",
	        "are its own");
}
END_TEST

START_TEST(steady_cpus_are_well)
{
	struct lost_cpu cpus[2];
	struct lost_gap gaps[3];
	struct lost_time lost = two_cpus(cpus, gaps), none = { NULL, 0 };
	for (size_t i = 0; i < 2; i++)
		cpus[i].lost_ns = cpus[i].gap_count = 0;
	judge_lost(&doctor, &lost);
	judge_steal(&doctor, 0.01);
	judge_steal(&doctor, 0.1);
	expect(&doctor.findings[0], "lost_time", FINDING_OK, "0.0 %", "");
	expect(&doctor.findings[1], "at_once", FINDING_OK, "100.0 %", "");
	expect(&doctor.findings[2], "steal", FINDING_OK, "1.0 %", "");
	expect(&doctor.findings[3], "steal", FINDING_WARN, "10.0 %", "CPU time");
	ck_assert(isnan(lost_time_share(&none)));
	ck_assert(isnan(lost_time_at_once(&none)));
	judge_lost(&doctor, &none);
	expect(&doctor.findings[4], "lost_time", FINDING_UNKNOWN, "no CPU", "");
}
END_TEST

/* The parts of what was measured add up, whatever the machine does. */
START_TEST(all_cpus_are_measured)
{
	struct lost_time lost;
	ck_assert_int_eq(lost_time_measure(&lost, 0.05), 0);
	ck_assert_uint_ge(lost.count, 1);
	for (size_t i = 0; i < lost.count; i++) {
		const struct lost_cpu *cpu = &lost.cpus[i];
		ck_assert_uint_gt(cpu->begin_ns, 0);
		ck_assert_uint_le(cpu->lost_ns + cpu->waited_ns, cpu->end_ns - cpu->begin_ns);
		ck_assert_uint_le(cpu->longest_ns, cpu->lost_ns);
		ck_assert(cpu->lost_count == cpu->gap_count || cpu->gap_count == LOST_GAPS);
		ck_assert(i == 0 || cpu->cpu > lost.cpus[i - 1].cpu);
	}
	lost_time_free(&lost);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { what_no_file_says_is_unknown, lists_of_cpus_are_counted,
		governors_of_all_cpus_are_read, turbo_is_turned_off_where_it_is_on,
		siblings_are_warned_of, cpus_that_may_be_used_are_counted,
		quotas_of_groups_above_count, quotas_of_the_first_version_are_read,
		the_load_is_judged_by_the_cpus, memory_is_judged, events_are_judged_by_the_user,
		core_dumps_need_a_limit_or_a_taker, versions_of_libc_are_told_apart,
		atomics_are_those_of_the_machine, records_need_room_in_memory,
		a_jump_is_lost_when_the_kernel_counts_it, interrupts_are_not_lost_time,
		shares_are_of_the_time_there_was, steady_cpus_are_well, all_cpus_are_measured };
	Suite *suite = suite_create("doctor");
	TCase *tcase = tcase_create("doctor");
	tcase_add_checked_fixture(tcase, start, stop);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
