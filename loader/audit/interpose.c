/*
 * A preload comes before every library in the search for a symbol, but behind the program itself,
 * and before nothing that was bound when the file was linked.
 */
#include "interpose.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "../words.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

static const struct {
	const char *name;
	bool aarch64_only;
} entry_points[] = {
#define ENTRY(name, since)         { #name, false },
#define ALIAS(name, since)         { #name, false },
#define ENTRY_AARCH64(name, since) { #name, true },
#include "shim/entry_points.def"
#undef ENTRY
};

#define ENTRY_POINTS (sizeof(entry_points) / sizeof(*entry_points))

/* What a walk over symbols finds. */
struct finding {
	bool imported[ENTRY_POINTS], defined[ENTRY_POINTS], hidden[ENTRY_POINTS];
	bool opens, allocates, in_symtab;
};

static void take_symbol(void *context, const struct dynamic_symbol *symbol)
{
	struct finding *finding = context;
	const char *name = symbol->name;
	if (strcmp(name, "malloc") == 0)
		finding->allocates |= symbol->defined;
	for (size_t i = 0; i < ENTRY_POINTS; i++) {
		const char *own = entry_points[i].name;
		if (name[0] != own[0] || strcmp(name, own) != 0)
			continue;
		finding->hidden[i] |= finding->in_symtab;
		finding->defined[i] |= !finding->in_symtab && symbol->defined;
		finding->imported[i] |= !symbol->defined;
	}
	finding->opens |=
	        !symbol->defined && (strcmp(name, "dlopen") == 0 || strcmp(name, "dlmopen") == 0);
}

/* Names that a program's own functions hardly have unless a threads library was linked in. */
static bool is_of_threads(const char *name)
{
	static const char *const stems[] = { "pthread_", "__pthread_", "sem_", "mtx_", "cnd_",
		"thrd_" };
	for (size_t i = 0; i < sizeof(stems) / sizeof(*stems); i++)
		if (strncmp(name, stems[i], strlen(stems[i])) == 0)
			return true;
	return false;
}

/* Every program calls __libc_start_main: that says nothing. */
static bool is_listed(size_t entry, const struct dynamic *dynamic)
{
	if (strcmp(entry_points[entry].name, "__libc_start_main") == 0)
		return false;
	return !entry_points[entry].aarch64_only || dynamic->machine == EM_AARCH64;
}

static bool list_names(struct interposition *interposition, const struct finding *finding,
        const struct dynamic *dynamic)
{
	for (size_t i = 0; i < ENTRY_POINTS; i++) {
		const char *name = entry_points[i].name;
		if (interposition->barred || !is_listed(i, dynamic))
			continue;
		bool defined = finding->defined[i] || (finding->hidden[i] && is_of_threads(name));
		if (defined && !texts_add(&interposition->defines, name))
			return false;
		if (finding->imported[i] && !texts_add(&interposition->imports, name))
			return false;
	}
	return true;
}

/* A program that gains rights by its file runs in secure mode, where ld.so ignores LD_PRELOAD. */
static const char *gained_rights(int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return NULL;
	if ((status.st_mode & S_ISUID) != 0)
		return "set-user-ID";
	if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0)
		return "set-group-ID";
	return fgetxattr(fd, "security.capability", NULL, 0) > 0 ? "has file capabilities" : NULL;
}

/* "pthread_mutex_lock and 11 more" */
static void put_names(FILE *out, const struct texts *names)
{
	fputs(names->items[0], out);
	if (names->count > 1)
		fprintf(out, " and %zu more", names->count - 1);
}

