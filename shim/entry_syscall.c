/*
 * prctl() and syscall(), which pass through untouched but for the few calls that concern us: a
 * futex, a seccomp filter, a new name of the thread, an end, an exec or a fork by number.
 *
 * Both take their arguments by "..." in libc and hand on as many as there are registers for. Ours
 * are declared with all of them.
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "exit.h"
#include "export.h"
#include "hold.h"
#include "probes/record_map.h"
#include "probes/threads.h"
#include "raw_futex.h"
#include "real.h"
#include "start.h"

typedef long syscall_function(long number, long a, long b, long c, long d, long e, long f);
typedef int prctl_function(int option, long a, long b, long c, long d);

EXPORT prctl_function entry_prctl __asm__("prctl");

static bool installs_filter(long number, long a, long b)
{
	if (number == SYS_seccomp)
		return a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER;
	return number == SYS_prctl && a == PR_SET_SECCOMP && b != SECCOMP_MODE_DISABLED;
}

/* From then on, reading the CPU's counter would be fatal for the calling thread. */
static bool forbids_counter(long number, long a, long b)
{
	if (number == SYS_seccomp)
		return a == SECCOMP_SET_MODE_STRICT;
	return number == SYS_prctl && ((a == PR_SET_SECCOMP && b == SECCOMP_MODE_STRICT) ||
	                                      (a == PR_SET_TSC && b == PR_TSC_SIGSEGV));
}

static bool forks(long number, long flags)
{
#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	return number == SYS_clone && (flags & CLONE_VM) == 0;
}

static bool executes(long number)
{
	return number == SYS_execve || number == SYS_execveat;
}

static void renamed(const char *name)
{
	if (start_counting)
		record_thread_rename((uint64_t)pthread_self(), name);
}

/* One of the calls that concern us; none has a sixth argument. */
static __attribute__((noinline, used)) long watched(
        long number, long a, long b, long c, long d, long e)
{
	bool filter = installs_filter(number, a, b);
	bool filtered = filter && exit_before_filter();
	if (forbids_counter(number, a, b))
		hold_stop();
	if (number == SYS_exit_group)
		exit_report(END__EXIT, (int)a);
	if (executes(number))
		exit_before_exec();
	long result = ((syscall_function *)REAL(syscall))(number, a, b, c, d, e, 0);
	if (filter && !filtered && result == -1)
		exit_without_filter();
	if (executes(number))
		exit_after_failed_exec(); /* makes raw system calls: errno stays */
	if (number == SYS_prctl && a == PR_SET_NAME && result == 0)
		renamed((const char *)(uintptr_t)b);
	if (forks(number, a) && result == 0)
		start_forked();
	return result;
}

#if defined(__x86_64__)
/* The sixth argument lies on the stack, or, where the caller gave fewer, a variable of the
 * caller's: no byte there may be written, so the compiler is kept out. */
EXPORT __attribute__((naked)) void entry_syscall(void) __asm__("syscall");

void entry_syscall(void)
{
	__asm__("cmp %[futex], %%edi\n\t" /* by far the most frequent */
	        "je 4f\n\t"
	        "cmp %[execve], %%edi\n\t"
	        "je 1f\n\t"
	        "cmp %[execveat], %%edi\n\t"
	        "je 1f\n\t"
	        "cmp %[seccomp], %%edi\n\t"
	        "je 1f\n\t"
	        "cmp %[prctl], %%edi\n\t"
	        "je 1f\n\t"
	        "cmp %[exit_group], %%edi\n\t"
	        "je 1f\n\t"
	        "cmp %[fork], %%edi\n\t"
	        "je 1f\n\t"
	        "cmp %[clone], %%edi\n\t"
	        "je 2f\n"
	        "0:\tmov real_functions+%c[libc](%%rip), %%rax\n\t"
	        "test %%rax, %%rax\n\t"
	        "jz 3f\n\t"
	        "jmp *%%rax\n"
	        "2:\ttest %[vm], %%esi\n\t"
	        "jnz 0b\n"
	        "1:\tjmp watched\n"
	        "3:\tpush %%rdi\n\t"
	        "push %%rsi\n\t"
	        "push %%rdx\n\t"
	        "push %%rcx\n\t"
	        "push %%r8\n\t"
	        "push %%r9\n\t"
	        "push %%r9\n\t" /* once more, for the stack's alignment */
	        "call real_resolve\n\t"
	        "pop %%r9\n\t"
	        "pop %%r9\n\t"
	        "pop %%r8\n\t"
	        "pop %%rcx\n\t"
	        "pop %%rdx\n\t"
	        "pop %%rsi\n\t"
	        "pop %%rdi\n\t"
	        "jmp 0b\n"
	        "4:\tmov (%%rsp), %%rdi\n\t" /* the call site, in place of the number */
	        "push 8(%%rsp)\n\t"          /* a copy of the sixth argument */
	        ".cfi_adjust_cfa_offset 8\n\t"
	        "call raw_futex\n\t"
	        "add $8, %%rsp\n\t"
	        ".cfi_adjust_cfa_offset -8\n\t"
	        "ret"
	        :
	        : [futex] "i"(SYS_futex), [execve] "i"(SYS_execve), [execveat] "i"(SYS_execveat),
	        [seccomp] "i"(SYS_seccomp), [prctl] "i"(SYS_prctl),
	        [exit_group] "i"(SYS_exit_group), [fork] "i"(SYS_fork), [clone] "i"(SYS_clone),
	        [vm] "i"(CLONE_VM), [libc] "i"(offsetof(struct real_functions, syscall)));
}
#else
EXPORT syscall_function entry_syscall __asm__("syscall");

/* All arguments lie in registers, so this ends in a jump. */
long entry_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_futex)
		return raw_futex(CALL_SITE, a, b, c, d, e, f);
	if (number == SYS_seccomp || number == SYS_prctl || number == SYS_exit_group ||
	        executes(number) || forks(number, a))
		return watched(number, a, b, c, d, e);
	return ((syscall_function *)REAL(syscall))(number, a, b, c, d, e, f);
}
#endif

int entry_prctl(int option, long a, long b, long c, long d)
{
	bool filter = option == PR_SET_SECCOMP && a != SECCOMP_MODE_DISABLED;
	bool filtered = filter && exit_before_filter();
	if (forbids_counter(SYS_prctl, option, a))
		hold_stop();
	int result = ((prctl_function *)REAL(prctl))(option, a, b, c, d);
	if (filter && !filtered && result == -1)
		exit_without_filter();
	if (option == PR_SET_NAME && result == 0)
		renamed((const char *)(uintptr_t)a);
	return result;
}
