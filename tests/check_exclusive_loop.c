/*
 * Loops of exclusives: which are matched, and, on an AArch64 CPU with LSE, that their trampolines
 * end with the registers, flags, memory and way out that the loops end with.
 * Besides the loops below, those of the object files named in the variable OBJECTS; every one of
 * them has to be matched.
 */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/a64.h"
#include "shim/atomics/trampoline.h"
#include "tests/machine.h"
#include "tests/moves.h"

#define LOOP_WORDS 16u
#define MATCHES    true

struct sample {
	const char *name;
	bool matches;
	unsigned words; /* of what is matched */
	uint32_t code[LOOP_WORDS];
};

/* clang-format off */
static const struct sample samples[] = {
	{ "add", MATCHES, 3, { 0x885f7c08, 0x0b010109, 0x880a7c09, 0x35ffffaa } },
	{ "add of a constant", MATCHES, 3, { 0xc85ffc08, 0x91000509, 0xc80afc09, 0x35ffffaa } },
	{ "add of a large constant", MATCHES, 3, { 0x085ffc08, 0x11404909, 0x080a7c09 } },
	{ "subs of a constant", MATCHES, 3, { 0x885f7c08, 0x71000508, 0x88097c08 } },
	{ "sub, status in the old one", MATCHES, 3, { 0xc85f7c08, 0xcb010109, 0xc8087c09 } },
	{ "sub of what the status overwrites", MATCHES, 3, { 0xc85f7c08, 0xcb0a0109, 0xc80a7c09 } },
	{ "bytes in front of zeros, signed", MATCHES, 4, { 0x085f7c08, 0x6b21011f, 0x1a81c109, 0x080a7c09 } },
	{ "add of one shifted", MATCHES, 3, { 0xc85f7c08, 0x8b010d09, 0xc80a7c09 } },
	{ "add to itself", MATCHES, 3, { 0xc85f7c08, 0x8b080109, 0xc80a7c09 } },
	{ "add of half", MATCHES, 3, { 0xc85f7c08, 0x0b010109, 0xc80a7c09 } },
	{ "and", MATCHES, 3, { 0x485f7c08, 0x0a010109, 0x480a7c09 } },
	{ "and of a constant", MATCHES, 3, { 0x485f7c08, 0x121f0909, 0x480a7c09 } },
	{ "and of one shifted", MATCHES, 3, { 0x885f7c08, 0x0a811109, 0x880a7c09 } },
	{ "bic", MATCHES, 3, { 0xc85f7c08, 0x8a210109, 0xc80a7c09 } },
	{ "orr", MATCHES, 3, { 0x085f7c08, 0x2a010109, 0x080a7c09 } },
	{ "orr of a constant", MATCHES, 3, { 0xc85f7c08, 0xb201f108, 0xc80a7c08 } },
	{ "orn", MATCHES, 3, { 0xc85f7c08, 0xaa210109, 0xc80a7c09 } },
	{ "eor", MATCHES, 3, { 0xc85f7c08, 0xca010109, 0xc80a7c09 } },
	{ "eon", MATCHES, 3, { 0x885f7c08, 0x4a210109, 0x880a7c09 } },
	{ "nand", MATCHES, 4, { 0x885f7c08, 0x0a010109, 0x2a2903e9, 0x880a7c09 } },
	{ "exchange", MATCHES, 2, { 0x885ffc08, 0x880afc01 } },
	{ "exchange for 0", MATCHES, 2, { 0x885ffc08, 0x880afc1f } },
	{ "exchange, old one dropped", MATCHES, 2, { 0xc85ffc1f, 0xc80afc01 } },
	{ "exchange on the stack", MATCHES, 2, { 0xc85fffe8, 0xc80affe1 } },
	{ "the same again", MATCHES, 2, { 0xc85ffc08, 0xc80afc08 } },
	{ "cas", MATCHES, 4, { 0x885ffc08, 0x6b01011f, 0x54000061, 0x880afc02, 0x35ffff8a } },
	{ "cas of a byte", MATCHES, 4, { 0x085ffc08, 0x6b21011f, 0x54000061, 0x080afc02 } },
	{ "cas of a byte, not extended", MATCHES, 4, { 0x085ffc08, 0x6b01011f, 0x54000061, 0x080afc02 } },
	{ "cas with 0", MATCHES, 3, { 0xc85f7c08, 0xb5000068, 0xc80a7c02, 0x35ffffaa } },
	{ "cas with a constant", MATCHES, 4, { 0x885f7c08, 0x7100151f, 0x540000e1, 0x880a7c02 } },
	{ "cas, status in what was compared", MATCHES, 4, { 0x885f7c08, 0x6b01011f, 0x54000061, 0x88017c02 } },
	{ "cas of a new value made late", MATCHES, 4, { 0x885f7c08, 0x35000088, 0x52800028, 0x88097c08 } },
	{ "cas on the stack", MATCHES, 5, { 0xc85f7fe8, 0xeb01011f, 0x54000081, 0xca020021, 0xc80a7fe1 } },
	{ "larger one", MATCHES, 4, { 0x885f7c08, 0x6b01011f, 0x1a81c109, 0x880a7c09 } },
	{ "larger one, signed", MATCHES, 4, { 0xc85f7c08, 0xeb01011f, 0x9a81a108, 0xc80a7c08 } },
	{ "smaller one, signed", MATCHES, 4, { 0x885f7c08, 0x6b01011f, 0x1a81d109, 0x880a7c09 } },
	{ "smaller one", MATCHES, 4, { 0xc85f7c08, 0xeb01011f, 0x9a819109, 0xc80a7c09 } },
	{ "smaller halfword", MATCHES, 4, { 0x485f7c08, 0x6b21211f, 0x1a813109, 0x480a7c09 } },
	{ "larger byte", MATCHES, 4, { 0x085f7c08, 0x6b21011f, 0x1a812109, 0x080a7c09 } },
	{ "another one than compared", MATCHES, 4, { 0x885f7c08, 0x6b01011f, 0x1a82c109, 0x880a7c09 } },
	{ "equal or not", MATCHES, 4, { 0x885f7c08, 0x6b01011f, 0x1a810109, 0x880a7c09 } },
	{ "smaller byte", MATCHES, 5, { 0x085f7c08, 0x13001d09, 0x6b21813f, 0x1a81d108, 0x080a7c08 } },
	{ "pair, exchange", MATCHES, 2, { 0xc87ffc08 | 9 << 10, 0xc820fc02 | 10 << 16 | 3 << 10 } },
	{ "pair, first half dropped", MATCHES, 2, { 0xc87f241f, 0xc8290c02 } },
	{ "pair, add", MATCHES, 4, { 0xc87f2408, 0xab02010a, 0x9a03012b, 0xc82c2c0a } },
	{ "pair, cas with a way out", MATCHES, 5, { 0xc87f2408, 0xeb02011f, 0xfa430120, 0x54000061, 0xc82a9404 } },
	{ "pair, cas with two stores", MATCHES, 10, { 0xc87fa408, 0xeb02011f, 0x9a9f07ea, 0xeb03013f,
		0x9a8a154a, 0x3400008a, 0xc82aa408, 0x35ffff2a, 0x14000003, 0xc82a9404 } },
	{ "pair with all of it", MATCHES, 14, { 0xc87fa7e8, 0xeb02011f, 0x54000241, 0xeb03013f,
		0x54000201, 0x9a9f07ea, 0x91000508, 0x91000529, 0xb40000aa, 0x8b0a0108, 0xc82aa7e8,
		0x35fffeaa, 0x14000002, 0xc82a97e4 } },
	{ "pair of words, add", MATCHES, 3, { 0x887f2408, 0x0b020108, 0x882a2408 } },
	{ "no store", !MATCHES, 0, { 0xc85f7c08, 0x91000509, 0xd65f03c0 } },
	{ "a load between", !MATCHES, 0, { 0xc85f7c08, 0xf9400029, 0xc80a7c09 } },
	{ "a call between", !MATCHES, 0, { 0xc85f7c08, 0x94000010, 0xc80a7c09 } },
	{ "a base that changes", !MATCHES, 0, { 0xc85f7c08, 0x91000400, 0xc80a7c08 } },
	{ "a base that is loaded", !MATCHES, 0, { 0xc85f7c00, 0x91000509, 0xc80a7c09 } },
	{ "another base", !MATCHES, 0, { 0xc85f7c08, 0x91000509, 0xc80a7c29 } },
	{ "another size", !MATCHES, 0, { 0xc85f7c08, 0x91000509, 0x880a7c09 } },
	{ "the stack pointer changes", !MATCHES, 0, { 0xc85f7c08, 0x910043ff, 0xc80a7c08 } },
	{ "an address", !MATCHES, 0, { 0xc85f7c08, 0x10000009, 0xc80a7c09 } },
	{ "a branch back inside", !MATCHES, 0, { 0xc85f7c08, 0x91000509, 0xb5ffffe8, 0xc80a7c09 } },
	{ "cas that tries again", MATCHES, 4, { 0x085f7c09, 0x6b0a013f, 0x54ffffc1, 0x080b7c0a } },
	{ "cas that reads first to try again", MATCHES, 5, { 0x085f7c09, 0x6b0a013f, 0x54ffff41, 0x4a08014a, 0x080b7c0a } },
	{ "a branch to the store", !MATCHES, 0, { 0xc85f7c08, 0xb4000048, 0x91000508, 0xc80a7c08 } },
	{ "something else first", !MATCHES, 0, { 0xf9400008, 0x91000509, 0xc80a7c09 } },
};
/* clang-format on */

