/*
 * The decoder of AArch64's atomics. Encodings that the test puts together itself are taken apart
 * again; what is none of them is told from them; branches, literals and ADRP go where they should.
 * With the argument "words" it writes words of the groups that hold atomics and of all others; with
 * "decode" it prints of each word read what it is, as objdump does: a story compares the two.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/a64.h"

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))
#define RANDOM_WORDS    400000u

static uint32_t random_state = 1;

/* xorshift; G. Marsaglia, "Xorshift RNGs", 2003. */
static uint32_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

static const char *const size_letters[] = { "b", "h", "", "" };

static unsigned log2_size(const struct a64_atomic *atomic)
{
	return (unsigned)__builtin_ctz(atomic->size);
}

static const char *ordering(const struct a64_atomic *atomic)
{
	static const char *const suffixes[2][2] = { { "", "l" }, { "a", "al" } };
	return suffixes[atomic->acquire][atomic->release];
}

/* Texts of registers are good until the eighth call after. */
static const char *reg(const struct a64_atomic *atomic, unsigned number)
{
	static char texts[8][8];
	static unsigned next;
	char *text = texts[next++ % 8];
	char letter = atomic->size == 8 ? 'x' : 'w';
	if (number == A64_ZR)
		snprintf(text, 8, "%czr", letter);
	else
		snprintf(text, 8, "%c%u", letter, number);
	return text;
}

static const char *base(const struct a64_atomic *atomic)
{
	static char text[8];
	snprintf(text, sizeof(text), atomic->rn == A64_SP ? "[sp]" : "[x%u]", atomic->rn);
	return text;
}

static void print_lse(const struct a64_atomic *a)
{
	const char *name = a64_family_name(a->family), *letter = size_letters[log2_size(a)];
	if (a->pair)
		printf("%s%s %s, %s, %s, %s, %s\n", name, ordering(a), reg(a, a->rs),
		        reg(a, a->rs + 1u), reg(a, a->rt), reg(a, a->rt + 1u), base(a));
	else if (a->family != A64_cas && a->family != A64_swp && a->rt == A64_ZR && !a->acquire)
		printf("st%s%s%s %s, %s\n", name + 2, ordering(a), letter, reg(a, a->rs), base(a));
	else
		printf("%s%s%s %s, %s, %s\n", name, ordering(a), letter, reg(a, a->rs),
		        reg(a, a->rt), base(a));
}

static void print_exclusive(const struct a64_atomic *a)
{
	bool load = a->kind == A64_LOAD_EXCLUSIVE;
	printf("%s%sx%c%s ", load ? "ld" : "st", ordering(a), a->pair ? 'p' : 'r',
	        size_letters[log2_size(a)]);
	if (!load && a->rs == A64_ZR)
		printf("wzr, ");
	else if (!load)
		printf("w%u, ", a->rs);
	printf("%s, ", reg(a, a->rt));
	if (a->pair)
		printf("%s, ", reg(a, a->rt2));
	printf("%s\n", base(a));
}

static int print_decoded(void)
{
	uint32_t word;
	while (fread(&word, sizeof(word), 1, stdin) == 1) {
		struct a64_atomic atomic;
		if (!a64_decode(word, &atomic))
			puts("-");
		else if (atomic.kind == A64_LSE)
			print_lse(&atomic);
		else
			print_exclusive(&atomic);
	}
	return EXIT_SUCCESS;
}

static void put(uint32_t word)
{
	fwrite(&word, sizeof(word), 1, stdout);
}

/* The bits that are set in places, from the lowest bits of value. */
static uint32_t scatter(uint32_t value, uint32_t places)
{
	uint32_t word = 0;
	for (; places != 0; places &= places - 1, value >>= 1)
		if (value & 1)
			word |= places & -places;
	return word;
}

