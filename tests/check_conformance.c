/*
 * Programs that print what every call on locks, condition variables and their like answers: under
 * libabshim.so they print, case by case, what they print without it. Every strategy of a family of
 * locks goes through that family's cases, by itself, because it stands in the table.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sysexits.h>

#include "shim/choice.h"
#include "tests/runs.h"

#define WIDE             3
#define SECONDS          150
#define MOST_ARMS        80
#define MOST_KINDS       40
#define MOST_RUNS        1500
#define MOST_COMPARISONS 100000
#define PATH_LENGTH      4096

enum kinds_of_arm { ALL_KINDS, FEW_KINDS };

/* A family of locks, by the first word of its kinds' names. Those of mutexes have none in common.
 */
struct family {
	const char *prefix, *variable; /* variable NULL: there is nothing to set */
	unsigned bit;                  /* in pollings.def */
};

static const struct family mutexes;

static const struct family families[] = {
	{ "rwlock", "ABSHIM_RWLOCK", FOR_RWLOCK },
	{ "spinlock", "ABSHIM_SPINLOCK", FOR_SPINLOCK },
	{ "sem", "ABSHIM_SEM", FOR_SEM },
	{ "barrier", NULL, 0 },
	{ "once", NULL, 0 },
};

#define FAMILIES (sizeof(families) / sizeof(*families))

/* A way to set the library up. */
struct arm {
	const struct family *family; /* whose kinds it is for */
	char name[64];
	char settings[2][64]; /* NAME=value, or empty */
	enum kinds_of_arm kinds;
};

static struct arm arms[MOST_ARMS];
static unsigned arm_count;

static const struct strategy {
	const char *name;
	unsigned count, families;
} strategies[] = {
#define STRATEGY(name, count, help) { #name, count, FOR_MUTEX },
#include "shim/strategies.def"
#undef STRATEGY
}, pollings[] = {
#define POLLING(name, count, families, help) { #name, count, families },
#include "shim/pollings.def"
#undef POLLING
};

#define STRATEGIES (sizeof(strategies) / sizeof(*strategies))
#define POLLINGS   (sizeof(pollings) / sizeof(*pollings))

/* A run with the library and the one without it that it is compared with. */
struct pair {
	unsigned bare, with; /* indexes of runs */
	const struct arm *arm;
	const char *atomics; /* the setting of ABSHIM_ATOMICS, NULL for none */
	const char *program, *kind;
};

/* One case of a pair; name NULL: how the runs ended. */
struct comparison {
	const struct pair *pair;
	char name[64];
};

static char library[PATH_LENGTH], conform[PATH_LENGTH], cxx[PATH_LENGTH];
static char *kind_names[MOST_KINDS];
static unsigned kind_count;
static struct run runs[MOST_RUNS];
static struct pair pairs[MOST_RUNS];
static unsigned run_count, pair_count;
static struct comparison *comparisons;
static unsigned comparison_count;

static bool emulated(void)
{
	const char *emulator = getenv("EMULATOR");
	return emulator != NULL && *emulator != '\0';
}

static void expect_room(unsigned count, unsigned most)
{
	if (count <= most)
		return;
	fprintf(stderr, "check_conformance: a table is too small\n");
	exit(EXIT_FAILURE);
}

static void add_arm(const struct family *family, enum kinds_of_arm which, const char *setting,
        const char *other)
{
	struct arm *arm = &arms[arm_count++];
	expect_room(arm_count, MOST_ARMS);
	arm->family = family;
	arm->kinds = which;
	snprintf(arm->settings[0], sizeof(arm->settings[0]), "%s", setting);
	snprintf(arm->settings[1], sizeof(arm->settings[1]), "%s", other);
	snprintf(arm->name, sizeof(arm->name), "%.30s %.30s", setting, other);
}

