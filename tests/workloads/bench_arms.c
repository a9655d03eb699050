/*
 * Runs a command under arms (sets of environment variables), each beside a run of the base arm:
 * base, arm in even rounds and arm, base in odd ones, so that a drift of the machine falls on both
 * alike. With -p pairs run on one CPU, two rounds later on the next. Prints one line of KEY=VALUE
 * for every run:
 *
 *   round=0 arm=park side=arm work=2000000 cpu_ns=31000000 wall_ns=31200000
 *
 * A run is charged the child's CPU time and the wall time from before its start until it is
 * reaped, or instead whatever work=, cpu_ns= and wall_ns= the child prints. An arm with
 * BENCH_PID in its environment is charged the CPU time of that process (a server) instead of the
 * child's. All arms' environments have the same length: the stack begins at the same place.
 *
 * other_ns= is CPU time that the rest of the machine took meanwhile. Pairs that it disturbed are
 * run again, at most once a pair on the average; disturbed=1 marks those that still are.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARMS_MAX   32
#define OUTPUT_MAX 4096

extern char **environ;

struct arm {
	const char *name;
	char **environment;
	pid_t server;
};

/* One run: what it is charged, what the rest of the machine took, its first line of output. */
struct usage {
	uint64_t cpu_ns, wall_ns, other_ns;
	char output[OUTPUT_MAX];
};

