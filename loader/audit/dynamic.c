/*
 * Program headers, the dynamic section and symbols, by the System V ABI (gabi, "Program Loading and
 * Dynamic Linking"). Every offset is taken to be wrong until it proves right.
 */
#include "dynamic.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_DYNAMIC (1u << 20) /* bytes of a dynamic section */
#define MOST_TABLE   (1u << 28) /* bytes of symbols, of strings */
#define MOST_CHAIN   (1u << 16) /* symbols of one hash value */
#define MOST_NAME    4096u

void *dynamic_read_at(int fd, uint64_t offset, uint64_t size)
{
	struct stat status;
	if (fstat(fd, &status) != 0 || offset > (uint64_t)status.st_size ||
	        size > (uint64_t)status.st_size - offset || size > MOST_TABLE)
		return NULL;
	char *bytes = malloc(size + 1);
	for (uint64_t done = 0; bytes != NULL && done < size;) {
		ssize_t got = pread(fd, bytes + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			free(bytes);
			return NULL;
		}
		done += (uint64_t)got;
	}
	if (bytes != NULL)
		bytes[size] = '\0';
	return bytes;
}

/* A string that ends within MOST_NAME bytes. NULL: it is not there, or no memory. */
static char *read_string(int fd, uint64_t offset)
{
	char name[MOST_NAME];
	ssize_t got = pread(fd, name, sizeof(name), (off_t)offset);
	if (offset > INT64_MAX || got <= 0 || memchr(name, '\0', (size_t)got) == NULL)
		return NULL;
	return strdup(name);
}

struct segments {
	Elf64_Phdr *rows;
	size_t count;
};

static bool find_segment(const struct segments *segments, uint32_t type, Elf64_Phdr *row)
{
	for (size_t i = 0; i < segments->count; i++)
		if (segments->rows[i].p_type == type) {
			*row = segments->rows[i];
			return true;
		}
	return false;
}

/* The file offset of a link-time address; 0 when the file holds no such byte. */
static uint64_t offset_of(const struct segments *segments, uint64_t address)
{
	for (size_t i = 0; i < segments->count; i++) {
		const Elf64_Phdr *row = &segments->rows[i];
		if (row->p_type == PT_LOAD && address >= row->p_vaddr &&
		        address - row->p_vaddr < row->p_filesz)
			return row->p_offset + (address - row->p_vaddr);
	}
	return 0;
}

/* The number of symbols by a DT_GNU_HASH table: behind the last one of the longest chain, which
 * ends with an odd word. */
static uint64_t count_gnu(int fd, uint64_t offset)
{
	uint32_t *header = dynamic_read_at(fd, offset, 16), last = 0;
	if (header == NULL)
		return 0;
	uint64_t bucket_count = header[0], first = header[1];
	uint64_t buckets_at = offset + 16 + (uint64_t)header[2] * 8;
	uint64_t chains_at = buckets_at + bucket_count * 4;
	uint32_t *buckets = dynamic_read_at(fd, buckets_at, bucket_count * 4), chain;
	free(header);
	for (uint64_t i = 0; buckets != NULL && i < bucket_count; i++)
		last = buckets[i] > last ? buckets[i] : last;
	free(buckets);
	if (last < first)
		return first;
	for (uint64_t count = last; count - last < MOST_CHAIN;) {
		off_t at = (off_t)(chains_at + (count++ - first) * 4);
		if (pread(fd, &chain, sizeof(chain), at) != sizeof(chain) || (chain & 1) != 0)
			return count;
	}
	return last;
}

/* Behind the last one that relocations need. A file that defines none has a DT_GNU_HASH table that
 * does not count those it imports (bfd/elflink.c). */
static uint64_t count_relocated(int fd, uint64_t offset, uint64_t size)
{
	uint64_t last = 0;
	Elf64_Rela *rows = offset != 0 ? dynamic_read_at(fd, offset, size) : NULL;
	for (uint64_t i = 0; rows != NULL && i < size / sizeof(*rows); i++)
		last = ELF64_R_SYM(rows[i].r_info) > last ? ELF64_R_SYM(rows[i].r_info) : last;
	free(rows);
	return last + 1;
}

