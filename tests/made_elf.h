/*
 * ELF files of a few instructions, made in memory as tests ask for them.
 */
#ifndef TESTS_MADE_ELF_H
#define TESTS_MADE_ELF_H

#include <check.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/audit/audit.h"

#define MADE_TEXT    0x1000u /* offset of the code in the file */
#define MADE_ADDRESS 0x401000u

enum { MADE_NULL, MADE_CODE, MADE_SYMTAB, MADE_STRTAB, MADE_EXTRA, MADE_NAMES, MADE_SECTIONS };

/* A 64-bit file: headers, code at MADE_TEXT, symbols, names, section headers at the end. */
struct made {
	unsigned char bytes[1 << 17];
	size_t size, code_size, symbol_count, strings;
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[MADE_SECTIONS];
	Elf64_Sym symbols[32];
	char names[1024];
	unsigned char extra[8192]; /* of the section MADE_EXTRA, which extra_name names */
	size_t extra_size;
	const char *extra_name;
};

static inline void made_start(struct made *made, unsigned machine)
{
	memset(made, 0, sizeof(*made));
	made->header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = (Elf64_Half)machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = MADE_SECTIONS,
		.e_shstrndx = MADE_NAMES,
	};
	made->symbol_count = 1;
	made->strings = 1;
	made->extra_name = "";
}

static inline void made_add_code(struct made *made, const void *code, size_t size)
{
	memcpy(made->bytes + MADE_TEXT + made->code_size, code, size);
	made->code_size += size;
}

static inline void made_add_symbol(struct made *made, const char *name, uint64_t offset, int type)
{
	made->symbols[made->symbol_count++] = (Elf64_Sym){
		.st_name = (Elf64_Word)made->strings,
		.st_info = (unsigned char)ELF64_ST_INFO(STB_LOCAL, type),
		.st_shndx = MADE_CODE,
		.st_value = made->header.e_type == ET_REL ? offset : MADE_ADDRESS + offset,
	};
	strcpy(made->names + made->strings, name);
	made->strings += strlen(name) + 1;
}

/* Puts bytes at the end; returns where. */
static inline uint64_t made_append(struct made *made, const void *bytes, size_t size)
{
	uint64_t at = (made->size + 15) / 16 * 16;
	if (size != 0)
		memcpy(made->bytes + at, bytes, size);
	made->size = at + size;
	return at;
}

static inline Elf64_Shdr made_section(
        struct made *made, const void *bytes, size_t size, unsigned type)
{
	return (Elf64_Shdr){
		.sh_type = type, .sh_size = size, .sh_offset = made_append(made, bytes, size)
	};
}

/* Writes the headers as they then are; made_write_headers() does so again after a change. */
static inline void made_write_headers(struct made *made)
{
	memcpy(made->bytes, &made->header, sizeof(made->header));
	memcpy(made->bytes + sizeof(made->header), &made->segment, sizeof(made->segment));
	if (made->header.e_shoff != 0)
		memcpy(made->bytes + made->header.e_shoff, made->sections, sizeof(made->sections));
}

static inline void made_finish(struct made *made)
{
	static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab\0";
	char names[256];
	memcpy(names, section_names, sizeof(section_names));
	strcpy(names + sizeof(section_names), made->extra_name);
	made->size = MADE_TEXT + made->code_size;
	made->segment = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, MADE_TEXT, MADE_ADDRESS, MADE_ADDRESS,
		made->code_size, made->code_size, 0x1000 };
	made->sections[MADE_CODE] = (Elf64_Shdr){ 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
		MADE_ADDRESS, MADE_TEXT, made->code_size, 0, 0, 4, 0 };
	if (made->symbol_count > 1) {
		made->sections[MADE_SYMTAB] = made_section(
		        made, made->symbols, made->symbol_count * sizeof(Elf64_Sym), SHT_SYMTAB);
		made->sections[MADE_SYMTAB].sh_link = MADE_STRTAB;
		made->sections[MADE_SYMTAB].sh_entsize = sizeof(Elf64_Sym);
		made->sections[MADE_STRTAB] =
		        made_section(made, made->names, made->strings, SHT_STRTAB);
	}
	if (made->extra_size != 0) {
		made->sections[MADE_EXTRA] =
		        made_section(made, made->extra, made->extra_size, SHT_PROGBITS);
		made->sections[MADE_EXTRA].sh_name = sizeof(section_names);
	}
	made->sections[MADE_NAMES] = made_section(made, names, sizeof(names), SHT_STRTAB);
	made->header.e_shoff = made_append(made, made->sections, sizeof(made->sections));
	made_write_headers(made);
}