#define SAMPLES (sizeof(samples) / sizeof(*samples))

START_TEST(knows_the_shapes_of_compilers)
{
	struct exclusive_loop loop;
	const struct sample *sample = &samples[_i];
	bool matches = exclusive_loop_match(&loop, sample->code, LOOP_WORDS);
	ck_assert_msg(matches == sample->matches, "%s", sample->name);
	if (!matches)
		return;
	ck_assert_uint_eq(loop.words, sample->words);
	ck_assert_uint_eq(loop.exclusives, sample->words >= 10 ? 3 : 2);
	ck_assert(exclusive_loop_match(&loop, sample->code, sample->words));
	for (unsigned count = 0; count < sample->words && loop.exclusives == 2; count++)
		ck_assert(!exclusive_loop_match(&loop, sample->code, count));
}
END_TEST

/* The words of an object's section .text. */
struct text {
	const uint32_t *words;
	size_t count;
	void *file;
};

static void *read_whole(const char *path)
{
	FILE *file = fopen(path, "rb");
	ck_assert_msg(file != NULL, "cannot open %s", path);
	ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
	size_t size = (size_t)ftell(file);
	rewind(file);
	void *bytes = malloc(size);
	ck_assert_uint_eq(fread(bytes, 1, size, file), size);
	fclose(file);
	return bytes;
}

