/*
 * What the audit's reader makes of files in files, of compressed ones, of large ones, of x86-64's,
 * and of any damage.
 */
#include <ar.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "loader/audit/map.h"
#include "loader/audit/x86_length.h"
#include "tests/made_elf.h"

/* Adds a member; returns the archive's size then. */
static size_t add_member(char *archive, size_t at, const char *name, const void *bytes, size_t size)
{
	char header[sizeof(struct ar_hdr) + 1];
	snprintf(header, sizeof(header), "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644,
	        size);
	memcpy(archive + at, header, sizeof(struct ar_hdr));
	memcpy(archive + at + sizeof(struct ar_hdr), bytes, size);
	return at + sizeof(struct ar_hdr) + size + size % 2;
}

START_TEST(archives)
{
	static char archive[1 << 18];
	const char long_names[] = "a_name_longer_than_fifteen.o/\n";
	memcpy(archive, ARMAG, SARMAG);
	size_t size = add_member(archive, SARMAG, "/", "\0\0\0\0", 4);
	size = add_member(archive, size, "//", long_names, sizeof(long_names) - 1);
	made_atomics(ET_REL);
	made_add_symbol(&made, "$x", 0, STT_NOTYPE);
	made_finish(&made);
	size = add_member(archive, size, "/0", made.bytes, made.size);
	size = add_member(archive, size, "text/", "text", 4);
	size = add_member(archive, size, "short.o/", made.bytes, made.size);
	const struct audit_file *row = made_audit_bytes(archive, size);
	ck_assert_uint_eq(made_list.count, 3);
	ck_assert_str_eq(row[0].path, "made(a_name_longer_than_fifteen.o)");
	made_expect_atomics(&row[0]);
	ck_assert(row[0].complete);
	made_expect_refusal(&row[1], "no ELF file");
	ck_assert_str_eq(row[2].path, "made(short.o)");
	made_expect_atomics(&row[2]);
	row = made_audit_bytes(archive, size - 100);
	ck_assert(!made_list.files[made_list.count - 1].complete ||
	          !made_list.files[made_list.count - 2].complete);
}
END_TEST

/* Packs what was made into the section of another one. */
START_TEST(minidebuginfo)
{
	static struct made inner;
	made_start(&made, EM_AARCH64);
	made_add_words(made_helper + 5, MADE_HELPER_WORDS - 5);
	made_add_symbol(&made, "__aarch64_ldadd4_relax", 0, STT_FUNC);
	made_finish(&made);
	inner = made;
	made_start(&made, EM_AARCH64);
	made_add_words(made_helper + 5, MADE_HELPER_WORDS - 5);
	made.extra_name = ".gnu_debugdata";
	ck_assert_int_eq(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, inner.bytes, inner.size,
	                         made.extra, &made.extra_size, sizeof(made.extra)),
	        LZMA_OK);
	made_finish(&made);
	const struct audit_file *row = made_audit();
	ck_assert(row->stripped);
	ck_assert_uint_eq(row->helpers, 1);
	ck_assert(made_notes(row, ".gnu_debugdata"));
}
END_TEST

START_TEST(compressed_symbols)
{
	made_atomics(ET_DYN);
	made_add_symbol(&made, "$d", 0, STT_NOTYPE);
	made_finish(&made);
	Elf64_Shdr *table = &made.sections[MADE_SYMTAB];
	struct {
		Elf64_Chdr head;
		unsigned char bytes[4096];
	} packed = { .head = { ELFCOMPRESS_ZLIB, 0, table->sh_size, 8 } };
	uLongf size = sizeof(packed.bytes);
	ck_assert_int_eq(
	        compress(packed.bytes, &size, made.bytes + table->sh_offset, table->sh_size), Z_OK);
	table->sh_flags = SHF_COMPRESSED;
	table->sh_offset = made_append(&made, &packed, sizeof(packed.head) + size);
	table->sh_size = sizeof(packed.head) + size;
	made_write_headers(&made);
	ck_assert_uint_eq(made_audit()->lse_inline, 0);
	memset(made.bytes + table->sh_offset + sizeof(packed.head), 0xff, size);
	const struct audit_file *row = made_audit();
	ck_assert_uint_eq(row->lse_inline, 1);
	ck_assert(made_notes(row, "compressed"));
}
END_TEST

