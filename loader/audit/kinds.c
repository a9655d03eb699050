/*
 * By the headers and the dynamic section, which stripped files and files without section headers
 * have too.
 */
#include "kinds.h"

#include <stdio.h>

/* Entries of a dynamic section that are looked at; real ones have some dozens. */
#define MOST_ENTRIES 4096

struct facts {
	bool dynamic;     /* has a dynamic section */
	bool interpreted; /* names a program loader */
	bool pie, soname, needs;
	const char *libc; /* NULL: nothing says */
};

static const char *machine_name(struct audit_file *row, const struct image *image)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} names[] = {
		{ EM_AARCH64, "aarch64" },
		{ EM_X86_64, "x86-64" },
		{ EM_ARM, "arm" },
		{ EM_386, "i386" },
		{ EM_RISCV, "riscv" },
		{ EM_PPC64, "ppc64" },
		{ EM_PPC, "ppc" },
		{ EM_S390, "s390" },
		{ EM_MIPS, "mips" },
		{ EM_SPARCV9, "sparc64" },
		{ EM_IA_64, "ia64" },
		{ EM_BPF, "bpf" },
		{ EM_LOONGARCH, "loongarch" },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].machine == image->machine)
			return names[i].name;
	audit_note(row, "its machine has the number %u", image->machine);
	return "unknown";
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* By the name of a program loader or of a library: musl's are both one file. */
static const char *libc_by_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash != NULL ? slash + 1 : name;
	if (begins(base, "ld-musl-") || begins(base, "libc.musl-") || strcmp(base, "libc.so") == 0)
		return "musl";
	if (begins(base, "ld-linux") || begins(base, "ld64.so") || strcmp(base, "libc.so.6") == 0)
		return "glibc";
	return NULL;
}

static void take_dynamic(const struct image *image, const struct view *entries,
        const struct view *strings, struct facts *facts)
{
	unsigned width = image->is_64 ? 8 : 4;
	for (uint64_t at = 0; at + 2 * width <= entries->size && at < MOST_ENTRIES * 16;
	        at += 2 * width) {
		uint64_t tag = image_number(image, entries->bytes + at, width);
		uint64_t value = image_number(image, entries->bytes + at + width, width);
		const char *name;
		if (tag == DT_NULL)
			return;
		facts->pie |= tag == DT_FLAGS_1 && (value & DF_1_PIE) != 0;
		facts->soname |= tag == DT_SONAME;
		facts->needs |= tag == DT_NEEDED;
		if ((tag != DT_NEEDED && tag != DT_SONAME) ||
		        (name = view_text(strings, value)) == NULL)
			continue;
		if (facts->libc == NULL)
			facts->libc = libc_by_name(name);
	}
}

/* From the first string of a table on: what lies behind the table is no name that is asked for. */
static struct view find_strings(const struct image *image, const struct view *entries)
{
	unsigned width = image->is_64 ? 8 : 4;
	for (uint64_t at = 0; at + 2 * width <= entries->size && at < MOST_ENTRIES * 16;
	        at += 2 * width) {
		uint64_t offset;
		if (image_number(image, entries->bytes + at, width) != DT_STRTAB)
			continue;
		uint64_t address = image_number(image, entries->bytes + at + width, width);
		if (image_offset(image, address, &offset))
			return view_part(&image->view, offset, image->view.size);
	}
	return (struct view){ 0 };
}

static struct view segment_contents(const struct image *image, const struct segment *segment)
{
	return view_part(&image->view, segment->offset, segment->file_size);
}

/* glibc's start files put a note into every program that says which kernel it needs. */
static bool has_abi_tag(const struct image *image)
{
	for (uint32_t i = 0; i < image->segment_count; i++) {
		struct segment segment = image_segment(image, i);
		if (segment.type != PT_NOTE)
			continue;
		struct view view = segment_contents(image, &segment);
		uint64_t padding = 4;
		for (uint64_t at = 0; at + 16 <= view.size;) {
			uint64_t name = image_number(image, view.bytes + at, 4);
			uint64_t text = image_number(image, view.bytes + at + 4, 4);
			if (image_number(image, view.bytes + at + 8, 4) == NT_GNU_ABI_TAG &&
			        name == 4 && memcmp(view.bytes + at + 12, "GNU", 4) == 0)
				return true;
			at += 12 + (name + padding - 1) / padding * padding +
			      (text + padding - 1) / padding * padding;
		}
	}
	return false;
}

