/*
 * Thread slots: claimed at a thread's first lock, reused after its end, so that any number of short
 * threads leaves a record of bounded size and exact totals.
 */
#include "threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "clock.h"
#include "counters.h"
#include "record_map.h"
#include "sys.h"
#include "waits.h"

#define HINTS         8192u
#define TID_RETIRING  UINT32_MAX /* no thread has it */
#define RETIRED_SPARE 8u         /* rows kept for threads that end at the same moment */

/* Slot number + 1 by the low bits of the thread id; a wrong or missing hint only costs a search. */
static uint16_t slot_hints[HINTS];

static uint32_t free_slots; /* slots below `used` with tid 0 */
static uint32_t last_freed; /* slot number + 1 of one of them, or 0 */

static struct record_thread *slot_at(uint32_t slot)
{
	return record_entry(REGION_THREADS, slot);
}

static uint32_t slot_tid(uint32_t slot)
{
	return __atomic_load_n(&slot_at(slot)->tid, __ATOMIC_RELAXED);
}

static uint32_t slots_used(void)
{
	return record_used(REGION_THREADS);
}

struct record_thread *record_thread_find(uint32_t tid)
{
	uint32_t hint = __atomic_load_n(&slot_hints[tid % HINTS], __ATOMIC_RELAXED);
	uint32_t used = slots_used();
	if (hint != 0 && hint <= used && slot_tid(hint - 1) == tid)
		return slot_at(hint - 1);
	for (uint32_t slot = 0; tid != 0 && slot < used; slot++)
		if (slot_tid(slot) == tid)
			return slot_at(slot);
	return NULL;
}

