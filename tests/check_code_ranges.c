/*
 * Functions by the unwind tables: tables put together here in every encoding, damaged and cut
 * anywhere; and this process's own. With files as arguments it prints the functions in them, for a
 * story that knows from readelf which there are.
 */
#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/code_ranges.h"

#define ADDRESS   UINT64_C(0x40000000)
#define FRAMES    0x100u /* where .eh_frame lies in the image */
#define CODE      0x2000u
#define SIZE      0x4000u
#define FUNCTIONS 3u
#define LENGTH    0x123u
#define MUTATIONS 20000u

struct tables {
	unsigned char bytes[SIZE];
	unsigned at;               /* where the next byte is put */
	unsigned cie, fdes[8];     /* where they begin */
	unsigned begins, lengths;  /* of the last FDE: its two fields */
	unsigned letters, version; /* of the CIE */
	unsigned end;              /* behind the last FDE */
};

/* What a CIE says. */
struct style {
	const char *augmentation;
	unsigned version, encoding;
	bool extended;        /* lengths of 8 bytes */
	unsigned personality; /* its encoding, 0: a usual one */
};

static const struct style usual = { "zR", 1, 0x1b, false, 0 };

static void put(struct tables *tables, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		tables->bytes[tables->at++] = (unsigned char)(value >> (8 * i));
}

static void put_leb(struct tables *tables, uint64_t value)
{
	for (; value >= 0x40; value >>= 7)
		put(tables, (value & 0x7f) | 0x80, 1);
	put(tables, value, 1);
}

static void put_encoded(struct tables *tables, uint64_t value, unsigned encoding)
{
	static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8 };
	if ((encoding & 0x70) == 0x10)
		value -= ADDRESS + tables->at;
	if ((encoding & 0x07) == 1)
		put_leb(tables, value);
	else
		put(tables, value, sizes[encoding & 15]);
}

/* The length is set by end_entry. */
static unsigned begin_entry(struct tables *tables, bool extended)
{
	unsigned start = tables->at;
	put(tables, 0xffffffff, 4);
	if (extended)
		put(tables, 0, 8);
	return start;
}

static void end_entry(struct tables *tables, unsigned start, bool extended)
{
	put(tables, 0, 8 - tables->at % 8); /* DW_CFA_nop */
	unsigned end = tables->at;
	tables->at = extended ? start + 4 : start;
	put(tables, end - start - (extended ? 12 : 4), extended ? 8 : 4);
	tables->at = end;
}

static void put_cie(struct tables *tables, const struct style *style)
{
	tables->cie = begin_entry(tables, style->extended);
	put(tables, 0, 4);
	tables->version = tables->at;
	put(tables, style->version, 1);
	tables->letters = tables->at;
	for (size_t i = 0; i <= strlen(style->augmentation); i++)
		put(tables, (unsigned char)style->augmentation[i], 1);
	if (style->version == 4)
		put(tables, 8, 2);
	put(tables, 4, 1);      /* code alignment */
	put(tables, 0x7ff8, 2); /* data alignment: two bytes of LEB128 */
	put(tables, 0x9e, 1);   /* return address: in version 1 a byte, else LEB128 */
	if (style->version != 1)
		put(tables, 1, 1);
	for (const char *letter = style->augmentation; *letter != '\0'; letter++) {
		if (*letter == 'z')
			put(tables, 7, 1);
		if (*letter == 'R')
			put(tables, style->encoding, 1);
		if (*letter == 'L')
			put(tables, 0x1b, 1);
		if (*letter == 'P')
			put(tables,
			        style->personality ? style->personality : UINT64_C(0x123456789b),
			        5);
	}
	end_entry(tables, tables->cie, style->extended);
}

static uint64_t function_start(unsigned number)
{
	return ADDRESS + CODE + number * 0x200;
}

static void put_fde(struct tables *tables, const struct style *style, unsigned number)
{
	unsigned start = begin_entry(tables, style->extended);
	tables->fdes[number] = start;
	put(tables, tables->at - tables->cie, 4);
	tables->begins = tables->at;
	put_encoded(tables, function_start(number), style->encoding);
	tables->lengths = tables->at;
	put_encoded(tables, LENGTH, style->encoding & 15);
	end_entry(tables, start, style->extended);
}

static void put_header(struct tables *tables, unsigned count)
{
	tables->at = 0;
	put(tables, 0x3b031b01, 4);
	put(tables, FRAMES - 4, 4);
	put(tables, count, 4);
	for (unsigned i = 0; i < count; i++) {
		put(tables, function_start(i) - ADDRESS, 4);
		put(tables, tables->fdes[i], 4);
	}
}

/* FUNCTIONS functions under one CIE. */
static struct tables build(const struct style *style)
{
	struct tables tables = { .at = FRAMES };
	put_cie(&tables, style);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		put_fde(&tables, style, i);
	tables.end = tables.at;
	put_header(&tables, FUNCTIONS);
	return tables;
}