static void add_strategy(
        const struct family *family, const char *variable, const struct strategy *strategy)
{
	char setting[64];
	snprintf(setting, sizeof(setting), "%s=%s", variable, strategy->name);
	add_arm(family, ALL_KINDS, setting, "");
	if (!emulated())
		add_arm(family, FEW_KINDS, setting, "ABSHIM_STATS=off");
	if (strategy->count == 0)
		return;
	snprintf(setting, sizeof(setting), "%s=%s:1", variable, strategy->name);
	add_arm(family, FEW_KINDS, setting, "");
}

/* What has no strategies is only counted, or not even that though others are. */
static void add_family(const struct family *family)
{
	for (size_t i = 0; i < POLLINGS; i++)
		if ((pollings[i].families & family->bit) != 0)
			add_strategy(family, family->variable, &pollings[i]);
	if (family->bit == FOR_RWLOCK)
		add_arm(family, ALL_KINDS, "ABSHIM_STATS=hold", "");
	add_arm(family, FEW_KINDS, "ABSHIM_STACKS=16", "");
	if (family->variable != NULL)
		return;
	add_arm(family, ALL_KINDS, "ABSHIM_STATS=on", "");
	add_arm(family, ALL_KINDS, "ABSHIM_STATS=off", "ABSHIM_MUTEX=park");
	add_arm(family, FEW_KINDS, "ABSHIM_STATS=off", "");
}

static void add_arms(void)
{
	for (size_t i = 0; i < STRATEGIES; i++)
		add_strategy(&mutexes, "ABSHIM_MUTEX", &strategies[i]);
	add_arm(&mutexes, ALL_KINDS, "ABSHIM_STATS=hold", "");
	add_arm(&mutexes, FEW_KINDS, "ABSHIM_STATS=hold", "ABSHIM_MUTEX=yield");
	add_arm(&mutexes, ALL_KINDS, "ABSHIM_STACKS=16", "ABSHIM_MUTEX=yield");
	add_arm(&mutexes, FEW_KINDS, "LIBPTHREAD_YIELDLOOPS=30", "");
	add_arm(&mutexes, FEW_KINDS, "LIBPTHREAD_YIELDLOOPS=10", "LIBPTHREAD_SPINLOOPS=50");
	for (size_t i = 0; i < FAMILIES; i++)
		add_family(&families[i]);
}

static const struct family *family_of(const char *kind)
{
	for (size_t i = 0; i < FAMILIES; i++)
		if (strncmp(kind, families[i].prefix, strlen(families[i].prefix)) == 0)
			return &families[i];
	return &mutexes;
}

static bool is_listed(const char *kind, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(kind, *list) == 0)
			return true;
	return false;
}

/* Static initialisers make the same words as attributes do, and libc's own kinds pass through in
 * every arm. Emulated, all of it takes four times as long. */
static bool kind_is_for(const struct arm *arm, const char *kind)
{
	static const char *const few[] = { "normal", "normal-set", "recursive", "errorcheck",
		"adaptive", "normal-shared", "normal-set-shared", "recursive-shared",
		"errorcheck-shared", "adaptive-shared", NULL };
	static const char *const emulated_all[] = { "normal", "recursive", "errorcheck", "adaptive",
		"normal-shared", "recursive-shared", "robust", "robust-recursive", "inherit",
		"protect", NULL };
	static const char *const emulated_few[] = { "normal", "recursive-shared", NULL };
	if (arm->family != family_of(kind))
		return false;
	if (arm->family != &mutexes)
		return !emulated() || arm->kinds == ALL_KINDS;
	if (emulated())
		return is_listed(kind, arm->kinds == ALL_KINDS ? emulated_all : emulated_few);
	return arm->kinds == ALL_KINDS || is_listed(kind, few);
}

