/*
 * Words that look like atomics and must be left alone, or may not be changed safely (AArch64).
 * Prints those that are data.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__aarch64__)
uint32_t literal(void);
uint32_t table(void);
void increment(uint32_t *word, uint64_t from_the_start);

/* 0xb8200020 is ldadd w0, w0, [x1]. The first is a load's literal, which the assembler is told is
 * code; the second, data by its mapping symbol; the third, code that no unwind table names. */
__asm__(".text\n\t.p2align 2\n\t.type literal, %function\n"
        "literal:\n\t.cfi_startproc\n\tldr w0, 1f\n\tret\n"
        "1:\t.inst 0xb8200020\n\t.cfi_endproc\n\t.size literal, . - literal\n\t"
        ".type table, %function\n"
        "table:\n\t.cfi_startproc\n\tadr x1, 1f\n\tldr w0, [x1]\n\tret\n"
        "1:\t.word 0xb8200020\n\t.cfi_endproc\n\t.size table, . - table\n\t"
        ".type unproved, %function\n"
        "unproved:\t.inst 0xb8200020\n\tret\n\t.size unproved, . - unproved\n");

/* A loop of exclusives that may be entered before its store, which then fails. */
__asm__(".text\n\t.p2align 2\n\t.type increment, %function\n"
        "increment:\n\t.cfi_startproc\n\tcbz x1, 2f\n"
        "1:\tldxr w2, [x0]\n\tadd w2, w2, #1\n"
        "2:\tstxr w3, w2, [x0]\n\tcbnz w3, 1b\n\t"
        "ret\n\t.cfi_endproc\n\t.size increment, . - increment\n");
#else
static uint32_t literal(void)
{
	return 0xb8200020;
}

static uint32_t table(void)
{
	return 0xb8200020;
}

static void increment(uint32_t *word, uint64_t from_the_start)
{
	(void)from_the_start;
	++*word;
}
#endif

int main(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	uint32_t count = 0;
	/* A process that takes no lock leaves no record. */
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	increment(&count, 1);
	increment(&count, 0);
	printf("%x %x %u\n", literal(), table(), count);
	return 0;
}