static struct text read_text(const char *path)
{
	unsigned char *file = read_whole(path);
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
	const char *names = (const char *)file + sections[header->e_shstrndx].sh_offset;
	ck_assert_msg(header->e_machine == EM_AARCH64, "%s is not for AArch64", path);
	for (unsigned i = 0; i < header->e_shnum; i++)
		if (strcmp(names + sections[i].sh_name, ".text") == 0)
			return (struct text){ (const void *)(file + sections[i].sh_offset),
				sections[i].sh_size / 4, file };
	ck_abort_msg("%s has no section .text", path);
	return (struct text){ NULL, 0, NULL };
}

/* Calls with each load-exclusive that begins nothing that went before. */
static void each_load(const struct text *text,
        void (*visit)(const uint32_t *words, size_t count, void *data), void *data)
{
	struct a64_atomic atomic;
	for (size_t i = 0; i < text->count; i++)
		if (a64_decode(text->words[i], &atomic) && atomic.kind == A64_LOAD_EXCLUSIVE)
			visit(text->words + i, text->count - i, data);
}

static void each_in_objects(
        void (*visit)(const uint32_t *words, size_t count, void *data), void *data)
{
	const char *variable = getenv("OBJECTS");
	char *list = strdup(variable == NULL ? "" : variable), *rest;
	for (char *path = strtok_r(list, " ", &rest); path != NULL;
	        path = strtok_r(NULL, " ", &rest)) {
		struct text text = read_text(path);
		each_load(&text, visit, data);
		free(text.file);
	}
	free(list);
}

