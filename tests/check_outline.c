/*
 * Outline-atomics helpers known by their code: bodies put together here, of every operation, size
 * and ordering, whole, cut and altered; and their names. With files as arguments it prints the
 * helpers in them, for a story that knows from the symbols which there are.
 */
#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/outline.h"

#define ADDRESS   UINT64_C(0xffff800012ff0)
#define FLAG      (UINT64_C(0xffff800045000) + 0x123)
#define MOST      32u
#define RET       0xd65f03c0u
#define BTI_C     0xd503245fu
#define DMB_ISH   0xd5033bbfu
#define MOV(d, s) (0x2a0003e0u | (uint32_t)(s) << 16 | (uint32_t)(d)) /* of words */
#define WIDE      0x80000000u                                         /* of doublewords */

enum { TMP0 = 16, TMP1 = 17, TMP2 = 15 };

struct wanted {
	enum a64_family family;
	unsigned size; /* bytes of one register */
	bool acquire, release, bti, sync;
};

struct built {
	uint32_t words[MOST];
	unsigned count;
	unsigned test, lse, load, leave, store; /* words of note; leave 0: none */
};

static unsigned put(struct built *built, uint32_t word)
{
	built->words[built->count] = word;
	return built->count++;
}

static uint32_t log2_size(const struct wanted *wanted)
{
	return (uint32_t)__builtin_ctz(wanted->size);
}

static uint32_t lse_word(const struct wanted *wanted)
{
	uint32_t size = log2_size(wanted), acquire = wanted->acquire, release = wanted->release;
	if (wanted->family == A64_cas)
		return 0x08a07c41 | size << 30 | acquire << 22 | release << 15;
	if (wanted->family == A64_casp)
		return 0x08207c82 | (size - 2) << 30 | acquire << 22 | release << 15;
	uint32_t operation = wanted->family == A64_swp ? 8u : wanted->family - A64_ldadd;
	return 0x38200020 | size << 30 | acquire << 23 | release << 22 | operation << 12;
}

/* Of __sync builtins the load does not acquire: a barrier follows. */
static uint32_t exclusive_word(const struct wanted *wanted, bool load, uint32_t status, uint32_t rt)
{
	static const uint32_t bases[A64_FAMILIES] = { [A64_cas] = 2, [A64_casp] = 4 };
	uint32_t base = bases[wanted->family] ? bases[wanted->family] : 1, word = 0x08007c00;
	bool ordered = load ? wanted->acquire && !wanted->sync : wanted->release;
	if (wanted->family == A64_casp)
		word = 0x08200000 | (load ? 1u : 3u) << 10;
	return word | log2_size(wanted) << 30 | (uint32_t)load << 22 | (uint32_t)ordered << 15 |
	       (load ? 31u : status) << 16 | base << 5 | rt;
}

static uint32_t cbnz(unsigned at, unsigned to, uint32_t reg)
{
	return 0x35000000 | ((to - at) & 0x7ffff) << 5 | reg;
}

static void put_loop(struct built *built, const struct wanted *wanted)
{
	static const uint32_t operations[A64_FAMILIES] = { [A64_ldadd] = 0x0b000000,
		[A64_ldclr] = 0x0a200000,
		[A64_ldeor] = 0x4a000000,
		[A64_ldset] = 0x2a000000 };
	uint32_t wide = wanted->size == 8 ? WIDE : 0, status = TMP1, stored = TMP0;
	built->load = put(built, exclusive_word(wanted, true, 0, 0));
	if (operations[wanted->family] != 0) {
		put(built, operations[wanted->family] | wide | TMP0 << 16 | TMP1);
		status = TMP2;
		stored = TMP1;
	} else if (wanted->family != A64_swp) {
		put(built, 0x6b00001f | wide | TMP0 << 16);
		if (wanted->family == A64_casp)
			put(built, 0x7a400020 | wide | TMP1 << 16); /* ccmp x1, x17, #0, eq */
		status = wanted->family == A64_casp ? TMP2 : TMP1;
		stored = wanted->family == A64_casp ? 2 : 1;
		built->leave = put(built, 0x54000061); /* b.ne, over the store and the cbnz */
	}
	built->store = put(built, exclusive_word(wanted, false, status, stored));
	put(built, cbnz(built->count, built->load, status));
}

static struct built build(const struct wanted *wanted)
{
	struct built built = { .count = 0 };
	uint32_t wide = wanted->size == 8 ? WIDE : 0;
	uint32_t pages = 0xffff800045 - (uint32_t)((ADDRESS + 4 * wanted->bti) >> 12);
	if (wanted->bti)
		put(&built, BTI_C);
	built.test = put(&built, 0x90000010 | (pages & 3) << 29 | pages >> 2 << 5); /* adrp */
	put(&built, 0x39400210 | (FLAG & 0xfff) << 10);                             /* ldrb */
	put(&built, 0x34000070);                                                    /* cbz */
	built.lse = put(&built, lse_word(wanted));
	put(&built, RET);
	if (wanted->family == A64_cas && wanted->size < 4)
		put(&built, wanted->size == 1 ? 0x53001c10 : 0x53003c10); /* uxtb, uxth w16, w0 */
	else
		put(&built, wide | MOV(TMP0, 0));
	if (wanted->family == A64_casp)
		put(&built, wide | MOV(TMP1, 1));
	put_loop(&built, wanted);
	if (wanted->sync)
		put(&built, DMB_ISH);
	put(&built, RET);
	return built;
}

