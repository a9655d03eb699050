/*
 * Waits in vain for a lock of the kind given, for a moment. "hints step KIND" goes through a child
 * that does so instruction by instruction, and prints which hints to the CPU it has executed.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEPS_MAX 1000000

static struct timespec soon(void)
{
	struct timespec at;
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += 2000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

static int wait_mutex(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct timespec deadline = soon();
	pthread_mutex_lock(&mutex);
	return pthread_mutex_timedlock(&mutex, &deadline);
}

static int wait_rwlock(void)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	struct timespec deadline = soon();
	pthread_rwlock_rdlock(&lock);
	return pthread_rwlock_timedwrlock(&lock, &deadline);
}

static int wait_sem(void)
{
	sem_t sem;
	struct timespec deadline = soon();
	sem_init(&sem, 0, 0);
	return sem_timedwait(&sem, &deadline) == -1 ? errno : 0;
}

static int wait_futex(void)
{
	uint32_t word = 1;
	struct timespec timeout = { 0, 500000000 }; /* polling ends with it, even step by step */
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &timeout, NULL, 0) == -1 ? errno
	                                                                                 : 0;
}

static const struct {
	const char *name;
	int (*wait)(void);
} kinds[] = {
	{ "mutex", wait_mutex },
	{ "rwlock", wait_rwlock },
	{ "sem", wait_sem },
	{ "futex", wait_futex },
};

#if defined(__x86_64__)
#define PC(registers) ((registers).rip)
static const struct {
	const char *name;
	uint32_t code, mask;
} hints[] = {
	{ "pause", 0x90f3, 0xffff },
	{ "nop", 0x90, 0xff },
};
#else
#define PC(registers) ((registers).pc)
static const struct {
	const char *name;
	uint32_t code, mask;
} hints[] = {
	{ "isb", 0xd5033fdf, 0xffffffff },
	{ "yield", 0xd503203f, 0xffffffff },
	{ "sb", 0xd50330ff, 0xffffffff },
	{ "nop", 0xd503201f, 0xffffffff },
};
#endif

#define HINTS (sizeof(hints) / sizeof(*hints))

static void count_hint(pid_t child, unsigned counts[HINTS])
{
	struct user_regs_struct registers;
	struct iovec iovec = { &registers, sizeof(registers) };
	if (ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &iovec) != 0)
		return;
	uint32_t code = (uint32_t)ptrace(PTRACE_PEEKTEXT, child, PC(registers), 0);
	for (size_t i = 0; i < HINTS; i++)
		counts[i] += (code & hints[i].mask) == hints[i].code;
}

static int step(int (*wait)(void))
{
	unsigned counts[HINTS] = { 0 }, steps = 0;
	int status;
	pid_t child = fork();
	if (child == 0) {
		wait(); /* what is done once only is not worth the steps */
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(wait() == ETIMEDOUT ? 0 : 1);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) && steps++ < STEPS_MAX) {
		count_hint(child, counts);
		if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) != 0)
			break;
	}
	if (!WIFEXITED(status)) {
		kill(child, SIGKILL);
		return 1;
	}
	for (size_t i = 0; i < HINTS; i++)
		printf("%s %u\n", hints[i].name, counts[i]);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int stepping = argc > 1 && strcmp(argv[1], "step") == 0;
	for (size_t i = 0; argc > 1 + stepping && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(argv[1 + stepping], kinds[i].name) == 0)
			return stepping ? step(kinds[i].wait) : kinds[i].wait() != ETIMEDOUT;
	fprintf(stderr, "usage: hints [step] mutex|rwlock|sem|futex\n");
	return 2;
}