static struct image_bytes image_of(const struct tables *tables)
{
	return (struct image_bytes){ tables->bytes, SIZE, ADDRESS };
}

/* A bit of each function found that is whole. */
static unsigned found(const struct tables *tables)
{
	struct image_bytes image = image_of(tables);
	struct code_ranges ranges;
	struct code_range range;
	unsigned bits = 0;
	if (!code_ranges_open(&ranges, &image, ADDRESS))
		return 0;
	while (code_ranges_next(&ranges, &range))
		for (unsigned i = 0; i < FUNCTIONS; i++)
			if (range.start == function_start(i) && range.end == range.start + LENGTH)
				bits |= 1u << i;
	return bits;
}

START_TEST(every_encoding_is_understood)
{
	static const char *const augmentations[] = { "zR", "zPLR", "zRS", "zLPR", "zRBG", "zRPL" };
	static const uint8_t encodings[] = { 0x1b, 0x00, 0x10, 0x1c, 0x0c, 0x04, 0x14, 0x03, 0x13,
		0x0b, 0x1a, 0x12, 0x01, 0x09, 0x11, 0x19 };
	static const uint8_t versions[] = { 1, 3, 4 };
	for (unsigned i = 0; i < 6 * 16 * 3 * 2; i++) {
		struct style style = { augmentations[i % 6], versions[i / 6 % 3],
			encodings[i / 18 % 16], i / 288, 0 };
		struct tables tables = build(&style);
		ck_assert_msg(found(&tables) == 7, "%s, version %u, encoding %x%s",
		        style.augmentation, style.version, style.encoding,
		        style.extended ? ", extended" : "");
	}
	struct tables plain = build(&(struct style){ "", 1, 0, false, 0 });
	ck_assert_uint_eq(found(&plain), 7);
}
END_TEST

/* Gives the second function a CIE of its own, puts a value over a field of it or of its FDE, and
 * sees that the other functions are still found. */
static void expect_skipped(const struct style *style, int place, uint64_t value, unsigned size)
{
	enum { FIRST = 1, LAST = 4 };
	struct tables tables = { .at = FRAMES };
	put_cie(&tables, &usual);
	put_fde(&tables, &usual, 0);
	put_fde(&tables, &usual, 2);
	put_cie(&tables, style);
	put_fde(&tables, style, 1);
	unsigned places[] = { tables.cie, tables.cie + 4, tables.version, tables.letters,
		tables.fdes[1], tables.fdes[1] + 4, tables.begins, tables.lengths };
	put_header(&tables, FUNCTIONS);
	ck_assert_uint_eq(found(&tables) & (FIRST | LAST), FIRST | LAST);
	if (place >= 0) {
		ck_assert_uint_eq(found(&tables), 7);
		tables.at = places[place];
		put(&tables, value, size);
	}
	ck_assert_msg(found(&tables) == (FIRST | LAST), "%s, encoding %x, place %d: %" PRIx64,
	        style->augmentation, style->encoding, place, value);
}

START_TEST(what_cannot_be_understood_is_skipped)
{
	enum { CIE_LENGTH, CIE_ID, VERSION, LETTERS, FDE_LENGTH, FDE_CIE, BEGINS, LENGTHS };
	static const uint8_t encodings[] = { 0x9b, 0x3b, 0x2b, 0x4b, 0x50, 0xff, 0x05, 0x1f };
	for (size_t i = 0; i < sizeof(encodings); i++)
		expect_skipped(&(struct style){ "zR", 1, encodings[i], false, 0 }, -1, 0, 0);
	expect_skipped(&(struct style){ "zXR", 1, 0x1b, false, 0 }, -1, 0, 0);
	expect_skipped(&(struct style){ "zRP", 1, 0x1b, false, 0x50 }, -1, 0, 0);
	expect_skipped(&(struct style){ "zRP", 1, 0x1b, false, 0xff }, -1, 0, 0);
	expect_skipped(&(struct style){ "zRSBGSBGS", 1, 0x1b, false, 0 }, -1, 0, 0);
	expect_skipped(&usual, CIE_LENGTH, 0, 4);
	expect_skipped(&usual, CIE_LENGTH, SIZE, 4);
	expect_skipped(&usual, CIE_LENGTH, 9, 4); /* ends in the augmentation */
	expect_skipped(&usual, CIE_ID, 1, 4);
	expect_skipped(&usual, VERSION, 2, 1);
	expect_skipped(&usual, LETTERS, 'e', 1);
	expect_skipped(&usual, FDE_LENGTH, 0, 4);
	expect_skipped(&usual, FDE_LENGTH, 0xfffffff0, 4);
	expect_skipped(&usual, FDE_LENGTH, 11, 4); /* ends in the function's length */
	expect_skipped(&usual, FDE_CIE, 0, 4);     /* is a CIE itself */
	expect_skipped(&usual, FDE_CIE, 0xffffffff, 4);
	expect_skipped(&usual, BEGINS, 4, 4); /* elsewhere than the table says */
	expect_skipped(&usual, LENGTHS, 0, 4);
	expect_skipped(&usual, LENGTHS, 0xffffff00, 4);
}
END_TEST