/* Why no preload reaches it at all; false: it does. */
static bool put_bar(FILE *out, const struct audit_file *file, int fd, const struct dynamic *dynamic)
{
	const char *rights;
	bool known = dynamic != NULL &&
	             (dynamic->machine == EM_X86_64 || dynamic->machine == EM_AARCH64);
	if (file->kind == AUDIT_REFUSED)
		fputs("it is no program or library", out);
	else if (file->kind == AUDIT_RELOCATABLE)
		fputs("it is not linked yet", out);
	else if (!known)
		fputs("libabshim.so is for 64-bit x86-64 and AArch64", out);
	else if (file->is_static)
		fputs("statically linked: nothing can be preloaded into it", out);
	else if (strcmp(file->libc, "musl") == 0)
		fputs("linked with musl: libabshim.so needs glibc", out);
	else if (dynamic->interpreter != NULL &&
	         strncmp(words_base_name(dynamic->interpreter), "ld-linux", 8) != 0)
		fputs("its loader is not glibc's", out);
	else if (dynamic_is_program(dynamic) && (rights = gained_rights(fd)) != NULL)
		fprintf(out, "%s: ld.so ignores LD_PRELOAD for those who gain rights by it",
		        rights);
	else
		return false;
	return true;
}

static void separate(FILE *out)
{
	if (ftell(out) > 0)
		fputs("; ", out);
}

/* What to know of a file that a preload reaches. */
static void put_limits(FILE *out, const struct interposition *interposition,
        const struct finding *finding, const struct dynamic *dynamic)
{
	const char *soname = dynamic->soname != NULL ? dynamic->soname : "";
	bool is_libc = strcmp(soname, "libc.so.6") == 0 || strcmp(soname, "libpthread.so.0") == 0;
	if (strcmp(soname, "libabshim.so") == 0) {
		fputs("it is the library itself", out);
		return;
	}
	if (dynamic->machine != OWN_MACHINE)
		fprintf(out, "by a library built for %s", words_machine(dynamic->machine));
	if (is_libc) {
		separate(out);
		fputs("it has the functions that ours stand in for: calls within it are its own",
		        out);
	} else if (interposition->defines.count > 0) {
		separate(out);
		put_names(out, &interposition->defines);
		fputs(dynamic_is_program(dynamic) ? ": its own, which come before a preload's"
		        : dynamic->symbolic       ? ": its own, to which it is bound (-Bsymbolic)"
		                                  : ": its own, which a preload comes before",
		        out);
	}
	if (interposition->imports.count == 0 && !is_libc) {
		separate(out);
		fputs("it calls none of the functions of libabshim.so", out);
	}
	if (finding->allocates && !is_libc) {
		separate(out);
		fputs("it has a malloc of its own", out);
	}
	if (finding->opens) {
		separate(out);
		fputs("what it opens with RTLD_DEEPBIND, or in a namespace of its own, is out of "
		      "reach",
		        out);
	}
}

/* A program that has its own definition of all it calls. */
static bool keeps_all(const struct interposition *interposition, const struct dynamic *dynamic)
{
	bool binds = dynamic_is_program(dynamic) || dynamic->symbolic;
	return binds && interposition->defines.count > 0 && interposition->imports.count == 0;
}

bool interpose_examine(struct interposition *interposition, struct audit_file *file, int fd,
        const struct dynamic *dynamic)
{
	struct finding finding = { .opens = false };
	size_t size;
	char *why = NULL;
	*interposition = (struct interposition){ .opens = false };
	FILE *out = open_memstream(&why, &size);
	if (out == NULL)
		return false;
	bool walked = true;
	interposition->barred = put_bar(out, file, fd, dynamic);
	if (!interposition->barred) {
		walked = dynamic_walk(fd, dynamic, take_symbol, &finding);
		finding.in_symtab = true;
		dynamic_walk_symtab(fd, take_symbol, &finding);
	}
	bool done = list_names(interposition, &finding, dynamic);
	if (!walked)
		fputs("its symbols cannot be read", out);
	else if (!interposition->barred)
		put_limits(out, interposition, &finding, dynamic);
	interposition->opens = finding.opens;
	file->interposable = !interposition->barred && walked && !keeps_all(interposition, dynamic);
	if (fclose(out) != 0 || why == NULL)
		return false;
	free(file->why);
	file->why = why;
	return done;
}

void interpose_free(struct interposition *interposition)
{
	texts_free(&interposition->imports);
	texts_free(&interposition->defines);
}
