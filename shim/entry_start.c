/*
 * The moments at which code comes and goes: the program's start, and the unloading of a library.
 */
#include <dlfcn.h>

#include "atomics/switch.h"
#include "export.h"
#include "probes/modules.h"
#include "real.h"
#include "stacks.h"
#include "start.h"

/* The constructors of all libraries have run, nothing of the program itself has, and nobody holds
 * any lock. Other libcs than glibc run the constructors in there. */
EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
        void (*init)(void), void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
	start_need_glibc();
	atomics_settle();
	stacks_load();
	return REAL(__libc_start_main)(main, argc, argv, init, fini, loader_fini, stack_end);
}

EXPORT int dlclose(void *library)
{
	stacks_hold_off();
	int result = REAL(dlclose)(library);
	record_modules_unmapped();
	stacks_allow();
	return result;
}