struct share {
	unsigned loops, matched;
};

static void count_one(const uint32_t *words, size_t count, void *data)
{
	struct share *share = data;
	struct exclusive_loop loop;
	share->loops++;
	share->matched += exclusive_loop_match(&loop, words, count);
	if (share->matched != share->loops)
		ck_abort_msg("no match: %08x %08x %08x %08x %08x", words[0], words[1], words[2],
		        words[3], words[4]);
}

START_TEST(knows_every_loop_of_the_objects)
{
	struct share share = { 0, 0 };
	each_in_objects(count_one, &share);
	printf("loops in OBJECTS: %u, matched: %u\n", share.loops, share.matched);
	ck_assert(getenv("OBJECTS") == NULL || share.loops > 0);
}
END_TEST

#if defined(__aarch64__)

#define ROUNDS       8u
#define RANDOM_LOOPS 2000u

/* A loop whose branches out lead to exits 1 and 2; behind its stores it leaves by 0. */
struct piece {
	struct exclusive_loop loop;
	const uint32_t *original, *trampoline;
};

static struct {
	struct machine_code code;
	struct piece *pieces;
	size_t count;
	size_t directly; /* trampolines that borrow no register: one instruction does it */
} all;

static uint32_t field_of(uint32_t word)
{
	return (word & 0x7e000000) == 0x36000000 ? 0x3fff : 0x7ffff;
}

/* Leads a conditional branch of the copy to the word `by` words further. */
static uint32_t lead(uint32_t word, size_t by)
{
	uint32_t field = field_of(word);
	return (word & ~(field << 5)) | ((uint32_t)by & field) << 5;
}

/* What lies behind the loop's words in its copy: leads to exits by number. The branch back is a
 * copy's of its own: CBNZ of the status. */
static void add_copy(struct machine_code *code, const struct exclusive_loop *loop)
{
	uint32_t copy[EXCLUSIVE_LOOP_WORDS];
	unsigned last = loop->words - 1, exits = 0;
	uint64_t target;
	memcpy(copy, loop->code, sizeof(copy));
	for (unsigned i = 1; i < loop->stores[0]; i++) {
		if (!a64_branch_target(copy[i], 4 * (uint64_t)i, &target) ||
		        target == 4 * (uint64_t)last)
			continue;
		copy[i] = lead(copy[i], loop->words + 2 + exits - i);
		exits++;
	}
	if (loop->exclusives == 3 && last == loop->stores[0] + 3u)
		copy[last - 1] = 0x14000000 | 3; /* to where the last store leads */
	machine_add(code, copy, loop->words);
	uint32_t status = copy[last] >> 16 & 31;
	machine_add(code, &(uint32_t){ lead(0x35000000 | status, (size_t)0 - loop->words) }, 1);
	for (unsigned i = 0; i < 3; i++)
		machine_branch(code, code->exits[i]);
}

