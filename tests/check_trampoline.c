/*
 * Trampolines of LSE instructions: each does to registers, flags and memory what its instruction
 * does. That needs an AArch64 CPU, and, for the instructions themselves, one with LSE; the rules
 * for what may lie in a trampoline are checked everywhere.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/atomics/trampoline.h"
#include "tests/lse.h"
#include "tests/moves.h"

#define ADDRESS UINT64_C(0x7f0000000000)
#define BACK    (ADDRESS + 0x100000)
#define DMB_ISH 0xd5033bbfu
#define ROUNDS  16u

/* What an instruction needs besides computation: moves of the stack pointer with its pairs, the
 * flags, a barrier. */
static bool may_stand(uint32_t word)
{
	return (word & 0xfffe03e0) == 0xa9be03e0 || (word & 0xffff83e0) == 0xa9bf03e0 ||
	       (word & 0xffff83e0) == 0xa8c103e0 || (word & 0xffc003e0) == 0x910003e0 ||
	       (word & ~0x1fu) == 0xd53b4200 || (word & ~0x1fu) == 0xd51b4200 || word == DMB_ISH;
}

struct tally {
	unsigned loads, stores, barriers, wrong;
};

static bool is_right(const struct a64_atomic *of, const struct a64_atomic *found)
{
	bool ordered = found->kind == A64_LOAD_EXCLUSIVE ? found->acquire == of->acquire
	                                                 : found->release == of->release;
	return found->kind != A64_LSE && ordered && found->size == of->size &&
	       found->pair == of->pair;
}

static void judge_word(
        const struct a64_atomic *of, const struct trampoline *made, unsigned i, struct tally *tally)
{
	struct a64_atomic found;
	struct a64_effect effect;
	uint64_t target;
	uint32_t word = made->words[i];
	bool inside = tally->loads == 1 && tally->stores == 0;
	if (a64_decode(word, &found)) {
		tally->loads += found.kind == A64_LOAD_EXCLUSIVE;
		tally->stores += found.kind == A64_STORE_EXCLUSIVE;
		tally->wrong += !is_right(of, &found);
	} else if (a64_branch_target(word, 4 * i, &target)) {
		tally->wrong += target / 4 >= made->count || (target < 4 * i && tally->stores == 0);
	} else {
		tally->wrong += !a64_computes(word, &effect) && (inside || !may_stand(word));
		tally->barriers += word == DMB_ISH;
	}
}

/* One load-exclusive, one store-exclusive, between them computation and branches ahead only; the
 * stack pointer is back where it was when the trampoline is left, by its last word. */
static void judge(const struct a64_atomic *of, const struct trampoline *made)
{
	struct tally tally = { 0, 0, 0, 0 };
	unsigned last = made->count - 1;
	uint64_t target;
	for (unsigned i = 0; i < last && tally.wrong == 0; i++) {
		judge_word(of, made, i, &tally);
		if (tally.wrong != 0)
			ck_abort_msg("%08x: word %u is %08x", lse_encode(of), i, made->words[i]);
	}
	bool leaves = a64_branch_target(made->words[last], ADDRESS + 4 * (uint64_t)last, &target) &&
	              made->words[last] >> 26 == 5 && target == BACK;
	ck_assert_msg(tally.loads == 1 && tally.stores == 1 &&
	                      tally.barriers == (of->acquire && of->release) &&
	                      made->moved[0] == 0 && made->moved[last] == 0 && leaves,
	        "%08x", lse_encode(of));
}

static void judge_each(const struct a64_atomic *of, void *count)
{
	struct trampoline made;
	ck_assert_msg(
	        trampoline_from_lse(&made, lse_encode(of), ADDRESS, BACK), "%08x", lse_encode(of));
	judge(of, &made);
	if (!moves_are_told(&made))
		ck_abort_msg("%08x: where the stack pointer is moved", lse_encode(of));
	unsigned char frame[TRAMPOLINE_CFI];
	size_t size = trampoline_fde(frame, sizeof(frame), &made, BACK, BACK, ADDRESS, BACK);
	if (size == 0 || size % 8 != 0)
		ck_abort_msg("%08x: %zu bytes of unwind table", lse_encode(of), size);
	*(unsigned *)count += 1;
}

START_TEST(loops_of_exclusives_and_nothing_else)
{
	unsigned count = 0;
	lse_each(judge_each, &count);
	ck_assert_uint_gt(count, 8000);
}
END_TEST

START_TEST(refuses_other_words_and_far_places)
{
	const uint32_t others[] = { A64_NOP, 0xc85f7c00 /* ldxr */, 0xc8dffc00 /* ldar */,
		0xf8bfc000 /* ldapr */, 0x19200000 /* ldclrp */,
		0x48217c00 /* casp of odd ones */ };
	const uint32_t ldadd = 0xb8210002;
	struct trampoline made;
	for (size_t i = 0; i + 1 < sizeof(others) / sizeof(*others); i++)
		ck_assert_msg(
		        !trampoline_from_lse(&made, others[i], ADDRESS, BACK), "%08x", others[i]);
	ck_assert(trampoline_from_lse(&made, ldadd, ADDRESS, ADDRESS + (127 << 20)));
	ck_assert(trampoline_from_lse(&made, ldadd, ADDRESS, ADDRESS - (127 << 20)));
	ck_assert(!trampoline_from_lse(&made, ldadd, ADDRESS, ADDRESS + (129 << 20)));
	ck_assert(!trampoline_from_lse(&made, ldadd, ADDRESS, ADDRESS - (129 << 20)));
}
END_TEST

