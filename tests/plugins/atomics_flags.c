/*
 * A library of two compilers' objects, each with outline helpers and a flag of its own: Rust's that
 * was linked with libgcc is one.
 */
#include "helper.h"

extern int plugin_result(void);
int helper(int operand, int *word) __attribute__((visibility("hidden")));
int other_helper(int operand, int *word) __attribute__((visibility("hidden")));

HELPER("helper", "flag");
HELPER("other_helper", "other_flag");
__asm__(".data\nflag:\n\t.byte 1\nother_flag:\n\t.byte 0\n\t.text\n");

int plugin_result(void)
{
	int word = 40;
	helper(1, &word);
	other_helper(1, &word);
	return word;
}
