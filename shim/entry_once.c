/*
 * pthread_once.
 */
#include <pthread.h>

#include "export.h"
#include "once.h"

EXPORT int pthread_once(pthread_once_t *once, void (*function)(void))
{
	return once_call(once, function, CALL_SITE);
}
EXPORT_AS(__pthread_once, pthread_once);