START_TEST(code_behind_two_gigabytes)
{
	const uint64_t far = UINT64_C(3) << 30;
	int fd = memfd_create("far", MFD_CLOEXEC);
	made_atomics(ET_DYN);
	made_finish(&made);
	made.header.e_shoff = made.header.e_shnum = made.header.e_shstrndx = 0;
	made.segment.p_offset = far;
	made_write_headers(&made);
	ck_assert_int_eq(pwrite(fd, made.bytes, MADE_TEXT, 0), MADE_TEXT);
	ck_assert_int_eq(
	        pwrite(fd, made.bytes + MADE_TEXT, made.code_size, (off_t)far), made.code_size);
	audit_read(&made_list, fd, "far");
	made_expect_atomics(&made_list.files[0]);
	ck_assert(made_list.files[0].complete);
	close(fd);
}
END_TEST

/* What is loaded lies in another block than the load. */
START_TEST(literals_of_the_next_block)
{
	const size_t words = 1 << 19, reach = (1 << 18) - 1;
	uint32_t *code = calloc(words + 1024, 4);
	made_atomics(ET_DYN);
	made_finish(&made);
	made.header.e_shoff = made.header.e_shnum = made.header.e_shstrndx = 0;
	made.segment.p_filesz = made.segment.p_memsz = words * 4;
	made_write_headers(&made);
	memcpy(code, made.bytes, MADE_TEXT);
	uint32_t *text = code + MADE_TEXT / 4;
	text[1000] = 0x18000000 | (uint32_t)reach << 5;
	text[1000 + reach] = LDADDAL;
	text[1001 + reach] = LDADDAL;
	text[words - 1] = 0x18000000 | 0x40000 << 5;
	text[words - 1 - reach - 1] = LDADDAL;
	const struct audit_file *row = made_audit_bytes(code, MADE_TEXT + words * 4);
	ck_assert_uint_eq(row->lse_inline, 1);
	ck_assert_uint_eq(row->code_bytes, words * 4);
	free(code);
}
END_TEST

START_TEST(x86_atomics)
{
	static const unsigned char code[] = {
		0xf0,
		0x83,
		0x07,
		0x01, /* lock addl $1, (%rdi) */
		0x87,
		0x07, /* xchg %eax, (%rdi) */
		0x87,
		0xc8, /* xchg %ecx, %eax */
		0xb8,
		0xf0,
		0x83,
		0x07,
		0x01, /* mov $0x10783f0, %eax */
		0xf0,
		0x48,
		0x0f,
		0xc1,
		0x07, /* lock xadd %rax, (%rdi) */
		0xc3,
	};
	made_start(&made, EM_X86_64);
	made_add_code(&made, code, sizeof(code));
	made_finish(&made);
	const struct audit_file *row = made_audit();
	ck_assert_str_eq(row->machine, "x86-64");
	ck_assert_uint_eq(row->locked, 3);
	ck_assert_uint_eq(made_family(row, "lock add"), 1);
	ck_assert_uint_eq(made_family(row, "xchg"), 1);
	ck_assert_uint_eq(made_family(row, "lock xadd"), 1);
	ck_assert_uint_eq(row->switchable + row->rewritable + row->fixed, 0);
}
END_TEST

