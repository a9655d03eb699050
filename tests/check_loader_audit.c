/*
 * What the audit's reader counts in AArch64 files of a few instructions, and what it says of files
 * that are damaged, cut or of another kind.
 */
#include <stdlib.h>

#include "tests/made_elf.h"

/* B or BL from one word to another. */
static uint32_t branch(uint32_t word, int from, int to)
{
	return word | ((uint32_t)(to - from) & 0x3ffffff);
}

START_TEST(inline_atomics)
{
	made_atomics(ET_DYN);
	made_finish(&made);
	const struct audit_file *row = made_audit();
	made_expect_atomics(row);
	ck_assert_str_eq(row->machine, "aarch64");
	ck_assert_str_eq(row->class, "ELF64");
	ck_assert(row->complete && row->stripped);
	ck_assert_int_eq(row->kind, AUDIT_SHARED);
	ck_assert_int_eq(row->method, AUDIT_SHAPE);
	ck_assert_uint_eq(row->code_bytes, 24);
}
END_TEST

START_TEST(objects_are_proved_by_their_symbols)
{
	made_atomics(ET_REL);
	made_add_symbol(&made, "$x", 0, STT_NOTYPE);
	made_finish(&made);
	const struct audit_file *row = made_audit();
	made_expect_atomics(row);
	ck_assert_int_eq(row->kind, AUDIT_RELOCATABLE);
	ck_assert_int_eq(row->method, AUDIT_SYMBOLS);
	ck_assert_uint_ge(row->rewritable, 1);
}
END_TEST

/* Called by BL, by B, and by way of a veneer. */
START_TEST(outline_helpers)
{
	const int calls = MADE_HELPER_WORDS, veneer = calls + 4;
	made_start(&made, EM_AARCH64);
	made_add_words(made_helper, MADE_HELPER_WORDS);
	made_add_word(branch(0x94000000, calls, 0));
	made_add_word(branch(0x94000000, calls + 1, veneer));
	made_add_word(branch(0x94000000, calls + 2, calls));
	made_add_word(branch(0x14000000, calls + 3, 0));
	made_add_words((uint32_t[]){ 0x90000010, 0x91000210, 0xd61f0200 }, 3);
	made_finish(&made);
	const struct audit_file *row = made_audit();
	ck_assert_uint_eq(row->helpers, 1);
	ck_assert_uint_eq(row->helper_calls, 3);
	ck_assert_uint_eq(row->lse_outline, 1);
	ck_assert_uint_eq(row->llsc_outline, 2);
	ck_assert_uint_eq(row->lse_inline + row->llsc_inline, 0);
	ck_assert_int_eq(row->flag, AUDIT_FLAG_ONE);
	ck_assert_uint_eq(row->flag_address, MADE_ADDRESS + 0x44);
	ck_assert_uint_eq(row->switchable, 3);
	ck_assert_uint_eq(row->fixed, 0);
}
END_TEST

START_TEST(helpers_that_disagree)
{
	uint32_t other[MADE_HELPER_WORDS];
	memcpy(other, made_helper, sizeof(made_helper));
	other[1] += 1 << 10;
	made_start(&made, EM_AARCH64);
	made_add_words(made_helper, MADE_HELPER_WORDS);
	made_add_words(other, MADE_HELPER_WORDS);
	made_add_word(branch(0x94000000, 2 * MADE_HELPER_WORDS, 0));
	made_finish(&made);
	const struct audit_file *row = made_audit();
	ck_assert_uint_eq(row->helpers, 2);
	ck_assert_int_eq(row->flag, AUDIT_FLAG_SEVERAL);
	ck_assert_uint_eq(row->switchable, 0);
	ck_assert_uint_eq(row->fixed, 1);
}
END_TEST

START_TEST(helper_without_lse)
{
	made_start(&made, EM_AARCH64);
	made_add_words(made_helper + 5, MADE_HELPER_WORDS - 5);
	made_add_word(branch(0x94000000, MADE_HELPER_WORDS - 5, 0));
	made_add_symbol(&made, "$x", 0, STT_NOTYPE);
	made_add_symbol(&made, "__aarch64_ldadd4_relax", 0, STT_FUNC);
	made_finish(&made);
	const struct audit_file *row = made_audit();
	ck_assert_uint_eq(row->helpers, 1);
	ck_assert_uint_eq(row->helper_calls, 1);
	ck_assert_uint_eq(row->llsc_outline, 2);
	ck_assert_uint_eq(row->llsc_inline, 0);
	ck_assert_int_eq(row->flag, AUDIT_FLAG_NONE);
	ck_assert_uint_eq(row->fixed, 1);
	ck_assert(made_notes(row, "know no LSE"));
}
END_TEST

START_TEST(mapping_symbols_tell_data)
{
	made_start(&made, EM_AARCH64);
	for (int i = 0; i < 4; i++)
		made_add_word(LDADDAL);
	made_add_symbol(&made, "$d.1", 4, STT_NOTYPE);
	made_add_symbol(&made, "$x", 12, STT_NOTYPE);
	made_finish(&made);
	const struct audit_file *row = made_audit();
	ck_assert_uint_eq(row->lse_inline, 2);
	ck_assert(!row->stripped);
}
END_TEST

