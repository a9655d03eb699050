/*
 * Reads one file for the audit, or every member of an archive.
 */
#include "audit.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "archive.h"
#include "kinds.h"
#include "rows.h"
#include "scan.h"

/* Archives in archives are followed so far. */
#define MOST_DEPTH 4

static void refuse_codeless(struct audit_file *row, const char *note)
{
	row->kind = AUDIT_REFUSED;
	row->complete = false;
	row->codeless = true;
	audit_note(row, "%s", note);
}

static void count_atomics(struct audit_file *row, const struct image *image)
{
	struct code code;
	struct audit_symbols symbols;
	code_find(&code, image, row);
	if (code.companion) {
		refuse_codeless(row, "debug information alone: its code is in another file");
		code_free(&code);
		return;
	}
	audit_symbols_read(&symbols, image, &code, row);
	if (symbols.libc != NULL && row->is_static)
		row->libc = symbols.libc;
	if (image->machine == EM_AARCH64)
		scan_a64(row, image, &code, &symbols);
	else if (image->machine == EM_X86_64)
		scan_x86(row, image, &code);
	audit_symbols_free(&symbols);
	code_free(&code);
}

static void read_elf(struct audit_list *list, const struct view *view, const char *path)
{
	struct audit_file *row = audit_add(list, path);
	struct image image;
	if (!image_open(&image, view, row)) {
		row->kind = AUDIT_REFUSED;
		row->complete = false;
		audit_note(row, "an ELF file without a header that can be read: cut or damaged");
		return;
	}
	kinds_fill(row, &image);
	const char *refusal = kinds_refusal(&image);
	if (refusal != NULL) {
		refuse_codeless(row, refusal);
		return;
	}
	if (image.machine != EM_AARCH64 && image.machine != EM_X86_64) {
		row->complete = false;
		audit_note(row, "only the atomics of AArch64 and x86-64 are counted");
		return;
	}
	count_atomics(row, &image);
	kinds_note_compilers(row, &image);
}

/* What begins like one of these is worth a word. */
static const char *describe(const struct view *view)
{
	static const struct {
		const char *magic;
		size_t length;
		const char *text;
	} known[] = {
		{ "#!", 2, "a script, no ELF file" },
		{ "BC\xc0\xde", 4, "LLVM bitcode, no ELF file: its machine code is not made yet" },
		{ "\x1f\x8b", 2, "packed by gzip, no ELF file" },
		{ "\xfd"
		  "7zXZ",
		        5, "packed by xz, no ELF file" },
		{ "\x28\xb5\x2f\xfd", 4, "packed by zstd, no ELF file" },
		{ "MZ", 2, "a program of Windows or UEFI, no ELF file" },
		{ "\xcf\xfa\xed\xfe", 4, "a Mach-O file, no ELF file" },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (view_holds(view, 0, known[i].length) &&
		        memcmp(view->bytes, known[i].magic, known[i].length) == 0)
			return known[i].text;
	return view->size == 0 ? "empty" : "no ELF file";
}

/* Members of archives lie at even offsets, words of code at multiples of four. */
static void read_aligned(struct audit_list *list, const struct view *view, const char *path)
{
	if ((uintptr_t)view->bytes % 8 == 0) {
		read_elf(list, view, path);
		return;
	}
	unsigned char *copy = malloc(view->size);
	if (copy == NULL)
		err(125, "audit");
	memcpy(copy, view->bytes, view->size);
	struct view aligned = { copy, view->size };
	read_elf(list, &aligned, path);
	free(copy);
}

static void read_view(
        struct audit_list *list, const struct view *view, const char *path, unsigned depth)
{
	if (archive_is(view) && depth < MOST_DEPTH)
		archive_read(list, view, path, depth, read_view);
	else if (archive_is(view))
		audit_refuse(list, path, "archives in archives too deep to be followed");
	else if (!view_holds(view, 0, SELFMAG) || memcmp(view->bytes, ELFMAG, SELFMAG) != 0)
		audit_refuse(list, path, describe(view));
	else
		read_aligned(list, view, path);
}

void audit_read(struct audit_list *list, int fd, const char *path)
{
	struct stat facts;
	struct map map;
	size_t first = list->count;
	if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 0) {
		audit_refuse(list, path, "empty");
		return;
	}
	if (!map_open(&map, fd)) {
		audit_refuse(list, path, strerror(errno));
		return;
	}
	read_view(list, &map.view, path, 0);
	for (size_t i = first; i < list->count && map.shrank; i++) {
		list->files[i].complete = false;
		audit_note(&list->files[i], "the file was cut while it was read");
	}
	map_close(&map);
}
