/*
 * Where locks come from and go to: an address may be that of one lock after another.
 */
#ifndef SHIM_LIFETIME_H
#define SHIM_LIFETIME_H

#include <stdint.h>

#include "probes/created.h"
#include "probes/waits.h"
#include "thread.h"

/* The lock has been destroyed, or its address is about to become another one's. */
static inline void lifetime_ends(const volatile void *lock, enum record_family family)
{
	if (thread_current() != NULL)
		record_lock_gone((uint64_t)(uintptr_t)lock, family);
}

/* It has been initialised by the call that returns to site. */
static inline void lifetime_begins(const volatile void *lock, const void *site)
{
	if (thread_current() != NULL)
		record_lock_created((uint64_t)(uintptr_t)lock, (uint64_t)(uintptr_t)site);
}

#endif