#define NOP     0xd503201fu
#define RET     0xd65f03c0u
#define LDADDAL 0xb8e00020u /* ldaddal w0, w0, [x1] */

static struct made made;
static struct audit_list made_list; /* of what was audited last */

/* An outline helper: made_helper[3] is the LSE instruction, [6] and [8] are the exclusives; the
 * flag is the byte 0x44 of the first page. */
static const uint32_t made_helper[] = { 0x90000010, 0x39411210, 0x34000070, 0xb8200020, RET,
	0x2a0003f0, 0x885f7c20, 0x0b100011, 0x880f7c31, 0x35ffffaf, RET };
#define MADE_HELPER_WORDS (sizeof(made_helper) / 4)

static inline void made_add_words(const uint32_t *words, size_t count)
{
	made_add_code(&made, words, count * 4);
}

static inline void made_add_word(uint32_t word)
{
	made_add_words(&word, 1);
}

static inline void made_free(void)
{
	audit_free(&made_list);
}

/* Audits bytes as a file of their own. Returns the first row. */
static inline struct audit_file *made_audit_bytes(const void *bytes, size_t size)
{
	int fd = memfd_create("made", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	made_free();
	audit_read(&made_list, fd, "made");
	close(fd);
	ck_assert_uint_ge(made_list.count, 1);
	return &made_list.files[0];
}

static inline struct audit_file *made_audit(void)
{
	struct audit_file *row = made_audit_bytes(made.bytes, made.size);
	ck_assert_uint_eq(made_list.count, 1);
	return row;
}

/* A family's instructions outside of helpers. */
static inline uint64_t made_family(const struct audit_file *row, const char *name)
{
	for (size_t i = 0; i < row->family_count; i++)
		if (strcmp(row->families[i].name, name) == 0)
			return row->families[i].in_line;
	return 0;
}

/* One inline LSE instruction and one loop of exclusives: ldaxr, add, stlxr, cbnz. */
static inline void made_atomics(unsigned type)
{
	made_start(&made, EM_AARCH64);
	made.header.e_type = (Elf64_Half)type;
	made_add_word(LDADDAL);
	made_add_words((const uint32_t[]){ 0x885ffc20, 0x11000402, 0x8803fc22, 0x35ffffa3 }, 4);
	made_add_word(RET);
}

static inline void made_expect_atomics(const struct audit_file *row)
{
	ck_assert_uint_eq(row->lse_inline, 1);
	ck_assert_uint_eq(row->llsc_inline, 2);
	ck_assert_uint_eq(row->lse_outline + row->llsc_outline + row->helpers, 0);
	ck_assert_uint_eq(made_family(row, "ldaddal"), 1);
	ck_assert_uint_eq(made_family(row, "ldaxr"), 1);
	ck_assert_uint_eq(made_family(row, "stlxr"), 1);
	ck_assert_uint_eq(row->switchable + row->rewritable + row->fixed, 2);
}

/* Whether one of a row's notes holds a text. */
static inline bool made_notes(const struct audit_file *row, const char *text)
{
	for (size_t i = 0; i < row->note_count; i++)
		if (strstr(row->notes[i], text) != NULL)
			return true;
	return false;
}

static inline void made_expect_refusal(const struct audit_file *row, const char *note)
{
	ck_assert_int_eq(row->kind, AUDIT_REFUSED);
	ck_assert_msg(
	        made_notes(row, note), "%s", row->note_count != 0 ? row->notes[0] : "no note");
}

#endif
