/*
 * prctl() and syscall(), which pass through untouched but for the few calls that concern us: a
 * seccomp filter, a new name of the thread, an end or a fork by number.
 *
 * Both take their arguments by "..." in libc, and read as many as there are registers for. Ours are
 * declared with all of them, so that the compiler can jump to libc's function without touching any.
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "exit.h"
#include "export.h"
#include "probes/record_map.h"
#include "probes/threads.h"
#include "real.h"
#include "start.h"

typedef long syscall_function(long number, long a, long b, long c, long d, long e, long f);
typedef int prctl_function(int option, long a, long b, long c, long d);

EXPORT long entry_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__(
        "syscall");
EXPORT int entry_prctl(int option, long a, long b, long c, long d) __asm__("prctl");

static syscall_function *real_syscall(void)
{
	return (syscall_function *)REAL(syscall);
}

static bool installs_filter(long number, long a, long b)
{
	if (number == SYS_seccomp)
		return a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER;
	return number == SYS_prctl && a == PR_SET_SECCOMP && b != SECCOMP_MODE_DISABLED;
}

static bool forks(long number, long flags)
{
#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	return number == SYS_clone && (flags & CLONE_VM) == 0;
}

static void renamed(const char *name)
{
	if (start_counting)
		record_thread_rename((uint64_t)pthread_self(), name);
}

/* One of the calls that concern us. */
static __attribute__((noinline)) long watched(
        long number, long a, long b, long c, long d, long e, long f)
{
	bool filter = installs_filter(number, a, b);
	bool filtered = filter && exit_before_filter();
	if (number == SYS_exit_group)
		exit_report(END__EXIT, (int)a);
	long result = real_syscall()(number, a, b, c, d, e, f);
	if (filter && !filtered && result == -1)
		exit_without_filter();
	if (number == SYS_prctl && a == PR_SET_NAME && result == 0)
		renamed((const char *)(uintptr_t)b);
	if (forks(number, a) && result == 0)
		start_forked();
	return result;
}

EXPORT long entry_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (__builtin_expect(number == SYS_seccomp || number == SYS_prctl ||
	                             number == SYS_exit_group || forks(number, a),
	            0))
		return watched(number, a, b, c, d, e, f);
	return real_syscall()(number, a, b, c, d, e, f);
}

EXPORT int entry_prctl(int option, long a, long b, long c, long d)
{
	bool filter = option == PR_SET_SECCOMP && a != SECCOMP_MODE_DISABLED;
	bool filtered = filter && exit_before_filter();
	int result = ((prctl_function *)REAL(prctl))(option, a, b, c, d);
	if (filter && !filtered && result == -1)
		exit_without_filter();
	if (option == PR_SET_NAME && result == 0)
		renamed((const char *)(uintptr_t)a);
	return result;
}
