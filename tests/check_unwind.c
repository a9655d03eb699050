/*
 * Unwinding: that frames are what libgcc's unwinder finds, where a stack ends, and what is read for
 * it.
 */
#include <check.h>
#include <dlfcn.h>
#include <libunwind.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include "shim/libunwind.h"
#include "shim/peek.h"
#include "shim/real.h"
#include "shim/rules.h"
#include "shim/thread.h"
#include "shim/unwind.h"
#include "tests/frames.h"
#include "tests/sanitized.h"

#define PAGE     4096u
#define EXPECTED 256

_Static_assert(sizeof(struct unwind_cursor) >= sizeof(unw_cursor_t), "room for the cursor");
_Static_assert(sizeof(struct unwind_function) >= sizeof(unw_proc_info_t), "room for the function");
_Static_assert(sizeof(struct unwind_accessors) >= sizeof(unw_accessors_t) &&
                       offsetof(struct unwind_accessors, access_mem) ==
                               offsetof(unw_accessors_t, access_mem) &&
                       offsetof(struct unwind_accessors, get_proc_name) ==
                               offsetof(unw_accessors_t, get_proc_name),
        "the accessors are libunwind's");
_Static_assert(offsetof(struct unwind_table, format) == offsetof(unw_dyn_info_t, format) &&
                       offsetof(struct unwind_table, later.place.base) ==
                               offsetof(unw_dyn_info_t, u.rti.segbase) &&
                       offsetof(struct unwind_table, later.place.data) ==
                               offsetof(unw_dyn_info_t, u.rti.table_data),
        "the table is libunwind's");
_Static_assert((int)UNWIND_REMOTE_TABLE == (int)UNW_INFO_FORMAT_REMOTE_TABLE &&
                       UNWIND_NO_INFO == -UNW_ENOINFO && UNWIND_INVALID == -UNW_EINVAL &&
                       UNWIND_STOPPED == -UNW_ESTOPUNWIND &&
                       (int)UNWIND_RETURN == (int)UNW_REG_IP &&
                       UNWIND_NO_REGISTER == -UNW_EBADREG && (int)UNWIND_SP == (int)UNW_REG_SP,
        "the numbers are libunwind's");

static struct unwind_stack stack;
static uintptr_t expected[EXPECTED];
static int expected_count;

static void take(const void *site, uint32_t limit)
{
	struct thread_aside aside = thread_step_aside();
	struct unwind_registers here;
	unwind_here(&here);
	unwind_take(&here, site, limit, &stack);
	thread_step_back(aside);
}

