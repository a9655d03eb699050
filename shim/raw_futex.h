/*
 * Futexes that a program uses by itself, through syscall(): those of locks that no pthread function
 * sees.
 */
#ifndef SHIM_RAW_FUTEX_H
#define SHIM_RAW_FUTEX_H

/*
 * What syscall(SYS_futex, ...) is asked for, with all its arguments as they came. site: the return
 * address of that call. Answers as libc does: -1 with errno set, or the kernel's result.
 *
 * A wait may poll the word first, as the control page says, and then answers EAGAIN when it has
 * changed. The caller must not let the word's memory go while it waits, which the kernel forgives.
 * Polling ends at the wait's deadline, and what is left of a relative timeout is what the kernel
 * gets.
 */
long raw_futex(const void *site, long word, long operation, long value, long timeout, long word2,
        long value3);

#endif
