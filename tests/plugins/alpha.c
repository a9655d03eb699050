/*
 * One of two libraries of the same size.
 */
#include "plugin.h"

extern pthread_mutex_t lock_of_alpha;
pthread_mutex_t lock_of_alpha = PTHREAD_MUTEX_INITIALIZER;

void plugin_run(void)
{
	wait_in_vain(&lock_of_alpha);
}