static void add_piece(const uint32_t *words, size_t count, void *unused)
{
	struct machine_code *code = &all.code;
	struct exclusive_loop loop;
	struct trampoline made;
	(void)unused;
	if (!exclusive_loop_match(&loop, words, count))
		return;
	for (size_t i = 0; i < all.count; i++)
		if (memcmp(all.pieces[i].loop.code, loop.code, sizeof(loop.code)) == 0)
			return;
	all.pieces = realloc(all.pieces, (all.count + 1) * sizeof(*all.pieces));
	struct piece *piece = &all.pieces[all.count++];
	piece->loop = loop;
	piece->original = machine_first(code);
	uint64_t address = machine_here(code);
	add_copy(code, &loop);
	const uint32_t *copy = (const uint32_t *)(uintptr_t)address;
	ck_assert(exclusive_loop_match(&loop, copy, loop.words));
	piece->trampoline = machine_first(code);
	ck_assert_msg(trampoline_from_loop(&made, &loop, machine_here(code), address), "%08x %08x",
	        words[0], words[1]);
	machine_add(code, made.words, made.count);
	all.directly += made.saved_count == 0;
	ck_assert_msg(moves_are_told(&made), "%08x %08x", words[0], words[1]);
	unsigned char frame[TRAMPOLINE_CFI];
	ck_assert_uint_ne(
	        trampoline_fde(frame, sizeof(frame), &made, address, address, address, address), 0);
}

/* An instruction that computes in few registers, or a branch behind all of the loop. */
static uint32_t random_word(unsigned left, uint64_t *seed)
{
	static const uint32_t kinds[] = { 0x0a000000 /* and */, 0x0a200000 /* bic */,
		0x2a000000 /* orr */, 0x4a000000 /* eor */, 0x0b000000 /* add */,
		0x6b000000 /* subs */, 0x2b000000 /* adds */, 0x1a800000 /* csel */,
		0x1a800400 /* csinc */, 0x7a400000 /* ccmp */, 0x11000400 /* add 1 */,
		0x71000400 /* subs 1 */, 0x12000c00 /* and 15 */, 0x52800000 /* mov 0 */,
		0x13001c00 /* sxtb */ };
	uint32_t random = (uint32_t)(machine_random(seed) >> 20);
	uint32_t word = kinds[random % (sizeof(kinds) / sizeof(*kinds))];
	uint32_t rd = random >> 4 & 7, rn = random >> 7 & 7, rm = random >> 10 & 7;
	if (random >> 28 == 0) /* b.cond, tbnz */
		return random & 1 << 4 ? 0x54000000 | (left + rm) << 5 | rn
		                       : 0x37000000 | (left + rm) << 5 | rn;
	if (word == 0x7a400000)
		return word | rm << 16 | (random >> 13 & 15) << 12 | rn << 5 | rd;
	if ((word & 0x1f000000) == 0x0a000000 || (word & 0x1f000000) == 0x0b000000)
		word |= rm << 16 | (random & 1u << 14 ? (random >> 15 & 15) << 10 : 0);
	else if ((word & 0x1fe00000) == 0x1a800000)
		word |= rm << 16 | (random >> 13 & 15) << 12;
	return word | (random >> 27 & 1 && word != 0x13001c00 ? 1u << 31 : 0) | rn << 5 | rd;
}

/* The base is x10, or the stack pointer; the status w9. */
static void random_loop(uint32_t *words, uint64_t *seed)
{
	uint32_t random = (uint32_t)(machine_random(seed) >> 20);
	uint32_t size = random % 6, length = random >> 3 & 3, fields = (random >> 5 & 7);
	uint32_t first = (size > 3 ? (size - 2) << 30 | 0x08600000 : size << 30 | 0x08400000);
	uint32_t second = (fields ^ (1 + (random >> 8) % 7)) << 10;
	uint32_t base = (random >> 16 & 3 ? 10u : A64_SP) << 5, order = (random >> 18 & 1) << 15;
	words[0] = first | 31 << 16 | order | (size > 3 ? second : 31 << 10) | base | fields;
	for (uint32_t i = 0; i < length; i++)
		words[1 + i] = random_word(length + 2 - i, seed);
	words[1 + length] = (first & ~0x00400000u) | 9 << 16 | (random >> 19 & 1) << 15 |
	                    (size > 3 ? (random >> 20 & 7) << 10 : 31 << 10) | base |
	                    (random >> 23 & 7);
}

