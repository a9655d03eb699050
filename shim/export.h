/*
 * Marks the functions that the target finds in place of libc's.
 */
#ifndef SHIM_EXPORT_H
#define SHIM_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

/* A second name of a function of the same file: the attribute of that name wants all others
 * repeated.
 */
#define EXPORT_AS(alias, name) __asm__(".globl " #alias "\n\t.set " #alias ", " #name)

/* Where the caller goes on: the call site, one instruction later. */
#define CALL_SITE __builtin_extract_return_addr(__builtin_return_address(0))

#endif
