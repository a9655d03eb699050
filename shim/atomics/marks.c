/*
 * Maps the whole file for a moment; every offset in it is checked against its size.
 */
#include "marks.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "probes/sys.h"

struct file {
	const unsigned char *bytes;
	uint64_t size;
};

struct symbols {
	const ElfW(Sym) * symbols;
	size_t count;
	const char *names;
	uint64_t names_size;
};

static void *map(size_t size, int protection, int flags, int fd)
{
	long memory = sys_call6(SYS_mmap, 0, (long)size, protection, MAP_PRIVATE | flags, fd, 0);
	return sys_failed(memory) ? NULL : (void *)memory;
}

static void unmap(const void *memory, size_t size)
{
	sys_call3(SYS_munmap, SYS_ARG(memory), (long)size, 0);
}

static bool file_open(struct file *file, const char *path)
{
	struct stat status;
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	*file = (struct file){ .bytes = NULL };
	if (fd < 0)
		return false;
	if (!sys_failed(sys_call3(SYS_fstat, fd, SYS_ARG(&status), 0)) && S_ISREG(status.st_mode) &&
	        status.st_size > (off_t)sizeof(ElfW(Ehdr))) {
		file->size = (uint64_t)status.st_size;
		file->bytes = map(file->size, PROT_READ, 0, fd);
	}
	sys_close(fd);
	return file->bytes != NULL;
}

/* Bytes of the file, NULL when it does not have so many there. */
static const void *file_at(const struct file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

/* Whether the file is what is in memory: by its program headers, and by its notes, of which one is
 * the build's id. */
static bool file_is_of(const struct file *file, const struct image *image)
{
	const ElfW(Ehdr) *header = file_at(file, 0, sizeof(*header));
	uint64_t size = image->header_count * sizeof(*image->headers);
	const void *headers = file_at(file, header->e_phoff, size);
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	        header->e_phnum != image->header_count || headers == NULL ||
	        memcmp(headers, image->headers, size) != 0)
		return false;
	for (unsigned i = 0; i < image->header_count; i++) {
		const ElfW(Phdr) *note = &image->headers[i];
		const void *bytes = file_at(file, note->p_offset, note->p_filesz);
		if (note->p_type == PT_NOTE &&
		        (bytes == NULL || memcmp(bytes, image_bytes_at(image->base + note->p_vaddr),
		                                  note->p_filesz) != 0))
			return false;
	}
	return true;
}

static const ElfW(Shdr) * section_at(const struct file *file, uint64_t index)
{
	const ElfW(Ehdr) *header = file_at(file, 0, sizeof(*header));
	if (index >= header->e_shnum || header->e_shentsize != sizeof(ElfW(Shdr)) ||
	        header->e_shoff % _Alignof(ElfW(Shdr)) != 0)
		return NULL;
	return file_at(file, header->e_shoff + index * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)));
}

static const ElfW(Shdr) * find_symbols(const struct file *file)
{
	const ElfW(Shdr) * section;
	for (uint64_t i = 0; (section = section_at(file, i)) != NULL; i++)
		if (section->sh_type == SHT_SYMTAB && section->sh_entsize == sizeof(ElfW(Sym)) &&
		        section->sh_offset % _Alignof(ElfW(Sym)) == 0)
			return section;
	return NULL;
}

/* "$d", "$x", or either with a dot and more behind. */
static bool is_mark(const char *name, char *kind)
{
	*kind = name[1];
	return name[0] == '$' && (name[1] == 'd' || name[1] == 'x') &&
	       (name[2] == '\0' || name[2] == '.');
}

static void put(struct marks *marks, uint64_t address, enum mark_kind kind)
{
	marks->marks[marks->count++] = address << 2 | kind;
}

static bool is_code(const ElfW(Shdr) * section)
{
	const uint64_t both = SHF_ALLOC | SHF_EXECINSTR;
	return (section->sh_flags & both) == both && section->sh_type != SHT_NOBITS &&
	       section->sh_size != 0;
}