/* Each case is tried with each family of atomics, if the CPU has it: in turn, from arm to arm. */
static const char *atomics_of(unsigned turn)
{
#if defined(__aarch64__)
	static const char *const choices[] = { "ABSHIM_ATOMICS=native", "ABSHIM_ATOMICS=llsc",
		"ABSHIM_ATOMICS=lse" };
	return choices[turn % ((getauxval(AT_HWCAP) & HWCAP_ATOMICS) != 0 ? 3 : 2)];
#else
	(void)turn;
	return NULL;
#endif
}

#if defined(__aarch64__)
#define TURNS 3u
#else
#define TURNS 1u
#endif

static unsigned add_run(
        const char *program, const char *kind, const struct arm *arm, const char *atomics)
{
	struct run *run = &runs[run_count++];
	expect_room(run_count, MOST_RUNS);
	run->words[0] = program;
	run->words[1] = "all";
	run->words[2] = kind;
	run->preload = arm != NULL ? library : NULL;
	unsigned count = 0;
	for (unsigned i = 0; arm != NULL && i < 2; i++)
		if (arm->settings[i][0] != '\0')
			run->settings[count++] = arm->settings[i];
	run->settings[count] = atomics;
	return run_count - 1;
}

static void add_pair(unsigned bare, const struct arm *arm, const char *atomics)
{
	const char *program = runs[bare].words[0], *kind = runs[bare].words[2];
	unsigned with = add_run(program, kind, arm, atomics);
	pairs[pair_count++] = (struct pair){ bare, with, arm, atomics, program, kind };
}

/* The program without the library, and with it set up in every way; kind NULL: it takes none. */
static void add_pairs(const char *program, const char *kind)
{
	static unsigned turn; /* goes on, so that an arm has another one with the next kind */
	const struct arm *last = NULL;
	unsigned bare = MOST_RUNS, first = turn++;
	for (unsigned i = 0; i < arm_count; i++) {
		if (kind != NULL && !kind_is_for(&arms[i], kind))
			continue;
		if (bare == MOST_RUNS)
			bare = add_run(program, kind, NULL, NULL);
		last = &arms[i];
		add_pair(bare, last, atomics_of(turn++));
	}
	for (; last != NULL && turn - first <= TURNS; turn++)
		add_pair(bare, last, atomics_of(turn));
}

/* Proof that the library comes to bear: it ends a program whose settings it cannot obey. */
static bool library_is_in_force(void)
{
	struct run run = { .words = { conform, "--kinds" },
		.settings = { "ABSHIM_MUTEX=none" },
		.preload = library,
		.quiet = true };
	if (runs_carry_out(&run, 1, 1, SECONDS) && run.status == EX_CONFIG)
		return true;
	fprintf(stderr, "check_conformance: %s does not come to bear\n", library);
	return false;
}

static bool find_kinds(void)
{
	struct run run = { .words = { conform, "--kinds" } };
	if (!runs_carry_out(&run, 1, 1, SECONDS) || run.status != 0)
		return false;
	for (char *name = strtok(run.output, "\n"); name != NULL; name = strtok(NULL, "\n"))
		if (kind_count < MOST_KINDS)
			kind_names[kind_count++] = name;
	return kind_count > 0;
}

static void find_paths(void)
{
	const char *build = getenv("BUILD");
	if (build == NULL)
		build = "build";
	snprintf(library, sizeof(library), "%s/libabshim.so", build);
	snprintf(conform, sizeof(conform), "%s/workloads/conform", build);
	snprintf(cxx, sizeof(cxx), "%s/workloads/cxx", build);
}

static bool carry_out(void)
{
	find_paths();
	add_arms();
	if (!library_is_in_force() || !find_kinds())
		return false;
	for (unsigned i = 0; i < kind_count; i++)
		add_pairs(conform, kind_names[i]);
	add_pairs(cxx, NULL);
	return runs_carry_out(runs, run_count, WIDE, SECONDS);
}

/* The length of the case's name that a line begins with. */
static size_t name_length(const char *line)
{
	return strcspn(line, ":\n");
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');
	return end != NULL ? end + 1 : line + strlen(line);
}