START_TEST(entries_that_lie_elsewhere_are_skipped)
{
	struct tables tables = build(&usual);
	for (unsigned offset = 0; offset < 4; offset++) {
		static const uint32_t places[] = { SIZE, 0x7fffffff, 0x80000000, SIZE - 3 };
		tables.at = 12 + 8 + 4;
		put(&tables, places[offset], 4);
		ck_assert_uint_eq(found(&tables), 5);
	}
}
END_TEST

static bool opens(const unsigned char *header, size_t size, uint64_t at)
{
	struct image_bytes image = { header, size, ADDRESS };
	struct code_ranges ranges;
	return code_ranges_open(&ranges, &image, ADDRESS + at);
}

START_TEST(headers_that_cannot_be_understood_are_refused)
{
	struct tables tables = build(&usual);
	ck_assert(opens(tables.bytes, SIZE, 0));
	ck_assert(opens(tables.bytes, 12 + 8 * FUNCTIONS, 0));
	for (size_t size = 0; size < 12 + 8 * FUNCTIONS; size++)
		ck_assert(!opens(tables.bytes, size, 0));
	ck_assert(!opens(tables.bytes, SIZE, SIZE));
	ck_assert(!opens(tables.bytes, SIZE, SIZE + 1));
	ck_assert(!opens(tables.bytes, SIZE, (uint64_t)-1));
	static const struct {
		unsigned at;
		unsigned char value;
	} changes[] = { { 0, 2 }, { 0, 0 }, { 2, 0xff }, { 2, 0x83 }, { 3, 0xff }, { 3, 0x1b },
		{ 3, 0x3c }, { 10, 1 }, { 11, 0xff } };
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		tables = build(&usual);
		tables.bytes[changes[i].at] = changes[i].value;
		ck_assert(!opens(tables.bytes, SIZE, 0));
	}
}
END_TEST

START_TEST(tables_may_end_with_the_image)
{
	struct tables tables = build(&usual);
	struct image_bytes image = image_of(&tables);
	struct code_ranges ranges;
	struct code_range range;
	unsigned count = 0;
	image.size = tables.end;
	ck_assert(code_ranges_open(&ranges, &image, ADDRESS));
	ranges.within = (struct code_range){ 0, UINT64_MAX };
	while (code_ranges_next(&ranges, &range))
		count++;
	ck_assert_uint_eq(count, FUNCTIONS);
}
END_TEST

START_TEST(functions_are_cut_to_what_is_asked_for)
{
	struct tables tables = build(&usual);
	struct image_bytes image = image_of(&tables);
	struct code_ranges ranges;
	struct code_range range;
	image.size = CODE + 0x200 + 0x10;
	ck_assert(code_ranges_open(&ranges, &image, ADDRESS));
	ck_assert(code_ranges_next(&ranges, &range));
	ck_assert_uint_eq(range.end, function_start(0) + LENGTH);
	ck_assert(code_ranges_next(&ranges, &range));
	ck_assert_uint_eq(range.start, function_start(1));
	ck_assert_uint_eq(range.end, function_start(1) + 0x10);
	ck_assert(!code_ranges_next(&ranges, &range));
	ck_assert(code_ranges_open(&ranges, &image, ADDRESS));
	ranges.within = (struct code_range){ function_start(1) + 1, function_start(2) + 1 };
	ck_assert(code_ranges_next(&ranges, &range));
	ck_assert_uint_eq(range.start, function_start(1) + 1);
	ck_assert_uint_eq(range.end, function_start(1) + LENGTH);
	ck_assert(code_ranges_next(&ranges, &range));
	ck_assert_uint_eq(range.start, function_start(2));
	ck_assert_uint_eq(range.end, function_start(2) + 1);
	ck_assert(!code_ranges_next(&ranges, &range));
}
END_TEST

/* Walks bytes that lie in memory of just their size, so that a sanitizer sees every read. */
static void walk(const unsigned char *bytes, size_t size, uint64_t address)
{
	unsigned char *copy = malloc(size + (size == 0));
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, size);
	struct image_bytes image = { copy, size, address };
	struct code_ranges ranges;
	struct code_range range;
	unsigned count = 0;
	if (code_ranges_open(&ranges, &image, address)) {
		for (; code_ranges_next(&ranges, &range); count++) {
			ck_assert_uint_lt(range.start, range.end);
			ck_assert_uint_ge(range.start, address);
			ck_assert_uint_le(range.end, address + size);
		}
		ck_assert_uint_le(count, size / 8);
	}
	free(copy);
}

