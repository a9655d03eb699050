/*
 * System calls as the kernel takes them: no errno, no cancellation point, no libc state. Used by
 * everything that runs inside the target.
 */
#ifndef PROBES_SYS_H
#define PROBES_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Returns what the kernel returns: a value, or -errno (above -4096UL). */
static inline long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0"
	                 : "+r"(x0)
	                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
	                 : "memory");
	return x0;
#else
#error "abshim runs on x86-64 and AArch64"
#endif
}

#define SYS_ARG(x) ((long)(uintptr_t)(x))

static inline long sys_call3(long number, long a, long b, long c)
{
	return sys_call6(number, a, b, c, 0, 0, 0);
}

static inline bool sys_failed(long result)
{
	return (unsigned long)result > -4096UL;
}

/* Opens relative to the working directory; O_CLOEXEC is the caller's to add. */
static inline int sys_open(const char *path, int flags, int mode)
{
	return (int)sys_call6(SYS_openat, -100 /* AT_FDCWD */, SYS_ARG(path), flags, mode, 0, 0);
}

static inline void sys_close(int fd)
{
	sys_call3(SYS_close, fd, 0, 0);
}

static inline long sys_read(int fd, void *buffer, size_t size)
{
	return sys_call3(SYS_read, fd, SYS_ARG(buffer), (long)size);
}

static inline long sys_write(int fd, const void *buffer, size_t size)
{
	return sys_call3(SYS_write, fd, SYS_ARG(buffer), (long)size);
}

static inline int sys_getpid(void)
{
	return (int)sys_call3(SYS_getpid, 0, 0, 0);
}

static inline int sys_gettid(void)
{
	return (int)sys_call3(SYS_gettid, 0, 0, 0);
}

#endif
