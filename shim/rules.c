/*
 * A hash table that forgets what collides.
 */
#include "rules.h"

#include <sys/mman.h>

#include "probes/sys.h"

#define RULES  8192u
#define PROBES 8u

static struct rule *rules;
static uint32_t era = 1;

bool rules_make(void)
{
	long made = sys_call6(SYS_mmap, 0, RULES * sizeof(*rules), PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(made))
		return false;
	rules = (struct rule *)made;
	return true;
}

struct rule *rules_find(uint64_t pc)
{
	uint32_t now = __atomic_load_n(&era, __ATOMIC_ACQUIRE); /* pairs with rules_forget */
	/* Fibonacci hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4. */
	uint32_t first = (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
	struct rule *rule = NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		rule = &rules[(first + i) % RULES];
		if (rule->era != now || rule->kind == RULE_NOWHERE)
			break;
		if (rule->pc == pc)
			return rule;
	}
	rule->pc = pc;
	rule->kind = RULE_NEW;
	rule->era = now;
	return rule;
}

void rules_forget(void)
{
	__atomic_fetch_add(&era, 1, __ATOMIC_RELEASE); /* pairs with rules_find */
}