/* By DT_HASH: as many as there are chains. */
static uint64_t count_sysv(int fd, uint64_t offset)
{
	uint32_t words[2];
	return pread(fd, words, sizeof(words), (off_t)offset) == sizeof(words) ? words[1] : 0;
}

static bool take_string(int fd, const Elf64_Dyn *entry, struct dynamic *dynamic)
{
	struct texts *list = NULL;
	char **one = NULL;
	switch (entry->d_tag) {
	case DT_NEEDED:
	case DT_FILTER:
		list = &dynamic->needed;
		break;
	case DT_AUXILIARY:
		list = &dynamic->auxiliary;
		break;
	case DT_SONAME:
		one = &dynamic->soname;
		break;
	case DT_RPATH:
		one = &dynamic->rpath;
		break;
	case DT_RUNPATH:
		one = &dynamic->runpath;
		break;
	default:
		return true;
	}
	char *text = entry->d_un.d_val < dynamic->strings_size
	                     ? read_string(fd, dynamic->strings + entry->d_un.d_val)
	                     : NULL;
	bool done = text == NULL || list == NULL || texts_add(list, text);
	if (one == NULL) {
		free(text);
	} else {
		free(*one);
		*one = text;
	}
	return done;
}

static void take_flags(const Elf64_Dyn *entry, struct dynamic *dynamic)
{
	if (entry->d_tag == DT_FLAGS_1)
		dynamic->flags_1 = entry->d_un.d_val;
	else if (entry->d_tag == DT_SYMBOLIC)
		dynamic->symbolic = true;
	else if (entry->d_tag == DT_FLAGS)
		dynamic->symbolic |= (entry->d_un.d_val & DF_SYMBOLIC) != 0;
}

/* The value of an entry; 0 where there is none. */
static uint64_t value_of(const Elf64_Dyn *entries, size_t count, int64_t tag)
{
	for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == tag)
			return entries[i].d_un.d_val;
	return 0;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Strings and symbols, which the others need. */
static void take_tables(int fd, const struct segments *segments, const Elf64_Dyn *entries,
        size_t count, struct dynamic *dynamic)
{
	uint64_t gnu = offset_of(segments, value_of(entries, count, DT_GNU_HASH));
	uint64_t sysv = offset_of(segments, value_of(entries, count, DT_HASH));
	uint64_t rela = offset_of(segments, value_of(entries, count, DT_RELA));
	uint64_t plt = offset_of(segments, value_of(entries, count, DT_JMPREL));
	dynamic->symbols = offset_of(segments, value_of(entries, count, DT_SYMTAB));
	dynamic->strings = offset_of(segments, value_of(entries, count, DT_STRTAB));
	if (dynamic->strings != 0)
		dynamic->strings_size = value_of(entries, count, DT_STRSZ);
	if (sysv != 0) {
		dynamic->symbol_count = count_sysv(fd, sysv);
		return;
	}
	uint64_t symbols = gnu != 0 ? count_gnu(fd, gnu) : 0;
	symbols = most(symbols, count_relocated(fd, rela, value_of(entries, count, DT_RELASZ)));
	dynamic->symbol_count =
	        most(symbols, count_relocated(fd, plt, value_of(entries, count, DT_PLTRELSZ)));
}

static bool take_dynamic(int fd, const struct segments *segments, struct dynamic *dynamic)
{
	Elf64_Phdr segment;
	if (!find_segment(segments, PT_DYNAMIC, &segment))
		return true;
	dynamic->is_dynamic = true;
	uint64_t size = segment.p_filesz < MOST_DYNAMIC ? segment.p_filesz : MOST_DYNAMIC;
	Elf64_Dyn *entries = dynamic_read_at(fd, segment.p_offset, size);
	size_t count = entries != NULL ? size / sizeof(*entries) : 0;
	bool done = true;
	take_tables(fd, segments, entries, count, dynamic);
	for (size_t i = 0; done && i < count && entries[i].d_tag != DT_NULL; i++) {
		take_flags(&entries[i], dynamic);
		done = take_string(fd, &entries[i], dynamic);
	}
	free(entries);
	if (dynamic->runpath != NULL) { /* as ld.so has it */
		free(dynamic->rpath);
		dynamic->rpath = NULL;
	}
	return done;
}

