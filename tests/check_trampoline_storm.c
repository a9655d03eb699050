/*
 * Trampolines among others: on the same memory as other threads' trampolines and instructions, and
 * under signals whose handlers write below the stack pointer.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__aarch64__)

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "shim/atomics/trampoline.h"
#include "tests/lse.h"

#define THREADS 4
#define TIMES   20000u
#define OPERAND 2u /* registers of all pieces: x2 x3, x4 x5, x6 */
#define RESULT  4u
#define BASE    6u

static const struct a64_atomic add = { A64_LSE, A64_ldadd, 8, false, false, false, OPERAND, RESULT,
	A64_ZR, BASE };
static const struct a64_atomic add_byte = { A64_LSE, A64_ldadd, 1, false, true, true, OPERAND,
	RESULT, A64_ZR, BASE };
static const struct a64_atomic larger = { A64_LSE, A64_ldumax, 4, false, true, false, OPERAND,
	RESULT, A64_ZR, BASE };
static const struct a64_atomic cas = { A64_LSE, A64_cas, 8, false, true, true, OPERAND, RESULT,
	A64_ZR, BASE };
static const struct a64_atomic casp = { A64_LSE, A64_casp, 8, true, false, true, OPERAND, RESULT,
	A64_ZR, BASE };
static const struct a64_atomic swap_on_stack = { A64_LSE, A64_swp, 8, false, false, false, OPERAND,
	OPERAND, A64_ZR, A64_SP };

/* An instruction, and its trampoline. */
struct piece {
	const uint32_t *instruction, *trampoline;
	struct trampoline made;
};

static struct machine_code code;
static struct piece adds, byte_adds, largers, compares, pairs, swaps;

static void make_piece(struct piece *piece, const struct a64_atomic *of)
{
	uint32_t word = lse_encode(of);
	piece->instruction = machine_first(&code);
	machine_add(&code, &word, 1);
	machine_branch(&code, code.exits[0]);
	piece->trampoline = machine_first(&code);
	ck_assert(trampoline_from_lse(
	        &piece->made, word, machine_here(&code), (uint64_t)(uintptr_t)code.exits[0]));
	machine_add(&code, piece->made.words, piece->made.count);
}

static void make_pieces(void)
{
	machine_begin(&code);
	make_piece(&adds, &add);
	make_piece(&byte_adds, &add_byte);
	make_piece(&largers, &larger);
	make_piece(&compares, &cas);
	make_piece(&pairs, &casp);
	make_piece(&swaps, &swap_on_stack);
	machine_ready(&code);
}

static struct {
	uint64_t sum, compared, pair[2] __attribute__((aligned(16)));
	uint32_t largest;
	uint8_t bytes[4];
} shared;

/* Every other time, and not at all without LSE, as the instruction. */
static void run(const struct piece *piece, struct machine *state, const void *place, unsigned time)
{
	state->x[BASE] = (uint64_t)(uintptr_t)place;
	machine_enter(
	        state, time % 2 && machine_has_lse() ? piece->instruction : piece->trampoline);
}

/* Adds 1 and 3 to the halves of the pair, both at once. */
static void add_to_pair(struct machine *state, unsigned time)
{
	uint64_t seen[2] = { 0, 0 };
	do {
		memcpy(seen, &state->x[OPERAND], sizeof(seen)); /* what was found last */
		state->x[RESULT] = seen[0] + 1;
		state->x[RESULT + 1] = seen[1] + 3;
		run(&pairs, state, shared.pair, time);
	} while (memcmp(seen, &state->x[OPERAND], sizeof(seen)) != 0);
}

static void add_by_comparing(struct machine *state, unsigned time)
{
	uint64_t seen;
	do {
		seen = state->x[OPERAND];
		state->x[RESULT] = seen + 1;
		run(&compares, state, &shared.compared, time);
	} while (seen != state->x[OPERAND]);
}

static void *work(void *number)
{
	struct machine *state = machine_make();
	uint64_t me = (uint64_t)(uintptr_t)number;
	for (unsigned time = 0; time < TIMES; time++) {
		state->x[OPERAND] = me + 1;
		run(&adds, state, &shared.sum, time);
		state->x[OPERAND] = 1;
		run(&byte_adds, state, &shared.bytes[me % 4], time);
		state->x[OPERAND] = me * TIMES + time;
		run(&largers, state, &shared.largest, time);
		state->x[OPERAND] = shared.pair[0];
		state->x[OPERAND + 1] = shared.pair[1];
		add_to_pair(state, time);
		state->x[OPERAND] = 0;
		add_by_comparing(state, time);
	}
	return NULL;
}

START_TEST(sums_are_exact)
{
	pthread_t threads[THREADS];
	make_pieces();
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_uint_eq(shared.sum, TIMES * (uint64_t)(THREADS * (THREADS + 1) / 2));
	ck_assert_uint_eq(shared.compared, (uint64_t)TIMES * THREADS);
	ck_assert_uint_eq(shared.pair[0], (uint64_t)TIMES * THREADS);
	ck_assert_uint_eq(shared.pair[1], 3 * (uint64_t)TIMES * THREADS);
	ck_assert_uint_eq(shared.largest, THREADS * TIMES - 1);
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_uint_eq(shared.bytes[i], (uint8_t)TIMES);
	if (!machine_has_lse())
		puts("this CPU has no LSE: the instructions themselves were not run");
	machine_end(&code);
}
END_TEST

