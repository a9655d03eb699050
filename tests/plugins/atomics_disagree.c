/*
 * A library whose outline helpers read more flags than any linker brings together.
 */
#include "helper.h"

extern int plugin_result(void);
int helper(int operand, int *word) __attribute__((visibility("hidden")));

HELPER("helper", "flag");
HELPER("helper_2", "flag_2");
HELPER("helper_3", "flag_3");
HELPER("helper_4", "flag_4");
HELPER("helper_5", "flag_5");
__asm__(".bss\nflag:\n\t.zero 1\nflag_2:\n\t.zero 1\nflag_3:\n\t.zero 1\n"
        "flag_4:\n\t.zero 1\nflag_5:\n\t.zero 1\n\t.text\n");

int plugin_result(void)
{
	int word = 40;
	helper(2, &word);
	return word;
}
