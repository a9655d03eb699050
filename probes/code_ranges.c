/*
 * Walks the sorted table of .eh_frame_hdr and the entries of .eh_frame behind it. Every read is
 * checked against the image, and every entry is read on its own, so that damage costs an entry.
 */
#include "code_ranges.h"

/* Pointer encodings (DW_EH_PE_*): the format in the low half, the base in bits 4 to 6. */
enum {
	FORMAT = 0x0f,
	FORMAT_ABSPTR = 0x00,
	FORMAT_ULEB = 0x01,
	FORMAT_UDATA2 = 0x02,
	FORMAT_UDATA4 = 0x03,
	FORMAT_UDATA8 = 0x04,
	FORMAT_SLEB = 0x09,
	FORMAT_SDATA2 = 0x0a,
	FORMAT_SDATA4 = 0x0b,
	FORMAT_SDATA8 = 0x0c,
	BASE = 0x70,
	BASE_NONE = 0x00,
	BASE_PC = 0x10,
	BASE_DATA = 0x30,
	ALIGNED = 0x50,
	INDIRECT = 0x80,
	OMITTED = 0xff,
	TABLE = BASE_DATA | FORMAT_SDATA4, /* what linkers make, and unwinders search */
	TABLE_ENTRY = 8,
};

/* A place to read at, and where reading must end. Once a read fails, failed stays set and all that
 * is read is 0. */
struct cursor {
	const struct image_bytes *image;
	uint64_t at, end; /* addresses */
	bool failed;
};

static struct cursor cursor_at(const struct image_bytes *image, uint64_t address)
{
	uint64_t offset = address - image->address;
	return (struct cursor){
		.image = image,
		.at = address,
		.end = image->address + image->size,
		.failed = offset > image->size,
	};
}

/* Little-endian, of size bytes. */
static uint64_t read_unsigned(struct cursor *from, unsigned size)
{
	uint64_t value = 0;
	if (from->failed || from->end - from->at < size) {
		from->failed = true;
		return 0;
	}
	const unsigned char *bytes = from->image->bytes + (from->at - from->image->address);
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	from->at += size;
	return value;
}

static uint64_t read_signed(struct cursor *from, unsigned size)
{
	uint64_t sign = UINT64_C(1) << (8 * size - 1);
	return (read_unsigned(from, size) ^ sign) - sign;
}

/* Both kinds of LEB128; at most 10 bytes make 64 bits. */
static uint64_t read_leb(struct cursor *from, bool is_signed)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint64_t byte = read_unsigned(from, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40 && shift + 7 < 64)
			value |= ~UINT64_C(0) << (shift + 7);
		return value;
	}
	from->failed = true;
	return 0;
}

static uint64_t read_format(struct cursor *from, unsigned encoding)
{
	switch (encoding & FORMAT) {
	case FORMAT_ABSPTR:
	case FORMAT_UDATA8:
	case FORMAT_SDATA8:
		return read_unsigned(from, 8);
	case FORMAT_UDATA4:
		return read_unsigned(from, 4);
	case FORMAT_SDATA4:
		return read_signed(from, 4);
	case FORMAT_UDATA2:
		return read_unsigned(from, 2);
	case FORMAT_SDATA2:
		return read_signed(from, 2);
	case FORMAT_ULEB:
	case FORMAT_SLEB:
		return read_leb(from, (encoding & FORMAT) == FORMAT_SLEB);
	}
	from->failed = true;
	return 0;
}

/* An address. Fails for what is indirect, aligned, or relative to what is not known here. */
static uint64_t read_pointer(struct cursor *from, unsigned encoding, uint64_t data_base)
{
	uint64_t here = from->at;
	uint64_t value = read_format(from, encoding);
	switch (encoding & (BASE | INDIRECT)) {
	case BASE_NONE:
		return value;
	case BASE_PC:
		return here + value;
	case BASE_DATA:
		return data_base + value;
	}
	from->failed = true;
	return 0;
}

/* Narrows the cursor to the CIE or FDE at address, behind its length. The fields after an extended
 * length are 4 bytes wide all the same: .eh_frame knows no other. */
static struct cursor open_entry(const struct image_bytes *image, uint64_t address)
{
	struct cursor entry = cursor_at(image, address);
	uint64_t length = read_unsigned(&entry, 4);
	if (length == 0xffffffff)
		length = read_unsigned(&entry, 8);
	if (length == 0 || length > entry.end - entry.at)
		entry.failed = true;
	else
		entry.end = entry.at + length;
	return entry;
}

