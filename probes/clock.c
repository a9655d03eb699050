/*
 * Where the time comes from.
 */
#include "clock.h"

#include <stdbool.h>

#include "sys.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#endif

#define MEASURED_NS 3000000u
#define READINGS    16u /* of which the least disturbed one counts */

uint64_t clock_tick_scale;

static int read_by_kernel(clockid_t clock, struct timespec *now)
{
	return (int)sys_call3(SYS_clock_gettime, clock, SYS_ARG(now), 0);
}

int (*clock_source)(clockid_t clock, struct timespec *now) = read_by_kernel;

#if defined(__x86_64__)
#define POWER_LEAF    0x80000007u
#define INVARIANT_TSC (1u << 8)

/* Whether the kernel's own time comes from the time stamp counter, as far as it says. */
static bool kernel_trusts_it(void)
{
	static const char *const trusted[] = { "tsc\n", "kvm-clock\n",
		"hyperv_clocksource_tsc_page\n" };
	char name[64];
	int fd = sys_open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
	        O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return true;
	long length = sys_read(fd, name, sizeof(name) - 1);
	sys_close(fd);
	if (length <= 0)
		return true;
	name[length] = '\0';
	for (size_t i = 0; i < sizeof(trusted) / sizeof(*trusted); i++)
		if (strcmp(name, trusted[i]) == 0)
			return true;
	return false;
}

static bool counter_is_trusted(void)
{
	unsigned a, b, c, d;
	int mode = 0;
	if (sys_failed(sys_call3(SYS_prctl, PR_GET_TSC, SYS_ARG(&mode), 0)) ||
	        mode != PR_TSC_ENABLE)
		return false;
	return __get_cpuid(POWER_LEAF, &a, &b, &c, &d) != 0 && (d & INVARIANT_TSC) != 0 &&
	       kernel_trusts_it();
}
#else
static bool counter_is_trusted(void)
{
	return true;
}
#endif

struct reading {
	uint64_t count, ns;
};

/* Both clocks at one moment: the one of several readings between whose ends the least time has
 * passed, since the thread may have to give up the CPU in any of them. */
static struct reading read_both(void)
{
	struct reading best = { 0, 0 };
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t before = clock_counter();
		uint64_t ns = clock_monotonic_ns();
		uint64_t width = clock_counter() - before;
		if (width >= least)
			continue;
		least = width;
		best = (struct reading){ before + width / 2, ns };
	}
	return best;
}

void clock_ticks_start(void)
{
	struct timespec pause = { 0, MEASURED_NS };
	if (!counter_is_trusted())
		return;
	struct reading first = read_both();
	sys_call3(SYS_nanosleep, SYS_ARG(&pause), 0, 0);
	struct reading last = read_both();
	uint64_t ns = last.ns - first.ns, count = last.count - first.count;
	/* A process stopped for longer than 4 s gets less exact figures, not wrong ones. */
	for (; ns >> 32 != 0; ns >>= 1)
		count >>= 1;
	if (last.count > first.count && count != 0)
		clock_tick_scale = (ns << 32) / count;
}
