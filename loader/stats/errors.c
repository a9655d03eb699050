/*
 * Makes GSL answer NAN for what it cannot compute, as for figures whose squares overflow: by
 * default it would end the process.
 */
#include <gsl/gsl_errno.h>

static __attribute__((constructor)) void turn_handler_off(void)
{
	gsl_set_error_handler_off();
}
