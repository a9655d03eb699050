/*
 * A library that asks what the CPU has as HotSpot does on Linux (get_os_cpu_info in its
 * vm_version_linux_aarch64.cpp): by getauxval, once it has been opened.
 */
#include <sys/auxv.h>

#define LSE (1ul << 8) /* HWCAP_ATOMICS of AArch64's <asm/hwcap.h> */

extern int plugin_result(void);

int plugin_result(void)
{
	return (getauxval(AT_HWCAP) & LSE) != 0;
}
