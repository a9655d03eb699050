/*
 * Atomic operations of every kind that compilers make of C, for the stories about abshim audit: a
 * program, a library or an object, with or without a libc.
 */
#include <stdbool.h>
#include <stdint.h>

uint8_t one_byte;
uint16_t two_bytes;
uint32_t four_bytes;
uint64_t eight_bytes;

int sum(int number);
int bits(int number);
int exchange(int number);
int compare(int number);
int loops(int number);
int choose(int number);
unsigned long __getauxval(unsigned long type);
int main(int argc, char **argv);
void _start(void);

int sum(int number)
{
	__atomic_fetch_add(&one_byte, number, __ATOMIC_RELAXED);
	__atomic_fetch_add(&two_bytes, number, __ATOMIC_ACQUIRE);
	__atomic_fetch_sub(&four_bytes, number, __ATOMIC_RELEASE);
	number += (int)__atomic_fetch_add(&eight_bytes, number, __ATOMIC_ACQ_REL);
	number += (int)__atomic_add_fetch(&four_bytes, 1, __ATOMIC_SEQ_CST);
	return number + (int)__atomic_fetch_sub(&eight_bytes, 1, __ATOMIC_RELAXED);
}

int bits(int number)
{
	__atomic_fetch_or(&four_bytes, number, __ATOMIC_RELAXED);
	__atomic_fetch_and(&eight_bytes, number, __ATOMIC_RELEASE);
	__atomic_fetch_xor(&two_bytes, number, __ATOMIC_SEQ_CST);
	number += __atomic_fetch_or(&one_byte, number, __ATOMIC_ACQUIRE);
	number += (int)__atomic_fetch_and(&four_bytes, number, __ATOMIC_ACQ_REL);
	return number + (int)__atomic_fetch_xor(&eight_bytes, number, __ATOMIC_RELAXED);
}

int exchange(int number)
{
	number += __atomic_exchange_n(&one_byte, number, __ATOMIC_RELAXED);
	number += __atomic_exchange_n(&two_bytes, number, __ATOMIC_ACQUIRE);
	number += (int)__atomic_exchange_n(&four_bytes, number, __ATOMIC_RELEASE);
	return number + (int)__atomic_exchange_n(&eight_bytes, number, __ATOMIC_SEQ_CST);
}

int compare(int number)
{
	uint8_t seen_one = (uint8_t)number;
	uint16_t seen_two = (uint16_t)number;
	uint32_t seen_four = (uint32_t)number;
	uint64_t seen_eight = (uint64_t)number;
	bool swapped = __atomic_compare_exchange_n(
	        &one_byte, &seen_one, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	swapped |= __atomic_compare_exchange_n(
	        &two_bytes, &seen_two, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	swapped |= __atomic_compare_exchange_n(
	        &four_bytes, &seen_four, 3, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	swapped |= __atomic_compare_exchange_n(
	        &eight_bytes, &seen_eight, 4, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return swapped + seen_one + seen_two + (int)seen_four + (int)seen_eight;
}

/* No single instruction does these. */
int loops(int number)
{
	number += (int)__atomic_fetch_nand(&four_bytes, number, __ATOMIC_ACQ_REL);
	return number + (int)__atomic_fetch_nand(&eight_bytes, number, __ATOMIC_RELAXED);
}

/* A jump table, and atomics behind it. */
int choose(int number)
{
	switch (number) {
	case 0:
		return (int)__atomic_fetch_add(&four_bytes, 11, __ATOMIC_RELAXED);
	case 1:
		return (int)__atomic_fetch_sub(&eight_bytes, 5, __ATOMIC_ACQUIRE);
	case 2:
		return (int)__atomic_exchange_n(&four_bytes, 12, __ATOMIC_RELAXED);
	case 3:
		return (int)__atomic_fetch_or(&eight_bytes, 77, __ATOMIC_RELEASE);
	case 4:
		return (int)(four_bytes * 3 + eight_bytes);
	case 5:
		return (int)__atomic_fetch_xor(&four_bytes, 13, __ATOMIC_SEQ_CST);
	case 6:
		return (int)(eight_bytes / 7);
	default:
		return number;
	}
}

#ifdef ALONE
/* What libgcc's helpers ask for the CPU's features. */
unsigned long __getauxval(unsigned long type)
{
	(void)type;
	return 0;
}

void _start(void)
{
	main(0, (char **)0);
	for (;;)
		;
}
#endif

int main(int argc, char **argv)
{
	(void)argv;
	return sum(argc) + bits(argc) + exchange(argc) + compare(argc) + loops(argc) + choose(argc);
}
