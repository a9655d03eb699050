/*
 * What is to run once, by whichever of libc's names: pthread_once or C11's call_once.
 */
#ifndef SHIM_ONCE_H
#define SHIM_ONCE_H

#include <pthread.h>

/* site: the return address of the program's call. Returns 0. */
int once_call(pthread_once_t *once, void (*function)(void), const void *site);

#endif