/* ldr x0, 8 words on; adr x2, 10 words on, and ldrb w3, [x2, w3, uxtw] with an index up to 7. */
START_TEST(loaded_data_is_no_code)
{
	made_start(&made, EM_AARCH64);
	made_add_word(0x58000100);
	made_add_word(0x71001c7f);
	made_add_word(0x10000142);
	made_add_word(0x38634843);
	made_add_words((uint32_t[]){ NOP, NOP, NOP, RET }, 4);
	for (int i = 8; i < 15; i++)
		made_add_word(LDADDAL);
	made_finish(&made);
	const struct audit_file *row = made_audit();
	ck_assert_uint_eq(row->lse_inline, 3);
	ck_assert(made_notes(row, "loaded as data"));
}
END_TEST

/* Names other than section numbers that fields of section headers are given. */
static void damage(int what)
{
	switch (what) {
	case 0:
		made.header.e_shoff = 0;
		break;
	case 1:
		made.header.e_shoff = made.size * 2;
		break;
	case 2:
		made.header.e_shentsize = 40;
		break;
	case 3:
		made.header.e_shnum = 1;
		break;
	case 4:
		made.header.e_shnum = 60000;
		break;
	case 5:
		made.sections[MADE_CODE].sh_offset += 8;
		break;
	case 6:
		made.sections[MADE_CODE].sh_size = 4;
		break;
	case 7:
		made.sections[MADE_CODE].sh_size = 1 << 30;
		break;
	case 8:
		made.header.e_shstrndx = 0xff00;
		break;
	case 9:
		made.sections[MADE_CODE].sh_type = SHT_NULL;
		break;
	}
}

START_TEST(damaged_section_headers_hide_nothing)
{
	made_atomics(ET_DYN);
	made_finish(&made);
	Elf64_Shdr whole[MADE_SECTIONS];
	memcpy(whole, made.sections, sizeof(whole));
	damage(_i);
	made_append(&made, NULL, 0);
	memcpy(made.bytes, &made.header, sizeof(made.header));
	memcpy(made.bytes + made.size - sizeof(made.sections), made.sections, sizeof(whole));
	const struct audit_file *row = made_audit();
	made_expect_atomics(row);
	ck_assert_uint_ge(row->note_count, 1);
	if (_i != 8)
		ck_assert_int_eq(row->method, AUDIT_SEGMENTS);
}
END_TEST

START_TEST(files_that_end_early_are_not_complete)
{
	made_atomics(ET_DYN);
	made_finish(&made);
	for (size_t size = 1; size < made.size; size++) {
		const struct audit_file *row = made_audit_bytes(made.bytes, size);
		ck_assert_msg(!row->complete, "cut at %zu", size);
		ck_assert_uint_ge(row->note_count, 1);
	}
}
END_TEST

START_TEST(big_endian_code_is_little_endian)
{
	static const unsigned char header[] = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2MSB, 1, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, ET_EXEC, 0, EM_AARCH64, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
		52, 0, 0, 0, 0, 0, 0, 0, 0, 0, 52, 0, 32, 0, 1, 0, 0, 0, 0, 0,
		0, /* the program header */
		0, 0, 0, PT_LOAD, 0, 0, 0, 84, 0, 1, 0, 84, 0, 1, 0, 84, 0, 0, 0, 4, 0, 0, 0, 4, 0,
		0, 0, 5, 0, 0, 0, 4, 0x20, 0, 0xe0, 0xb8 };
	const struct audit_file *row = made_audit_bytes(header, sizeof(header));
	ck_assert(row->big_endian && row->complete && row->is_static);
	ck_assert_str_eq(row->class, "ELF32");
	ck_assert_uint_eq(row->lse_inline, 1);
	ck_assert_uint_eq(row->fixed, 1);
}
END_TEST

START_TEST(refusals)
{
	made_expect_refusal(made_audit_bytes("", 0), "empty");
	made_expect_refusal(made_audit_bytes("#!/bin/sh\n", 10), "a script");
	made_expect_refusal(made_audit_bytes("text", 4), "no ELF file");
	made_atomics(ET_CORE);
	made_finish(&made);
	made_expect_refusal(made_audit(), "core dump");
	made_atomics(ET_DYN);
	made_finish(&made);
	made.sections[MADE_CODE].sh_type = SHT_NOBITS;
	made_write_headers(&made);
	made_expect_refusal(made_audit(), "debug information alone");
	made_start(&made, EM_AARCH64);
	made.header.e_type = ET_REL;
	made.extra_name = ".debug_info.dwo";
	made.extra_size = 8;
	made_finish(&made);
	made.sections[MADE_CODE] = (Elf64_Shdr){ 0 };
	made_write_headers(&made);
	made_expect_refusal(made_audit(), "split debug information");
}
END_TEST

START_TEST(other_machines_are_not_counted)
{
	made_atomics(ET_DYN);
	made.header.e_machine = EM_ARM;
	made_finish(&made);
	const struct audit_file *row = made_audit();
	ck_assert_str_eq(row->machine, "arm");
	ck_assert(!row->complete);
	ck_assert(made_notes(row, "only the atomics of"));
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("check_loader_audit");
	TCase *cases = tcase_create("files");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, NULL, made_free);
	tcase_add_test(cases, inline_atomics);
	tcase_add_test(cases, objects_are_proved_by_their_symbols);
	tcase_add_test(cases, outline_helpers);
	tcase_add_test(cases, helpers_that_disagree);
	tcase_add_test(cases, helper_without_lse);
	tcase_add_test(cases, mapping_symbols_tell_data);
	tcase_add_test(cases, loaded_data_is_no_code);
	tcase_add_loop_test(cases, damaged_section_headers_hide_nothing, 0, 10);
	tcase_add_test(cases, files_that_end_early_are_not_complete);
	tcase_add_test(cases, big_endian_code_is_little_endian);
	tcase_add_test(cases, refusals);
	tcase_add_test(cases, other_machines_are_not_counted);
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