/* Where signals came. */
static volatile sig_atomic_t inside, while_moved, misplaced;
static struct machine *stormed;

static void count(const struct piece *piece, const mcontext_t *at)
{
	const uint32_t *pc = (const uint32_t *)(uintptr_t)at->pc;
	const uint32_t *first = piece->trampoline + 1; /* behind what loads x30 */
	if (pc < first || pc >= first + piece->made.count)
		return;
	unsigned moved = piece->made.moved[pc - first];
	inside++;
	while_moved += moved != 0;
	misplaced += at->sp + moved != (uint64_t)(uintptr_t)stormed;
}

static void scribble(int signal, siginfo_t *info, void *context)
{
	volatile unsigned char below[2048];
	(void)signal, (void)info;
	for (unsigned i = 0; i < sizeof(below); i++)
		below[i] = 0xa5;
	count(&swaps, &((const ucontext_t *)context)->uc_mcontext);
	count(&largers, &((const ucontext_t *)context)->uc_mcontext);
}

static void begin_storm(void)
{
	struct sigaction action = { .sa_sigaction = scribble, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval often = { { 0, 200 }, { 0, 200 } };
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* What the pieces give, whatever came between. */
static bool is_right(struct machine *state, uint64_t number)
{
	struct machine before = *state;
	state->x[OPERAND] = number;
	machine_enter(state, swaps.trampoline);
	if (state->memory.words[0] != number || state->x[OPERAND] != before.memory.words[0])
		return false;
	state->x[OPERAND] = number;
	run(&largers, state, &state->memory.words[4], 0);
	for (unsigned i = 0; i < 31; i++)
		if (i != OPERAND && i != RESULT && i != BASE && state->x[i] != before.x[i])
			return false;
	return (uint32_t)state->memory.words[4] == (uint32_t)number && state->nzcv == before.nzcv &&
	       state->sp == (uint64_t)(uintptr_t)state;
}

/* Until signals have come often enough while the stack pointer was moved, or for long. */
START_TEST(signals_do_not_disturb)
{
	time_t end = time(NULL) + 20;
	make_pieces();
	stormed = machine_make();
	for (uint64_t i = 0; i < 31; i++)
		stormed->x[i] = i << 40 | i;
	begin_storm();
	for (uint64_t number = 1; while_moved < 30 && time(NULL) < end; number++) {
		stormed->nzcv = number << 28 & UINT64_C(0xf0000000);
		if (!is_right(stormed, number & INT32_MAX))
			ck_abort_msg("wrong after %d signals inside", (int)inside);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0, 0 } }, NULL);
	printf("signals inside trampolines: %d, %d of them with the stack pointer moved\n",
	        (int)inside, (int)while_moved);
	ck_assert_int_gt(inside, 0);
	ck_assert_int_eq(misplaced, 0);
	machine_end(&code);
}
END_TEST

/* A page that may only be read until the first write to it. */
static uint64_t *guarded;
static volatile sig_atomic_t faults, changed;

static void repair(int signal, siginfo_t *info, void *unused)
{
	(void)signal, (void)unused;
	faults++;
	changed += guarded[0] != 5 || guarded[1] != 7 || info->si_addr != guarded;
	mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

static void run_guarded(const struct a64_atomic *of, const struct piece *piece)
{
	struct machine *state = machine_make(), wanted;
	guarded[0] = 5;
	guarded[1] = 7;
	state->x[OPERAND] = 5;
	state->x[OPERAND + 1] = 7;
	state->x[RESULT] = 8;
	state->x[BASE] = (uint64_t)(uintptr_t)guarded;
	wanted = *state;
	lse_model(of, &wanted);
	uint64_t stored[2] = { guarded[0], guarded[1] };
	guarded[0] = 5;
	guarded[1] = 7;
	mprotect(guarded, 4096, PROT_READ);
	machine_enter(state, piece->trampoline);
	ck_assert_mem_eq(guarded, stored, sizeof(stored));
	ck_assert_mem_eq(state->x, wanted.x, sizeof(wanted.x));
}

START_TEST(a_fault_changes_nothing_and_can_be_repaired)
{
	struct sigaction action = { .sa_sigaction = repair, .sa_flags = SA_SIGINFO };
	make_pieces();
	guarded = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(guarded, MAP_FAILED);
	sigaction(SIGSEGV, &action, NULL);
	run_guarded(&add, &adds);
	run_guarded(&add_byte, &byte_adds);
	run_guarded(&larger, &largers);
	run_guarded(&cas, &compares);
	run_guarded(&casp, &pairs);
	signal(SIGSEGV, SIG_DFL);
	ck_assert_int_eq(faults, 5);
	ck_assert_int_eq(changed, 0);
	machine_end(&code);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trampolines among others");
	TCase *tcase = tcase_create("trampolines among others");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, sums_are_exact);
	tcase_add_test(tcase, signals_do_not_disturb);
	tcase_add_test(tcase, a_fault_changes_nothing_and_can_be_repaired);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#else

int main(void)
{
	puts("trampolines are for AArch64");
	return 77;
}

#endif
