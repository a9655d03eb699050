/*
 * The table, and numbers of threads: those of the kernel and of the record are used again.
 */
#include "owners.h"

uint64_t owners_table[OWNERS];
__thread uint32_t owners_thread __attribute__((tls_model("initial-exec")));

uint32_t owners_new_thread(void)
{
	static uint32_t last;
	do
		owners_thread = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) & OWNER_MASK;
	while (owners_thread == 0);
	return owners_thread;
}
