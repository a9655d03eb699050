/*
 * libunwind asks us for everything: registers, memory, and where the unwind tables are. Its own way
 * to find those is dl_iterate_phdr, whose lock may be held by a thread that waits for ours. Of its
 * functions only those run that hold no lock: the rules it has worked out for a return address
 * are kept by us and applied again, which costs neither its lock nor system calls.
 */
#include "unwind.h"

#include <dlfcn.h>
#include <string.h>

#include "libunwind.h"
#include "objects.h"
#include "peek.h"
#include "real.h"
#include "rules.h"

#define OWN_FRAMES 24u /* of this library, at most, before the call site's */

/* Of .eh_frame_hdr, as every linker writes it: version 1, pointer to .eh_frame pc-relative, count
 * absolute, table relative to the header; 4 bytes each. DWARF exception header encoding: LSB. */
#define EH_FRAME_HDR UINT32_C(0x3b031b01)
#define EH_TABLE     12u

/* One walk at a time: see unwind_take. */
static struct walk {
	struct unwind_cursor cursor;
	const uint64_t *registers;
	struct peek peek;
	struct object object; /* where the rule that is looked for lies */
	uint64_t wanted;      /* the address whose rule is looked for */
	struct rule *rule;    /* where it goes */
} walk;

static struct libunwind libunwind;
static void *space;
static bool is_early; /* which layout of struct unwind_table the library knows */

static int read_memory(void *of, uint64_t address, uint64_t *word, int write, void *unused)
{
	(void)of, (void)unused;
	return !write && peek_word(&walk.peek, address, word) ? 0 : UNWIND_INVALID;
}

static int read_register(void *of, int number, uint64_t *value, int write, void *unused)
{
	(void)of, (void)unused;
	if (write || number < 0 || number >= UNWIND_REGISTERS)
		return UNWIND_NO_REGISTER;
	*value = walk.registers[number];
	return 0;
}

static int read_float(void *of, int number, void *value, int write, void *unused)
{
	(void)of, (void)number, (void)value, (void)write, (void)unused;
	return UNWIND_NO_REGISTER;
}

/* Looks the address up in its object's table. */
static int find_function(void *of, uint64_t unused_pc, void *info, int with_rules, void *unused)
{
	uint64_t header = walk.object.eh_frame_hdr, first, second;
	(void)unused_pc;
	if (!peek_word(&walk.peek, header, &first) || !peek_word(&walk.peek, header + 8, &second) ||
	        (uint32_t)first != EH_FRAME_HDR)
		return UNWIND_NO_INFO;
	struct unwind_table table = {
		.start = walk.object.start,
		.end = walk.object.end,
		.format = UNWIND_REMOTE_TABLE,
	};
	*(is_early ? &table.place : &table.later.place) = (struct unwind_place){
		.base = header,
		.words = (uint32_t)second, /* entries of two halves */
		.data = header + EH_TABLE,
	};
	int result = libunwind.dwarf_search_unwind_table(
	        of, walk.wanted, &table, info, with_rules, unused);
	if (result >= 0) {
		walk.rule->start = ((struct unwind_function *)info)->start;
		walk.rule->end = ((struct unwind_function *)info)->end;
	}
	return result;
}

static void put_function(void *of, void *info, void *unused)
{
	(void)of, (void)info, (void)unused;
}

static int no_list(void *of, uint64_t *list, void *unused)
{
	(void)of, (void)list, (void)unused;
	return UNWIND_NO_INFO;
}

static int no_resume(void *of, void *cursor, void *unused)
{
	(void)of, (void)cursor, (void)unused;
	return UNWIND_INVALID;
}

static int no_name(void *of, uint64_t pc, char *name, size_t size, uint64_t *offset, void *unused)
{
	(void)of, (void)pc, (void)name, (void)size, (void)offset, (void)unused;
	return UNWIND_NO_INFO;
}

static struct unwind_accessors accessors = {
	.find_proc_info = find_function,
	.put_unwind_info = put_function,
	.get_dyn_info_list_addr = no_list,
	.access_mem = read_memory,
	.access_reg = read_register,
	.access_fpreg = read_float,
	.resume = no_resume,
	.get_proc_name = no_name,
};

/* The rules of one stretch of the function's code. */
static int take_rules(void *unused, void *rules, size_t size, uint64_t start, uint64_t end)
{
	(void)unused;
	if (walk.wanted < start || walk.wanted >= end)
		return 0;
	if (size > RULE_BYTES)
		return UNWIND_INVALID;
	memcpy(walk.rule->bytes, rules, size);
	walk.rule->kind = RULE_STEP;
	return UNWIND_STOPPED;
}

/* Whether the code is what the kernel lets a signal handler return to: rt_sigreturn. */
static bool is_signal_frame(uint64_t pc)
{
	uint64_t first, second;
	walk.peek.image_start = pc;
	walk.peek.image_end = pc + 16;
	if (!peek_word(&walk.peek, pc, &first))
		return false;
#if defined(__x86_64__)
	/* mov $15, %rax; syscall */
	return first == UINT64_C(0x0f0000000fc0c748) && peek_word(&walk.peek, pc + 8, &second) &&
	       (second & 0xff) == 0x05;
#else
	(void)second;
	return first == UINT64_C(0xd4000001d2801168); /* mov x8, #139; svc #0 */
#endif
}

/* Works a new rule out. A return address is that of the call's next instruction, which may belong
 * to another function already: the call itself is looked for. */
