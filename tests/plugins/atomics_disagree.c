/*
 * A library with two outline helpers that do not mean the same flag.
 */
#include "helper.h"

extern int plugin_result(void);
int helper(int operand, int *word) __attribute__((visibility("hidden")));
int other_helper(int operand, int *word) __attribute__((visibility("hidden")));

HELPER("helper", "flag");
HELPER("other_helper", "other_flag");
__asm__(".bss\nflag:\n\t.zero 1\nother_flag:\n\t.zero 1\n\t.text\n");

int plugin_result(void)
{
	int word = 40;
	helper(1, &word);
	other_helper(1, &word);
	return word;
}