static void collect(const struct image *image, struct facts *facts)
{
	struct segment segment;
	if (image_find_segment(image, PT_INTERP, &segment)) {
		struct view text = segment_contents(image, &segment);
		const char *name = view_text(&text, 0);
		facts->interpreted = true;
		facts->libc = name != NULL ? libc_by_name(name) : NULL;
	}
	facts->dynamic = image_find_segment(image, PT_DYNAMIC, &segment);
	if (facts->dynamic) {
		struct view entries = segment_contents(image, &segment);
		struct view strings = find_strings(image, &entries);
		take_dynamic(image, &entries, &strings, facts);
	}
	if (facts->libc == NULL && has_abi_tag(image))
		facts->libc = "glibc";
}

/* libc can be run, but is a library by its name. */
static enum audit_kind kind_of(const struct image *image, const struct facts *facts)
{
	if (image->type == ET_REL)
		return AUDIT_RELOCATABLE;
	if (image->type == ET_EXEC)
		return AUDIT_EXEC;
	return facts->pie || (facts->interpreted && !facts->soname) ? AUDIT_PIE : AUDIT_SHARED;
}

void kinds_fill(struct audit_file *row, const struct image *image)
{
	struct facts facts = { 0 };
	row->machine = machine_name(row, image);
	row->class = image->is_64 ? "ELF64" : "ELF32";
	row->big_endian = image->big_endian;
	collect(image, &facts);
	row->kind = kind_of(image, &facts);
	row->is_static = (row->kind == AUDIT_EXEC || row->kind == AUDIT_PIE) && !facts.interpreted;
	if (facts.libc != NULL)
		row->libc = facts.libc;
	else if (row->kind == AUDIT_SHARED && facts.dynamic && !facts.needs)
		row->libc = "none";
	if (row->is_static && facts.needs)
		audit_note(row, "it needs libraries, but names no program loader");
}

const char *kinds_refusal(const struct image *image)
{
	if (image->type == ET_CORE)
		return "a core dump: audit the program and its libraries instead";
	if (image->type != ET_REL && image->type != ET_EXEC && image->type != ET_DYN)
		return "an ELF file that is neither an object, a program nor a library";
	if (image->type != ET_REL)
		return NULL;
	uint32_t debug = 0, other = 0;
	for (uint32_t i = 1; i < image->section_count; i++) {
		struct section section = image_section(image, i);
		const char *name = image_section_name(image, &section);
		size_t length = strlen(name);
		bool is_split = length > 4 && strcmp(name + length - 4, ".dwo") == 0;
		debug += is_split || begins(name, ".debug_cu_index") ||
		         begins(name, ".debug_tu_index");
		other += !is_split && (section.flags & SHF_ALLOC) != 0;
	}
	return debug != 0 && other == 0 ? "split debug information (.dwo, .dwp): holds no code"
	                                : NULL;
}

void kinds_note_compilers(struct audit_file *row, const struct image *image)
{
	bool bytecode = false, go = false;
	for (uint32_t i = 1; i < image->section_count; i++) {
		struct section section = image_section(image, i);
		const char *name = image_section_name(image, &section);
		bytecode = bytecode || begins(name, ".gnu.lto_") || strcmp(name, ".llvm.lto") == 0;
		go = go || strcmp(name, ".gopclntab") == 0 || strcmp(name, ".go.buildinfo") == 0 ||
		     strcmp(name, ".note.go.buildid") == 0;
	}
	if (bytecode && row->code_bytes == 0) {
		audit_note(row, "bytecode for the linker: its machine code is not made yet");
		row->complete = false;
	} else if (bytecode) {
		audit_note(
		        row, "holds bytecode besides, from which the linker may make other code");
	}
	if (!go)
		return;
	if (row->is_static)
		row->libc = "none";
	if (image->machine == EM_AARCH64)
		audit_note(row, "Go: has both kinds and chooses by a check of its own, which the "
		                "switch does not reach");
}