static void fill_rule(struct rule *rule, bool is_return)
{
	rule->kind = RULE_NONE;
	rule->start = rule->end = 0;
	if (is_return && is_signal_frame(rule->pc)) {
		rule->kind = RULE_SIGNAL;
		return;
	}
	walk.wanted = rule->pc - is_return;
	walk.rule = rule;
	if (!object_at(walk.wanted, &walk.object)) {
		rule->kind = RULE_NOWHERE;
		return;
	}
	rule->image_start = walk.object.start;
	rule->image_end = walk.object.end;
	/* The tables point out of what the loader calls the image: to data that names a language's
	 * routine. They are the linker's own, unlike what lies on a stack. */
	walk.peek.image_start = 0;
	walk.peek.image_end = UINT64_MAX;
	libunwind.reg_states_iterate(&walk.cursor, take_rules, NULL);
}

static struct rule *rule_of(uint64_t pc, bool is_return)
{
	struct rule *rule = rules_find(pc);
	if (rule->kind == RULE_NEW)
		fill_rule(rule, is_return);
	return rule;
}

/* Goes to the caller's frame: its return address, 0 when there is no caller. False: no way. */
static bool step(struct rule *rule, uint64_t *pc)
{
	walk.peek.image_start = rule->image_start;
	walk.peek.image_end = rule->image_end;
	if (libunwind.apply_reg_state(&walk.cursor, rule->bytes) < 0)
		return false;
	if (libunwind.get_reg(&walk.cursor, UNWIND_RETURN, pc) < 0)
		*pc = 0;
#if defined(__aarch64__)
	*pc &= (UINT64_C(1) << 48) - 1; /* a signed one has its signature above */
#endif
	return true;
}

/* Adds the frames from pc, the address where the thread is, outwards. */
static void add_frames(uint64_t pc, uint64_t site, uint32_t limit, struct unwind_stack *stack)
{
	uint32_t own = 0;
	for (bool is_return = false;; is_return = true) {
		struct rule *rule = rule_of(pc, is_return);
		if (stack->depth == 1) {
			stack->start = rule->start;
			stack->end_of_first = rule->end;
		}
		if (rule->kind == RULE_SIGNAL)
			stack->end = STACK_SIGNAL;
		if ((rule->kind == RULE_SIGNAL || rule->kind == RULE_NOWHERE) && stack->depth > 1)
			stack->depth--; /* it is no call of the program's */
		if (rule->kind != RULE_STEP || !step(rule, &pc))
			return;
		if (pc == 0) {
			stack->end = STACK_COMPLETE;
			return;
		}
		if (stack->depth == 0 && pc != site && ++own == OWN_FRAMES)
			return;
		if (stack->depth == 0 && pc != site)
			continue;
		if (stack->depth == limit) {
			stack->end = STACK_DEPTH;
			return;
		}
		stack->frames[stack->depth++] = pc;
	}
}

void unwind_take(const struct unwind_registers *from, const void *site, uint32_t limit,
        struct unwind_stack *stack)
{
	uint64_t first = (uint64_t)(uintptr_t)site;
	stack->depth = 0;
	stack->end = STACK_UNKNOWN;
	stack->start = stack->end_of_first = 0;
	walk.registers = from->values;
	walk.peek = peek_begin(from->values[UNWIND_SP]);
	if (libunwind.init_remote(&walk.cursor, space, NULL) >= 0)
		add_frames(from->values[UNWIND_PC], first, limit, stack);
	if (stack->depth == 0) {
		stack->frames[stack->depth++] = first;
		stack->end = STACK_UNKNOWN;
	}
}

static bool find_functions(void *handle)
{
	const struct {
		const char *name;
		void **where;
	} functions[] = {
		{ UNWIND_PREFIX "create_addr_space", (void **)&libunwind.create_addr_space },
		{ UNWIND_PREFIX "init_remote", (void **)&libunwind.init_remote },
		{ UNWIND_PREFIX "reg_states_iterate", (void **)&libunwind.reg_states_iterate },
		{ UNWIND_PREFIX "apply_reg_state", (void **)&libunwind.apply_reg_state },
		{ UNWIND_PREFIX "get_reg", (void **)&libunwind.get_reg },
		{ UNWIND_PREFIX "dwarf_search_unwind_table",
		        (void **)&libunwind.dwarf_search_unwind_table },
	};
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		*functions[i].where = real_find_in(handle, functions[i].name);
		if (*functions[i].where == NULL)
			return false;
	}
	return true;
}

/* It prepares itself at its first call; and must get past this library. */
static bool can_unwind(const void *site)
{
	struct unwind_stack stack;
	struct unwind_registers here;
	unwind_here(&here);
	rules_forget();
	unwind_take(&here, site, RECORD_MAX_STACK, &stack);
	return stack.start != 0;
}

const char *unwind_load(void)
{
	const void *site = __builtin_extract_return_addr(__builtin_return_address(0));
	if (!peek_works())
		return "the kernel does not say which memory is there";
	void *handle = real_load(UNWIND_LIBRARY);
	if (handle == NULL)
		return "cannot load " UNWIND_LIBRARY ": install the package libunwind8";
	if (!find_functions(handle))
		return UNWIND_LIBRARY " lacks a function: versions 1.3 to 1.8 have them";
	if (!rules_make())
		return "no memory";
	space = libunwind.create_addr_space(&accessors, 0);
	if (space == NULL)
		return "no memory for libunwind";
	if (can_unwind(site))
		return NULL;
	is_early = true;
	return can_unwind(site) ? NULL : UNWIND_LIBRARY " cannot unwind this library's frames";
}
