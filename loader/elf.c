/*
 * Reads program headers and the dynamic section; works on stripped files.
 */
#include "elf.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>

/* Program headers begin at multiples of this in memory and, less a rest, in the file. */
#define PAGE 65536u

bool elf_is_sanitizer(const char *name)
{
	static const char *const stems[] = { "libasan", "libtsan", "libubsan", "liblsan",
		"libhwasan", "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.ubsan",
		"libclang_rt.lsan", "libclang_rt.hwasan", "libclang_rt.msan" };
	const char *base = strrchr(name, '/');
	base = base != NULL ? base + 1 : name;
	for (size_t i = 0; i < sizeof(stems) / sizeof(*stems); i++) {
		size_t length = strlen(stems[i]);
		if (strncmp(base, stems[i], length) != 0)
			continue;
		/* libasan.so.8 and libclang_rt.asan-x86_64.so, but not libasanity.so */
		if (strchr("._-", base[length]) != NULL && strstr(base, ".so") != NULL)
			return true;
	}
	return false;
}

static bool find_segment(Elf *elf, GElf_Word type, GElf_Phdr *header)
{
	size_t count;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, header) != NULL && header->p_type == type)
			return true;
	return false;
}

/* The file offset of a link-time address; false when the file holds no such byte. */
static bool offset_of(Elf *elf, GElf_Addr address, GElf_Off *offset)
{
	size_t count;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
		        address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz)
			continue;
		*offset = header.p_offset + (address - header.p_vaddr);
		return true;
	}
	return false;
}

/* Copies a string of the file; empty when it does not lie in the file. */
static void read_string(Elf *elf, GElf_Off offset, char to[ELF_NAME_SIZE])
{
	size_t size;
	const char *bytes = elf_rawfile(elf, &size);
	to[0] = '\0';
	if (bytes == NULL || offset >= size)
		return;
	size_t most = size - offset < ELF_NAME_SIZE ? size - offset : ELF_NAME_SIZE;
	size_t length = strnlen(bytes + offset, most - 1);
	memcpy(to, bytes + offset, length);
	to[length] = '\0';
}

static void read_dynamic(Elf *elf, const GElf_Phdr *segment, struct elf_facts *facts)
{
	Elf_Data *data =
	        elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_DYN);
	size_t entry_size = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
	if (data == NULL || entry_size == 0)
		return;
	GElf_Off strings = 0;
	GElf_Dyn entry;
	int count = (int)(data->d_size / entry_size);
	for (int i = 0; i < count && gelf_getdyn(data, i, &entry) != NULL; i++)
		if (entry.d_tag == DT_STRTAB && !offset_of(elf, entry.d_un.d_ptr, &strings))
			return;
	for (int i = 0; i < count && gelf_getdyn(data, i, &entry) != NULL; i++) {
		char name[ELF_NAME_SIZE];
		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_SONAME)
			continue;
		read_string(elf, strings + entry.d_un.d_val, name);
		if (entry.d_tag == DT_SONAME)
			facts->is_loader =
			        strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.", 3) == 0;
		else if (facts->sanitizer[0] == '\0' && elf_is_sanitizer(name))
			memcpy(facts->sanitizer, name, sizeof(name));
	}
}

static Elf *open_elf(int fd)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf != NULL && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

/* Whether all that would be mapped is there, and something is. */
static bool holds_segments(Elf *elf)
{
	size_t count, size;
	bool loads = false;
	if (elf_rawfile(elf, &size) == NULL || elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (gelf_getphdr(elf, (int)i, &header) == NULL)
			return false;
		if (header.p_type != PT_LOAD)
			continue;
		loads = true;
		if (header.p_offset > size || header.p_filesz > size - header.p_offset)
			return false;
	}
	return loads;
}

