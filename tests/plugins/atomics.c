/*
 * A library whose initialiser already needs atomics.
 */
#include <stdatomic.h>

extern int plugin_result(void);

static atomic_int count, flags;

__attribute__((constructor)) static void begin(void)
{
	atomic_fetch_add(&count, 40);
	atomic_exchange(&flags, 2);
}

int plugin_result(void)
{
	int none = 0;
	atomic_compare_exchange_strong(&count, &none, 1);
	return atomic_fetch_or(&count, 0) + atomic_load(&flags);
}
