/*
 * What the driver needs of a store: a table of keys in order, each with a record of bytes. A
 * store's functions end the program with a line when the store is broken; what may happen in good
 * order they return.
 */
#ifndef YCSB_STORE_H
#define YCSB_STORE_H

#include <stdbool.h>
#include <stddef.h>

enum outcome { OUTCOME_OK, OUTCOME_NOT_FOUND, OUTCOME_UNEXPECTED_STATE, OUTCOMES };

struct store {
	const char *name;
	/* Opens the table in a folder, whose cache takes that many MiB; empty when fresh. */
	void (*open)(const char *folder, bool fresh, unsigned cache_mib);
	void (*close)(void);
	const char *(*version)(void);

	/* A thread's own access to the table. */
	void *(*begin)(void);
	void (*end)(void *session);

	enum outcome (*insert)(void *session, const char *key, const char *record, size_t size);
	/* Copies the record, which must be of that size. */
	enum outcome (*read)(void *session, const char *key, char *record, size_t size);
	/* Replaces the bytes of the record from `at` on, as one change. */
	enum outcome (*update)(
	        void *session, const char *key, const char *bytes, size_t at, size_t size);
	/* Copies, one over the other, up to `count` records from the first key on that is not
	 * below. */
	enum outcome (*scan)(
	        void *session, const char *key, unsigned count, char *record, size_t size);
};

/* NULL where there is none of that name in this program. */
const struct store *store_find(const char *name);

/* Prints the names of all, each after a blank, to stderr. */
void store_list(void);

/* Ends the program with a line: "ycsb: what: why". */
_Noreturn void store_die(const char *what, const char *why);

#endif