/* Encodings of every shape, each alone. */
START_TEST(x86_lengths)
{
	static const struct {
		const char *bytes;
		unsigned length;
		bool is_atomic;
	} cases[] = {
		{ "\x90", 1, false },
		{ "\x48\x89\xe5", 3, false },
		{ "\x8b\x04\x25\x01\x02\x03\x04", 7, false }, /* no base: disp32 */
		{ "\x8b\x44\x24\x08", 4, false },             /* SIB and disp8 */
		{ "\x48\x8b\x05\x01\x02\x03\x04", 7, false }, /* relative to the next one */
		{ "\x48\xb8\1\2\3\4\5\6\7\x08", 10, false },  /* movabs */
		{ "\x66\xb8\x01\x02", 4, false },
		{ "\xf6\x07\x01", 3, false }, /* test */
		{ "\xf6\x17", 2, false },     /* not */
		{ "\x66\xf7\x07\x01\x02", 5, false },
		{ "\xc8\x01\x02\x03", 4, false },
		{ "\x0f\x84\x01\x02\x03\x04", 6, false },
		{ "\x66\x0f\x3a\x0f\xc1\x08", 6, false },
		{ "\xc5\xf8\x77", 3, false },
		{ "\xc4\xe3\x7d\x39\xc1\x01", 6, false },
		{ "\x62\xf1\x7c\x48\x28\x47\x01", 7, false },
		{ "\x8f\xe9\x78\x80\xc1", 5, false }, /* XOP */
		{ "\x8f\x07", 2, false },             /* pop */
		{ "\xf0\x0f\xc7\x0f", 4, true },
		{ "\x66\xf0\x0f\xb1\x0f", 5, true },
		{ "\x48\x87\x07", 3, true },
		{ "\x86\xc8", 2, false },
		{ "\x06", 0, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char bytes[32] = { 0 };
		unsigned length;
		bool is_atomic;
		memcpy(bytes, cases[i].bytes, cases[i].length != 0 ? cases[i].length : 1);
		ck_assert_msg(x86_length(bytes, 15, &is_atomic) == cases[i].length, "case %zu", i);
		ck_assert_msg(is_atomic == cases[i].is_atomic, "case %zu", i);
		size_t next = x86_next_atomic(bytes, 0, 1, sizeof(bytes), &length);
		size_t step = cases[i].length != 0 ? cases[i].length : 1;
		ck_assert_msg(next == (is_atomic ? 0 : step), "case %zu: %zu", i, next);
		if (cases[i].length > 1)
			ck_assert_uint_eq(x86_length(bytes, cases[i].length - 1, &is_atomic), 0);
	}
}
END_TEST

START_TEST(files_that_shrink_read_as_zeros)
{
	struct map map;
	char page[8192] = { [0 ... 8191] = 1 };
	int fd = memfd_create("shrinks", MFD_CLOEXEC);
	ck_assert_int_eq(write(fd, page, sizeof(page)), sizeof(page));
	ck_assert(map_open(&map, fd));
	ck_assert_int_eq(map.view.bytes[8000], 1);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(map.view.bytes[8000], 0);
	ck_assert(map.shrank);
	map_close(&map);
	close(fd);
}
END_TEST

/* Damage of any kind gives rows; sanitizers see what else it does. */
START_TEST(random_damage)
{
	unsigned seed = 1;
	made_atomics(ET_DYN);
	made_add_words(made_helper, MADE_HELPER_WORDS);
	made_add_symbol(&made, "$x", 0, STT_NOTYPE);
	made_finish(&made);
	static struct made damaged;
	for (int round = 0; round < 3000; round++) {
		damaged = made;
		for (int i = 0; i < 3; i++) {
			size_t at = (size_t)rand_r(&seed) % made.size;
			if (rand_r(&seed) % 2)
				at = (size_t)rand_r(&seed) % 120;
			else if (rand_r(&seed) % 2)
				at = made.header.e_shoff +
				     (size_t)rand_r(&seed) % sizeof(made.sections);
			damaged.bytes[at] = (unsigned char)rand_r(&seed);
		}
		made_audit_bytes(damaged.bytes, damaged.size);
	}
}
END_TEST
static Suite *suite(void)
{
	Suite *all = suite_create("check_loader_audit_files");
	TCase *cases = tcase_create("files");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, NULL, made_free);
	tcase_add_test(cases, archives);
	tcase_add_test(cases, minidebuginfo);
	tcase_add_test(cases, compressed_symbols);
	tcase_add_test(cases, code_behind_two_gigabytes);
	tcase_add_test(cases, literals_of_the_next_block);
	tcase_add_test(cases, x86_atomics);
	tcase_add_test(cases, x86_lengths);
	tcase_add_test(cases, files_that_shrink_read_as_zeros);
	tcase_add_test(cases, random_damage);
	suite_add_tcase(all, cases);
	return all;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