/* All values of the bits in places, with registers of every kind in the four fields. */
static void put_group(uint32_t group, uint32_t places)
{
	static const uint8_t regs[] = { 0, 1, 2, 17, 30, 31 };
	for (uint32_t value = 0; value < 1u << __builtin_popcount(places); value++)
		for (uint32_t choice = 0; choice < 6 * 6 * 6 * 6; choice++) {
			uint32_t word = group | scatter(value, places);
			uint32_t rs = regs[choice % 6], rt2 = regs[choice / 6 % 6];
			uint32_t rn = regs[choice / 36 % 6], rt = regs[choice / 216];
			if ((places & 0xfc00) == 0xfc00)
				rt2 = 0;
			put(word | rs << 16 | rt2 << 10 | rn << 5 | rt);
		}
}

/* "Load/store exclusive", "Atomic memory operations" with both register files and what else shares
 * their bits; then any words. */
static int write_words(void)
{
	put_group(0x08000000, 0xc0e08000);
	for (uint32_t i = 0; i < RANDOM_WORDS; i++) {
		put((random_word() & 0xc0ffffff) | 0x08000000);
		put((random_word() & 0xc4ffffff) | 0x38000000);
		put((random_word() & 0xc0fff3ff) | 0x38200000);
		put(random_word());
	}
	return EXIT_SUCCESS;
}

static struct a64_atomic decoded(uint32_t word)
{
	struct a64_atomic atomic;
	ck_assert_msg(a64_decode(word, &atomic), "%08x is not known", word);
	return atomic;
}

static void expect(uint32_t word, const struct a64_atomic *wanted)
{
	struct a64_atomic found = decoded(word);
	ck_assert_msg(found.kind == wanted->kind && found.family == wanted->family &&
	                      found.size == wanted->size && found.pair == wanted->pair &&
	                      found.acquire == wanted->acquire &&
	                      found.release == wanted->release && found.rs == wanted->rs &&
	                      found.rt == wanted->rt && found.rt2 == wanted->rt2 &&
	                      found.rn == wanted->rn,
	        "%08x: %s", word, a64_family_name(found.family));
}

START_TEST(operations_of_every_size_and_ordering)
{
	for (uint32_t i = 0; i < 9 * 4 * 4; i++) {
		uint32_t operation = i / 16, size = i / 4 % 4, order = i % 4;
		for (uint32_t regs = 0; regs < 1u << 15; regs += 31) {
			uint32_t rs = regs & 31, rn = regs >> 5 & 31, rt = regs >> 10;
			struct a64_atomic wanted = { A64_LSE,
				operation == 8 ? A64_swp : (enum a64_family)(A64_ldadd + operation),
				(uint8_t)(1u << size), false, order & 2, order & 1, (uint8_t)rs,
				(uint8_t)rt, A64_ZR, (uint8_t)rn };
			expect(0x38200000 | size << 30 | order << 22 | rs << 16 | operation << 12 |
			                rn << 5 | rt,
			        &wanted);
		}
	}
}
END_TEST

START_TEST(compare_and_swap_of_every_size_and_ordering)
{
	for (uint32_t i = 0; i < 4 * 4; i++) {
		uint32_t size = i / 4, acquire = i >> 1 & 1, release = i & 1;
		for (uint32_t regs = 0; regs < 1u << 15; regs += 31) {
			uint32_t rs = regs & 31, rn = regs >> 5 & 31, rt = regs >> 10;
			uint32_t fields = acquire << 22 | release << 15 | rs << 16 | rn << 5 | rt;
			struct a64_atomic wanted = { A64_LSE, A64_cas, (uint8_t)(1u << size), false,
				acquire, release, (uint8_t)rs, (uint8_t)rt, A64_ZR, (uint8_t)rn };
			expect(0x08a07c00 | size << 30 | fields, &wanted);
			struct a64_atomic unused;
			uint32_t pair = 0x08207c00 | (size & 1) << 30 | fields;
			wanted.family = A64_casp;
			wanted.size = size & 1 ? 8 : 4;
			wanted.pair = true;
			if (rs % 2 == 0 && rt % 2 == 0)
				expect(pair, &wanted);
			else
				ck_assert(!a64_decode(pair, &unused));
		}
	}
}
END_TEST

