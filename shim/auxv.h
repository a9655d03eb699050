/*
 * What the kernel told the process at its start, without libc: usable before anything else is.
 */
#ifndef SHIM_AUXV_H
#define SHIM_AUXV_H

#include <link.h>
#include <stddef.h>

/* Of AArch64 (Linux' asm/hwcap.h): the CPU has FEAT_LSE, FEAT_LSE128, FEAT_BTI. */
#define AUXV_HWCAP_ATOMICS (1ul << 8)
#define AUXV_HWCAP2_LSE128 (1ul << 47)
#define AUXV_HWCAP2_BTI    (1ul << 17)

/* The value of an AT_ type, 0 where the kernel gave none. environment: as it lies on the initial
 * stack, which is what a constructor is given: the auxiliary vector follows it. */
static inline unsigned long auxv_find(char *const *environment, unsigned long type)
{
	while (*environment != NULL)
		environment++;
	for (const ElfW(auxv_t) *entry = (const void *)(environment + 1); entry->a_type != AT_NULL;
	        entry++)
		if (entry->a_type == type)
			return entry->a_un.a_val;
	return 0;
}

#endif
