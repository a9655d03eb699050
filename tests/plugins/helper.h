/*
 * An outline helper of libgcc's shape (config/aarch64/lse.S), whose flag may be anywhere.
 */
#ifndef TESTS_PLUGINS_HELPER_H
#define TESTS_PLUGINS_HELPER_H

#if defined(__aarch64__)
#define HELPER(name, flag)                                                                         \
	__asm__(".text\n\t.p2align 4\n\t.type " name ", %function\n" name ":\n\t"                  \
	        ".cfi_startproc\n\t"                                                               \
	        "adrp x16, " flag "\n\t"                                                           \
	        "ldrb w16, [x16, #:lo12:" flag "]\n\t"                                             \
	        "cbz w16, 1f\n\t"                                                                  \
	        ".arch_extension lse\n\t"                                                          \
	        "ldaddal w0, w0, [x1]\n\t"                                                         \
	        "ret\n"                                                                            \
	        "1:\tmov w16, w0\n"                                                                \
	        "2:\tldaxr w0, [x1]\n\t"                                                           \
	        "add w17, w0, w16\n\t"                                                             \
	        "stlxr w15, w17, [x1]\n\t"                                                         \
	        "cbnz w15, 2b\n\t"                                                                 \
	        "ret\n\t.cfi_endproc\n\t.size " name ", . - " name "\n")
#else
#define HELPER(name, flag) __asm__(".text\n" name ":\tret\n")
#endif

#endif
