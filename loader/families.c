/*
 * Reads the counters of each family into one shape.
 */
#include "families.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct family_sum rwlock_sum(const struct rwlock_counters *rwlock)
{
	return (struct family_sum){
		.acquired = rwlock->read_acquired + rwlock->write_acquired,
		.waits = rwlock->read_contended + rwlock->write_contended,
		.wait_ns_total = rwlock->read_wait_ns_total + rwlock->write_wait_ns_total,
		.wait_ns_max = larger(rwlock->read_wait_ns_max, rwlock->write_wait_ns_max),
		.hold_ns_total = rwlock->read_hold_ns_total + rwlock->write_hold_ns_total,
		.hold_ns_max = larger(rwlock->read_hold_ns_max, rwlock->write_hold_ns_max),
		.lost = rwlock->lost,
	};
}

static struct family_sum mutex_sum(const struct mutex_counters *mutex)
{
	return (struct family_sum){
		.acquired = mutex->acquired,
		.waits = mutex->contended,
		.wait_ns_total = mutex->wait_ns_total,
		.wait_ns_max = mutex->wait_ns_max,
		.hold_ns_total = mutex->hold_ns_total,
		.hold_ns_max = mutex->hold_ns_max,
		.lost = mutex->lost,
	};
}

struct family_sum family_sum(const struct counters *counters, enum record_family family)
{
	const struct spinlock_counters *spinlock = &counters->spinlock;
	const struct sem_counters *sem = &counters->sem;
	const struct barrier_counters *barrier = &counters->barrier;
	const struct once_counters *once = &counters->once;
	const struct futex_counters *futex = &counters->futex;
	switch (family) {
	case FAMILY_mutex:
		return mutex_sum(&counters->mutex);
	case FAMILY_rwlock:
		return rwlock_sum(&counters->rwlock);
	case FAMILY_spinlock:
		return (struct family_sum){ spinlock->acquired, spinlock->contended,
			spinlock->wait_ns_total, spinlock->wait_ns_max, 0, 0, spinlock->lost };
	case FAMILY_sem:
		return (struct family_sum){ sem->acquired, sem->contended, sem->wait_ns_total,
			sem->wait_ns_max, 0, 0, sem->lost };
	case FAMILY_barrier:
		return (struct family_sum){ 0, barrier->waits, barrier->wait_ns_total,
			barrier->wait_ns_max, 0, 0, barrier->lost };
	case FAMILY_once:
		return (struct family_sum){ 0, once->contended, once->wait_ns_total,
			once->wait_ns_max, 0, 0, once->lost };
	case FAMILY_futex:
		return (struct family_sum){ 0, futex->waits, futex->wait_ns_total,
			futex->wait_ns_max, 0, 0, futex->lost };
	case FAMILY_cond:
	case FAMILY_alloc: /* nobody waits */
	case FAMILY_COUNT:
		break;
	}
	return (struct family_sum){ .acquired = 0 };
}

struct family_sum family_sum_all(const struct counters *counters)
{
	struct family_sum all = { .acquired = 0 };
	for (int family = 0; family < FAMILY_COUNT; family++) {
		struct family_sum one = family_sum(counters, (enum record_family)family);
		all.acquired += one.acquired;
		all.waits += one.waits;
		all.wait_ns_total += one.wait_ns_total;
		all.wait_ns_max = larger(all.wait_ns_max, one.wait_ns_max);
		all.hold_ns_total += one.hold_ns_total;
		all.hold_ns_max = larger(all.hold_ns_max, one.hold_ns_max);
		all.lost += one.lost;
	}
	return all;
}

struct hold_totals family_hold(const struct record_lock *lock)
{
	return (struct hold_totals){
		.acquired = lock->hold.acquired + lock->read_hold.acquired,
		.hold_ns_total = lock->hold.hold_ns_total + lock->read_hold.hold_ns_total,
		.hold_ns_max = larger(lock->hold.hold_ns_max, lock->read_hold.hold_ns_max),
	};
}
