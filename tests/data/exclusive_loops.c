/*
 * Atomic operations of every size and order, with values and constants, whose result is wanted or
 * not: built for AArch64 without LSE, they are loops of exclusives. Not linked; never run.
 */
#include <stdbool.h>
#include <stdint.h>

/* Of one operation: as a function, with constants, and where nobody wants to know. */
#define OPERATION(type, name, order)                                                               \
	type type##_fetch_##name##order(type *p, type v)                                           \
	{                                                                                          \
		return __atomic_fetch_##name(p, v, order);                                         \
	}                                                                                          \
	type type##_##name##_fetch##order(type *p, type v)                                         \
	{                                                                                          \
		return __atomic_##name##_fetch(p, v, order);                                       \
	}                                                                                          \
	void type##_only_##name##order(type *p, type v)                                            \
	{                                                                                          \
		__atomic_fetch_##name(p, v, order);                                                \
	}                                                                                          \
	type type##_fetch_##name##_1##order(type *p)                                               \
	{                                                                                          \
		return __atomic_fetch_##name(p, 1, order);                                         \
	}                                                                                          \
	type type##_##name##_fetch_constant##order(type *p)                                        \
	{                                                                                          \
		return __atomic_##name##_fetch(p, (type)0x100f, order);                            \
	}                                                                                          \
	void type##_only_##name##_constant##order(type *p)                                         \
	{                                                                                          \
		__atomic_fetch_##name(p, (type)0xfffffff0, order);                                 \
	}                                                                                          \
	bool type##_##name##_to_0##order(type *p)                                                  \
	{                                                                                          \
		return __atomic_##name##_fetch(p, 1, order) == 0;                                  \
	}

#define EXCHANGES(type, order)                                                                     \
	type type##_exchange##order(type *p, type v)                                               \
	{                                                                                          \
		return __atomic_exchange_n(p, v, order);                                           \
	}                                                                                          \
	type type##_take##order(type *p)                                                           \
	{                                                                                          \
		return __atomic_exchange_n(p, 0, order);                                           \
	}                                                                                          \
	void type##_put##order(type *p, type v)                                                    \
	{                                                                                          \
		__atomic_exchange_n(p, v, order);                                                  \
	}                                                                                          \
	type type##_exchange_on_stack##order(type v)                                               \
	{                                                                                          \
		type on_stack = 3;                                                                 \
		__asm__ volatile("" : : "r"(&on_stack) : "memory");                                \
		v = __atomic_exchange_n(&on_stack, v, order);                                      \
		__asm__ volatile("" : : "r"(&on_stack) : "memory");                                \
		return v;                                                                          \
	}

/* A failed comparison's order is the same, but for releases. */
#define COMPARISONS(type, order, failed)                                                           \
	bool type##_cas##order(type *p, type *e, type v)                                           \
	{                                                                                          \
		return __atomic_compare_exchange_n(p, e, v, false, order, failed);                 \
	}                                                                                          \
	bool type##_weak_cas##order(type *p, type *e, type v)                                      \
	{                                                                                          \
		return __atomic_compare_exchange_n(p, e, v, true, order, failed);                  \
	}                                                                                          \
	type type##_found##order(type *p, type e, type v)                                          \
	{                                                                                          \
		__atomic_compare_exchange_n(p, &e, v, false, order, failed);                       \
		return e;                                                                          \
	}                                                                                          \
	bool type##_acquire##order(type *p)                                                        \
	{                                                                                          \
		type e = 0;                                                                        \
		return __atomic_compare_exchange_n(p, &e, 1, false, order, failed);                \
	}                                                                                          \
	int type##_branch##order(type *p)                                                          \
	{                                                                                          \
		type e = 5;                                                                        \
		if (__atomic_compare_exchange_n(p, &e, 6, false, order, failed))                   \
			return 7;                                                                  \
		return 3;                                                                          \
	}                                                                                          \
	void type##_loop##order(type *p, type v)                                                   \
	{                                                                                          \
		type e = *p;                                                                       \
		while (!__atomic_compare_exchange_n(p, &e, e ^ v, true, order, failed))            \
			continue;                                                                  \
	}

#ifdef __clang__
#define EXTREMES(type, order) OPERATION(type, max, order) OPERATION(type, min, order)
#else
#define EXTREMES(type, order)
#endif

#define ALL_OF_ORDER(type, order, failed)                                                          \
	OPERATION(type, add, order)                                                                \
	OPERATION(type, sub, order)                                                                \
	OPERATION(type, and, order)                                                                \
	OPERATION(type, or, order)                                                                 \
	OPERATION(type, xor, order)                                                                \
	OPERATION(type, nand, order)                                                               \
	EXTREMES(type, order) EXCHANGES(type, order) COMPARISONS(type, order, failed)

#define ALL_OF(type)                                                                               \
	ALL_OF_ORDER(type, 0, 0)                                                                   \
	ALL_OF_ORDER(type, 2, 2) ALL_OF_ORDER(type, 3, 0) ALL_OF_ORDER(type, 5, 5)

/* Of 16 bytes only what neither compiler calls a library for. */
typedef unsigned __int128 wide;

wide wide_found(wide *p, wide e, wide v);
wide wide_found(wide *p, wide e, wide v)
{
	return __sync_val_compare_and_swap(p, e, v);
}

bool wide_cas(wide *p, wide e, wide v);
bool wide_cas(wide *p, wide e, wide v)
{
	return __sync_bool_compare_and_swap(p, e, v);
}

#ifdef __clang__
wide wide_exchange(wide *p, wide v);
wide wide_exchange(wide *p, wide v)
{
	return __atomic_exchange_n(p, v, 5);
}

wide wide_add(wide *p, wide v);
wide wide_add(wide *p, wide v)
{
	return __atomic_fetch_add(p, v, 4);
}

wide wide_load(wide *p);
wide wide_load(wide *p)
{
	return __atomic_load_n(p, 2);
}

void wide_store(wide *p, wide v);
void wide_store(wide *p, wide v)
{
	__atomic_store_n(p, v, 3);
}
#endif

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
ALL_OF(int8_t)
ALL_OF(uint8_t)
ALL_OF(int16_t)
ALL_OF(uint32_t)
ALL_OF(int64_t)
