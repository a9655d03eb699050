/*
 * Two processes share a mutex, and the other one runs on bare glibc: it is this program again,
 * without any preloaded library.
 */
#include "run.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARTNER_SECONDS 30
#define MOST_WORDS      32

/* What both processes see. */
struct common {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sem_t to_partner, to_us;
	unsigned long counter;
	unsigned turns;
	int results[8];
};

struct task {
	const char *name;
	void (*ours)(struct common *common);
	void (*partners)(struct common *common);
};

static void init(struct common *common)
{
	pthread_condattr_t attributes;
	semaphore_init(&common->to_partner);
	semaphore_init(&common->to_us);
	require(kind_init(kind_under_test, &common->mutex) == 0, "pthread_mutex_init");
	pthread_condattr_init(&attributes);
	pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	require(pthread_cond_init(&common->cond, &attributes) == 0, "pthread_cond_init");
}

static void *count(void *argument)
{
	struct common *common = argument;
	for (int i = 0; i < 400; i++) {
		require(do_op(OP_LOCK, &common->mutex) == 0, "lock");
		common->counter++;
		if (i % 16 == 0)
			sched_yield();
		require(do_op(OP_UNLOCK, &common->mutex) == 0, "unlock");
	}
	return NULL;
}

static void count_in_two(struct common *common)
{
	pthread_t other = start(count, common);
	count(common);
	pthread_join(other, NULL);
}

static void hold(struct common *common)
{
	require(do_op(OP_LOCK, &common->mutex) == 0, "lock");
	sem_post(&common->to_us);
	semaphore_wait(&common->to_partner);
	sleep_ms(2); /* the others come to wait */
	require(do_op(OP_UNLOCK, &common->mutex) == 0, "unlock");
}

static void wait_for_holder(struct common *common)
{
	semaphore_wait(&common->to_us);
	for (enum op op = OP_TRY; op < OP_ACQUIRING; op++)
		say_op(op, &common->mutex);
	sem_post(&common->to_partner);
	for (int i = 0; i < 3; i++) {
		say_op(OP_LOCK, &common->mutex);
		say_op(OP_UNLOCK, &common->mutex);
	}
}

static void hold_for_partner(struct common *common)
{
	require(do_op(OP_LOCK, &common->mutex) == 0, "lock");
	sem_post(&common->to_partner);
	semaphore_wait(&common->to_us);
	sleep_ms(2);
	require(do_op(OP_UNLOCK, &common->mutex) == 0, "unlock");
}

static void wait_and_note(struct common *common)
{
	semaphore_wait(&common->to_partner);
	for (enum op op = OP_TRY; op < OP_ACQUIRING; op++)
		common->results[op] = do_op(op, &common->mutex);
	sem_post(&common->to_us);
	common->results[OP_LOCK] = do_op(OP_LOCK, &common->mutex);
	common->results[OP_UNLOCK] = do_op(OP_UNLOCK, &common->mutex);
}

#define TURNS 200

static void play(struct common *common, unsigned player)
{
	require(do_op(OP_LOCK, &common->mutex) == 0, "lock");
	while (common->turns < TURNS) {
		if (common->turns % 2 == player) {
			common->turns++;
			pthread_cond_broadcast(&common->cond);
		} else {
			require(pthread_cond_wait(&common->cond, &common->mutex) == 0, "wait");
		}
	}
	require(do_op(OP_UNLOCK, &common->mutex) == 0, "unlock");
}

static void play_first(struct common *common)
{
	play(common, 0);
}

static void play_second(struct common *common)
{
	play(common, 1);
}

static void die_as_owner(struct common *common)
{
	require(do_op(OP_LOCK, &common->mutex) == 0, "lock");
	sem_post(&common->to_us);
	sleep_ms(2);
	_exit(0);
}

static void learn_of_death(struct common *common)
{
	semaphore_wait(&common->to_us);
	say_op(OP_LOCK, &common->mutex);
	say("consistent: %s", result_name(pthread_mutex_consistent(&common->mutex)));
	say_op(OP_UNLOCK, &common->mutex);
}

static void init_again(struct common *common)
{
	pthread_mutex_destroy(&common->mutex);
	require(kind_init(kind_under_test, &common->mutex) == 0, "pthread_mutex_init");
	sem_post(&common->to_us);
	count_in_two(common);
}