/* Every body that a library has; false behind the last one. */
static bool nth_wanted(unsigned number, struct wanted *wanted)
{
	static const enum a64_family families[] = { A64_cas, A64_swp, A64_ldadd, A64_ldclr,
		A64_ldeor, A64_ldset, A64_casp };
	unsigned family = number / 80;
	*wanted = (struct wanted){ .bti = number & 1, .sync = number % 80 / 16 == 4 };
	wanted->size = 1u << (number >> 1 & 3);
	unsigned order = number % 80 / 8 / 2;
	wanted->acquire = order == 1 || order >= 3;
	wanted->release = order == 2 || order >= 3;
	if (family >= sizeof(families) / sizeof(families[0]))
		return false;
	wanted->family = families[family];
	if (wanted->family == A64_casp)
		wanted->size = 8;
	return true;
}

static bool matches(const struct built *built)
{
	struct outline_helper helper;
	return outline_match(built->words, built->count, ADDRESS, &helper);
}

START_TEST(every_body_is_known)
{
	struct wanted wanted;
	for (unsigned number = 0; nth_wanted(number, &wanted); number++) {
		struct built built = build(&wanted);
		struct outline_helper helper = { 0 };
		put(&built, MOV(3, 4)); /* what follows is not a part of it */
		ck_assert_msg(outline_match(built.words, built.count, ADDRESS, &helper),
		        "%s of %u bytes, number %u", a64_family_name(wanted.family), wanted.size,
		        number);
		ck_assert_uint_eq(helper.address, ADDRESS);
		ck_assert_uint_eq(helper.flag, FLAG);
		ck_assert_uint_eq(helper.words, built.count - 1);
		ck_assert_uint_eq(helper.exclusives, 2);
		ck_assert_int_eq(helper.atomic.kind, A64_LSE);
		ck_assert_int_eq(helper.atomic.family, wanted.family);
		ck_assert_uint_eq(helper.atomic.size, wanted.size);
		ck_assert_int_eq(helper.atomic.acquire, wanted.acquire);
		ck_assert_int_eq(helper.atomic.release, wanted.release);
	}
}
END_TEST

START_TEST(cut_or_altered_bodies_are_not)
{
	struct wanted wanted;
	for (unsigned number = 0; nth_wanted(number, &wanted); number++) {
		struct built whole = build(&wanted), other = whole;
		for (other.count = 0; other.count < whole.count; other.count++)
			ck_assert(!matches(&other));
		for (unsigned i = 0; i < whole.count; i++) {
			static const uint32_t replacements[] = { A64_NOP, 0, 0xffffffff,
				0xf9400020 /* ldr */, 0x14000001 /* b */, 0x94000010 /* bl */ };
			for (size_t k = 0; k < 6; k++) {
				other = whole;
				other.words[i] = replacements[k];
				ck_assert_msg(!matches(&other), "number %u, word %u", number, i);
			}
		}
	}
}
END_TEST

/* Alters the body of one helper by the bits given, and sees that it is not known any more. */
static void expect_refused(const struct wanted *wanted, unsigned at, uint32_t bits)
{
	struct built built = build(wanted);
	built.words[at] ^= bits;
	ck_assert_msg(!matches(&built), "word %u altered by %x", at, bits);
}

START_TEST(parts_that_do_not_agree_are_refused)
{
	const struct wanted add = { .family = A64_ldadd, .size = 4 };
	const struct wanted cas = { .family = A64_cas, .size = 4, .bti = true };
	struct built built = build(&add);
	ck_assert(matches(&built));
	expect_refused(&add, built.test, 1);               /* another register than the load's */
	expect_refused(&add, built.test + 1, 1);           /* loads into another one */
	expect_refused(&add, built.test + 1, 0x40000000);  /* loads a halfword */
	expect_refused(&add, built.test + 2, 1);           /* tests another register */
	expect_refused(&add, built.test + 2, 0x01000000);  /* goes there where LSE is */
	expect_refused(&add, built.test + 2, 1u << 5);     /* goes into the loop */
	expect_refused(&add, built.lse, 0x40000000);       /* another size than the loop's */
	expect_refused(&add, built.lse, 1u << 5);          /* another base */
	expect_refused(&add, built.lse, 1u << 12);         /* clears, where the loop adds */
	expect_refused(&add, built.lse, 1u << 14);         /* no library has helpers of ldsmax */
	expect_refused(&add, built.lse, 0x30000000);       /* an exclusive in its place */
	expect_refused(&add, built.load, 0x40000000);      /* another size than the store's */
	expect_refused(&add, built.load, 1u << 22);        /* two stores */
	expect_refused(&add, built.load + 1, 0x40000000);  /* subtracts */
	expect_refused(&add, built.store, 1u << 22);       /* two loads */
	expect_refused(&add, built.store, 1u << 16);       /* another status than is tested */
	expect_refused(&add, built.store, 1u << 5);        /* another base than the load's */
	expect_refused(&add, built.store + 1, 1u << 5);    /* loops to another place */
	expect_refused(&add, built.store + 1, 0x01000000); /* loops when it has stored */
	expect_refused(&add, built.store + 1, 0xff000000); /* beyond all words */
	built = build(&cas);
	ck_assert(matches(&built));
	expect_refused(&cas, built.leave, 1);       /* leaves the loop when they are equal */
	expect_refused(&cas, built.leave, 1u << 6); /* leaves to another place */
	expect_refused(&cas, 0, 0xc0);              /* BTI J: no landing pad for calls */
}
END_TEST