static bool read_header(int fd, Elf64_Ehdr *header)
{
	return pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

bool dynamic_read(int fd, struct dynamic *dynamic)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	*dynamic = (struct dynamic){ .interpreter = NULL };
	if (!read_header(fd, &header))
		return false;
	dynamic->machine = header.e_machine;
	dynamic->type = header.e_type;
	struct segments segments = { NULL, header.e_phnum };
	if (header.e_phentsize == sizeof(*segments.rows))
		segments.rows = dynamic_read_at(
		        fd, header.e_phoff, header.e_phnum * sizeof(*segments.rows));
	if (segments.rows == NULL)
		segments.count = 0;
	dynamic->is_loadable = (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
	                       find_segment(&segments, PT_LOAD, &segment);
	if (find_segment(&segments, PT_INTERP, &segment))
		dynamic->interpreter = read_string(fd, segment.p_offset);
	bool done = take_dynamic(fd, &segments, dynamic);
	free(segments.rows);
	if (!done)
		dynamic_free(dynamic);
	return done;
}

void dynamic_free(struct dynamic *dynamic)
{
	free(dynamic->interpreter);
	free(dynamic->soname);
	free(dynamic->rpath);
	free(dynamic->runpath);
	texts_free(&dynamic->needed);
	texts_free(&dynamic->auxiliary);
	*dynamic = (struct dynamic){ .interpreter = NULL };
}

bool dynamic_is_program(const struct dynamic *dynamic)
{
	if (!dynamic->is_loadable)
		return false;
	return dynamic->type == ET_EXEC || (dynamic->flags_1 & DF_1_PIE) != 0 ||
	       (dynamic->interpreter != NULL && dynamic->soname == NULL);
}

struct table {
	uint64_t symbols, count, strings, strings_size;
	bool all; /* local ones too, but functions only */
};

static bool is_taken(const Elf64_Sym *symbol, bool all)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);
	if (all)
		return type == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
	return bind != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

static bool walk(int fd, const struct table *table,
        void (*take)(void *context, const struct dynamic_symbol *symbol), void *context)
{
	if (table->count > MOST_TABLE / sizeof(Elf64_Sym))
		return false;
	Elf64_Sym *symbols = dynamic_read_at(fd, table->symbols, table->count * sizeof(*symbols));
	char *strings = dynamic_read_at(fd, table->strings, table->strings_size);
	bool readable = symbols != NULL && strings != NULL;
	for (uint64_t i = 0; readable && i < table->count; i++) {
		if (symbols[i].st_name >= table->strings_size || !is_taken(&symbols[i], table->all))
			continue;
		const struct dynamic_symbol symbol = {
			.name = strings + symbols[i].st_name,
			.defined = symbols[i].st_shndx != SHN_UNDEF,
		};
		take(context, &symbol);
	}
	free(symbols);
	free(strings);
	return readable;
}

bool dynamic_walk(int fd, const struct dynamic *dynamic,
        void (*take)(void *context, const struct dynamic_symbol *symbol), void *context)
{
	const struct table table = { dynamic->symbols, dynamic->symbol_count, dynamic->strings,
		dynamic->strings_size, false };
	if (table.symbols == 0 || table.count == 0)
		return !dynamic->is_dynamic;
	return walk(fd, &table, take, context);
}

bool dynamic_walk_symtab(
        int fd, void (*take)(void *context, const struct dynamic_symbol *symbol), void *context)
{
	Elf64_Ehdr header;
	if (!read_header(fd, &header) || header.e_shentsize != sizeof(Elf64_Shdr))
		return false;
	size_t count = header.e_shnum;
	Elf64_Shdr *sections = dynamic_read_at(fd, header.e_shoff, count * sizeof(Elf64_Shdr));
	bool found = false;
	for (size_t i = 0; sections != NULL && i < count && !found; i++) {
		const Elf64_Shdr *section = &sections[i];
		if (section->sh_type != SHT_SYMTAB || section->sh_link >= count)
			continue;
		const Elf64_Shdr *names = &sections[section->sh_link];
		const struct table table = { section->sh_offset,
			section->sh_size / sizeof(Elf64_Sym), names->sh_offset, names->sh_size,
			true };
		found = walk(fd, &table, take, context);
	}
	free(sections);
	return found;
}