static bool take_slot(uint32_t slot, uint32_t tid)
{
	uint32_t *owner = &slot_at(slot)->tid, expected = 0;
	/* Pairs with the release in retire. */
	if (__atomic_load_n(owner, __ATOMIC_ACQUIRE) != 0 ||
	        !__atomic_compare_exchange_n(
	                owner, &expected, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	__atomic_fetch_sub(&free_slots, 1, __ATOMIC_RELAXED);
	return true;
}

static uint32_t find_free_slot(uint32_t tid)
{
	uint32_t freed = __atomic_exchange_n(&last_freed, 0, __ATOMIC_RELAXED);
	if (freed != 0 && freed <= slots_used() && take_slot(freed - 1, tid))
		return freed - 1;
	uint32_t used = slots_used();
	for (uint32_t slot = 0; slot < used && __atomic_load_n(&free_slots, __ATOMIC_RELAXED) != 0;
	        slot++)
		if (take_slot(slot, tid))
			return slot;
	return RECORD_NONE;
}

/* A slot that was never used; until it is taken, another thread's search may find it first. */
static uint32_t add_slot(uint32_t tid)
{
	uint32_t slot;
	do {
		slot = record_claim(REGION_THREADS);
		if (slot == RECORD_NONE)
			return RECORD_NONE;
		__atomic_fetch_add(&free_slots, 1, __ATOMIC_RELAXED);
	} while (!take_slot(slot, tid));
	return slot;
}

/* Threads that ended without the shim's notice (a raw exit system call, locks taken after the last
 * destructor) leave their slots behind. */
static void retire_dead_threads(void)
{
	if (record_filtered())
		return;
	int pid = sys_getpid();
	uint32_t used = slots_used();
	for (uint32_t slot = 0; slot < used; slot++) {
		uint32_t tid = slot_tid(slot);
		if (tid == 0 || tid == TID_RETIRING ||
		        !sys_failed(sys_call3(SYS_tgkill, pid, tid, 0)))
			continue;
		/* Another thread may be looking for room as well: one of them folds the slot. */
		if (__atomic_compare_exchange_n(&slot_at(slot)->tid, &tid, TID_RETIRING, false,
		            __ATOMIC_ACQUIRE,
		            __ATOMIC_RELAXED)) /* pairs with the release in claim */
			record_thread_retire(slot_at(slot));
	}
}

struct record_thread *record_thread_claim(uint32_t tid)
{
	struct record_thread *thread = record_thread_find(tid);
	if (thread != NULL) /* its owner ended unseen, and the kernel gave the id to this thread */
		record_thread_retire(thread);
	uint32_t slot = find_free_slot(tid);
	if (slot == RECORD_NONE) {
		slot = add_slot(tid);
		if (slot == RECORD_NONE) {
			retire_dead_threads();
			slot = find_free_slot(tid);
		}
		if (slot == RECORD_NONE) {
			shared_add(&record_header->threads_lost, 1);
			return NULL;
		}
	}
	thread = slot_at(slot);
	thread->slot = slot;
	thread->handle = (uint64_t)pthread_self();
	thread->started_ns = clock_monotonic_ns();
	if (record_filtered())
		strcpy(thread->name, RECORD_NO_NAME);
	else
		sys_call3(SYS_prctl, PR_GET_NAME, SYS_ARG(thread->name), 0);
	__atomic_store_n(&thread->tid, tid, __ATOMIC_RELEASE); /* pairs with readers of the slot */
	__atomic_store_n(&slot_hints[tid % HINTS], (uint16_t)(slot + 1), __ATOMIC_RELAXED);
	return thread;
}

/* The row that collects the ended threads of a name, or, when the table or its file system is
 * nearly full, of all further names. NULL when threads of more names than are spared end at the
 * same moment there. */
static struct record_retired *retired_row(const char *name)
{
	uint32_t used = record_used(REGION_RETIRED);
	for (uint32_t row = 0; row < used; row++) {
		struct record_retired *retired = record_entry(REGION_RETIRED, row);
		/* Pairs with the release below: the name is complete. */
		if (__atomic_load_n(&retired->state, __ATOMIC_ACQUIRE) == 1 &&
		        strncmp(retired->name, name, RECORD_NAME_SIZE) == 0)
			return retired;
	}
	if (!record_reserve(REGION_RETIRED, used + RETIRED_SPARE) &&
	        strcmp(name, RECORD_OTHER_NAMES) != 0) {
		__atomic_store_n(&record_header->retired_rest, 1, __ATOMIC_RELAXED);
		return retired_row(RECORD_OTHER_NAMES);
	}
	uint32_t row = record_claim(REGION_RETIRED);
	if (row == RECORD_NONE)
		return used > 0 ? record_entry(REGION_RETIRED, used - 1) : NULL;
	struct record_retired *retired = record_entry(REGION_RETIRED, row);
	memcpy(retired->name, name, strnlen(name, RECORD_NAME_SIZE - 1));
	__atomic_store_n(&retired->state, 1, __ATOMIC_RELEASE);
	return retired;
}

/* Waiters may be adding to them at this moment: what comes later is the slot's next thread's, so
 * that the sum stays right. */
static struct caused_counters take_caused(struct record_thread *thread)
{
	return (struct caused_counters){
		.waits = __atomic_exchange_n(&thread->caused.waits, 0, __ATOMIC_RELAXED),
		.wait_ns_total =
		        __atomic_exchange_n(&thread->caused.wait_ns_total, 0, __ATOMIC_RELAXED),
		.wait_ns_max =
		        __atomic_exchange_n(&thread->caused.wait_ns_max, 0, __ATOMIC_RELAXED),
	};
}

static void fold(struct record_retired *retired, const struct record_thread *thread,
        const struct caused_counters *caused)
{
	counters_fold(&retired->counters, &thread->counters);
	shared_add(&retired->caused.waits, caused->waits);
	shared_add(&retired->caused.wait_ns_total, caused->wait_ns_total);
	shared_max(&retired->caused.wait_ns_max, caused->wait_ns_max);
	__atomic_fetch_add(&retired->threads, 1, __ATOMIC_RELAXED);
}

void record_thread_retire(struct record_thread *thread)
{
	uint32_t slot = thread->slot;
	record_wait_flush(thread);
	struct record_retired *retired = retired_row(thread->name);
	struct caused_counters caused = take_caused(thread);
	if (retired != NULL)
		fold(retired, thread, &caused);
	else
		shared_add(&record_header->threads_lost, 1);
	memset((char *)thread + offsetof(struct record_thread, counters), 0,
	        offsetof(struct record_thread, caused) - offsetof(struct record_thread, counters));
	__atomic_fetch_add(&free_slots, 1, __ATOMIC_RELAXED);
	__atomic_store_n(
	        &thread->tid, 0, __ATOMIC_RELEASE); /* pairs with the acquire in take_slot */
	__atomic_store_n(&last_freed, slot + 1, __ATOMIC_RELAXED);
}

void record_threads_forget(void)
{
	free_slots = 0;
	last_freed = 0;
}

void record_thread_rename(uint64_t handle, const char *name)
{
	uint32_t used = slots_used();
	for (uint32_t slot = 0; slot < used; slot++) {
		struct record_thread *thread = slot_at(slot);
		if (__atomic_load_n(&thread->tid, __ATOMIC_RELAXED) != 0 &&
		        thread->handle == handle) {
			memset(thread->name, 0, RECORD_NAME_SIZE);
			memcpy(thread->name, name, strnlen(name, RECORD_NAME_SIZE - 1));
			return;
		}
	}
}

static void read_name(struct record_thread *thread)
{
	static const char before[] = "/proc/self/task/", after[] = "/comm";
	char path[sizeof(before) + 20 + sizeof(after)], name[RECORD_NAME_SIZE];
	memcpy(path, before, sizeof(before));
	unsigned digits = record_decimal(path + sizeof(before) - 1, thread->tid);
	memcpy(path + sizeof(before) - 1 + digits, after, sizeof(after));
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	long length = sys_read(fd, name, sizeof(name));
	sys_close(fd);
	if (length <= 1)
		return;
	name[length - 1] = '\0'; /* the kernel ends the name with a newline */
	memcpy(thread->name, name, sizeof(name));
}

void record_thread_names(void)
{
	uint32_t used = slots_used();
	if (record_filtered())
		return;
	for (uint32_t slot = 0; slot < used; slot++)
		if (slot_tid(slot) != 0)
			read_name(slot_at(slot));
}
