/*
 * Marks the functions that the target finds in place of libc's.
 */
#ifndef SHIM_EXPORT_H
#define SHIM_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

/* Where the caller goes on: the call site, one instruction later. */
#define CALL_SITE __builtin_extract_return_addr(__builtin_return_address(0))

#endif