/* Reads what the letters of a CIE's augmentation stand for: the encoding of its FDEs' addresses. */
static unsigned read_augmentation(struct cursor *cie, const char *letters)
{
	unsigned encoding = FORMAT_ABSPTR, personality;
	for (; *letters != '\0'; letters++) {
		switch (*letters) {
		case 'z': /* the length of what follows */
			read_leb(cie, false);
			break;
		case 'R':
			encoding = (unsigned)read_unsigned(cie, 1);
			break;
		case 'L':
			read_unsigned(cie, 1);
			break;
		case 'P':
			personality = (unsigned)read_unsigned(cie, 1);
			if (personality == ALIGNED)
				return OMITTED;
			read_format(cie, personality);
			break;
		case 'S': /* a signal's frame; AArch64: key B, tagged stack */
		case 'B':
		case 'G':
			break;
		default:
			return OMITTED;
		}
	}
	return encoding;
}

/* The encoding of the addresses in a CIE's FDEs, OMITTED where it cannot be told. */
static unsigned cie_encoding(const struct image_bytes *image, uint64_t address)
{
	struct cursor cie = open_entry(image, address);
	char augmentation[8] = { 0 };
	uint64_t id = read_unsigned(&cie, 4), version = read_unsigned(&cie, 1);
	for (unsigned i = 0; (augmentation[i] = (char)read_unsigned(&cie, 1)) != '\0'; i++)
		if (i + 1 == sizeof(augmentation))
			return OMITTED;
	if (id != 0 || (version != 1 && version != 3 && version != 4))
		return OMITTED;
	if (version == 4)
		read_unsigned(&cie, 2); /* sizes of an address and of a segment's selector */
	read_leb(&cie, false);          /* code alignment */
	read_leb(&cie, true);           /* data alignment */
	if (version == 1)
		read_unsigned(&cie, 1); /* the return address's column */
	else
		read_leb(&cie, false);
	unsigned encoding = read_augmentation(&cie, augmentation);
	return cie.failed ? OMITTED : encoding;
}

/* The function that the FDE at address is about. */
static bool read_fde(const struct image_bytes *image, uint64_t address, struct code_range *range)
{
	struct cursor fde = open_entry(image, address);
	uint64_t here = fde.at;
	uint64_t back = read_unsigned(&fde, 4);
	if (fde.failed || back == 0)
		return false;
	unsigned encoding = cie_encoding(image, here - back);
	if (encoding == OMITTED)
		return false;
	range->start = read_pointer(&fde, encoding, 0);
	uint64_t length = read_format(&fde, encoding);
	range->end = range->start + length;
	return !fde.failed && (encoding & BASE) != BASE_DATA && range->end > range->start;
}

static bool clamp(const struct code_range *within, struct code_range *range)
{
	if (range->start < within->start)
		range->start = within->start;
	if (range->end > within->end)
		range->end = within->end;
	return range->start < range->end;
}

bool code_ranges_open(
        struct code_ranges *ranges, const struct image_bytes *image, uint64_t eh_frame_hdr)
{
	struct cursor header = cursor_at(image, eh_frame_hdr);
	uint64_t version = read_unsigned(&header, 1);
	unsigned frame_encoding = (unsigned)read_unsigned(&header, 1);
	unsigned count_encoding = (unsigned)read_unsigned(&header, 1);
	uint64_t table_encoding = read_unsigned(&header, 1);
	if (frame_encoding != OMITTED)
		read_format(&header, frame_encoding);
	if (version != 1 || count_encoding == OMITTED || table_encoding != TABLE)
		return false;
	uint64_t count = read_pointer(&header, count_encoding, eh_frame_hdr);
	if (header.failed || count > (header.end - header.at) / TABLE_ENTRY)
		return false;
	*ranges = (struct code_ranges){
		.image = *image,
		.table = header.at,
		.table_base = eh_frame_hdr,
		.count = (uint32_t)count,
		.within = { image->address, image->address + image->size },
	};
	return count <= UINT32_MAX;
}

bool code_ranges_next(struct code_ranges *ranges, struct code_range *range)
{
	while (ranges->next < ranges->count) {
		struct cursor entry = cursor_at(
		        &ranges->image, ranges->table + (uint64_t)ranges->next++ * TABLE_ENTRY);
		uint64_t start = read_pointer(&entry, TABLE, ranges->table_base);
		uint64_t fde = read_pointer(&entry, TABLE, ranges->table_base);
		if (!entry.failed && read_fde(&ranges->image, fde, range) &&
		        range->start == start && clamp(&ranges->within, range))
			return true;
	}
	return false;
}