#if defined(__aarch64__)

struct piece {
	struct a64_atomic of;
	const uint32_t *instruction, *trampoline;
};

static struct {
	struct machine_code code;
	struct piece *pieces;
	size_t count;
} all;

static void add_piece(const struct a64_atomic *of, void *unused)
{
	struct machine_code *code = &all.code;
	struct piece *piece = &all.pieces[all.count++];
	struct trampoline made;
	uint32_t word = lse_encode(of);
	(void)unused;
	piece->of = *of;
	piece->instruction = machine_first(code);
	machine_add(code, &word, 1);
	machine_branch(code, code->exits[0]);
	piece->trampoline = machine_first(code);
	ck_assert(trampoline_from_lse(
	        &made, word, machine_here(code), (uint64_t)(uintptr_t)code->exits[0]));
	machine_add(code, made.words, made.count);
}

/* Asserts what differs; an assertion that holds costs much. */
static void expect(const struct piece *piece, const struct machine *wanted,
        const struct machine *found, const char *what)
{
	uint32_t word = lse_encode(&piece->of);
	if (memcmp(wanted, found, offsetof(struct machine, sp)) == 0 &&
	        found->sp == (uint64_t)(uintptr_t)found)
		return;
	for (unsigned i = 0; i < 31; i++)
		ck_assert_msg(wanted->x[i] == found->x[i], "%08x as %s: x%u is %#lx, not %#lx",
		        word, what, i, found->x[i], wanted->x[i]);
	ck_assert_msg(wanted->nzcv == found->nzcv, "%08x as %s: flags", word, what);
	ck_assert_msg(found->sp == (uint64_t)(uintptr_t)found, "%08x as %s: sp", word, what);
	ck_abort_msg("%08x as %s: memory", word, what);
}

static void give_up(int signal)
{
	_exit(signal);
}

/* In a child. */
static _Noreturn void try(const struct piece *piece, struct machine *state)
{
	static unsigned char stack[65536];
	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) }, NULL);
	sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = give_up, .sa_flags = SA_ONSTACK },
	        NULL);
	memset(&state->memory, 0x55, MACHINE_MEMORY); /* not 0, as xzr is */
	machine_enter(state, piece->instruction);
	_exit(state->sp != (uint64_t)(uintptr_t)state);
}

/* QEMU 7.2 writes the second word of CASP's x30, xzr to the stack pointer. */
static bool can_run(const struct piece *piece, struct machine *state)
{
	static int statuses[9] = { [4] = -1, [8] = -1 };
	int *status = &statuses[piece->of.size];
	if (!machine_has_lse())
		return false;
	if (!piece->of.pair || piece->of.rs != 30)
		return true;
	if (*status < 0) {
		pid_t child = fork();
		if (child == 0)
			try(piece, state);
		ck_assert_int_eq(waitpid(child, status, 0), child);
	}
	return *status == 0;
}

static void run_piece(const struct piece *piece, struct machine *state, int equal, uint64_t *seed)
{
	struct machine before, wanted;
	lse_prepare(&piece->of, state, equal, seed);
	before = *state;
	lse_model(&piece->of, state);
	wanted = *state;
	*state = before;
	machine_enter(state, piece->trampoline);
	expect(piece, &wanted, state, "trampoline");
	*state = before;
	if (!can_run(piece, state))
		return;
	machine_enter(state, piece->instruction);
	expect(piece, &wanted, state, "instruction");
}

/* Without LSE, trampolines are compared with what the manual says only. */
START_TEST(each_does_what_its_instruction_does)
{
	struct machine *state = machine_make();
	uint64_t seed = 88172645463325252;
	all.pieces = calloc((size_t)A64_FAMILIES * 16 * LSE_REGISTERS, sizeof(*all.pieces));
	machine_begin(&all.code);
	lse_each(add_piece, NULL);
	machine_ready(&all.code);
	for (size_t i = 0; i < all.count; i++)
		for (unsigned round = 0; round < ROUNDS; round++)
			run_piece(&all.pieces[i], state, round % 2 == 0, &seed);
	if (!machine_has_lse())
		puts("this CPU has no LSE: the instructions themselves were not run");
	machine_end(&all.code);
	free(all.pieces);
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("trampolines");
	TCase *tcase = tcase_create("trampolines");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, loops_of_exclusives_and_nothing_else);
	tcase_add_test(tcase, refuses_other_words_and_far_places);
#if defined(__aarch64__)
	tcase_add_test(tcase, each_does_what_its_instruction_does);
#endif
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