/* A note of type 4 by "Go" holds its build id (cmd/link/internal/ld/elf.go). */
static bool has_go_note(Elf *elf)
{
	GElf_Phdr segment;
	size_t count, name, desc;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &segment) == NULL || segment.p_type != PT_NOTE)
			continue;
		Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset,
		        segment.p_filesz, segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		GElf_Nhdr note;
		for (size_t at = 0;
		        data != NULL && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0;)
			if (note.n_type == 4 && note.n_namesz == sizeof("Go") + 1 &&
			        memcmp((const char *)data->d_buf + name, "Go\0", 4) == 0)
				return true;
	}
	return false;
}

/* The runtime's table of functions, which stripping leaves: .gopclntab, or the same in RELRO. */
static bool has_go_table(Elf *elf)
{
	static const char table[] = "gopclntab";
	size_t names;
	Elf_Scn *section = NULL;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) != NULL
		                           ? elf_strptr(elf, names, header.sh_name)
		                           : NULL;
		size_t length = name != NULL ? strlen(name) : 0;
		if (length > strlen(table) && strcmp(name + length - strlen(table), table) == 0)
			return true;
	}
	return false;
}

bool elf_inspect(int fd, struct elf_facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	Elf *elf = open_elf(fd);
	GElf_Ehdr header;
	if (elf == NULL || gelf_getehdr(elf, &header) == NULL) {
		elf_end(elf);
		return false;
	}
	facts->is_64_bit = gelf_getclass(elf) == ELFCLASS64;
	facts->machine = header.e_machine;
	facts->is_program = header.e_type == ET_EXEC || header.e_type == ET_DYN;
	facts->is_complete = holds_segments(elf);
	GElf_Phdr segment;
	facts->dynamic = find_segment(elf, PT_INTERP, &segment);
	if (facts->dynamic)
		read_string(elf, segment.p_offset, facts->interpreter);
	if (find_segment(elf, PT_DYNAMIC, &segment))
		read_dynamic(elf, &segment, facts);
	facts->is_go = has_go_note(elf) || has_go_table(elf);
	elf_end(elf);
	return true;
}

/* A mapping begins at a page boundary, so it may start before its segment's first byte. */
static bool segment_holds(const GElf_Phdr *header, uint64_t file_offset)
{
	uint64_t before = header->p_offset % PAGE;
	return header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0 &&
	       file_offset >= header->p_offset - before &&
	       file_offset < header->p_offset + header->p_filesz;
}

bool elf_load_bias(int fd, uint64_t address, uint64_t file_offset, uint64_t *bias)
{
	Elf *elf = open_elf(fd);
	size_t count;
	bool found = false;
	if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
		count = 0;
	for (size_t i = 0; i < count && !found; i++) {
		GElf_Phdr header;
		if (gelf_getphdr(elf, (int)i, &header) == NULL ||
		        !segment_holds(&header, file_offset))
			continue;
		*bias = address - (header.p_vaddr - header.p_offset + file_offset);
		found = true;
	}
	elf_end(elf);
	return found;
}

/* Looks through the notes of one segment. */
static bool find_build_id(Elf_Data *data, char text[ELF_BUILD_ID_SIZE])
{
	GElf_Nhdr note;
	size_t name, desc, at = 0;
	while (data != NULL && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const unsigned char *id = (const unsigned char *)data->d_buf + desc;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		        memcmp((const char *)data->d_buf + name, "GNU", sizeof("GNU")) != 0 ||
		        note.n_descsz * 2 >= ELF_BUILD_ID_SIZE)
			continue;
		for (size_t i = 0; i < note.n_descsz; i++)
			snprintf(text + 2 * i, 3, "%02x", id[i]);
		return true;
	}
	return false;
}

bool elf_build_id(int fd, char text[ELF_BUILD_ID_SIZE])
{
	*text = '\0';
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size_t count = 0;
	bool found = false;
	if (elf != NULL && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &count) != 0)
		count = 0;
	for (size_t i = 0; i < count && !found; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(elf, (int)i, &segment) == NULL || segment.p_type != PT_NOTE)
			continue;
		Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
		found = find_build_id(elf_getdata_rawchunk(elf, (int64_t)segment.p_offset,
		                              segment.p_filesz, type),
		        text);
	}
	elf_end(elf);
	return found;
}