static void __attribute__((format(printf, 1, 2), noreturn)) fail(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	fputs("bench_arms: ", stderr);
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
	va_end(values);
	exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		fail("cannot read clock %d: %s", (int)clock, strerror(errno));
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns_of(pid_t pid)
{
	clockid_t clock;
	int error = clock_getcpuclockid(pid, &clock);

	if (error)
		fail("no CPU clock of process %d: %s", (int)pid, strerror(error));
	return clock_ns(clock);
}

static bool environment_is_ours(const char *entry)
{
	return strncmp(entry, "LD_PRELOAD=", 11) && strncmp(entry, "ABSHIM_", 7) &&
	       strncmp(entry, "LIBPTHREAD_", 11) && strncmp(entry, "BENCH_PAD=", 10);
}

/* Splits NAME[,VARIABLE=VALUE]...; leaves the last slot but one for the padding. */
static struct arm arm_parse(char *text)
{
	struct arm arm = { .name = strsep(&text, ",") };
	size_t count = 0, inherited = 0;

	while (environ[inherited])
		inherited++;
	arm.environment = calloc(inherited + strlen(text ? text : "") + 3, sizeof(char *));
	if (!arm.environment)
		fail("no memory");
	for (size_t i = 0; i < inherited; i++) {
		if (environment_is_ours(environ[i]))
			arm.environment[count++] = environ[i];
	}
	while (text) {
		char *entry = strsep(&text, ",");

		if (strncmp(entry, "BENCH_PID=", 10) == 0)
			arm.server = (pid_t)atoi(entry + 10);
		arm.environment[count++] = entry;
	}
	return arm;
}

/* What the kernel copies to the stack: the strings and one pointer for each. */
static size_t environment_bytes(char **environment)
{
	size_t bytes = 0;

	for (; *environment; environment++)
		bytes += strlen(*environment) + 1 + sizeof(char *);
	return bytes;
}

static void arms_pad(struct arm *arms, size_t arm_count)
{
	size_t most = 0;

	for (size_t i = 0; i < arm_count; i++) {
		size_t bytes = environment_bytes(arms[i].environment);

		most = bytes > most ? bytes : most;
	}
	for (size_t i = 0; i < arm_count; i++) {
		size_t missing = most - environment_bytes(arms[i].environment);
		char **last = arms[i].environment;

		while (*last)
			last++;
		if (asprintf(last, "BENCH_PAD=%0*d", (int)missing + 1, 0) < 0)
			fail("no memory");
	}
}

static pid_t command_start(const struct arm *arm, char **command, int output)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	error = posix_spawnp(&pid, command[0], &actions, NULL, command, arm->environment);
	if (error)
		fail("cannot run %s: %s", command[0], strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/* All CPUs' time in user and kernel mode, in steps of a clock tick. */
static uint64_t machine_busy_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *file = fopen("/proc/stat", "re");

	if (!file || fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
	                     &idle, &iowait, &irq, &softirq) != 7)
		fail("cannot read /proc/stat");
	fclose(file);
	return (user + nice + system + irq + softirq) *
	       (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t rusage_cpu_ns(const struct rusage *usage)
{
	return ((uint64_t)usage->ru_utime.tv_sec + (uint64_t)usage->ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec) * 1000u;
}

/* Starts the command, reaps it and returns its CPU time; fails when it does. */
static uint64_t command_run(const struct arm *arm, char **command, char *output)
{
	struct rusage child;
	ssize_t length;
	int ends[2], status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		fail("no pipe: %s", strerror(errno));
	pid = command_start(arm, command, ends[1]);
	if (wait4(pid, &status, 0, &child) != pid)
		fail("wait4: %s", strerror(errno));
	length = read(ends[0], output, OUTPUT_MAX - 1);
	output[length > 0 ? length : 0] = '\0';
	output[strcspn(output, "\n")] = '\0';
	close(ends[0]);
	close(ends[1]);
	if (status)
		fail("arm %s: %s ended with wait status 0x%x, not 0", arm->name, command[0],
		        status);
	return rusage_cpu_ns(&child);
}

static void run(const struct arm *arm, char **command, struct usage *usage)
{
	uint64_t busy_ns = machine_busy_ns(), own_ns;
	uint64_t server_ns = arm->server ? cpu_ns_of(arm->server) : 0;
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);

	own_ns = usage->cpu_ns = command_run(arm, command, usage->output);
	usage->wall_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
	if (arm->server) {
		usage->cpu_ns = cpu_ns_of(arm->server) - server_ns;
		own_ns += usage->cpu_ns;
	}
	busy_ns = machine_busy_ns() - busy_ns;
	usage->other_ns = busy_ns > own_ns ? busy_ns - own_ns : 0;
}

/* More than a quarter of a CPU, beyond what the clock ticks of /proc/stat can be wrong by. */
static bool usage_disturbed(const struct usage *usage)
{
	return usage->other_ns > usage->wall_ns / 4 + 20000000u;
}

/* What the child printed comes last: of equal keys the reader takes the last one. */
static void usage_print(const struct usage *usage, unsigned round, const char *arm,
        const char *side, bool disturbed)
{
	printf("round=%u arm=%s side=%s disturbed=%d other_ns=%" PRIu64, round, arm, side,
	        disturbed, usage->other_ns);
	printf(" work=1 cpu_ns=%" PRIu64 " wall_ns=%" PRIu64 " %s\n", usage->cpu_ns, usage->wall_ns,
	        usage->output);
	fflush(stdout);
}

static void pair_run(const struct arm *base, const struct arm *arm, char **command, unsigned round)
{
	static unsigned repeats_left;
	struct usage base_usage, arm_usage;
	bool disturbed;

	repeats_left++;
	for (;;) {
		if (round % 2)
			run(arm, command, &arm_usage);
		run(base, command, &base_usage);
		if (round % 2 == 0)
			run(arm, command, &arm_usage);
		disturbed = usage_disturbed(&base_usage) || usage_disturbed(&arm_usage);
		if (!disturbed || !repeats_left)
			break;
		repeats_left--;
		usleep(200000);
	}
	usage_print(&base_usage, round, arm->name, "base", disturbed);
	usage_print(&arm_usage, round, arm->name, "arm", disturbed);
}

/* Pins this process, and what it starts, to one of the CPUs in `allowed`. */
static void pin(const cpu_set_t *allowed, unsigned round)
{
	int left = (int)(round % (unsigned)CPU_COUNT(allowed)), cpu = 0;
	cpu_set_t one;

	while (!CPU_ISSET(cpu, allowed) || left-- > 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		fail("cannot run on CPU %d: %s", cpu, strerror(errno));
}

int main(int argc, char **argv)
{
	bool pinned = argc > 1 && strcmp(argv[1], "-p") == 0;
	int i = pinned ? 3 : 2;
	unsigned rounds = argc > i ? (unsigned)strtoul(argv[i - 1], NULL, 10) : 0;
	struct arm arms[ARMS_MAX];
	size_t arm_count = 0;
	cpu_set_t allowed;
	char **command;

	for (; i < argc && strcmp(argv[i], "--") && arm_count < ARMS_MAX; i++)
		arms[arm_count++] = arm_parse(argv[i]);
	if (!rounds || arm_count < 2 || i + 1 >= argc || strcmp(argv[i], "--")) {
		fprintf(stderr, "usage: bench_arms [-p] ROUNDS BASE ARM... -- COMMAND...,"
		                " an arm being NAME[,VARIABLE=VALUE]...\n");
		return 2;
	}
	command = &argv[i + 1];
	arms_pad(arms, arm_count);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		fail("no CPU affinity: %s", strerror(errno));
	for (unsigned round = 0; round < rounds; round++) {
		if (pinned)
			pin(&allowed, round / 2);
		for (size_t a = 1; a < arm_count; a++)
			pair_run(&arms[0], &arms[a], command, round);
	}
	return 0;
}
