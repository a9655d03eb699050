/*
 * The same program once more, from its beginning, with other values of some variables.
 */
#ifndef SHIM_ALLOC_AGAIN_H
#define SHIM_ALLOC_AGAIN_H

#include <stddef.h>

#define AGAIN_MOST 2u

struct again {
	size_t count;
	struct again_variable {
		const char *name;
		const char *string; /* "NAME=value", NULL: it is to go */
	} variables[AGAIN_MOST];
};

/*
 * Executes the program of this process again, which has not begun yet and has one thread: with its
 * arguments as the kernel keeps them, and environment changed as asked. Signal mask, ignored
 * signals, descriptors, directory and limits stay, as ever with exec. The path is the one it was
 * executed by, where that still leads to the same file or script, so that it keeps its name.
 * Returns only when that cannot be done: with the reason.
 */
const char *again_execute(const struct again *again, char *const *environment);

#endif
