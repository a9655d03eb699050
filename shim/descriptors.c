/*
 * The kernel hands out the lowest free descriptor: those below a floor are filled with copies of
 * one for a while.
 */
#include "descriptors.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "probes/sys.h"

#define SPARE 16u /* left below the limit */

static uint32_t find_floor(void)
{
	struct rlimit limit = { .rlim_cur = 0 };
	sys_call6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, SYS_ARG(&limit), 0, 0);
	if (limit.rlim_cur >= DESCRIPTORS_FLOOR + SPARE)
		return DESCRIPTORS_FLOOR;
	return limit.rlim_cur >= 2 * SPARE ? (uint32_t)limit.rlim_cur - SPARE : 3;
}

static void note(struct descriptors *descriptors, uint32_t fd)
{
	descriptors->taken[fd / 64] |= UINT64_C(1) << fd % 64;
}

void descriptors_take(struct descriptors *descriptors)
{
	uint32_t floor = find_floor();
	memset(descriptors, 0, sizeof(*descriptors));
	long fd = sys_open("/", O_PATH | O_CLOEXEC, 0), copied = fd;
	while (!sys_failed(copied) && copied < floor) {
		note(descriptors, (uint32_t)copied);
		copied = sys_call3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0);
	}
	if (!sys_failed(copied))
		sys_close((int)copied);
}

void descriptors_give_back(const struct descriptors *descriptors)
{
	for (uint32_t fd = 0; fd < DESCRIPTORS_FLOOR; fd++)
		if ((descriptors->taken[fd / 64] >> fd % 64 & 1) != 0)
			sys_close((int)fd);
}