START_TEST(damaged_tables_are_read_within_bounds)
{
	static const struct style styles[] = { { "zR", 1, 0x1b, false, 0 },
		{ "zPLR", 4, 0x10, true, 0 }, { "zLPR", 3, 0x19, false, 0 } };
	uint32_t state = 1;
	for (size_t i = 0; i < 3; i++) {
		struct tables whole = build(&styles[i]);
		for (size_t size = 0; size < FRAMES + 0x200; size++) {
			walk(whole.bytes, size, ADDRESS);
			walk(whole.bytes, size, 0);
			walk(whole.bytes, size, UINT64_MAX - size);
			walk(whole.bytes, size, INT64_MAX);
		}
		for (unsigned round = 0; round < MUTATIONS; round++) {
			struct tables other = whole;
			for (unsigned k = 0; k <= round % 4; k++) {
				state = state * 1664525u + 1013904223u;
				unsigned at = state >> 8, value = state >> 24;
				at = at % 2 == 0 ? at / 2 % 36 : FRAMES + at / 2 % 0x180;
				other.bytes[at] = (unsigned char)(round % 3 == 0 ? 0xff : value);
			}
			walk(other.bytes, FRAMES + 0x180, ADDRESS);
		}
	}
}
END_TEST

struct search {
	uint64_t address;
	unsigned holders, others; /* functions that hold the address, and that do not */
};

/* The tables of an object lie in one of its segments, its code in others. */
static int search_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const ElfW(Phdr) *tables = NULL;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			tables = &info->dlpi_phdr[i];
	for (int i = 0; tables != NULL && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		struct code_ranges ranges;
		struct code_range range;
		if (segment->p_type != PT_LOAD ||
		        tables->p_vaddr - segment->p_vaddr >= segment->p_memsz)
			continue;
		uint64_t start = info->dlpi_addr + segment->p_vaddr;
		struct image_bytes image = { (const unsigned char *)start, segment->p_memsz,
			start };
		ck_assert(code_ranges_open(&ranges, &image, info->dlpi_addr + tables->p_vaddr));
		ranges.within = (struct code_range){ 0, UINT64_MAX };
		while (code_ranges_next(&ranges, &range))
			*(search->address - range.start < range.end - range.start
			                ? &search->holders
			                : &search->others) += 1;
	}
	return 0;
}

START_TEST(functions_of_this_process_are_found)
{
	uint64_t functions[] = { (uintptr_t)walk, (uintptr_t)build, (uintptr_t)qsort,
		(uintptr_t)fopen };
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		for (unsigned offset = 0; offset < 8; offset += 4) {
			struct search search = { .address = functions[i] + offset };
			dl_iterate_phdr(search_object, &search);
			ck_assert_uint_eq(search.holders, 1);
			ck_assert_uint_gt(search.others, 500);
		}
	}
}
END_TEST

/* START END, as readelf writes them. */
static void print_segment(const struct image_bytes *image, uint64_t tables)
{
	struct code_ranges ranges;
	struct code_range range;
	if (!code_ranges_open(&ranges, image, tables))
		return;
	ranges.within = (struct code_range){ 0, UINT64_MAX };
	while (code_ranges_next(&ranges, &range))
		printf("%016" PRIx64 "..%016" PRIx64 "\n", range.start, range.end);
}

static void print_file(const unsigned char *bytes)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)bytes;
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)(bytes + header->e_phoff);
	uint64_t tables = 0;
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			tables = segments[i].p_vaddr;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];
		struct image_bytes image = { bytes + segment->p_offset, segment->p_filesz,
			segment->p_vaddr };
		if (segment->p_type == PT_LOAD && tables - segment->p_vaddr < segment->p_filesz)
			print_segment(&image, tables);
	}
}

static bool print_functions(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) != 0 || (size_t)status.st_size < sizeof(Elf64_Ehdr))
		return false;
	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	print_file(bytes);
	return close(fd) == 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++)
		failed += !print_functions(argv[i]);
	if (argc > 1)
		return failed;
	Suite *suite = suite_create("code_ranges");
	TCase *tcase = tcase_create("code_ranges");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, every_encoding_is_understood);
	tcase_add_test(tcase, what_cannot_be_understood_is_skipped);
	tcase_add_test(tcase, entries_that_lie_elsewhere_are_skipped);
	tcase_add_test(tcase, headers_that_cannot_be_understood_are_refused);
	tcase_add_test(tcase, tables_may_end_with_the_image);
	tcase_add_test(tcase, functions_are_cut_to_what_is_asked_for);
	tcase_add_test(tcase, damaged_tables_are_read_within_bounds);
	tcase_add_test(tcase, functions_of_this_process_are_found);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
