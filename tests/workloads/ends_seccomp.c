/*
 * Puts itself under a seccomp filter that kills the process for most system calls, locks on, and
 * ends. Usage: ends_seccomp WAY
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ends.h"

#define FILTERED_LOCKS 100
#define MAX_CALLS      32

/* One who has locked before and one who has not. */
static int go, done;

static void wait_until(const int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
		;
}

static void *locks_filtered(void *experienced)
{
	if (experienced != NULL)
		lock_times(1);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	wait_until(&go, 1);
	lock_times(FILTERED_LOCKS);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	wait_until(&go, 2); /* for ever */
	return NULL;
}

static void start_lockers(void)
{
	static int experienced;
	pthread_t thread;
	require(pthread_create(&thread, NULL, locks_filtered, &experienced) == 0 &&
	                pthread_create(&thread, NULL, locks_filtered, NULL) == 0,
	        "pthread_create");
	wait_until(&done, 2);
}

/* Lets both threads run into a mutex that is held for a while. */
static void contend(void)
{
	pthread_mutex_lock(&ends_mutex);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	for (volatile int i = 0; i < 20000000; i++)
		;
	pthread_mutex_unlock(&ends_mutex);
	wait_until(&done, 4);
}

/* Kills for the calls (ended by -1), or for all others. */
static struct sock_fprog *filter(const int *calls, int kills_these)
{
	static struct sock_filter code[MAX_CALLS + 4];
	static struct sock_fprog program = { .filter = code };
	const uint32_t kill = SECCOMP_RET_KILL_PROCESS, allow = SECCOMP_RET_ALLOW;
	uint8_t count = 0;
	while (calls[count] != -1)
		count++;
	require(count <= MAX_CALLS, "too many calls");
	code[0] = (struct sock_filter)BPF_STMT(
	        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (uint8_t i = 0; i < count; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(
		        BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], (uint8_t)(count - i), 0);
	code[1 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, kills_these ? allow : kill);
	code[2 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, kills_these ? kill : allow);
	program.len = (unsigned short)(count + 3);
	return &program;
}

static const int for_reports[] = { SYS_execve, SYS_clone, SYS_openat, SYS_getpid, SYS_gettid,
	SYS_kill, SYS_tgkill, SYS_sched_yield, SYS_sched_getaffinity, SYS_madvise, SYS_prctl,
	SYS_fstat, SYS_newfstatat, SYS_unlinkat, SYS_wait4, SYS_rt_sigprocmask, SYS_ppoll,
	SYS_nanosleep, SYS_clone3,
#ifdef SYS_fork
	SYS_fork, SYS_vfork, SYS_open, SYS_unlink,
#endif
	-1 };

static const int for_locking[] = { SYS_write, SYS_futex, SYS_exit, SYS_exit_group, SYS_rt_sigreturn,
	-1 };

static void no_new_privileges(void)
{
	require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
}

static int deny(void)
{
	struct sock_fprog *program = filter(for_reports, 1);
	start_lockers();
	no_new_privileges();
	require(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program) ==
	                0,
	        "seccomp");
	contend();
	return 41;
}

static int allow_little(void)
{
	struct sock_fprog *program = filter(for_locking, 0);
	start_lockers();
	no_new_privileges();
	require(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program) ==
	                0,
	        "seccomp");
	contend();
	_exit(42);
}

/* For this thread alone, by the older call. */
static int deny_by_prctl(void)
{
	no_new_privileges();
	require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter(for_reports, 1), 0, 0) == 0,
	        "PR_SET_SECCOMP");
	lock_times(FILTERED_LOCKS);
	return 43;
}

static int strict(void)
{
	require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0, "PR_SET_SECCOMP");
	lock_times(FILTERED_LOCKS);
	say("strict\n");
	syscall(SYS_exit, 44);
	return WRONG_STATUS;
}

static int deny_to_child(void)
{
	static const int calls[] = { SYS_execve, SYS_openat, SYS_madvise, SYS_getcwd, -1 };
	int status = 0;
	no_new_privileges();
	require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter(calls, 1), 0, 0) == 0,
	        "PR_SET_SECCOMP");
	pid_t pid = fork();
	lock_times(FILTERED_LOCKS);
	if (pid == 0)
		exit(5);
	require(waitpid(pid, &status, 0) == pid, "waitpid");
	say("child ended: %d\n", status);
	return 45;
}

/* As libraries do to find out what the kernel can. */
static int probe(void)
{
	uint32_t action = SECCOMP_RET_LOG;
	require(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1, "no filter");
	require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1, "no filter");
	say("actions: %ld\n", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action));
	return 46;
}

static const struct ending endings[] = {
	{ "deny", deny },
	{ "allow-little", allow_little },
	{ "deny-by-prctl", deny_by_prctl },
	{ "strict", strict },
	{ "deny-to-child", deny_to_child },
	{ "probe", probe },
};

int main(int argc, char **argv)
{
	require(argc == 2, "usage: ends_seccomp WAY");
	work();
	say("worked\n");
	return run_ending(endings, sizeof(endings) / sizeof(*endings), argv[1]);
}