/* Where sections of code start and end. */
static void put_sections(struct marks *marks, const struct file *file)
{
	const ElfW(Shdr) * section;
	for (uint64_t i = 0; (section = section_at(file, i)) != NULL; i++) {
		if (!is_code(section))
			continue;
		put(marks, section->sh_addr, MARK_UNKNOWN);
		put(marks, section->sh_addr + section->sh_size, MARK_REST);
		marks->code_size += section->sh_size;
	}
}

static void put_symbols(struct marks *marks, const struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const ElfW(Sym) *symbol = &symbols->symbols[i];
		char kind;
		if (symbol->st_name + UINT64_C(3) <= symbols->names_size &&
		        is_mark(symbols->names + symbol->st_name, &kind))
			put(marks, symbol->st_value, kind == 'd' ? MARK_DATA : MARK_CODE);
	}
}

static struct symbols read_symbols(const struct file *file)
{
	struct symbols symbols = { .count = 0 };
	const ElfW(Shdr) *table = find_symbols(file);
	const ElfW(Shdr) *names = table != NULL ? section_at(file, table->sh_link) : NULL;
	if (names == NULL)
		return symbols;
	symbols.symbols = file_at(file, table->sh_offset, table->sh_size);
	symbols.names = file_at(file, names->sh_offset, names->sh_size);
	symbols.names_size = names->sh_size;
	if (symbols.symbols != NULL && symbols.names != NULL)
		symbols.count = table->sh_size / sizeof(*symbols.symbols);
	return symbols;
}

static void marks_read(struct marks *marks, const struct file *file)
{
	const ElfW(Ehdr) *header = file_at(file, 0, sizeof(*header));
	struct symbols symbols = read_symbols(file);
	marks->room = (symbols.count + 2 * (size_t)header->e_shnum) * sizeof(*marks->marks);
	marks->marks = marks->room == 0
	                       ? NULL
	                       : map(marks->room, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
	if (marks->marks == NULL)
		return;
	put_sections(marks, file);
	put_symbols(marks, &symbols);
}

/* Lets the number at the top of a heap of count sink to where it belongs. */
static void sink(uint64_t *heap, size_t top, size_t count)
{
	for (size_t child; (child = 2 * top + 1) < count; top = child) {
		if (child + 1 < count && heap[child + 1] > heap[child])
			child++;
		if (heap[top] >= heap[child])
			return;
		uint64_t number = heap[top];
		heap[top] = heap[child];
		heap[child] = number;
	}
}

/* Heapsort: no recursion, no memory. */
static void sort(uint64_t *numbers, size_t count)
{
	for (size_t top = count / 2; top-- > 0;)
		sink(numbers, top, count);
	for (size_t end = count; end-- > 1;) {
		uint64_t number = numbers[0];
		numbers[0] = numbers[end];
		numbers[end] = number;
		sink(numbers, 0, end);
	}
}

enum mark_kind marks_kind(const struct marks *marks, uint64_t address, uint64_t *end)
{
	size_t low = 0, high = marks->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (marks->marks[middle] >> 2 <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*end = low < marks->count ? marks->marks[low] >> 2 : UINT64_MAX;
	if (marks->code_size == 0)
		return MARK_UNKNOWN;
	return low > 0 ? (enum mark_kind)(marks->marks[low - 1] & 3) : MARK_REST;
}

void marks_open(struct marks *marks, const struct image *image, const char *path)
{
	struct file file;
	*marks = (struct marks){ .marks = NULL };
	if (!file_open(&file, path))
		return;
	if (file_is_of(&file, image)) {
		marks_read(marks, &file);
		sort(marks->marks, marks->count);
	}
	unmap(file.bytes, file.size);
}

void marks_close(struct marks *marks)
{
	if (marks->marks != NULL)
		unmap(marks->marks, marks->room);
	*marks = (struct marks){ .marks = NULL };
}
