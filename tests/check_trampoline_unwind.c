/*
 * Unwinders walk out of a trampoline, from every word of it, to the instruction that it stands for,
 * and find all registers as they were there: libgcc's, and libunwind where it is installed. A word
 * that cannot be executed stops the trampoline where the walk begins.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__aarch64__)

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#include "shim/atomics/area.h"

#define FILLED 29u /* registers that the site fills; the one of the frame it keeps */
#define VALUE  0x1000u
#define BASE   1u /* the register that holds the datum's address */
#define ENTRY  16u

/* Fills registers, then goes to the trampoline as the instruction at unwind_original would. */
void unwind_site(const void *trampoline, void *place);
extern __attribute__((visibility("hidden"))) const char unwind_original[];
extern uint64_t unwind_site_sp;
uint64_t unwind_site_sp;

/* clang-format off */
#define FILL(reg) "	mov x" #reg ", #0x1000 + " #reg "\n"
__asm__(
".text\n"
".type unwind_site, %function\n"
"unwind_site:\n"
"	.cfi_startproc\n"
"	stp x29, x30, [sp, #-128]!\n"
"	.cfi_def_cfa_offset 128\n"
"	.cfi_offset 29, -128\n"
"	.cfi_offset 30, -120\n"
"	sub sp, sp, #32\n"
"	.cfi_def_cfa_offset 160\n"
"	stp x19, x20, [sp, #48]\n"
"	stp x21, x22, [sp, #64]\n"
"	stp x23, x24, [sp, #80]\n"
"	stp x25, x26, [sp, #96]\n"
"	stp x27, x28, [sp, #112]\n"
"	adrp x17, unwind_site_sp\n"
"	mov x2, sp\n"
"	str x2, [x17, :lo12:unwind_site_sp]\n"
"	stp xzr, xzr, [sp]\n"
"	mov x16, x0\n"
FILL(0) FILL(2) FILL(3) FILL(4) FILL(5) FILL(6) FILL(7) FILL(8) FILL(9) FILL(10) FILL(11) FILL(12)
FILL(13) FILL(14) FILL(15) FILL(17) FILL(18) FILL(19) FILL(20) FILL(21) FILL(22) FILL(23) FILL(24)
FILL(25) FILL(26) FILL(27) FILL(28)
"	mov x30, #0\n"
".hidden unwind_original\n"
"unwind_original:\n"
"	br x16\n"
"	ldp x19, x20, [sp, #48]\n"
"	ldp x21, x22, [sp, #64]\n"
"	ldp x23, x24, [sp, #80]\n"
"	ldp x25, x26, [sp, #96]\n"
"	ldp x27, x28, [sp, #112]\n"
"	add sp, sp, #32\n"
"	.cfi_def_cfa_offset 128\n"
"	ldp x29, x30, [sp], #128\n"
"	.cfi_def_cfa_offset 0\n"
"	ret\n"
"	.cfi_endproc\n"
".size unwind_site, . - unwind_site\n");
/* clang-format on */

/* Words are LDADD, SWP and their like with the base in x1, or on the stack. */
static const struct {
	uint32_t word;
	uint32_t results; /* a bit for each register that it may change */
} cases[] = {
	{ 0xb8220023, 1u << 3 },             /* ldadd w2, w3, [x1] */
	{ 0xf8e2003f, 0 },                   /* ldaddal x2, xzr, [x1] */
	{ 0xf8e28022, 1u << 2 },             /* swpal x2, x2, [x1] */
	{ 0x38624023, 1u << 3 },             /* ldsmaxlb w2, w3, [x1] */
	{ 0xf82263e2, 1u << 2 },             /* ldumax x2, x2, [sp] */
	{ 0xc8e2fc24, 1u << 2 },             /* casal x2, x4, [x1] */
	{ 0x4862fc24, 1u << 2 | 1u << 3 },   /* caspal x2, x3, x4, x5, [x1] */
	{ 0x482a7fec, 1u << 10 | 1u << 11 }, /* casp x10, x11, x12, x13, [sp] */
};

#define CASES (sizeof(cases) / sizeof(*cases))

/* A trampoline that stops at one of its words. */
static struct stop {
	struct trampoline made;
	uint64_t address;
	unsigned at;
	uint32_t results;
} stops[CASES * TRAMPOLINE_WORDS], *stop;

static unsigned stop_count;
static sigjmp_buf after;
static unsigned reached, walked;
static const char *wrong; /* what the handler found */
static uint64_t place[2] __attribute__((aligned(16)));

static uint64_t address_of_stop(void)
{
	return stop->address + 4 * (uint64_t)stop->at;
}

static uint64_t wanted_of(unsigned reg)
{
	return reg == BASE    ? (uint64_t)(uintptr_t)place
	       : reg == ENTRY ? stop->address
	                      : VALUE + reg;
}

