/*
 * Unpacks what ELF files hold compressed.
 */
#ifndef LOADER_AUDIT_UNPACK_H
#define LOADER_AUDIT_UNPACK_H

#include "image.h"

/* More than this is not unpacked; symbols of the largest programs take less. */
#define UNPACK_MOST (UINT64_C(128) << 20)

/* A section's contents as they were before SHF_COMPRESSED; *memory is set to what the caller frees.
 * Empty with *why set where that is not possible. */
struct view unpack_section(
        const struct image *image, const struct section *section, void **memory, const char **why);

/* The contents of an .xz file, as .gnu_debugdata is one; as above. */
struct view unpack_xz(const struct view *packed, void **memory, const char **why);

#endif
