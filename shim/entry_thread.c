/*
 * Threads: how many are made, and what they are called. A thread's slot is its own affair: it is
 * taken at its first lock and given back at its end.
 */
#include <pthread.h>
#include <string.h>

#include "alloc/arm.h"
#include "export.h"
#include "probes/threads.h"
#include "real.h"
#include "start.h"
#include "thread.h"

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
        void *(*function)(void *), void *argument)
{
	if (alloc_java_asked)
		alloc_java_check();
	thread_creates();
	int result = REAL(pthread_create)(thread, attributes, function, argument);
	if (result == 0)
		thread_created();
	return result;
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	int result = REAL(pthread_setname_np)(thread, name);
	if (result == 0 && start_counting)
		record_thread_rename((uint64_t)thread, name);
	return result;
}