static void add_random_loops(uint64_t *seed)
{
	uint32_t words[LOOP_WORDS] = { 0 };
	for (unsigned i = 0; i < RANDOM_LOOPS; i++) {
		random_loop(words, seed);
		add_piece(words, LOOP_WORDS, NULL);
	}
}

static uint64_t some_value(uint64_t *seed)
{
	static const uint64_t values[] = { 0, 1, 2, 5, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
		0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX };
	uint64_t random = machine_random(seed);
	return random % 4 == 0 ? machine_random(seed) : values[random / 4 % 16];
}

/* Few values, so that many comparisons find equal ones. */
static void prepare(const struct piece *piece, struct machine *state, uint64_t *seed)
{
	struct a64_atomic load;
	bool alike = machine_random(seed) % 2;
	uint64_t value = some_value(seed);
	a64_decode(piece->loop.code[0], &load);
	for (unsigned i = 0; i < 31; i++)
		state->x[i] = alike ? value : some_value(seed);
	for (unsigned i = 0; i < MACHINE_MEMORY / 8; i++)
		state->memory.words[i] = alike ? value : some_value(seed);
	state->nzcv = machine_random(seed) & UINT64_C(0xf0000000);
	if (load.rn != A64_SP)
		state->x[load.rn] = (uint64_t)(uintptr_t)state + 16;
}

static void expect(
        const struct piece *piece, const struct machine *wanted, const struct machine *found)
{
	const uint32_t *code = piece->loop.code;
	if (memcmp(wanted, found, offsetof(struct machine, sp_of_caller)) == 0)
		return;
	for (unsigned i = 0; i < 31; i++)
		ck_assert_msg(wanted->x[i] == found->x[i],
		        "%08x %08x %08x %08x: x%u is %#lx, not %#lx", code[0], code[1], code[2],
		        code[3], i, found->x[i], wanted->x[i]);
	ck_abort_msg("%08x %08x %08x %08x: flags %lx, not %lx; exit %lu, not %lu; sp %lx, not %lx; "
	             "or memory",
	        code[0], code[1], code[2], code[3], found->nzcv, wanted->nzcv, found->exit,
	        wanted->exit, found->sp, wanted->sp);
}

static void run_piece(const struct piece *piece, struct machine *state, uint64_t *seed)
{
	struct machine before, wanted;
	prepare(piece, state, seed);
	before = *state;
	machine_enter(state, piece->original);
	wanted = *state;
	*state = before;
	machine_enter(state, piece->trampoline);
	expect(piece, &wanted, state);
}

START_TEST(trampolines_do_what_loops_do)
{
	struct machine *state = machine_make();
	uint64_t seed = 88172645463325252;
	if (!machine_has_lse()) {
		puts("this CPU has no LSE: loops were matched, but no trampoline was run");
		return;
	}
	machine_begin(&all.code);
	for (size_t i = 0; i < SAMPLES; i++)
		add_piece(samples[i].code, LOOP_WORDS, NULL);
	each_in_objects(add_piece, NULL);
	size_t known = all.count, directly = all.directly;
	add_random_loops(&seed);
	machine_ready(&all.code);
	for (size_t i = 0; i < all.count; i++)
		for (unsigned round = 0; round < ROUNDS * LOOP_WORDS; round++)
			run_piece(&all.pieces[i], state, &seed);
	printf("loops run: %zu, by one instruction: %zu; random ones: %zu\n", known, directly,
	        all.count - known);
	ck_assert_uint_gt(directly, known / 3);
	ck_assert_uint_gt(all.count - known, RANDOM_LOOPS / 2);
	machine_end(&all.code);
	free(all.pieces);
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("loops of exclusives");
	TCase *tcase = tcase_create("loops of exclusives");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, knows_the_shapes_of_compilers, 0, (int)SAMPLES);
	tcase_add_test(tcase, knows_every_loop_of_the_objects);
#if defined(__aarch64__)
	tcase_add_test(tcase, trampolines_do_what_loops_do);
#endif
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
