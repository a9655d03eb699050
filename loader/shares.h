/*
 * All time waited, split over the calls in which it was waited, or over those that held the lock
 * meanwhile: what flame graphs and profiles show. The shares add up to the counters' waits of all
 * families but condition variables, whose waits have no call sites.
 */
#ifndef LOADER_SHARES_H
#define LOADER_SHARES_H

#include "model.h"

enum share_kind {
	SHARE_STACK,          /* of a sampled wait, or taken of a holder */
	SHARE_CALL,           /* one call, of which no stack was taken */
	SHARE_UNKNOWN_HOLDER, /* no calls: the lock was just changing hands, or does not know */
	SHARE_NO_HOLDER,      /* no calls: the lock's kind has no holder, or the record no room */
	SHARE_LOST,           /* no calls: the record's tables were full */
};

struct share {
	enum share_kind kind;
	uint32_t process;
	uint32_t family;             /* enum record_family; FAMILY_COUNT: unknown */
	const struct site_row *site; /* that waited; NULL when lost */
	const struct code *frames;   /* frame 0 is the innermost */
	uint32_t depth;
	uint64_t waits, wait_ns;
};

struct shares {
	struct share *rows;
	size_t count, room;
};

/* The model must outlive them. False: no memory; close them all the same. */
bool shares_of_waiters(struct shares *shares, const struct model *model);
bool shares_of_holders(struct shares *shares, const struct model *model);
void shares_close(struct shares *shares);

/* "[lost]" and the like, for a share without calls. */
const char *share_name(const struct share *share);

#endif