START_TEST(exclusives_of_every_size_and_ordering)
{
	for (uint32_t i = 0; i < 4 * 2 * 2 * 2; i++) {
		uint32_t size = i / 8, load = i >> 2 & 1, pair = i >> 1 & 1, ordered = i & 1;
		if (pair && size < 2)
			continue;
		uint32_t word = 0x08000000 | size << 30 | load << 22 | pair << 21 | ordered << 15;
		struct a64_atomic wanted = { load ? A64_LOAD_EXCLUSIVE : A64_STORE_EXCLUSIVE, 0,
			(uint8_t)(1u << size), pair, load && ordered, !load && ordered,
			load ? A64_ZR : 7, 3, pair ? 5 : A64_ZR, A64_SP };
		expect(word | (load ? 31u : 7u) << 16 | (pair ? 5u : 31u) << 10 | A64_SP << 5 | 3,
		        &wanted);
	}
}
END_TEST

/* Words of the same groups that are other instructions, or none. */
START_TEST(neighbours_are_none)
{
	static const struct {
		uint32_t word;
		const char *what;
	} others[] = {
		{ 0xc8dffc20, "ldar x0, [x1]" },
		{ 0x88dffc20, "ldar w0, [x1]" },
		{ 0x08dffc20, "ldarb w0, [x1]" },
		{ 0xc89ffc20, "stlr x0, [x1]" },
		{ 0xc8df7c20, "ldlar x0, [x1]" },
		{ 0xc89f7c20, "stllr x0, [x1]" },
		{ 0xf8bfc020, "ldapr x0, [x1]" },
		{ 0x38bfc020, "ldaprb w0, [x1]" },
		{ 0xd9400020, "ldapur x0, [x1]" },
		{ 0xf83fd020, "ld64b x0, [x1]" },
		{ 0xf83f9020, "st64b x0, [x1]" },
		{ 0xf822b020, "st64bv x2, x0, [x1]" },
		{ 0xf822a020, "st64bv0 x2, x0, [x1]" },
		{ 0x19218040, "swpp x0, x1, [x2]" },
		{ 0x19211040, "ldclrp x0, x1, [x2]" },
		{ 0x19213040, "ldsetp x0, x1, [x2]" },
		{ 0x19200820, "rcwcas x0, x0, [x1]" },
		{ 0x08217c40, "casp of odd registers" },
		{ 0x08200c40, "casp with a third register" },
		{ 0x08a00c40, "casb with a third register" },
		{ 0x3c200020, "ldbfadd h0, h0, [x1]" },
		{ 0xf8200820, "str x0, [x1, x0]" },
		{ 0xf8200420, "ldraa" },
		{ 0xf8400420, "ldr x0, [x1], #0" },
		{ 0xf9400020, "ldr x0, [x1]" },
		{ 0xa9400420, "ldp x0, x1, [x1]" },
		{ 0x89800000, "swpt and its like, unprivileged" },
		{ 0xc9dffc20, "casal unprivileged" },
		{ A64_NOP, "nop" },
		{ 0xd503305f, "clrex" },
		{ 0, "udf" },
		{ 0xffffffff, "nothing" },
	};
	for (size_t i = 0; i < ELEMENTS(others); i++) {
		struct a64_atomic atomic;
		ck_assert_msg(!a64_decode(others[i].word, &atomic), "%s", others[i].what);
	}
}
END_TEST

START_TEST(branches_go_where_they_should)
{
	static const struct {
		uint32_t word;
		int64_t offset;
		const char *what;
	} branches[] = {
		{ 0x14000000, 0, "b ." },
		{ 0x15ffffff, 0x7fffffc, "b, as far forward as it goes" },
		{ 0x16000000, -0x8000000, "b, as far back" },
		{ 0x97ffffff, -4, "bl" },
		{ 0x54000041, 8, "b.ne" },
		{ 0x547fffee, 0xffffc, "b.al, as far forward as it goes" },
		{ 0x54800000, -0x100000, "b.eq, as far back" },
		{ 0x54000051, 8, "bc.ne" },
		{ 0x35ffffd0, -8, "cbnz w16" },
		{ 0xb4000050, 8, "cbz x16" },
		{ 0x3603ffe0, 0x7ffc, "tbz w0, #0, as far forward as it goes" },
		{ 0xb7fc0001, -0x8000, "tbnz x1, #63, as far back" },
		{ 0x74000041, 8, "cbgt w1, w0" },
		{ 0xf5003fe1, -4, "cbgt x1, #0" },
	};
	for (size_t i = 0; i < ELEMENTS(branches); i++) {
		uint64_t target = 0, from = UINT64_C(0xffff80001000);
		ck_assert_msg(
		        a64_branch_target(branches[i].word, from, &target), "%s", branches[i].what);
		ck_assert_msg(target == from + (uint64_t)branches[i].offset, "%s: %llx",
		        branches[i].what, (unsigned long long)target);
	}
	static const uint32_t others[] = { 0xd65f03c0 /* ret */, 0xd61f0200 /* br x16 */,
		0x58000040 /* ldr x0, .+8 */, A64_NOP, 0x38200000 };
	for (size_t i = 0; i < ELEMENTS(others); i++) {
		uint64_t target;
		ck_assert(!a64_branch_target(others[i], 0, &target));
	}
}
END_TEST

