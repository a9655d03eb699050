/*
 * Walks an archive's members: GNU's, BSD's and thin ones, whose members are files of their own
 * beside it. Format: ar(5); "Archive File Format" of binutils' documentation.
 */
#include "archive.h"

#include <ar.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define THIN_MAGIC "!<thin>\n"
#define BSD_LONG   "#1/"

struct archive {
	struct audit_list *list;
	const char *path;
	unsigned depth;
	archive_reader *read;
	bool thin;
	struct view names; /* GNU's long ones */
};

struct member {
	char *name; /* allocated */
	uint64_t size;
	struct view contents; /* empty in thin archives */
	bool is_index;        /* a symbol table, or the names */
};

bool archive_is(const struct view *view)
{
	return view_holds(view, 0, SARMAG) && (memcmp(view->bytes, ARMAG, SARMAG) == 0 ||
	                                              memcmp(view->bytes, THIN_MAGIC, SARMAG) == 0);
}

/* A decimal number that is padded with blanks; false if it is none. */
static bool read_number(const char *text, size_t width, uint64_t *number)
{
	size_t digits = 0;
	*number = 0;
	for (; digits < width && text[digits] >= '0' && text[digits] <= '9'; digits++)
		*number = *number * 10 + (uint64_t)(text[digits] - '0');
	for (size_t i = digits; i < width; i++)
		if (text[i] != ' ')
			return false;
	return digits > 0;
}

static char *copy_name(const unsigned char *bytes, size_t length)
{
	char *name = strndup((const char *)bytes, length);
	if (name == NULL)
		err(125, "audit");
	return name;
}

/* The name at an offset of the table of long names ends with a slash and a newline. */
static char *long_name(const struct archive *archive, uint64_t offset)
{
	struct view rest = view_part(&archive->names, offset, 4096);
	size_t length = 0;
	while (length < rest.size && rest.bytes[length] != '\n')
		length++;
	if (length > 0 && rest.bytes[length - 1] == '/')
		length--;
	return length == 0 ? NULL : copy_name(rest.bytes, length);
}

/* Blanks end a name, or a slash. */
static char *short_name(const char *field)
{
	size_t length = sizeof(((struct ar_hdr *)NULL)->ar_name);
	while (length > 0 && field[length - 1] == ' ')
		length--;
	if (length > 1 && field[length - 1] == '/')
		length--;
	return copy_name((const unsigned char *)field, length);
}

/* BSD puts a long name before the member's contents, which it counts as part of them. */
static char *bsd_name(struct member *member, uint64_t length)
{
	if (length > member->contents.size || length > 4096)
		return NULL;
	char *name = copy_name(member->contents.bytes, length);
	member->contents = view_part(&member->contents, length, member->contents.size);
	return name;
}

static void name_member(struct archive *archive, const struct ar_hdr *header, struct member *member)
{
	uint64_t number;
	const char *field = header->ar_name;
	member->name = NULL;
	member->is_index = true;
	if (memcmp(field, "// ", 3) == 0) {
		archive->names = member->contents;
		return;
	}
	if (memcmp(field, "/ ", 2) == 0 || memcmp(field, "/SYM64/ ", 8) == 0)
		return;
	member->is_index = false;
	if (field[0] == '/' && read_number(field + 1, sizeof(header->ar_name) - 1, &number))
		member->name = long_name(archive, number);
	else if (memcmp(field, BSD_LONG, 3) == 0 &&
	         read_number(field + 3, sizeof(header->ar_name) - 3, &number))
		member->name = bsd_name(member, number);
	else
		member->name = short_name(field);
	member->is_index = member->name != NULL && strncmp(member->name, "__.SYMDEF", 9) == 0;
}

static void complain(const struct archive *archive, const char *what, const char *name)
{
	char *note;
	if (asprintf(&note, "%s%s%s", what, name != NULL ? ": " : "", name != NULL ? name : "") < 0)
		err(125, "audit");
	audit_refuse(archive->list, archive->path, note);
	free(note);
}

/* A member of a thin archive is a path from the archive's folder. */
static void read_outside(const struct archive *archive, const char *name, const char *path)
{
	const char *slash = strrchr(archive->path, '/');
	char *file;
	if (asprintf(&file, "%.*s%s",
	            name[0] == '/' || slash == NULL ? 0 : (int)(slash - archive->path + 1),
	            archive->path, name) < 0)
		err(125, "audit");
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	free(file);
	struct map map;
	bool opened = fd >= 0 && map_open(&map, fd);
	if (fd >= 0)
		close(fd);
	if (!opened) {
		audit_refuse(archive->list, path,
		        "a member outside of its thin archive that cannot be read");
		return;
	}
	if (archive_is(&map.view))
		audit_refuse(
		        archive->list, path, "an archive that a thin archive names: not followed");
	else
		archive->read(archive->list, &map.view, path, archive->depth + 1);
	map_close(&map);
}

static void read_member(const struct archive *archive, struct member *member)
{
	char *path;
	if (member->is_index)
		return;
	if (member->name == NULL) {
		complain(archive, "a member whose name cannot be read", NULL);
		return;
	}
	if (asprintf(&path, "%s(%s)", archive->path, member->name) < 0)
		err(125, "audit");
	if (archive->thin)
		read_outside(archive, member->name, path);
	else
		archive->read(archive->list, &member->contents, path, archive->depth + 1);
	free(path);
}

/* Reads the member at an offset, and sets where the next one is. */
static bool step(struct archive *archive, const struct view *view, uint64_t *offset)
{
	struct ar_hdr header;
	struct member member = { 0 };
	if (!view_holds(view, *offset, sizeof(header))) {
		complain(archive, "the archive ends within a member: cut or damaged", NULL);
		return false;
	}
	memcpy(&header, view->bytes + *offset, sizeof(header));
	if (memcmp(header.ar_fmag, ARFMAG, sizeof(header.ar_fmag)) != 0 ||
	        !read_number(header.ar_size, sizeof(header.ar_size), &member.size)) {
		complain(archive, "a member's header is damaged: the rest is not read", NULL);
		return false;
	}
	*offset += sizeof(header);
	bool inside = !archive->thin || header.ar_name[0] == '/';
	if (archive->thin && inside && header.ar_name[1] >= '0' && header.ar_name[1] <= '9')
		inside = false;
	if (inside) {
		member.contents = view_part(view, *offset, member.size);
		if (member.contents.size < member.size)
			complain(archive, "the archive ends within a member: cut or damaged", NULL);
		*offset += member.contents.size + member.size % 2;
	}
	name_member(archive, &header, &member);
	read_member(archive, &member);
	free(member.name);
	return true;
}

void archive_read(struct audit_list *list, const struct view *view, const char *path,
        unsigned depth, archive_reader *read)
{
	struct archive archive = {
		.list = list,
		.path = path,
		.depth = depth,
		.read = read,
		.thin = memcmp(view->bytes, THIN_MAGIC, SARMAG) == 0,
	};
	uint64_t offset = SARMAG;
	size_t before = list->count;
	while (offset < view->size && step(&archive, view, &offset))
		continue;
	if (list->count == before)
		audit_refuse(list, path, "an archive without members")->complete = true;
}
