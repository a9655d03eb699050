/*
 * Locks, condition variables and their like as a program uses them: prints what every call answers,
 * so that two runs can be compared, one with and one without a library that stands in for glibc's.
 *
 *	conform --list		the names of all cases
 *	conform --kinds		the names of all kinds of mutexes and other locks
 *	conform all|CASE KIND	runs them; every line begins with the case's name
 *
 * Exit status: 0; 97 a signal ended a case; 98 a case took more than its time; 99 a step failed
 *that a case is built on.
 */
#include "conform.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"

static const struct group {
	const struct conform_case *cases;
	unsigned subject; /* the kinds that they are for */
} groups[] = {
	{ calls_cases, TRAIT_MUTEX },
	{ deadlines_cases, TRAIT_MUTEX },
	{ exclusion_cases, TRAIT_MUTEX },
	{ ends_cases, TRAIT_MUTEX },
	{ robust_cases, TRAIT_MUTEX },
	{ cancel_cases, TRAIT_MUTEX },
	{ signals_cases, TRAIT_MUTEX },
	{ forks_cases, TRAIT_MUTEX },
	{ conds_cases, TRAIT_MUTEX },
	{ processes_cases, TRAIT_MUTEX },
	{ scheduling_cases, TRAIT_MUTEX },
	{ loading_cases, TRAIT_MUTEX },
	{ c11_cases, TRAIT_MUTEX },
	{ rwlocks_cases, TRAIT_RWLOCK },
	{ rwlock_threads_cases, TRAIT_RWLOCK },
	{ spinlocks_cases, TRAIT_SPINLOCK },
	{ sems_cases, TRAIT_SEM },
	{ sem_cancel_cases, TRAIT_SEM },
	{ barriers_cases, TRAIT_BARRIER },
	{ onces_cases, TRAIT_ONCE },
};

char **conform_arguments;

static void list(void)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		for (const struct conform_case *one = groups[i].cases; one->name != NULL; one++)
			puts(one->name);
}

static void list_kinds(void)
{
	for (const struct kind *kind = kinds; kind->name != NULL; kind++)
		puts(kind->name);
}

/* Whether this user and system have such mutexes at all. Under an emulator some are missing. */
static bool kind_is_granted(const struct kind *kind)
{
	pthread_mutex_t mutex;
	if ((kind->traits & TRAITS_SUBJECT) != TRAIT_MUTEX)
		return true;
	int result = kind_prepare(kind);
	if (result == 0)
		result = kind_init(kind, &mutex);
	if (result == 0)
		result = pthread_mutex_lock(&mutex);
	if (result == 0)
		result = pthread_mutex_unlock(&mutex);
	if (result != 0)
		printf("kind: not granted: %s\n", result_name(result));
	return result == 0;
}

static bool run_group(const struct group *group, const char *name)
{
	unsigned traits = kind_under_test->traits | system_traits();
	bool found = false;
	if ((traits & TRAITS_SUBJECT) != group->subject)
		return false;
	for (const struct conform_case *one = group->cases; one->name != NULL; one++) {
		if (strcmp(name, "all") != 0 && strcmp(name, one->name) != 0)
			continue;
		found = true;
		if ((traits & one->wants) == one->wants)
			run_case(one);
	}
	return found;
}

int main(int argc, char **argv)
{
	conform_arguments = argv;
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--kinds") == 0) {
		list_kinds();
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], PARTNER_OPTION) == 0)
		return be_partner(atoi(argv[2]), argv[3]);
	kind_under_test = argc == 3 ? kind_find(argv[2]) : NULL;
	if (kind_under_test == NULL) {
		fprintf(stderr, "usage: conform --list | --kinds | all|CASE KIND\n");
		return 64;
	}
	if (!kind_is_granted(kind_under_test))
		return 0;
	watch_cases();
	bool found = false;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		found |= run_group(&groups[i], argv[1]);
	return found ? 0 : 64;
}