static void add_comparison(const struct pair *pair, const char *name, size_t length)
{
	struct comparison *comparison = &comparisons[comparison_count++];
	expect_room(comparison_count, MOST_COMPARISONS);
	comparison->pair = pair;
	snprintf(comparison->name, sizeof(comparison->name), "%.*s", (int)length, name);
}

/* One comparison for every case in the output without the library. */
static void split_into_cases(const struct pair *pair)
{
	const char *name = "";
	size_t length = 0;
	add_comparison(pair, "", 0);
	const char *line = runs[pair->bare].output;
	for (; line != NULL && *line != '\0'; line = next_line(line)) {
		if (name_length(line) == length && strncmp(line, name, length) == 0)
			continue;
		name = line;
		length = name_length(line);
		add_comparison(pair, name, length);
	}
}

static void find_comparisons(void)
{
	comparisons = calloc(MOST_COMPARISONS, sizeof(*comparisons));
	expect_room(comparisons == NULL, 0);
	for (unsigned i = 0; i < pair_count; i++)
		split_into_cases(&pairs[i]);
}

/* The first line of the case, or the end of the text. */
static const char *find_case(const char *text, const char *name)
{
	for (; text != NULL && *text != '\0'; text = next_line(text))
		if (name_length(text) == strlen(name) && strncmp(text, name, strlen(name)) == 0)
			return text;
	return "";
}

static const char *atomics_name(const struct pair *pair)
{
	return pair->atomics != NULL ? pair->atomics : "";
}

static void expect_same_case(const struct comparison *comparison)
{
	const struct pair *pair = comparison->pair;
	const char *name = comparison->name;
	const char *bare = find_case(runs[pair->bare].output, name);
	const char *with = find_case(runs[pair->with].output, name);
	do {
		int length = (int)strcspn(bare, "\n"), other = (int)strcspn(with, "\n");
		ck_assert_msg(length == other && strncmp(bare, with, (size_t)length) == 0,
		        "%s %s, %s %s: without the library \"%.*s\", with it \"%.*s\"",
		        pair->arm->name, atomics_name(pair), strrchr(pair->program, '/') + 1,
		        pair->kind != NULL ? pair->kind : "", length, bare, other, with);
		bare = next_line(bare);
		with = next_line(with);
	} while (name_length(bare) == strlen(name) && strncmp(bare, name, strlen(name)) == 0);
}

START_TEST(same_as_without_the_library)
{
	const struct comparison *comparison = &comparisons[_i];
	const struct pair *pair = comparison->pair;
	const struct run *bare = &runs[pair->bare], *with = &runs[pair->with];
	if (comparison->name[0] != '\0') {
		expect_same_case(comparison);
		return;
	}
	ck_assert_msg(bare->status == 0 && with->status == 0 && bare->output != NULL &&
	                      with->output != NULL && strlen(bare->output) == strlen(with->output),
	        "%s %s, %s %s: exit status %d without the library, %d with it; or more output",
	        pair->arm->name, atomics_name(pair), strrchr(pair->program, '/') + 1,
	        pair->kind != NULL ? pair->kind : "", bare->status, with->status);
}
END_TEST

int main(void)
{
	const char *sanitizers = getenv("SAN");
	if (sanitizers != NULL && *sanitizers != '\0') {
		puts("check_conformance: nothing that it runs is built with sanitizers");
		return 77;
	}
	if (!carry_out())
		return EXIT_FAILURE;
	find_comparisons();
	Suite *suite = suite_create("conformance");
	TCase *cases = tcase_create("cases");
	tcase_add_loop_test(cases, same_as_without_the_library, 0, (int)comparison_count);
	suite_add_tcase(suite, cases);
	SRunner *runner = srunner_create(suite);
	/* Nothing of what is tested runs in this process any more. */
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 && comparison_count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
