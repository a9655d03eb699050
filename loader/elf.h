/*
 * What the command asks of an ELF file. The only user of libelf.
 */
#ifndef LOADER_ELF_H
#define LOADER_ELF_H

#include <stdbool.h>
#include <stdint.h>

#define ELF_NAME_SIZE 256

struct elf_facts {
	bool is_64_bit, is_program; /* is_program: an executable or a shared object */
	bool is_complete;           /* its segments lie in the file */
	uint16_t machine;           /* e_machine */
	bool dynamic;               /* it has a PT_INTERP */
	bool is_go;                 /* the Go toolchain linked it */
	bool is_loader;             /* it is a program loader itself: its soname begins with ld */
	char interpreter[ELF_NAME_SIZE];
	char sanitizer[ELF_NAME_SIZE]; /* soname of a sanitizer runtime it needs, or empty */
};

/* Reads an open file. False when it is not an ELF file that can be understood. */
bool elf_inspect(int fd, struct elf_facts *facts);

/* The GNU build id as hexadecimal digits; false, and empty, when the file has none. */
#define ELF_BUILD_ID_SIZE 129
bool elf_build_id(int fd, char text[ELF_BUILD_ID_SIZE]);

/* Whether a library's path or soname is that of a sanitizer runtime, gcc's or clang's. */
bool elf_is_sanitizer(const char *name);

/*
 * How far the file is loaded from its link-time addresses when the byte at file_offset of an
 * executable segment is at address. False when no executable segment holds that byte.
 */
bool elf_load_bias(int fd, uint64_t address, uint64_t file_offset, uint64_t *bias);

#endif
