/*
 * Sizes that files claim are not believed: memory grows with what really comes out.
 */
#include "unpack.h"

#include <err.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>

/* What has come out so far. */
struct output {
	unsigned char *bytes;
	size_t used, room;
};

static bool make_room(struct output *output)
{
	if (output->used < output->room)
		return true;
	if (output->room >= UNPACK_MOST)
		return false;
	output->room = output->room == 0 ? 1 << 16 : output->room * 2;
	output->bytes = realloc(output->bytes, output->room);
	if (output->bytes == NULL)
		err(125, "audit");
	return true;
}

static struct view finish(struct output *output, bool whole, void **memory)
{
	if (!whole) {
		free(output->bytes);
		output->bytes = NULL;
		output->used = 0;
	}
	*memory = output->bytes;
	return (struct view){ output->bytes, output->used };
}

static struct view inflate_view(const struct view *packed, void **memory)
{
	struct output output = { 0 };
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)packed->bytes };
	uint64_t left = packed->size;
	int result = inflateInit(&stream);
	while (result == Z_OK && make_room(&output)) {
		size_t room = output.room - output.used;
		if (stream.avail_in == 0) {
			stream.avail_in = (uInt)(left < 1u << 30 ? left : 1u << 30);
			left -= stream.avail_in;
		}
		stream.next_out = output.bytes + output.used;
		stream.avail_out = (uInt)room;
		result = inflate(&stream, Z_NO_FLUSH);
		output.used += room - stream.avail_out;
	}
	inflateEnd(&stream);
	return finish(&output, result == Z_STREAM_END, memory);
}

struct view unpack_section(
        const struct image *image, const struct section *section, void **memory, const char **why)
{
	struct view contents = image_contents(image, section);
	*memory = NULL;
	if ((section->flags & SHF_COMPRESSED) == 0)
		return contents;
	unsigned head = image->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	*why = "is compressed, but damaged";
	if (contents.size < head)
		return (struct view){ 0 };
	/* ch_type comes first in both classes. */
	if (image_number(image, contents.bytes, 4) != ELFCOMPRESS_ZLIB) {
		*why = "is compressed by other means than zlib";
		return (struct view){ 0 };
	}
	struct view packed = view_part(&contents, head, contents.size - head);
	return inflate_view(&packed, memory);
}

struct view unpack_xz(const struct view *packed, void **memory, const char **why)
{
	struct output output = { 0 };
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&stream, UNPACK_MOST, LZMA_CONCATENATED);
	stream.next_in = packed->bytes;
	stream.avail_in = packed->size;
	while (result == LZMA_OK && make_room(&output)) {
		size_t room = output.room - output.used;
		stream.next_out = output.bytes + output.used;
		stream.avail_out = room;
		result = lzma_code(&stream, LZMA_FINISH);
		output.used += room - stream.avail_out;
	}
	lzma_end(&stream);
	*why = "cannot be unpacked";
	return finish(&output, result == LZMA_STREAM_END, memory);
}
