/*
 * Makes it hard to report, in the way its argument names, after 1000 mutex acquisitions. What it
 * leaves of its stderr it shows on stdout. Usage: ends_hostile WAY [PATH]
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ends.h"

static const char *path; /* a file or directory that the way needs */
extern char **environ;

static int close_stderr(void)
{
	close(2);
	return 21;
}

/* The next file opened gets descriptor 2, as in a server that closes what it does not need. */
static int reuse_stderr(void)
{
	close(2);
	require(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) == 2, "open");
	require(write(2, "data\n", 5) == 5, "write");
	return 22;
}

static int close_all(void)
{
	for (int fd = 0; fd < 1024; fd++)
		if (fd != 1 && fd != 2)
			close(fd);
	return 23;
}

static int use_up_descriptors(void)
{
	struct rlimit few = { 20, 20 };
	setrlimit(RLIMIT_NOFILE, &few);
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	return 24;
}

/* Waits until whoever read our stderr has gone. */
static int lose_reader(void)
{
	struct pollfd reader = { .fd = 2, .events = POLLOUT };
	for (int i = 0; i < 500 && (reader.revents & POLLERR) == 0; i++) {
		poll(&reader, 1, 0);
		usleep(10000);
	}
	require((reader.revents & POLLERR) != 0, "the reader stays");
	return 25;
}

/* Nobody reads our stderr; leaves no room in it. */
static int fill_stderr(void)
{
	static char block[4096];
	int flags = fcntl(2, F_GETFL);
	fcntl(2, F_SETFL, flags | O_NONBLOCK);
	while (write(2, block, sizeof(block)) > 0)
		;
	fcntl(2, F_SETFL, flags);
	return 26;
}

static int change_root(void)
{
	require(chroot(path) == 0 && chdir("/") == 0, "chroot");
	return 27;
}

static int change_directory(void)
{
	require(chdir("/") == 0, "chdir");
	return 28;
}

static void become_nobody(void)
{
	require(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0, "setuid");
}

static int change_user(void)
{
	become_nobody();
	return 29;
}

static int set_limit(__typeof__(RLIMIT_AS) what, rlim_t soft, rlim_t hard)
{
	struct rlimit limit = { soft, hard };
	require(setrlimit(what, &limit) == 0, "setrlimit");
	return 0;
}

static int forbid_processes(void)
{
	become_nobody();
	set_limit(RLIMIT_NPROC, 0, 0);
	return 30;
}

static int forbid_writing(void)
{
	set_limit(RLIMIT_FSIZE, 0, 0);
	return 31;
}

static int forbid_memory(void)
{
	set_limit(RLIMIT_AS, 1 << 20, 1 << 20);
	return 32;
}

static int forbid_memory_softly(void)
{
	set_limit(RLIMIT_AS, 1 << 20, RLIM_INFINITY);
	return 33;
}

static int ignore_children(void)
{
	signal(SIGCHLD, SIG_IGN);
	return 34;
}

static void notice(int number)
{
	(void)number;
	say("SIGCHLD\n");
}

static void *wait_for_any(void *unused)
{
	for (;;) {
		int status;
		pid_t pid = wait(&status);
		if (pid > 0)
			say("wait: a child with status %d\n", status);
	}
	return unused;
}

/* One thread always waits for any child, and one child lives on for as long as we do. */
static int watch_children(void)
{
	int alive[2];
	char nothing;
	require(pipe(alive) == 0, "pipe");
	if (fork() == 0) {
		close(alive[1]);
		_exit(read(alive[0], &nothing, 1) == 0 ? 0 : 1);
	}
	signal(SIGCHLD, notice);
	start_thread(wait_for_any);
	usleep(20000);
	return 35;
}

static int spoil_environment(void)
{
	static char *variables[8];
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(munmap(pages + 4096, 4096) == 0, "munmap");
	variables[0] = (char *)"A=1";
	variables[1] = pages + 4096;
	variables[2] = (char *)(uintptr_t)8;
	variables[3] = memcpy(pages + 4093, "LD_", 3); /* ends at the end of all memory there */
	environ = variables;
	return 36;
}

static int lose_environment(void)
{
	environ = NULL;
	return 37;
}

static int wild_environment(void)
{
	environ = (char **)(uintptr_t)4096;
	return 38;
}

#define MANY_THREADS 100

static pthread_barrier_t all_have_locked;

static void *work_and_stay(void *unused)
{
	lock_times(WORK_THERE);
	pthread_barrier_wait(&all_have_locked);
	return unused;
}

/* Fills the disk that holds the record, then needs more of the record than before. */
static int fill_disk(void)
{
	static char block[4096];
	pthread_t threads[MANY_THREADS];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	require(fd >= 0, "open");
	while (write(fd, block, sizeof(block)) > 0)
		;
	pthread_barrier_init(&all_have_locked, NULL, MANY_THREADS);
	for (int i = 0; i < MANY_THREADS; i++)
		threads[i] = start_thread(work_and_stay);
	for (int i = 0; i < MANY_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 39;
}

static const struct ending endings[] = {
	{ "close-stderr", close_stderr },
	{ "reuse-stderr", reuse_stderr },
	{ "close-all", close_all },
	{ "use-up-descriptors", use_up_descriptors },
	{ "lose-reader", lose_reader },
	{ "fill-stderr", fill_stderr },
	{ "change-root", change_root },
	{ "change-directory", change_directory },
	{ "change-user", change_user },
	{ "forbid-processes", forbid_processes },
	{ "forbid-writing", forbid_writing },
	{ "forbid-memory", forbid_memory },
	{ "forbid-memory-softly", forbid_memory_softly },
	{ "ignore-children", ignore_children },
	{ "watch-children", watch_children },
	{ "spoil-environment", spoil_environment },
	{ "lose-environment", lose_environment },
	{ "wild-environment", wild_environment },
	{ "fill-disk", fill_disk },
};

int main(int argc, char **argv)
{
	require(argc == 2 || argc == 3, "usage: ends_hostile WAY [PATH]");
	path = argv[2];
	work();
	say("worked\n");
	return run_ending(endings, sizeof(endings) / sizeof(*endings), argv[1]);
}
