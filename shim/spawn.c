/*
 * Starts a hidden child through a warden, each on a small stack of its own.
 */
#include "spawn.h"

#include <errno.h>
#include <sched.h>
#include <sys/wait.h>

#include "probes/clock.h"
#include "probes/sys.h"
#include "signals.h"

#define STACK_SIZE   16384u
#define PAUSE_MIN_NS UINT64_C(1000000)
#define PAUSE_MAX_NS UINT64_C(50000000)

/* The caller sleeps until the child executes or ends, so its memory may be shared. */
#define SHARING (CLONE_VM | CLONE_VFORK)

struct stack {
	char bytes[STACK_SIZE];
} __attribute__((aligned(16)));

static struct stack warden_stack, program_stack;

struct task {
	int (*become)(void *argument);
	void *argument;
	uint64_t limit_ns;
};

/* Makes a child that calls run(task) on the stack. Returns its id or -errno. run never returns. */
static long clone_onto(
        struct stack *stack, unsigned long flags, void (*run)(struct task *), struct task *task)
{
#if defined(__x86_64__)
	long result;
	register void (*function)(struct task *) __asm__("r12") = run;
	register struct task *argument __asm__("r13") = task;
	register long child_tid __asm__("r10") = 0;
	register long tls __asm__("r8") = 0;
	__asm__ volatile("syscall\n\t"
	                 "test %%rax, %%rax\n\t"
	                 "jnz 1f\n\t"
	                 "xor %%ebp, %%ebp\n\t"
	                 "mov %%r13, %%rdi\n\t"
	                 "call *%%r12\n\t"
	                 "hlt\n"
	                 "1:"
	                 : "=a"(result)
	                 : "a"(SYS_clone), "D"(flags), "S"(stack + 1), "d"(0L), "r"(child_tid),
	                 "r"(tls), "r"(function), "r"(argument)
	                 : "rcx", "r11", "memory", "cc");
	return result;
#else
	register long number __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = (long)flags;
	register struct stack *top __asm__("x1") = stack + 1;
	register long parent_tid __asm__("x2") = 0;
	register long tls __asm__("x3") = 0;
	register long child_tid __asm__("x4") = 0;
	register void (*function)(struct task *) __asm__("x19") = run;
	register struct task *argument __asm__("x20") = task;
	__asm__ volatile("svc 0\n\t"
	                 "cbnz x0, 1f\n\t"
	                 "mov x29, xzr\n\t"
	                 "mov x0, x20\n\t"
	                 "blr x19\n\t"
	                 "brk 1\n"
	                 "1:"
	                 : "+r"(x0)
	                 : "r"(number), "r"(top), "r"(parent_tid), "r"(tls), "r"(child_tid),
	                 "r"(function), "r"(argument)
	                 : "x30", "memory", "cc");
	return x0;
#endif
}

static _Noreturn void end(int status)
{
	for (;;)
		sys_call3(SYS_exit_group, status, 0, 0);
}

static long wait_for(long pid, int *status, int options)
{
	return sys_call6(SYS_wait4, pid, SYS_ARG(status), options | __WALL, 0, 0, 0);
}

static void program_runs(struct task *task)
{
	end(task->become(task->argument));
}

/* Waits for the program until its time is up; then kills it. Returns its wait status. */
static int watch(long pid, uint64_t limit_ns)
{
	uint64_t deadline = clock_monotonic_ns() + limit_ns;
	uint64_t pause_ns = PAUSE_MIN_NS;
	int status = 0;
	for (;;) {
		long result = wait_for(pid, &status, WNOHANG);
		if (result != 0)
			return sys_failed(result) ? SIGKILL : status;
		if (clock_monotonic_ns() >= deadline)
			break;
		/* The signal ends the pause at once, but not under every emulator. */
		signals_take(SIGNAL_BIT(SIGCHLD), pause_ns);
		pause_ns = pause_ns < PAUSE_MAX_NS ? 2 * pause_ns : pause_ns;
	}
	sys_call3(SYS_kill, pid, SIGKILL, 0);
	wait_for(pid, &status, 0);
	return SIGKILL;
}

static void warden_runs(struct task *task)
{
	/* Were SIGCHLD ignored, the kernel would drop the program's status. */
	signals_action(SIGCHLD, &(struct signal_action){ 0 }, NULL);
	long pid = clone_onto(&program_stack, SHARING | SIGCHLD, program_runs, task);
	if (sys_failed(pid))
		end(255);
	int status = watch(pid, task->limit_ns);
	end(WIFEXITED(status) ? WEXITSTATUS(status) : 255);
}

/* An emulator may know children with SIGCHLD only. Its target is not told of this one either,
 * because the signal is ignored for as long as the child lives. */
static long clone_with_signal(struct task *task, struct signal_action *old)
{
	signals_action(SIGCHLD, &(struct signal_action){ 0 }, old);
	return clone_onto(&warden_stack, SHARING | SIGCHLD, warden_runs, task);
}

int spawn_hidden(int (*become)(void *argument), void *argument, uint64_t limit_ns)
{
	struct task task = { become, argument, limit_ns };
	struct signal_action old;
	bool with_signal = false, had_signal = (signals_pending() & SIGNAL_BIT(SIGCHLD)) != 0;
	int status = -1;
	long pid = clone_onto(&warden_stack, SHARING, warden_runs, &task);
	if (pid == -EINVAL) {
		with_signal = true;
		pid = clone_with_signal(&task, &old);
	}
	if (!sys_failed(pid) && wait_for(pid, &status, 0) != pid)
		status = -1;
	if (with_signal) {
		if (!had_signal)
			signals_take(SIGNAL_BIT(SIGCHLD), 0);
		signals_action(SIGCHLD, &old, NULL);
	}
	if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) == 255)
		return SPAWN_FAILED;
	return WEXITSTATUS(status);
}
