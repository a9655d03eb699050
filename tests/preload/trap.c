/*
 * Ends the process when a library under test calls what it must not on a measured path: malloc,
 * stdio, or another function of libc than the one that it stands for. Preloaded after that library,
 * so that its calls come here; everybody's go on to libc.
 *
 * TRAP_GUEST: the watched file's name. TRAP_WAITS=libc: the library lets libc wait for mutexes.
 * TRAP_FROM: a trapped function; watching begins when somebody calls it. TRAP_ONLY=lockers: of
 * those trapped, only malloc's family and the loader's functions end the process. A call that is a
 * function's last act (a jump) shows the caller's caller, and is not seen.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "probes/sys.h"
#include "shim/mutex.h"

#define STACK_NEAR 65536u

/* libc's own, so that looking others up needs none of ours. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

static struct {
	const char *name;
	bool of_mutex;
	void *next; /* the function behind */
} trapped[] = {
	{ "malloc", false, (void *)__libc_malloc },
	{ "calloc", false, (void *)__libc_calloc },
	{ "realloc", false, (void *)__libc_realloc },
	{ "free", false, (void *)__libc_free },
#define TRAPPED(name) { #name, false, NULL },
#define MUTEX(name)   { #name, true, NULL },
#include "trapped.def"
};

/* Where the watched file lies; empty until this library's constructor has run. */
static uintptr_t guest_start, guest_end;
static const char *guest = "libabshim.so";
static bool libc_waits, only_lockers;
static const char *from; /* NULL: watching has begun */

#define MALLOCS 4u /* the first of trapped */

static char *append(char *to, const char *text)
{
	size_t length = strlen(text);
	memcpy(to, text, length);
	return to + length;
}

/* One line, then the end, which no handler of the program's can keep off. */
static _Noreturn void die(const char *name, uintptr_t offset)
{
	static const char digits[] = "0123456789abcdef";
	char line[256], *end = append(line, "trap: ");
	end = append(end, guest);
	end = append(end, "+0x");
	for (int shift = 20; shift >= 0; shift -= 4)
		*end++ = digits[offset >> shift & 15];
	end = append(end, " called ");
	end = append(end, name);
	*end++ = '\n';
	sys_write(2, line, (size_t)(end - line));
	sys_call3(SYS_kill, sys_getpid(), SIGKILL, 0);
	for (;;)
		sys_call3(SYS_exit_group, 128 + SIGKILL, 0, 0);
}

/* libc does what is not for us: mutexes of other kinds; and it tells a thread's id by one on the
 * stack. */
static bool is_libcs(const pthread_mutex_t *mutex)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	return libc_waits || !mutex_is_plain(mutex_kind(mutex)) ||
	       (uintptr_t)mutex - here < STACK_NEAR;
}

/* A line of /proc/self/maps: start-end rwxp ... path. */
static void take_line(const char *line)
{
	const char *path = strrchr(line, '/');
	char *end;
	if (path == NULL || strcmp(path + 1, guest) != 0)
		return;
	uintptr_t start = strtoul(line, &end, 16);
	if (guest_start == 0)
		guest_start = start;
	guest_end = strtoul(end + 1, NULL, 16);
}

/* Finds where the watched file lies. */
static void watch(void)
{
	static char line[8192];
	size_t length = 0;
	from = NULL;
	int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	while (length < sizeof(line) && sys_read(fd, line + length, 1) == 1) {
		if (line[length++] != '\n')
			continue;
		line[length - 1] = '\0';
		take_line(line);
		length = 0;
	}
	sys_close(fd);
	if (guest_start == 0)
		die("nothing: it is not mapped", 0);
}

static bool is_locker(uint32_t index)
{
	return index < MALLOCS || strncmp(trapped[index].name, "dl", 2) == 0;
}

/* Called by every trapped function before it goes on to what is returned here. first: its first
 * argument. */
__attribute__((used, visibility("hidden"))) void *trap_look(
        uint32_t index, uintptr_t caller, const void *first);
void *trap_look(uint32_t index, uintptr_t caller, const void *first)
{
	if (from != NULL && strcmp(trapped[index].name, from) == 0)
		watch();
	if (caller >= guest_start && caller < guest_end && (!only_lockers || is_locker(index)) &&
	        !(trapped[index].of_mutex && is_libcs(first)))
		die(trapped[index].name, caller - guest_start);
	if (trapped[index].next == NULL)
		trapped[index].next = dlsym(RTLD_NEXT, trapped[index].name);
	return trapped[index].next;
}

