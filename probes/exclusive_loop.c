/*
 * The shapes are those of gcc's and clang's output for AArch64 without FEAT_LSE; see each matcher.
 */
#include "exclusive_loop.h"

#include "a64.h"

bool exclusive_loop_match(struct exclusive_loop *loop, const uint32_t *words, size_t count)
{
	struct a64_atomic load;
	if (count < 3 || !a64_decode(words[0], &load) || load.kind != A64_LOAD_EXCLUSIVE)
		return false;
	loop->words = 0;
	return false;
}
