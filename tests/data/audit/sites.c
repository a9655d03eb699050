/*
 * Atomic operations of every kind that compilers make of C, for the stories about abshim audit: a
 * program, a library or an object, with or without a libc.
 */
#include <stdbool.h>
#include <stdint.h>

uint8_t narrow;
uint16_t shorter;
uint32_t word;
uint64_t wide;

int add(int number);
int bits(int number);
int exchange(int number);
int compare(int number);
int loops(int number);
int choose(int number);
unsigned long __getauxval(unsigned long type);
int main(int argc, char **argv);
void _start(void);

int add(int number)
{
	__atomic_fetch_add(&narrow, number, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shorter, number, __ATOMIC_ACQUIRE);
	__atomic_fetch_sub(&word, number, __ATOMIC_RELEASE);
	number += (int)__atomic_fetch_add(&wide, number, __ATOMIC_ACQ_REL);
	number += (int)__atomic_add_fetch(&word, 1, __ATOMIC_SEQ_CST);
	return number + (int)__atomic_fetch_sub(&wide, 1, __ATOMIC_RELAXED);
}

int bits(int number)
{
	__atomic_fetch_or(&word, number, __ATOMIC_RELAXED);
	__atomic_fetch_and(&wide, number, __ATOMIC_RELEASE);
	__atomic_fetch_xor(&shorter, number, __ATOMIC_SEQ_CST);
	number += __atomic_fetch_or(&narrow, number, __ATOMIC_ACQUIRE);
	number += (int)__atomic_fetch_and(&word, number, __ATOMIC_ACQ_REL);
	return number + (int)__atomic_fetch_xor(&wide, number, __ATOMIC_RELAXED);
}

int exchange(int number)
{
	number += __atomic_exchange_n(&narrow, number, __ATOMIC_RELAXED);
	number += __atomic_exchange_n(&shorter, number, __ATOMIC_ACQUIRE);
	number += (int)__atomic_exchange_n(&word, number, __ATOMIC_RELEASE);
	return number + (int)__atomic_exchange_n(&wide, number, __ATOMIC_SEQ_CST);
}

int compare(int number)
{
	uint8_t seen_narrow = (uint8_t)number;
	uint16_t seen_shorter = (uint16_t)number;
	uint32_t seen_word = (uint32_t)number;
	uint64_t seen_wide = (uint64_t)number;
	bool swapped = __atomic_compare_exchange_n(
	        &narrow, &seen_narrow, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	swapped |= __atomic_compare_exchange_n(
	        &shorter, &seen_shorter, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	swapped |= __atomic_compare_exchange_n(
	        &word, &seen_word, 3, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	swapped |= __atomic_compare_exchange_n(
	        &wide, &seen_wide, 4, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return swapped + seen_narrow + seen_shorter + (int)seen_word + (int)seen_wide;
}

/* No single instruction does these. */
int loops(int number)
{
	number += (int)__atomic_fetch_nand(&word, number, __ATOMIC_ACQ_REL);
	return number + (int)__atomic_fetch_nand(&wide, number, __ATOMIC_RELAXED);
}

/* A jump table, and atomics behind it. */
int choose(int number)
{
	switch (number) {
	case 0:
		return (int)__atomic_fetch_add(&word, 11, __ATOMIC_RELAXED);
	case 1:
		return (int)__atomic_fetch_sub(&wide, 5, __ATOMIC_ACQUIRE);
	case 2:
		return (int)__atomic_exchange_n(&word, 12, __ATOMIC_RELAXED);
	case 3:
		return (int)__atomic_fetch_or(&wide, 77, __ATOMIC_RELEASE);
	case 4:
		return (int)(word * 3 + wide);
	case 5:
		return (int)__atomic_fetch_xor(&word, 13, __ATOMIC_SEQ_CST);
	case 6:
		return (int)(wide / 7);
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
	return add(argc) + bits(argc) + exchange(argc) + compare(argc) + loops(argc) + choose(argc);
}