START_TEST(literals_lie_where_they_should)
{
	static const struct {
		uint32_t word;
		int64_t offset;
		unsigned size;
	} literals[] = {
		{ 0x18000040, 8, 4 },         /* ldr w0 */
		{ 0x58000040, 8, 8 },         /* ldr x0 */
		{ 0x98ffffe1, -4, 4 },        /* ldrsw x1 */
		{ 0xd8000020, 4, 4 },         /* prfm */
		{ 0x1c7fffe0, 0xffffc, 4 },   /* ldr s0 */
		{ 0x5c800000, -0x100000, 8 }, /* ldr d0 */
		{ 0x9c000040, 8, 16 },        /* ldr q0 */
	};
	for (size_t i = 0; i < ELEMENTS(literals); i++) {
		uint64_t start = 0, from = 0x400000;
		unsigned size = 0;
		ck_assert(a64_literal(literals[i].word, from, &start, &size));
		ck_assert_uint_eq(start, from + (uint64_t)literals[i].offset);
		ck_assert_uint_eq(size, literals[i].size);
	}
	static const uint32_t others[] = { 0xdc000040 /* none */, 0xf9400020, 0x19000020,
		0x10000040 /* adr */, 0x38200000 };
	for (size_t i = 0; i < ELEMENTS(others); i++) {
		uint64_t start;
		unsigned size;
		ck_assert(!a64_literal(others[i], 0, &start, &size));
	}
}
END_TEST

START_TEST(pages_of_adrp)
{
	unsigned reg_number = 0;
	uint64_t page = 0;
	ck_assert(a64_adrp(0xf0000550, 0x123abc, &reg_number, &page));
	ck_assert_uint_eq(reg_number, 16);
	ck_assert_uint_eq(page, 0x123000 + 0xab000);
	ck_assert(a64_adrp(0xf0ffffe1, 0x123abc, &reg_number, &page));
	ck_assert_uint_eq(reg_number, 1);
	ck_assert_uint_eq(page, 0x122000);
	ck_assert(a64_adrp(0x90800000, UINT64_C(0x100000000), &reg_number, &page));
	ck_assert_uint_eq(page, 0);
	ck_assert(!a64_adrp(0x10000000, 0, &reg_number, &page)); /* adr */
	ck_assert(!a64_adrp(A64_NOP, 0, &reg_number, &page));
}
END_TEST

START_TEST(families_have_their_names)
{
	ck_assert_str_eq(a64_family_name(A64_cas), "cas");
	ck_assert_str_eq(a64_family_name(A64_ldumin), "ldumin");
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "words") == 0)
		return write_words();
	if (argc == 2 && strcmp(argv[1], "decode") == 0)
		return print_decoded();
	Suite *suite = suite_create("a64");
	TCase *tcase = tcase_create("a64");
	tcase_add_test(tcase, operations_of_every_size_and_ordering);
	tcase_add_test(tcase, compare_and_swap_of_every_size_and_ordering);
	tcase_add_test(tcase, exclusives_of_every_size_and_ordering);
	tcase_add_test(tcase, neighbours_are_none);
	tcase_add_test(tcase, branches_go_where_they_should);
	tcase_add_test(tcase, literals_lie_where_they_should);
	tcase_add_test(tcase, pages_of_adrp);
	tcase_add_test(tcase, families_have_their_names);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