/* What lies where the walk is, behind the trampoline. */
enum next { TRAMPOLINE, SITE, CALLER, DONE };
static enum next next;

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *unused)
{
	int before = 0;
	uint64_t pc = _Unwind_GetIPInfo(context, &before);
	(void)unused;
	if (next == TRAMPOLINE && pc != address_of_stop())
		return _URC_NO_REASON;
	if (next == TRAMPOLINE) {
		next = SITE;
		return _URC_NO_REASON;
	}
	if (next == CALLER) {
		next = DONE;
		wrong = _Unwind_FindEnclosingFunction((void *)(uintptr_t)pc) == NULL
		                ? "the site's caller"
		                : NULL;
		return _URC_END_OF_STACK;
	}
	if (pc != (uint64_t)(uintptr_t)unwind_original || !before)
		wrong = "the site's address";
	else if (_Unwind_GetCFA(context) != unwind_site_sp)
		wrong = "the stack pointer";
	for (unsigned reg = 0; reg < FILLED && wrong == NULL; reg++)
		if (!(stop->results >> reg & 1) &&
		        _Unwind_GetGR(context, (int)reg) != wanted_of(reg))
			wrong = "a register";
	next = CALLER;
	return wrong == NULL ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void walk_by_libgcc(const void *unused)
{
	(void)unused;
	next = TRAMPOLINE;
	_Unwind_Backtrace(visit, NULL);
	if (wrong == NULL && next != DONE)
		wrong = next == TRAMPOLINE ? "the trampoline" : "an end too early";
}

/* libunwind's functions, and the numbers of registers that it has in common with DWARF. */
static struct {
	int (*init)(void *cursor, void *context, int flag);
	int (*step)(void *cursor);
	int (*get)(void *cursor, int reg, uint64_t *value);
} libunwind;

#define UNWIND_SIGNAL 1
#define UNWIND_SP     31
#define UNWIND_PC     32 /* until version 1.8: the return address' register stands for it */
#define UNWIND_EARLY  30

static uint64_t value_of(void *cursor, int reg)
{
	uint64_t value = 0;
	return libunwind.get(cursor, reg, &value) < 0 ? UINT64_MAX : value;
}

static bool is_at(void *cursor, uint64_t address)
{
	return value_of(cursor, UNWIND_PC) == address || value_of(cursor, UNWIND_EARLY) == address;
}

static void walk_by_libunwind(const void *context)
{
	static uint64_t cursor[8192];
	if (libunwind.init(cursor, (void *)(uintptr_t)context, UNWIND_SIGNAL) < 0)
		wrong = "the beginning";
	else if (!is_at(cursor, address_of_stop()))
		wrong = "the trampoline";
	else if (libunwind.step(cursor) <= 0)
		wrong = "an end too early";
	else if (!is_at(cursor, (uint64_t)(uintptr_t)unwind_original))
		wrong = "the site's address";
	else if (value_of(cursor, UNWIND_SP) != unwind_site_sp)
		wrong = "the stack pointer";
	for (unsigned reg = 0; reg < FILLED && wrong == NULL; reg++)
		if (!(stop->results >> reg & 1) && value_of(cursor, (int)reg) != wanted_of(reg))
			wrong = "a register";
	if (wrong == NULL && libunwind.step(cursor) <= 0)
		wrong = "the site's caller";
}

static void (*walk)(const void *context);

static void on_stop(int signal, siginfo_t *info, void *data)
{
	const ucontext_t *context = data;
	(void)signal, (void)info;
	reached = context->uc_mcontext.pc == address_of_stop();
	if (!reached)
		wrong = "a word that should not stop it";
	else if (context->uc_mcontext.sp + stop->made.moved[stop->at] != unwind_site_sp)
		wrong = "how far the stack pointer is moved";
	else
		walk(context);
	siglongjmp(after, 1);
}

/* Every word of every case, but the last, which leaves. */
static void make_stops(void)
{
	struct area_draft draft;
	bool no_memory;
	uint64_t original = (uint64_t)(uintptr_t)unwind_original;
	ck_assert(area_begin(&draft, original, original + 4, CASES * TRAMPOLINE_WORDS, &no_memory));
	for (size_t i = 0; i < CASES; i++) {
		struct trampoline made = { .count = 1 };
		for (unsigned at = 0; at < made.count; at++) {
			stop = &stops[stop_count++];
			stop->address = area_next(&draft);
			stop->at = at;
			stop->results = cases[i].results;
			ck_assert(trampoline_from_lse(
			        &made, cases[i].word, stop->address, original + 4));
			stop->made = made;
			stop->made.words[at] = 0; /* UDF */
			area_add(&draft, &stop->made, original);
		}
	}
	ck_assert(area_finish(&draft));
	ck_assert(area_publish(&draft.area, 1));
}

static void walk_from_each(void)
{
	struct sigaction action = { .sa_sigaction = on_stop, .sa_flags = SA_SIGINFO };
	make_stops();
	sigaction(SIGILL, &action, NULL);
	for (unsigned i = 0; i < stop_count; i++) {
		stop = &stops[i];
		reached = 0;
		wrong = NULL;
		if (sigsetjmp(after, 1) == 0)
			unwind_site((const void *)(uintptr_t)stop->address, place);
		if (wrong != NULL)
			ck_abort_msg("word %u of what begins with %08x: %s is wrong", stop->at,
			        stop->made.words[stop->at == 0], wrong);
		walked += reached;
	}
	ck_assert_uint_gt(walked, stop_count / 2);
	printf("walks from words of trampolines: %u\n", walked);
}

START_TEST(libgcc_finds_the_instruction)
{
	walk = walk_by_libgcc;
	walk_from_each();
}
END_TEST

START_TEST(libunwind_finds_the_instruction)
{
	void *handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		puts("libunwind is missing: not walked with");
		return;
	}
	*(void **)&libunwind.init = dlsym(handle, "_ULaarch64_init_local2");
	*(void **)&libunwind.step = dlsym(handle, "_ULaarch64_step");
	*(void **)&libunwind.get = dlsym(handle, "_ULaarch64_get_reg");
	ck_assert(libunwind.init != NULL && libunwind.step != NULL && libunwind.get != NULL);
	walk = walk_by_libunwind;
	walk_from_each();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwinding out of trampolines");
	TCase *tcase = tcase_create("unwinding out of trampolines");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, libgcc_finds_the_instruction);
	tcase_add_test(tcase, libunwind_finds_the_instruction);
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
