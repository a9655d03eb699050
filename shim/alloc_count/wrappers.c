/*
 * libabshim-alloc.so: stands in front of malloc and its kin, whoever provides them, and counts. A
 * block's owner is remembered for a sample of addresses only, by the address itself, so that
 * whoever frees it comes to the same place.
 */
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "owners.h"
#include "probes/allocation_names.h"
#include "probes/counters.h"
#include "probes/sys.h"
#include "shim/export.h"

/* Where libabshim.so is missing, the program is ended with a message. */
#pragma weak abshim_alloc_counters
#pragma weak abshim_alloc_next

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* Set while the thread is in here: what is called from here may allocate. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* The functions behind ours. malloc is the last one to be found. */
static struct {
	__typeof__(malloc) *malloc;
	__typeof__(free) *free;
	__typeof__(calloc) *calloc;
	__typeof__(realloc) *realloc;
	__typeof__(memalign) *memalign;
	__typeof__(posix_memalign) *posix_memalign;
	__typeof__(aligned_alloc) *aligned_alloc;
	__typeof__(valloc) *valloc;
	__typeof__(pvalloc) *pvalloc;
} next;

static void *find(const char *name)
{
	static const char message[] = "abshim: libabshim-alloc.so counts for libabshim.so alone: "
	                              "preload that before it\n";
	if (abshim_alloc_next != NULL)
		return abshim_alloc_next(_DYNAMIC, name);
	sys_write(2, message, sizeof(message) - 1);
	for (;;)
		sys_call3(SYS_exit_group, 78 /* EX_CONFIG of sysexits.h */, 0, 0);
}

static __attribute__((noinline)) void resolve(void)
{
#define FIND(name) __atomic_store_n(&next.name, (__typeof__(name) *)find(#name), __ATOMIC_RELEASE)
	FIND(free);
	FIND(calloc);
	FIND(realloc);
	FIND(memalign);
	FIND(posix_memalign);
	FIND(aligned_alloc);
	FIND(valloc);
	FIND(pvalloc);
	FIND(malloc);
#undef FIND
}

/* Libabshim.so answers as soon as it is relocated, as all libraries are before the first call comes
 * here. */
static inline void need_next(void)
{
	if (__builtin_expect(next.malloc == NULL, 0))
		resolve();
}

/* The calling thread's counters, NULL: it is not to be counted. Must be followed by leave(). */
static inline struct alloc_counters *enter(void)
{
	if (__builtin_expect(inside, 0))
		return NULL;
	inside = true;
	return abshim_alloc_counters();
}

static inline void leave(bool was_inside)
{
	inside = was_inside;
}

static void *got(void *block, size_t bytes)
{
	bool was_inside = inside;
	struct alloc_counters *counters = block != NULL ? enter() : NULL;
	if (counters != NULL) {
		counter_add(&counters->calls, 1);
		counter_add(&counters->bytes, bytes);
		owners_put(block);
	}
	leave(was_inside);
	return block;
}

static void count_free(struct alloc_counters *counters, enum owner owner)
{
	counter_add(&counters->frees, 1);
	if (owner != OWNER_UNKNOWN)
		counter_add(&counters->frees_sampled, 1);
	if (owner == OWNER_OTHER)
		counter_add(&counters->frees_foreign, 1);
}

/* Before the block is given back: afterwards it may be another thread's. */
static void gives(void *block)
{
	bool was_inside = inside;
	struct alloc_counters *counters = block != NULL ? enter() : NULL;
	if (counters != NULL) {
		uint64_t entry;
		count_free(counters, owners_find(block, &entry));
		owners_drop(block, entry);
	}
	leave(was_inside);
}

EXPORT void *malloc(size_t size)
{
	need_next();
	return got(next.malloc(size), size);
}

EXPORT void free(void *block)
{
	need_next();
	gives(block);
	next.free(block);
}

EXPORT void *calloc(size_t count, size_t size)
{
	need_next();
	return got(next.calloc(count, size), count * size);
}

/* A block that is not moved is given back and got again, too. One that cannot be had leaves the old
 * one as it is, except that 0 bytes free it. */
EXPORT void *realloc(void *old, size_t size)
{
	need_next();
	uint64_t entry = 0;
	enum owner owner = old != NULL ? owners_find(old, &entry) : OWNER_UNKNOWN;
	void *block = next.realloc(old, size);
	bool was_inside = inside;
	struct alloc_counters *counters = enter();
	if (counters != NULL && old != NULL && (block != NULL || size == 0)) {
		count_free(counters, owner);
		owners_drop(old, entry);
	}
	leave(was_inside);
	return got(block, size);
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	need_next();
	return got(next.memalign(alignment, size), size);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	need_next();
	int result = next.posix_memalign(block, alignment, size);
	if (result == 0)
		got(*block, size);
	return result;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	need_next();
	return got(next.aligned_alloc(alignment, size), size);
}

EXPORT void *valloc(size_t size)
{
	need_next();
	return got(next.valloc(size), size);
}

EXPORT void *pvalloc(size_t size)
{
	need_next();
	return got(next.pvalloc(size), size);
}