static void use_what_partner_made(struct common *common)
{
	semaphore_wait(&common->to_us);
	count_in_two(common);
}

static const struct task tasks[] = {
	{ "count", count_in_two, count_in_two },
	{ "hold", wait_for_holder, hold },
	{ "wait", hold_for_partner, wait_and_note },
	{ "turns", play_first, play_second },
	{ "init", use_what_partner_made, init_again },
	{ "die", learn_of_death, die_as_owner },
	{ NULL, NULL, NULL },
};

static const struct task *task_find(const char *name)
{
	const struct task *task = tasks;
	while (task->name != NULL && strcmp(task->name, name) != 0)
		task++;
	require(task->name != NULL, "no such task");
	return task;
}

int be_partner(int fd, const char *task_and_kind)
{
	char task[32];
	const char *separator = strchr(task_and_kind, ',');
	if (separator == NULL || getenv("LD_PRELOAD") != NULL)
		return 96;
	snprintf(task, sizeof(task), "%.*s", (int)(separator - task_and_kind), task_and_kind);
	kind_under_test = kind_find(separator + 1);
	alarm(PARTNER_SECONDS);
	struct common *common =
	        mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (kind_under_test == NULL || common == MAP_FAILED)
		return 95;
	task_find(task)->partners(common);
	return 0;
}

/* The words of the emulator's command line, if there is one, and of the partner's. */
static int fill_command(char **words, char *emulator, char *fd, char *task)
{
	int count = 0;
	for (char *word = strtok(emulator, " "); word != NULL; word = strtok(NULL, " ")) {
		require(count < MOST_WORDS - 5, "$EMULATOR has too many words");
		words[count++] = word;
	}
	words[count++] = conform_arguments[0];
	words[count++] = (char *)PARTNER_OPTION;
	words[count++] = fd;
	words[count++] = task;
	words[count] = NULL;
	return count;
}

static pid_t start_partner(int fd, const char *task)
{
	char emulator[512], fd_text[16], task_text[64], *words[MOST_WORDS];
	const char *given = getenv("EMULATOR"), *preload = getenv("LD_PRELOAD");
	char *kept = preload != NULL ? strdup(preload) : NULL;
	pid_t partner;
	snprintf(emulator, sizeof(emulator), "%s", given != NULL ? given : "");
	snprintf(fd_text, sizeof(fd_text), "%d", fd);
	snprintf(task_text, sizeof(task_text), "%s,%s", task, kind_under_test->name);
	fill_command(words, emulator, fd_text, task_text);
	unsetenv("LD_PRELOAD");
	require(posix_spawnp(&partner, words[0], NULL, NULL, words, environ) == 0, "posix_spawnp");
	if (kept != NULL)
		setenv("LD_PRELOAD", kept, 1);
	free(kept);
	return partner;
}

static void with_partner(const char *name)
{
	int fd = memfd_create("conform", 0), status;
	struct common *common;
	require(fd >= 0 && ftruncate(fd, sizeof(*common)) == 0, "memfd_create");
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	require(common != MAP_FAILED, "mmap");
	init(common);
	pid_t partner = start_partner(fd, name);
	task_find(name)->ours(common);
	require(waitpid(partner, &status, 0) == partner, "waitpid");
	say("%s: partner's exit status %d, signal %d", name, WEXITSTATUS(status), WTERMSIG(status));
	say("counter %lu, turns %u", common->counter, common->turns);
	for (enum op op = 0; op < OPS; op++)
		say("partner's %s: %s", op_names[op], result_name(common->results[op]));
	say_op(OP_DESTROY, &common->mutex);
	munmap(common, sizeof(*common));
	close(fd);
}

static void count_with_partner(void)
{
	with_partner("count");
	with_partner("init");
}

static void hold_and_wait_with_partner(void)
{
	with_partner("hold");
	with_partner("wait");
}

static void turns_with_partner(void)
{
	with_partner("turns");
}

static void partner_dies(void)
{
	with_partner("die");
}

const struct conform_case processes_cases[] = {
	{ "two-processes-count", count_with_partner, TRAIT_SHARED },
	{ "two-processes-wait", hold_and_wait_with_partner, TRAIT_SHARED },
	{ "two-processes-turns", turns_with_partner, TRAIT_SHARED },
	{ "two-processes-death", partner_dies, TRAIT_SHARED | TRAIT_ROBUST | TRAIT_DEATHS },
	{ NULL, NULL, 0 },
};