static _Unwind_Reason_Code add_expected(struct _Unwind_Context *context, void *unused)
{
	(void)unused;
	if (expected_count == EXPECTED || _Unwind_GetIP(context) == 0)
		return _URC_END_OF_STACK;
	expected[expected_count++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* The caller's stack, by both. expected[0] lies in this function. */
static NOT_INLINED void take_both(uint32_t limit)
{
	take(__builtin_return_address(0), limit);
	expected_count = 0;
	_Unwind_Backtrace(add_expected, NULL);
	expected_count--;
}

static void expect_frames(uint32_t depth)
{
	ck_assert_uint_eq(stack.depth, depth);
	ck_assert_int_ge(expected_count, (int)depth);
	for (uint32_t i = 0; i < depth; i++)
		ck_assert_uint_eq(stack.frames[i], expected[i + 1]);
}

static uint32_t wanted_limit = RECORD_MAX_STACK;

static NOT_INLINED void take_here(void)
{
	take_both(wanted_limit);
}

/* Loop: 1 as before glibc 2.35. */
static void choose_finder(int number)
{
	frames_load();
	if (number == 1)
		real_functions._dl_find_object = NULL;
}

START_TEST(frames_are_those_of_libgcc)
{
	choose_finder(_i);
	for (int depth = 0; depth < 20; depth++) {
		frames_call(depth, take_here);
		ck_assert_int_eq(stack.end, STACK_COMPLETE);
		expect_frames((uint32_t)expected_count);
		ck_assert_uint_gt(stack.depth, (uint32_t)depth);
		ck_assert_uint_lt(stack.start, stack.frames[0]);
		ck_assert_uint_le(stack.frames[0], stack.end_of_first);
	}
}
END_TEST

START_TEST(depth_is_cut)
{
	choose_finder(_i);
	for (wanted_limit = 1; wanted_limit <= RECORD_MAX_STACK; wanted_limit++) {
		frames_call(80, take_here);
		expect_frames(wanted_limit);
		ck_assert_int_eq(stack.end, STACK_DEPTH);
	}
	frames_call(0, take_here);
	uint32_t complete = stack.depth;
	wanted_limit = complete;
	frames_call(0, take_here);
	expect_frames(complete);
	ck_assert_int_eq(stack.end, STACK_COMPLETE);
}
END_TEST

static void *take_in_a_thread(void *unused)
{
	frames_call(5, take_here);
	return unused;
}

START_TEST(thread_is_complete)
{
	pthread_t thread;
	choose_finder(_i);
	ck_assert_int_eq(pthread_create(&thread, NULL, take_in_a_thread, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(stack.end, STACK_COMPLETE);
	expect_frames((uint32_t)expected_count);
}
END_TEST

static ucontext_t outside, inside;

static void take_in_a_coroutine(void)
{
	frames_call(5, take_here);
}

START_TEST(coroutine_ends_on_its_own_stack)
{
	char *memory = mmap(NULL, 20 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory + 2 * PAGE, 16 * PAGE, PROT_READ | PROT_WRITE);
	choose_finder(_i);
	getcontext(&inside);
	inside.uc_stack.ss_sp = memory + 2 * PAGE;
	inside.uc_stack.ss_size = 16 * PAGE;
	inside.uc_link = &outside;
	makecontext(&inside, take_in_a_coroutine, 0);
	swapcontext(&outside, &inside);
	ck_assert_uint_gt(stack.depth, 6);
	expect_frames(stack.depth);
}
END_TEST

static NOT_INLINED void take_in_handler(int number)
{
	(void)number;
	frames_call(3, take_here);
}

START_TEST(signal_frame_ends_it)
{
	choose_finder(_i % 2);
	static char memory[1 << 18];
	const stack_t alternate = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigaction action = { .sa_handler = take_in_handler,
		.sa_flags = _i < 2 ? 0 : SA_ONSTACK };
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	ck_assert_int_eq(stack.end, STACK_SIGNAL);
	ck_assert_uint_eq(stack.depth, 6); /* take_here, 4 calls, the handler */
	expect_frames(6);
	ck_assert_int_gt(expected_count, 7);
}
END_TEST

/*
 * Calls function() with a frame pointer of its own: through_nothing has no unwind table;
 * through_lie says that its caller's frame is found by what is passed as the second argument.
 */
void through_nothing(void (*function)(void), uint64_t frame);
void through_lie(void (*function)(void), uint64_t frame);
#if defined(__x86_64__)
#define THROUGH(name, start, rule, end)                                                            \
	".globl " name "\n.type " name ",@function\n" name ":\n" start                             \
	"pushq %rbp\nmovq %rsi, %rbp\n" rule "call *%rdi\npopq %rbp\nret\n" end ".size " name      \
	", .-" name "\n"
#define LIE ".cfi_def_cfa %rbp, 16\n.cfi_offset %rip, -8\n.cfi_offset %rbp, -16\n"
#else
#define THROUGH(name, start, rule, end)                                                            \
	".globl " name "\n.type " name ",%function\n" name ":\n" start                             \
	"stp x29, x30, [sp, #-16]!\nmov x29, x1\n" rule                                            \
	"blr x0\nldp x29, x30, [sp], #16\nret\n" end ".size " name ", .-" name "\n"
#define LIE ".cfi_def_cfa x29, 16\n.cfi_offset x30, -8\n.cfi_offset x29, -16\n"
#endif
__asm__(".text\n" THROUGH("through_nothing", "", "", "")
                THROUGH("through_lie", ".cfi_startproc\n", LIE, ".cfi_endproc\n"));

static NOT_INLINED void take_alone(void)
{
	take(__builtin_return_address(0), RECORD_MAX_STACK);
}

START_TEST(code_without_a_table_ends_it)
{
	choose_finder(_i);
	through_nothing(take_alone, 0);
	ck_assert_int_eq(stack.end, STACK_UNKNOWN);
	ck_assert_uint_eq(stack.depth, 1);
	ck_assert_uint_gt(stack.frames[0], (uintptr_t)through_nothing);
	ck_assert_uint_lt(stack.frames[0], (uintptr_t)through_nothing + 64);
}
END_TEST

START_TEST(wrong_frames_are_not_read)
{
	char *memory =
	        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	choose_finder(_i);
	mprotect(memory, PAGE, PROT_NONE);
	const uint64_t frames[] = { 0, 1, 8, (uintptr_t)memory, (uintptr_t)memory + PAGE - 12,
		(uintptr_t)memory + PAGE, UINT64_MAX, UINT64_MAX - 15, UINT64_C(1) << 47,
		UINT64_C(0xdead000000000000), (uintptr_t)__builtin_frame_address(0) + (1u << 30),
		(uintptr_t)__builtin_frame_address(0) - (1u << 20) };
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		through_lie(take_alone, frames[i]);
		ck_assert_uint_eq(stack.depth, 1);
		ck_assert_int_eq(stack.end, STACK_UNKNOWN);
		ck_assert_uint_gt(stack.frames[0], (uintptr_t)through_lie);
	}
	/* What lies in the program's own file may be read, and is no frame either. */
	through_lie(take_alone, (uintptr_t)through_lie);
	ck_assert_uint_eq(stack.depth, 1);
}
END_TEST

START_TEST(code_of_no_file_ends_it)
{
	size_t length = 64;
	char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	choose_finder(_i);
	memcpy(code, (const char *)(uintptr_t)through_nothing, length);
	mprotect(code, PAGE, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(code, code + length);
	((void (*)(void (*)(void), uint64_t))(uintptr_t)code)(take_here, 0);
	ck_assert_int_eq(stack.end, STACK_UNKNOWN);
	expect_frames(1); /* in take_here; its caller is not in the stack */
}
END_TEST

START_TEST(memory_is_asked_for)
{
	char *memory =
	        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uintptr_t)memory, word;
	ck_assert(peek_works());
	mprotect(memory + 3 * PAGE, PAGE, PROT_NONE);
	struct peek peek = peek_begin(start + 8);
	memset(memory, 0x11, 3 * PAGE);
	ck_assert(peek_word(&peek, start, &word));
	ck_assert_uint_eq(word, UINT64_C(0x1111111111111111));
	ck_assert(!peek_word(&peek, start - 8, &word));
	ck_assert(peek_word(&peek, start + 3 * PAGE - 8, &word));
	ck_assert(!peek_word(&peek, start + 3 * PAGE - 7, &word));
	ck_assert(!peek_word(&peek, start + 3 * PAGE, &word));
	ck_assert(!peek_word(&peek, UINT64_MAX - 3, &word));
	peek = (struct peek){ .stack_start = UINT64_MAX,
		.image_start = start + PAGE,
		.image_end = start + 4 * PAGE };
	ck_assert(!peek_word(&peek, start + PAGE - 1, &word));
	ck_assert(peek_word(&peek, start + PAGE, &word));
	ck_assert(peek_word(&peek, start + 2 * PAGE - 3, &word));
	ck_assert(!peek_word(&peek, start + 3 * PAGE - 7, &word));
	ck_assert(!peek_word(&peek, start + 4 * PAGE, &word));
}
END_TEST

START_TEST(rules_are_kept_until_code_goes)
{
	ck_assert(rules_make());
	struct rule *rule = rules_find(0x1234);
	ck_assert_int_eq(rule->kind, RULE_NEW);
	rule->kind = RULE_STEP;
	ck_assert_ptr_eq(rules_find(0x1234), rule);
	ck_assert_int_eq(rules_find(0x1234)->kind, RULE_STEP);
	for (uint64_t pc = 1; pc < 100000; pc++) {
		rule = rules_find(pc << 4);
		ck_assert_uint_eq(rule->pc, pc << 4);
		ck_assert_int_eq(rule->kind, RULE_NEW);
		rule->kind = RULE_STEP;
	}
	rules_find(0x55)->kind = RULE_NOWHERE;
	ck_assert_int_eq(rules_find(0x55)->kind, RULE_NEW);
	rules_find(0x66)->kind = RULE_NONE;
	ck_assert_int_eq(rules_find(0x66)->kind, RULE_NONE);
	rules_forget();
	ck_assert_int_eq(rules_find(0x66)->kind, RULE_NEW);
}
END_TEST

START_TEST(libunwind_stays_to_itself)
{
	static const char *const names[] = { "_Unwind_RaiseException", "_Unwind_Resume",
		"unw_backtrace", "_Ux86_64_step", "_Uaarch64_step", "_U_dyn_info_list_addr" };
	ck_assert_ptr_null(dlopen("libunwind.so.8", RTLD_NOW | RTLD_NOLOAD));
	frames_load();
	ck_assert_ptr_nonnull(dlopen(UNWIND_LIBRARY, RTLD_NOW | RTLD_NOLOAD));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *found = dlsym(RTLD_DEFAULT, names[i]);
		Dl_info info;
		if (found != NULL && dladdr(found, &info) != 0)
			ck_assert_ptr_null(strstr(info.dli_fname, "libunwind"));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind");
	TCase *tcase = tcase_create("unwind");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, frames_are_those_of_libgcc, 0, 2);
	tcase_add_loop_test(tcase, depth_is_cut, 0, 2);
	tcase_add_loop_test(tcase, coroutine_ends_on_its_own_stack, 0, 2);
	tcase_add_loop_test(tcase, code_without_a_table_ends_it, 0, 2);
	tcase_add_loop_test(tcase, wrong_frames_are_not_read, 0, 2);
	tcase_add_loop_test(tcase, code_of_no_file_ends_it, 0, 2);
	tcase_add_test(tcase, memory_is_asked_for);
	tcase_add_test(tcase, rules_are_kept_until_code_goes);
	tcase_add_test(tcase, libunwind_stays_to_itself);
	/* That one starts threads and calls handlers through frames of its own. */
	if (!THREAD_SANITIZER) {
		tcase_add_loop_test(tcase, thread_is_complete, 0, 2);
		tcase_add_loop_test(tcase, signal_frame_ends_it, 0, 4);
	}
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
