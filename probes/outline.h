/*
 * The outline-atomics helpers that compilers put into an object (__aarch64_cas4_acq and its like),
 * known by their code, so that a stripped file needs no symbol: each tests a byte of its object,
 * which says whether the CPU has FEAT_LSE, and goes one way or the other. libgcc's, LLVM's
 * compiler-rt's and Rust's compiler_builtins' bodies.
 */
#ifndef PROBES_OUTLINE_H
#define PROBES_OUTLINE_H

#include <stddef.h>

#include "a64.h"

struct outline_helper {
	uint64_t address;         /* of its first word */
	uint64_t flag;            /* address of the byte __aarch64_have_lse_atomics of its object */
	struct a64_atomic atomic; /* its LSE instruction */
	unsigned words;           /* its length up to and with the last RET */
	unsigned exclusives;      /* load- and store-exclusives in it */
};

/* False for nearly all words that no helper begins with: BTI C, BTI JC or ADRP does. */
static inline bool outline_may_begin(uint32_t word)
{
	return (word & 0xffffff7f) == 0xd503245f || (word & 0x9f000000) == 0x90000000;
}

/* Whether a helper begins at words[0], which lies at address; count words may be read. The next one
 * is no nearer than helper->words. */
bool outline_match(
        const uint32_t *words, size_t count, uint64_t address, struct outline_helper *helper);

/* The name of a helper or of a part of it, as __aarch64_ldadd8_acq_rel, also mangled by Rust: any
 * symbol of the family, with or without an LSE body (older compiler_builtins have none). */
bool outline_is_name(const char *symbol);

#endif
