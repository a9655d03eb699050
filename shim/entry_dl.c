/*
 * dlopen and dlmopen: libc asks who calls them, by the return address, so ours go on to them by a
 * jump, and nothing of theirs can be seen but what they are asked for.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "export.h"
#include "probes/modules.h"
#include "real.h"
#include "start.h"
#include "uncovered.h"

typedef void any_function(void);

/* Before 2.34 libc has neither, unless the program has loaded libdl. */
static void *absent(void)
{
	return NULL;
}

static void opening(const char *file, int mode, Lmid_t space)
{
	if (!start_counting)
		return;
	record_modules_mapping();
	if (file != NULL && space != LM_ID_BASE)
		uncovered_note(UNCOVERED_NAMESPACE, NULL, file);
	else if (file != NULL && (mode & RTLD_DEEPBIND) != 0)
		uncovered_note(UNCOVERED_DEEPBIND, NULL, file);
}

/* Both: what to jump to. They are called by the code below. */
static __attribute__((used)) any_function *dlopen_begins(const char *file, int mode)
{
	opening(file, mode, LM_ID_BASE);
	return REAL(dlopen) != NULL ? (any_function *)real_functions.dlopen
	                            : (any_function *)absent;
}

static __attribute__((used)) any_function *dlmopen_begins(Lmid_t space, const char *file, int mode)
{
	opening(file, mode, space);
	return REAL(dlmopen) != NULL ? (any_function *)real_functions.dlmopen
	                             : (any_function *)absent;
}

/*
 * Each calls name_begins with its own arguments, and then jumps with them to what that returned.
 * Neither has more than three.
 */
#if defined(__x86_64__)
#define OPENS(name)                                                                                \
	".globl " name "\n\t.type " name ", @function\n" name ":\n\t.cfi_startproc\n\t"            \
	"push %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"                                                \
	"push %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"                                                \
	"push %rdx\n\t.cfi_adjust_cfa_offset 8\n\t"                                                \
	"call " name "_begins\n\t"                                                                 \
	"pop %rdx\n\t.cfi_adjust_cfa_offset -8\n\t"                                                \
	"pop %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"                                                \
	"pop %rdi\n\t.cfi_adjust_cfa_offset -8\n\t"                                                \
	"jmp *%rax\n\t.cfi_endproc\n\t.size " name ", . - " name "\n"
#else
#define OPENS(name)                                                                                \
	".globl " name "\n\t.type " name ", %function\n" name ":\n\t.cfi_startproc\n\t"            \
	"stp x29, x30, [sp, #-48]!\n\t.cfi_adjust_cfa_offset 48\n\t"                               \
	".cfi_rel_offset x29, 0\n\t.cfi_rel_offset x30, 8\n\t"                                     \
	"mov x29, sp\n\t"                                                                          \
	"stp x0, x1, [sp, #16]\n\t"                                                                \
	"str x2, [sp, #32]\n\t"                                                                    \
	"bl " name "_begins\n\t"                                                                   \
	"mov x16, x0\n\t"                                                                          \
	"ldp x0, x1, [sp, #16]\n\t"                                                                \
	"ldr x2, [sp, #32]\n\t"                                                                    \
	"ldp x29, x30, [sp], #48\n\t.cfi_adjust_cfa_offset -48\n\t"                                \
	".cfi_restore x29\n\t.cfi_restore x30\n\t"                                                 \
	"br x16\n\t.cfi_endproc\n\t.size " name ", . - " name "\n"
#endif

__asm__(".text\n\t.p2align 4\n\t" OPENS("dlopen") OPENS("dlmopen"));
