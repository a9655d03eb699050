/*
 * The calls on reader-writer locks by name, and threads that hold such a lock.
 */
#include "rwlock_ops.h"

#include <errno.h>

#define SOON_MS         5
#define FAR_MS          3600000
#define ERRNO_UNTOUCHED 4095 /* no error has this number */

const char *const rw_names[RW_OPS] = { "rdlock", "tryrdlock", "timedrdlock", "clockrdlock realtime",
	"clockrdlock monotonic", "wrlock", "trywrlock", "timedwrlock", "clockwrlock realtime",
	"clockwrlock monotonic", "unlock" };

pthread_rwlock_t *new_rwlock(void)
{
	static const pthread_rwlock_t initialiser = PTHREAD_RWLOCK_INITIALIZER;
	pthread_rwlock_t *lock = shared_memory(sizeof(*lock));
	pthread_rwlockattr_t attributes;
	if (kind_under_test->type < 0) {
		*lock = initialiser;
		return lock;
	}
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setkind_np(&attributes, kind_under_test->type);
	pthread_rwlockattr_setpshared(&attributes,
	        kind_under_test->shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	require(pthread_rwlock_init(lock, &attributes) == 0, "pthread_rwlock_init");
	pthread_rwlockattr_destroy(&attributes);
	return lock;
}

clockid_t rw_clock(enum rw_op op)
{
	return op == RW_CLOCK_MONO_READ || op == RW_CLOCK_MONO_WRITE ? CLOCK_MONOTONIC
	                                                             : CLOCK_REALTIME;
}

static int call(enum rw_op op, pthread_rwlock_t *lock, const struct timespec *deadline)
{
	switch (op) {
	case RW_READ:
		return pthread_rwlock_rdlock(lock);
	case RW_TRY_READ:
		return pthread_rwlock_tryrdlock(lock);
	case RW_TIMED_READ:
		return pthread_rwlock_timedrdlock(lock, deadline);
	case RW_CLOCK_REAL_READ:
	case RW_CLOCK_MONO_READ:
		return pthread_rwlock_clockrdlock(lock, rw_clock(op), deadline);
	case RW_WRITE:
		return pthread_rwlock_wrlock(lock);
	case RW_TRY_WRITE:
		return pthread_rwlock_trywrlock(lock);
	case RW_TIMED_WRITE:
		return pthread_rwlock_timedwrlock(lock, deadline);
	case RW_CLOCK_REAL_WRITE:
	case RW_CLOCK_MONO_WRITE:
		return pthread_rwlock_clockwrlock(lock, rw_clock(op), deadline);
	default:
		return pthread_rwlock_unlock(lock);
	}
}

int rw_do_until(enum rw_op op, pthread_rwlock_t *lock, const struct timespec *deadline)
{
	errno = ERRNO_UNTOUCHED;
	int result = call(op, lock, deadline);
	if (errno != ERRNO_UNTOUCHED)
		say("%s sets errno to %s", rw_names[op], result_name(errno));
	return result;
}

int rw_do(enum rw_op op, pthread_rwlock_t *lock)
{
	struct timespec deadline = time_after_ms(rw_clock(op), SOON_MS);
	int result = rw_do_until(op, lock, &deadline);
	if (result == ETIMEDOUT && !time_has_come(rw_clock(op), &deadline))
		say("%s gives up before its deadline", rw_names[op]);
	return result;
}

int rw_do_patiently(enum rw_op op, pthread_rwlock_t *lock)
{
	struct timespec deadline = time_after_ms(rw_clock(op), FAR_MS);
	return rw_do_until(op, lock, &deadline);
}

int rw_do_and_undo(enum rw_op op, pthread_rwlock_t *lock)
{
	int result = rw_do(op, lock);
	if (result == 0)
		require(pthread_rwlock_unlock(lock) == 0, "unlock");
	return result;
}

void say_rw(enum rw_op op, pthread_rwlock_t *lock)
{
	int result = rw_do(op, lock);
	if (result == 0 && op != RW_UNLOCK)
		say("%s: 0, unlock: %s", rw_names[op], result_name(rw_do(RW_UNLOCK, lock)));
	else
		say("%s: %s", rw_names[op], result_name(result));
}

bool rw_writer_waits(const pthread_rwlock_t *lock)
{
	return (__atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED) & 2) != 0;
}

static void *hold(void *argument)
{
	struct rw_holder *holder = argument;
	holder->locked = rw_do_patiently(holder->op, holder->lock);
	sem_post(&holder->held);
	semaphore_wait(&holder->release);
	if (holder->locked == 0)
		holder->unlocked = rw_do(RW_UNLOCK, holder->lock);
	return NULL;
}

void rw_holder_begin(struct rw_holder *holder, enum rw_op op, pthread_rwlock_t *lock)
{
	*holder = (struct rw_holder){ .op = op, .lock = lock, .unlocked = -1 };
	semaphore_init(&holder->held);
	semaphore_init(&holder->release);
	holder->thread = start(hold, holder);
}

void rw_holder_start(struct rw_holder *holder, enum rw_op op, pthread_rwlock_t *lock)
{
	rw_holder_begin(holder, op, lock);
	semaphore_wait(&holder->held);
	require(holder->locked == 0, "the holder's lock");
}

void rw_holder_end(struct rw_holder *holder)
{
	sem_post(&holder->release);
	require(pthread_join(holder->thread, NULL) == 0, "pthread_join");
}
