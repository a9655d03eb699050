/*
 * Waiters line up and are served first come first served. Only the head of the line looks at the
 * lock word; everybody else polls a node of its own. The line is that of Mellor-Crummey and Scott,
 * "Algorithms for Scalable Synchronization", 1991, in front of the word instead of in its place:
 * who has the word has the lock, so threads that do not line up remain correct.
 */
#include "shim/strategy.h"

#include <stddef.h>

#include "shim/futex.h"

/* How a signal between two waiters stands: not given; not given and awaited in the futex; given. */
enum signal_state { SIGNAL_NONE, SIGNAL_AWAITED, SIGNAL_GIVEN };

/* Lives on the waiter's stack from joining to leaving. */
struct node {
	struct node *next;
	uint32_t linked; /* signal to this node: next is set */
	uint32_t head;   /* signal to this node: it is the head of the line */
};

/* The line's word: the last node's address and, above it, the low bits of the era. A forked child
 * finds lines of threads that it does not have; their era tells. User addresses have 48 bits
 * unless larger ones were asked for; a stack above them does not line up. */
#define ADDRESS_BITS 48
#define ADDRESS_MASK ((UINT64_C(1) << ADDRESS_BITS) - 1)

static void signal_give(uint32_t *signal)
{
	/* Releases what was written before (the link, the word's history) to signal_await. */
	if (__atomic_exchange_n(signal, SIGNAL_GIVEN, __ATOMIC_ACQ_REL) == SIGNAL_AWAITED)
		futex_wake_one(signal, false);
}

/* Polls at most `polls` times, then sleeps. */
static void signal_await(struct wait *wait, uint32_t *signal, uint32_t polls)
{
	for (uint32_t i = 0; i < polls; i++) {
		if (__atomic_load_n(signal, __ATOMIC_ACQUIRE) == SIGNAL_GIVEN) /* see signal_give */
			return;
		wait->polls++;
		wait_pause(wait->hint);
	}
	uint32_t expected = SIGNAL_NONE;
	if (!__atomic_compare_exchange_n(
	            signal, &expected, SIGNAL_AWAITED, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return;
	while (__atomic_load_n(signal, __ATOMIC_ACQUIRE) != SIGNAL_GIVEN) {
		wait->parks++;
		futex_wait(signal, SIGNAL_AWAITED, false, CLOCK_MONOTONIC, NULL);
	}
}

static uint64_t line_word(const struct wait *wait, const struct node *node)
{
	return (uint64_t)(uintptr_t)node | (uint64_t)wait->era << ADDRESS_BITS;
}

/* The node that a word of the line names; NULL when the line is empty or of another era. */
static struct node *line_node(const struct wait *wait, uint64_t word)
{
	if (word == 0 || word >> ADDRESS_BITS != (wait->era & 0xffff))
		return NULL;
	return (struct node *)(uintptr_t)(word & ADDRESS_MASK);
}

static void join(struct wait *wait, struct node *node, uint32_t polls)
{
	/* Releases the node's fields to whoever joins behind it; acquires those of the one before.
	 */
	uint64_t before = __atomic_exchange_n(wait->line, line_word(wait, node), __ATOMIC_ACQ_REL);
	struct node *previous = line_node(wait, before);
	if (previous == NULL)
		return;
	previous->next = node;
	signal_give(&previous->linked);
	signal_await(wait, &node->head, polls);
}

static void leave(struct wait *wait, struct node *node)
{
	uint64_t last = line_word(wait, node);
	if (__atomic_compare_exchange_n(wait->line, &last, 0, false, __ATOMIC_RELEASE,
	            __ATOMIC_RELAXED)) /* pairs with the exchange in join */
		return;
	/* Somebody has joined behind, but may not have written the link yet. */
	signal_await(wait, &node->linked, wait->may_poll ? wait->count : 0);
	signal_give(&node->next->head);
}

int queue_wait(struct wait *wait)
{
	struct node node = { NULL, SIGNAL_NONE, SIGNAL_NONE };
	uint32_t polls = wait->may_poll ? wait->count : 0;
	/* A waiter with a deadline could not leave the middle of the line. */
	bool lines_up =
	        wait->line != NULL && wait->deadline == NULL && (uintptr_t)&node <= ADDRESS_MASK;
	if (lines_up)
		join(wait, &node, polls);
	int result = -1;
	for (uint32_t i = 0; result < 0 && i < polls; i++)
		if (wait_poll(wait))
			result = 0;
	if (result < 0)
		result = wait_park(wait);
	if (lines_up)
		leave(wait, &node);
	return result;
}
