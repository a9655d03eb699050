/*
 * Calls of outline helpers that lie further away than a branch reaches: linkers put a veneer
 * between.
 */
unsigned counter;

unsigned long __getauxval(unsigned long type);
void near_call(void);
unsigned far_call(unsigned *number);
void _start(void);

unsigned long __getauxval(unsigned long type)
{
	(void)type;
	return 0;
}

__attribute__((noinline)) void near_call(void)
{
	__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
	__atomic_fetch_or(&counter, 2, __ATOMIC_ACQUIRE);
}

__attribute__((noinline, section(".far"))) unsigned far_call(unsigned *number)
{
	__atomic_fetch_add(number, 3, __ATOMIC_RELAXED);
	__atomic_fetch_add(number, 4, __ATOMIC_RELAXED);
	return __atomic_exchange_n(number, 5, __ATOMIC_RELEASE);
}

void _start(void)
{
	near_call();
	far_call(&counter);
	for (;;)
		;
}
