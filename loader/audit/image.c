/*
 * Reads the headers field by field: libelf gives no sections and no error for several kinds of
 * damage, and believes sizes. Layouts: System V ABI, chapters 4 and 5.
 */
#include "image.h"

uint64_t image_number(const struct image *image, const unsigned char *bytes, unsigned size)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value = value << 8 | bytes[image->big_endian ? i : size - 1 - i];
	return value;
}

/* A field that lies elsewhere in each class, and may be wider in the larger one. */
static uint64_t field(const struct image *image, const unsigned char *bytes, unsigned at_32,
        unsigned size_32, unsigned at_64, unsigned size_64)
{
	return image->is_64 ? image_number(image, bytes + at_64, size_64)
	                    : image_number(image, bytes + at_32, size_32);
}

/* Offset and size of a member in Elf32_ and Elf64_ structures. */
#define AT(type, member) offsetof(type, member), sizeof(((type *)NULL)->member)
#define FIELD(image, bytes, structure, member)                                                     \
	field(image, bytes, AT(Elf32_##structure, member), AT(Elf64_##structure, member))

static unsigned section_size(const struct image *image)
{
	return image->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

uint64_t image_section_table_size(const struct image *image)
{
	return (uint64_t)image->section_count * section_size(image);
}

static unsigned segment_size(const struct image *image)
{
	return image->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

struct segment image_segment(const struct image *image, uint32_t index)
{
	const unsigned char *bytes =
	        image->view.bytes + image->segment_table + (uint64_t)index * segment_size(image);
	return (struct segment){
		.type = (uint32_t)FIELD(image, bytes, Phdr, p_type),
		.flags = (uint32_t)FIELD(image, bytes, Phdr, p_flags),
		.offset = FIELD(image, bytes, Phdr, p_offset),
		.address = FIELD(image, bytes, Phdr, p_vaddr),
		.file_size = FIELD(image, bytes, Phdr, p_filesz),
	};
}

struct section image_section(const struct image *image, uint32_t index)
{
	const unsigned char *bytes =
	        image->view.bytes + image->section_table + (uint64_t)index * section_size(image);
	return (struct section){
		.name = (uint32_t)FIELD(image, bytes, Shdr, sh_name),
		.type = (uint32_t)FIELD(image, bytes, Shdr, sh_type),
		.link = (uint32_t)FIELD(image, bytes, Shdr, sh_link),
		.info = (uint32_t)FIELD(image, bytes, Shdr, sh_info),
		.flags = FIELD(image, bytes, Shdr, sh_flags),
		.address = FIELD(image, bytes, Shdr, sh_addr),
		.offset = FIELD(image, bytes, Shdr, sh_offset),
		.size = FIELD(image, bytes, Shdr, sh_size),
		.entry_size = FIELD(image, bytes, Shdr, sh_entsize),
	};
}

unsigned image_symbol_size(const struct image *image)
{
	return image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

struct symbol image_symbol(const struct image *image, const unsigned char *bytes)
{
	return (struct symbol){
		.name = (uint32_t)FIELD(image, bytes, Sym, st_name),
		.type = FIELD(image, bytes, Sym, st_info) & 15,
		.section = (uint32_t)FIELD(image, bytes, Sym, st_shndx),
		.value = FIELD(image, bytes, Sym, st_value),
		.size = FIELD(image, bytes, Sym, st_size),
	};
}

struct view image_contents(const struct image *image, const struct section *section)
{
	uint64_t size = section->type == SHT_NOBITS ? 0 : section->size;
	return view_part(&image->view, section->offset, size);
}

bool image_holds(const struct image *image, const struct section *section)
{
	return section->type == SHT_NOBITS || section->type == SHT_NULL || section->size == 0 ||
	       view_holds(&image->view, section->offset, section->size);
}

const char *image_section_name(const struct image *image, const struct section *section)
{
	const char *name = view_text(&image->names, section->name);
	return name != NULL ? name : "";
}

bool image_offset(const struct image *image, uint64_t address, uint64_t *offset)
{
	for (uint32_t i = 0; i < image->segment_count; i++) {
		struct segment segment = image_segment(image, i);
		if (segment.type != PT_LOAD || address - segment.address >= segment.file_size)
			continue;
		*offset = segment.offset + (address - segment.address);
		return *offset < image->view.size;
	}
	return false;
}

bool image_find_segment(const struct image *image, uint32_t type, struct segment *segment)
{
	for (uint32_t i = 0; i < image->segment_count; i++) {
		*segment = image_segment(image, i);
		if (segment->type == type)
			return true;
	}
	return false;
}

static bool has_segments(const struct image *image)
{
	return image->type != ET_REL;
}

/* A count that does not fit its field lies in the first section header. */
static void open_segments(struct image *image, const unsigned char *header, struct audit_file *row)
{
	uint64_t count = FIELD(image, header, Ehdr, e_phnum);
	uint64_t entry_size = FIELD(image, header, Ehdr, e_phentsize);
	image->segment_table = FIELD(image, header, Ehdr, e_phoff);
	if (count == 0 || !has_segments(image))
		return;
	if (count == PN_XNUM && image->section_count > 0)
		count = FIELD(image, image->view.bytes + image->section_table, Shdr, sh_info);
	uint64_t size = count * segment_size(image);
	if (entry_size != segment_size(image) ||
	        !view_holds(&image->view, image->segment_table, size)) {
		row->complete = false;
		audit_note(row, "its program headers lie outside of the file or are damaged");
		return;
	}
	image->segment_count = (uint32_t)count;
	if (image->segment_table <= 4096)
		image->head_size = image->segment_table + size;
}

static void open_names(struct image *image, uint64_t index, struct audit_file *row)
{
	if (index < image->section_count) {
		struct section names = image_section(image, (uint32_t)index);
		if (names.type == SHT_STRTAB && image_holds(image, &names)) {
			image->names = image_contents(image, &names);
			return;
		}
	}
	audit_note(row, "its sections' names cannot be read (e_shstrndx)");
}

static void open_sections(struct image *image, const unsigned char *header, struct audit_file *row)
{
	uint64_t count = FIELD(image, header, Ehdr, e_shnum);
	uint64_t names = FIELD(image, header, Ehdr, e_shstrndx);
	uint64_t entry_size = FIELD(image, header, Ehdr, e_shentsize);
	image->section_table = FIELD(image, header, Ehdr, e_shoff);
	if (image->section_table == 0) {
		if (count != 0 && count != SHN_UNDEF)
			audit_note(row, "its section headers cannot be found (e_shoff)");
		return;
	}
	if (entry_size != section_size(image)) {
		audit_note(row, "its section headers are not of the known size (e_shentsize)");
		return;
	}
	if (!view_holds(&image->view, image->section_table, section_size(image))) {
		row->complete = false;
		audit_note(row, "its section headers lie outside of the file: cut or damaged");
		return;
	}
	struct section first = image_section(image, 0);
	if (count == 0)
		count = first.size;
	if (names == SHN_XINDEX)
		names = first.link;
	if (first.type != SHT_NULL || count > image->view.size / section_size(image) ||
	        !view_holds(&image->view, image->section_table, count * section_size(image))) {
		row->complete = row->complete && first.type != SHT_NULL;
		audit_note(row, "its section headers are damaged or cut (e_shoff, e_shnum)");
		return;
	}
	image->section_count = (uint32_t)count;
	open_names(image, names, row);
}

bool image_open(struct image *image, const struct view *view, struct audit_file *row)
{
	const unsigned char *header = view->bytes;
	*image = (struct image){ .view = *view };
	if (!view_holds(view, 0, EI_NIDENT) || memcmp(header, ELFMAG, SELFMAG) != 0)
		return false;
	image->is_64 = header[EI_CLASS] == ELFCLASS64;
	image->big_endian = header[EI_DATA] == ELFDATA2MSB;
	if ((!image->is_64 && header[EI_CLASS] != ELFCLASS32) ||
	        (!image->big_endian && header[EI_DATA] != ELFDATA2LSB))
		return false;
	image->head_size = image->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	if (!view_holds(view, 0, image->head_size))
		return false;
	image->type = (uint16_t)FIELD(image, header, Ehdr, e_type);
	image->machine = (uint16_t)FIELD(image, header, Ehdr, e_machine);
	image->entry = FIELD(image, header, Ehdr, e_entry);
	open_sections(image, header, row);
	open_segments(image, header, row);
	return true;
}
