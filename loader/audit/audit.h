/*
 * Which atomic instructions ELF files hold, and what the library can do about them.
 */
#ifndef LOADER_AUDIT_AUDIT_H
#define LOADER_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One mnemonic with its ordering, without its size: "ldaddal", "casp", "stlxr", "lock cmpxchg". */
struct audit_family {
	char name[24];
	uint64_t in_line, outline; /* instructions outside and inside of outline helpers */
};

enum audit_kind {
	AUDIT_EXEC,
	AUDIT_PIE,
	AUDIT_SHARED,
	AUDIT_RELOCATABLE, /* an archive's members too */
	AUDIT_REFUSED,     /* nothing that holds code to be counted: a core, a debug companion, no
	                      ELF file; the notes say what */
};

enum audit_method {
	AUDIT_SYMBOLS,  /* helpers known by their names, data in code by mapping symbols */
	AUDIT_SHAPE,    /* sections, but no symbols: helpers known by their code */
	AUDIT_SEGMENTS, /* no usable section headers: the program headers alone */
};

enum audit_flag {
	AUDIT_FLAG_NONE,    /* no helper reads one */
	AUDIT_FLAG_ONE,     /* all helpers read the same byte */
	AUDIT_FLAG_SEVERAL, /* they do not agree */
};

/* One file, or one member of an archive. Owned by its list; all strings allocated. */
struct audit_file {
	char *path; /* a member's as ARCHIVE(MEMBER) */
	enum audit_kind kind;
	const char *machine; /* "aarch64", "x86-64", "arm", ... or "machine N" */
	const char *class;   /* "ELF64", "ELF32"; "" where it is no ELF file */
	bool big_endian;
	bool is_static;      /* a program that no loader loads libraries for */
	const char *libc;    /* "glibc", "musl", "unknown", "none" (needs none) */
	bool stripped;       /* of .symtab */
	uint64_t code_bytes; /* looked at */
	uint64_t lse_inline, lse_outline;
	uint64_t llsc_inline, llsc_outline; /* AArch64: load- and store-exclusives */
	uint64_t locked;                    /* x86-64: lock-prefixed and xchg with memory */
	uint64_t helpers, helper_calls; /* outline helpers; BL and B to them, veneers followed */
	enum audit_flag flag;
	uint64_t flag_address; /* link-time */
	struct audit_family *families;
	size_t family_count;
	/* AArch64's atomic sites: a call of a helper, an inline LSE instruction or an inline
	 * exclusive loop is one each. */
	uint64_t switchable; /* by the flag */
	uint64_t rewritable; /* by a trampoline */
	uint64_t fixed;      /* neither */
	bool interposable;
	char *why; /* why not, or what to know; "" where there is nothing to say */
	enum audit_method method;
	bool complete; /* read whole: else the counts are of a part only */
	bool codeless; /* AUDIT_REFUSED, as it holds no code that could be missed: debug
	                  information, a core dump */
	char **notes;
	size_t note_count;
};

struct audit_list {
	struct audit_file *files;
	size_t count;
};

/* Reads one open file (of a regular file; archives give a row a member) and adds its rows. Never
 * fails: what cannot be read is a row that is not complete, whose notes say why. */
void audit_read(struct audit_list *list, int fd, const char *path);

/* Adds an empty row of kind AUDIT_REFUSED with one note: a FIFO, an unreadable file, ... */
struct audit_file *audit_refuse(struct audit_list *list, const char *path, const char *note);

void audit_note(struct audit_file *file, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

void audit_free(struct audit_list *list);

#endif
