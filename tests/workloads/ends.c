/*
 * Ends in the way its argument names, after 1000 mutex acquisitions in two threads (some ways add
 * a few). Usage: ends WAY
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "ends.h"

#define LOCKED_BY_DESTRUCTOR 50

static int destructor_locks;

__attribute__((destructor)) static void destructor(void)
{
	lock_times(destructor_locks);
}

static int end_return(void)
{
	return 3;
}

static int end_exit(void)
{
	exit(4);
}

static int end__exit(void)
{
	_exit(5);
}

static int end__Exit(void)
{
	_Exit(6);
}

static int end_quick_exit(void)
{
	quick_exit(7);
}

static int end_destructor(void)
{
	destructor_locks = LOCKED_BY_DESTRUCTOR;
	exit(8);
}

static void handler_ends(void)
{
	_exit(9);
}

static int end_in_handler(void)
{
	atexit(handler_ends);
	exit(1);
}

static void no_core(void)
{
	struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
}

static int end_abort(void)
{
	no_core();
	abort();
}

static int end_abort_ignored(void)
{
	no_core();
	signal(SIGABRT, SIG_IGN);
	abort();
}

static sigjmp_buf survival;

static void survive(int number)
{
	(void)number;
	siglongjmp(survival, 1);
}

static int end_abort_survived(void)
{
	signal(SIGABRT, survive);
	if (sigsetjmp(survival, 1) == 0)
		abort();
	lock_times(10);
	exit(10);
}

static void leave(int number)
{
	(void)number;
	_exit(11);
}

static int end_abort_left(void)
{
	signal(SIGABRT, leave);
	abort();
}

/* On a small stack, as servers that print their own crash reports do. */
static int end_in_signal(void)
{
	static char stack[16384];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = leave, .sa_flags = SA_ONSTACK };
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	return WRONG_STATUS;
}

static int end_crash(void)
{
	no_core();
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return WRONG_STATUS;
}

static int end_kill(void)
{
	kill(getpid(), SIGKILL);
	return WRONG_STATUS;
}

static void *ends_last(void *main_thread)
{
	(void)main_thread;
	usleep(20000);
	lock_times(20);
	return NULL;
}

static int end_last_thread(void)
{
	start_thread(ends_last);
	pthread_exit(NULL);
}

static void *exits(void *unused)
{
	(void)unused;
	exit(12);
}

static int end_other_thread(void)
{
	pthread_join(start_thread(exits), NULL);
	return WRONG_STATUS;
}

static int about_to_block;

static void *blocks(void *unused)
{
	__atomic_fetch_add(&about_to_block, 1, __ATOMIC_RELAXED);
	lock_times(1);
	return unused;
}

static int end_while_blocked(void)
{
	pthread_mutex_lock(&ends_mutex);
	for (int i = 0; i < 4; i++)
		start_thread(blocks);
	while (__atomic_load_n(&about_to_block, __ATOMIC_RELAXED) < 4)
		usleep(1000);
	usleep(50000);
	exit(13);
}

static pthread_barrier_t both;

static void *exits_with_other(void *unused)
{
	pthread_barrier_wait(&both);
	_exit(14);
	return unused;
}

static int end_twice(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start_thread(exits_with_other);
	exits_with_other(NULL);
	return WRONG_STATUS;
}

static int end_exit_group(void)
{
	syscall(SYS_exit_group, 15);
	return WRONG_STATUS;
}

static int end_raw_exit(void)
{
	syscall(SYS_exit, 16);
	return WRONG_STATUS;
}

static const struct ending endings[] = {
	{ "return", end_return },
	{ "exit", end_exit },
	{ "_exit", end__exit },
	{ "_Exit", end__Exit },
	{ "quick_exit", end_quick_exit },
	{ "destructor", end_destructor },
	{ "in-handler", end_in_handler },
	{ "abort", end_abort },
	{ "abort-ignored", end_abort_ignored },
	{ "abort-survived", end_abort_survived },
	{ "abort-left", end_abort_left },
	{ "in-signal", end_in_signal },
	{ "crash", end_crash },
	{ "kill", end_kill },
	{ "last-thread", end_last_thread },
	{ "other-thread", end_other_thread },
	{ "while-blocked", end_while_blocked },
	{ "twice", end_twice },
	{ "exit_group", end_exit_group },
	{ "raw-exit", end_raw_exit },
};

int main(int argc, char **argv)
{
	require(argc == 2, "usage: ends WAY");
	if (strcmp(argv[1], "nothing") == 0)
		return 2;
	work();
	say("worked\n");
	return run_ending(endings, sizeof(endings) / sizeof(*endings), argv[1]);
}