/* A trapped function notes its number; trap_enter saves every argument register, asks trap_look,
 * and jumps to the function that it names, whatever its signature. */
#if defined(__x86_64__)
#define STUB(name)                                                                                 \
	".globl " #name "\n.type " #name ",@function\n" #name ":\n"                                \
	"endbr64\nmovl $trap_index, %r11d\njmp trap_enter\n.size " #name ", .-" #name "\n"         \
	".set trap_index, trap_index + 1\n"
__asm__(".text\n.type trap_enter,@function\ntrap_enter:\n"
        "pushq %rbp\nmovq %rsp, %rbp\nsubq $192, %rsp\n"
        "movq %rdi, (%rsp)\nmovq %rsi, 8(%rsp)\nmovq %rdx, 16(%rsp)\nmovq %rcx, 24(%rsp)\n"
        "movq %r8, 32(%rsp)\nmovq %r9, 40(%rsp)\nmovq %rax, 48(%rsp)\n"
        "movaps %xmm0, 64(%rsp)\nmovaps %xmm1, 80(%rsp)\nmovaps %xmm2, 96(%rsp)\n"
        "movaps %xmm3, 112(%rsp)\nmovaps %xmm4, 128(%rsp)\nmovaps %xmm5, 144(%rsp)\n"
        "movaps %xmm6, 160(%rsp)\nmovaps %xmm7, 176(%rsp)\n"
        "movq %rdi, %rdx\nmovl %r11d, %edi\nmovq 8(%rbp), %rsi\n"
        "call trap_look\nmovq %rax, %r11\n"
        "movq (%rsp), %rdi\nmovq 8(%rsp), %rsi\nmovq 16(%rsp), %rdx\nmovq 24(%rsp), %rcx\n"
        "movq 32(%rsp), %r8\nmovq 40(%rsp), %r9\nmovq 48(%rsp), %rax\n"
        "movaps 64(%rsp), %xmm0\nmovaps 80(%rsp), %xmm1\nmovaps 96(%rsp), %xmm2\n"
        "movaps 112(%rsp), %xmm3\nmovaps 128(%rsp), %xmm4\nmovaps 144(%rsp), %xmm5\n"
        "movaps 160(%rsp), %xmm6\nmovaps 176(%rsp), %xmm7\n"
        "leave\njmp *%r11\n.size trap_enter, .-trap_enter\n");
#elif defined(__aarch64__)
#define STUB(name)                                                                                 \
	".globl " #name "\n.type " #name ",%function\n" #name ":\n"                                \
	"movz w16, #trap_index\nb trap_enter\n.size " #name ", .-" #name "\n"                      \
	".set trap_index, trap_index + 1\n"
__asm__(".text\n.type trap_enter,%function\ntrap_enter:\n"
        "stp x29, x30, [sp, #-224]!\nmov x29, sp\n"
        "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\n"
        "stp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n"
        "stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\n"
        "stp q6, q7, [sp, #192]\n"
        "mov x2, x0\nmov w0, w16\nmov x1, x30\nbl trap_look\nmov x16, x0\n"
        "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\n"
        "ldp x6, x7, [sp, #64]\nldr x8, [sp, #80]\n"
        "ldp q0, q1, [sp, #96]\nldp q2, q3, [sp, #128]\nldp q4, q5, [sp, #160]\n"
        "ldp q6, q7, [sp, #192]\n"
        "ldp x29, x30, [sp], #224\nbr x16\n.size trap_enter, .-trap_enter\n");
#endif

__asm__(".text\n.set trap_index, 0\n" STUB(malloc) STUB(calloc) STUB(realloc) STUB(free)
#define TRAPPED(name) STUB(name)
#define MUTEX(name)   STUB(name)
#include "trapped.def"
);

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("TRAP_GUEST"), *waits = getenv("TRAP_WAITS");
	const char *only = getenv("TRAP_ONLY");
	libc_waits = waits != NULL && strcmp(waits, "libc") == 0;
	only_lockers = only != NULL && strcmp(only, "lockers") == 0;
	guest = name != NULL && strlen(name) < 100 ? name : guest;
	from = getenv("TRAP_FROM");
	if (from == NULL)
		watch();
}
