/*
 * A library that loads another one by its bare name: it lies in the same folder, which libc
 * searches for this library alone (DT_RUNPATH), and so only when it knows who calls.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "plugin.h"

void plugin_run(void)
{
	void *library = dlopen("gamma.so", RTLD_NOW);
	void *space = dlmopen(LM_ID_BASE, "alpha.so", RTLD_NOW);
	printf("%s, %s\n", library != NULL ? "found" : dlerror(),
	        space != NULL ? "found" : dlerror());
}