START_TEST(random_words_are_no_helper)
{
	static uint32_t words[1u << 16];
	uint32_t state = 88172645;
	struct outline_helper helper;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		state = state * 1664525u + 1013904223u;
		words[i] = state;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert(!outline_match(
		        words + i, sizeof(words) / sizeof(words[0]) - i, i * 4, &helper));
	ck_assert(!outline_match(words, 0, 0, &helper));
}
END_TEST

START_TEST(names)
{
	static const char *const helpers[] = { "__aarch64_cas1_relax", "__aarch64_cas16_acq_rel",
		"__aarch64_swp2_acq", "__aarch64_ldadd4_rel", "__aarch64_ldclr8_sync",
		"__aarch64_ldeor1_acq_rel", "__aarch64_ldset8_relax", "__aarch64_cas4_acq.part.0",
		"_ZN17compiler_builtins13aarch64_linux20__aarch64_cas1_relax17h0123456789abcdefE",
		"_ZN17compiler_builtins13aarch64_linux24__aarch64_ldadd8_acq_rel17h00112233445566E",
		"_RNvNtCs5ab_17compiler_builtins13aarch64_linux20___aarch64_cas1_relax" };
	static const char *const others[] = { "", "__aarch64_", "__aarch64_have_lse_atomics",
		"__aarch64_cas", "__aarch64_cas4", "__aarch64_cas4_", "__aarch64_cas4_acquire",
		"__aarch64_cas3_acq", "__aarch64_swp16_acq", "__aarch64_ldadd16_acq",
		"__aarch64_cas4_acq_", "__aarch64_ldsmax4_acq", "__aarch64_sync_cache_range",
		"aarch64_cas4_acq", "x__aarch64_cas4_acq", "____aarch64_cas4_acq_veneer",
		"_ZN1a21__aarch64_cas1_relaxE", "_ZN3app29__aarch64_cas1_relax_caller_xE", "_ZN",
		"_R__aarch64_cas1_relax", "_ZN__aarch64_", "main" };
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		ck_assert_msg(outline_is_name(helpers[i]), "%s", helpers[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_msg(!outline_is_name(others[i]), "%s", others[i]);
}
END_TEST

/* FILE HELPER ADDRESS FLAG, as libraries name it. */
static void print_helper(const char *path, const struct outline_helper *helper, bool sync)
{
	static const char *const orderings[2][2] = { { "relax", "rel" }, { "acq", "acq_rel" } };
	bool pair = helper->atomic.pair;
	printf("%s __aarch64_%s%u_%s %" PRIx64 " %" PRIx64 "\n", path,
	        pair ? "cas" : a64_family_name(helper->atomic.family),
	        helper->atomic.size * (pair ? 2u : 1u),
	        sync ? "sync" : orderings[helper->atomic.acquire][helper->atomic.release],
	        helper->address, helper->flag);
}

static void print_segment(const char *path, const unsigned char *bytes, const Elf64_Phdr *segment)
{
	const uint32_t *words = (const uint32_t *)(const void *)(bytes + segment->p_offset);
	size_t count = segment->p_filesz / 4, length = 1;
	for (size_t i = 0; i < count; i += length) {
		struct outline_helper helper;
		length = 1;
		if (!outline_match(words + i, count - i, segment->p_vaddr + i * 4, &helper))
			continue;
		length = helper.words;
		print_helper(path, &helper, words[i + length - 2] == DMB_ISH);
	}
}

static bool print_helpers(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) != 0 || (size_t)status.st_size < sizeof(Elf64_Ehdr))
		return false;
	const unsigned char *bytes =
	        mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)bytes;
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)(bytes + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) != 0)
			print_segment(path, bytes, &segments[i]);
	return close(fd) == 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++)
		failed += !print_helpers(argv[i]);
	if (argc > 1)
		return failed;
	Suite *suite = suite_create("outline");
	TCase *tcase = tcase_create("outline");
	tcase_add_test(tcase, every_body_is_known);
	tcase_add_test(tcase, cut_or_altered_bodies_are_not);
	tcase_add_test(tcase, parts_that_do_not_agree_are_refused);
	tcase_add_test(tcase, random_words_are_no_helper);
	tcase_add_test(tcase, names);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
