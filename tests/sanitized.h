/*
 * Which sanitizer a test program runs under, where one cannot see what the test is about.
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

/* The thread sanitizer knows libc's locks by intercepting their calls, and so neither those that
 * the shim takes over nor those inside of libc. */
#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif
#ifndef THREAD_SANITIZER
#define THREAD_SANITIZER 0
#endif

#endif
