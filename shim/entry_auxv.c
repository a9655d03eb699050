/*
 * getauxval, by which a program learns whether its CPU has LSE: libgcc's and compiler-rt's
 * initialisers of outline atomics ask it in every object, HotSpot for UseLSE, and others. (ifuncs
 * are told by the loader itself, as an argument: what they chose is rewritten.) May be called
 * before this library's constructor, and before it has been relocated.
 */
#include <elf.h>
#include <sys/auxv.h>

#include "auxv.h"
#include "early.h"
#include "export.h"
#include "real.h"

/* libc's own sets errno to ENOENT for what the kernel has not given; before this library has been
 * relocated there is no errno. */
static unsigned long ask(unsigned long type)
{
	unsigned long value;
	if (early_is_relocated() && REAL(getauxval) != NULL)
		return real_functions.getauxval(type);
	return early_auxv(type, &value) ? value : 0;
}

EXPORT unsigned long getauxval(unsigned long type)
{
	unsigned long value = ask(type);
	if (type == AT_HWCAP && early_wants_llsc())
		value &= ~AUXV_HWCAP_ATOMICS;
	if (type == AT_HWCAP2 && early_wants_llsc())
		value &= ~AUXV_HWCAP2_LSE128;
	return value;
}

EXPORT_AS(__getauxval, getauxval);
