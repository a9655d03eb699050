/*
 * The table of stores.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

#define STORE(name) extern const struct store name##_store;
#include "stores.def"
#undef STORE

static const struct store *const stores[] = {
#define STORE(name) &name##_store,
#include "stores.def"
#undef STORE
	NULL,
};

const struct store *store_find(const char *name)
{
	for (size_t i = 0; stores[i] != NULL; i++)
		if (strcmp(stores[i]->name, name) == 0)
			return stores[i];
	return NULL;
}

void store_list(void)
{
	for (size_t i = 0; stores[i] != NULL; i++)
		fprintf(stderr, " %s", stores[i]->name);
}

void store_die(const char *what, const char *why)
{
	fprintf(stderr, "ycsb: %s: %s\n", what, why);
	exit(1);
}
