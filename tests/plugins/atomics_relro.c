/*
 * A library whose flag of outline atomics lies in what the loader makes read-only.
 */
#include "helper.h"

extern int plugin_result(void);
int helper(int operand, int *word) __attribute__((visibility("hidden")));

HELPER("helper", "flag");
__asm__(".section .data.rel.ro, \"aw\"\n\t.type flag, %object\nflag:\n\t.byte 1\n\t"
        ".size flag, 1\n\t.text\n");

int plugin_result(void)
{
	int word = 40;
	helper(2, &word);
	return word;
}
