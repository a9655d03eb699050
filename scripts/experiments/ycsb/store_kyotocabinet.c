/*
 * Kyoto Cabinet's B+ tree in a file: one database object for all threads, which locks inside, and
 * a cursor for each.
 */
#include <kclangc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

static KCDB *database;

static _Noreturn void die(const char *what)
{
	store_die(what, kcecodename(kcdbecode(database)));
}

static void kyotocabinet_open(const char *folder, bool fresh, unsigned cache_mib)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%s/usertable.kct#pccap=%um", folder, cache_mib);
	if (length >= (int)sizeof(path))
		store_die(folder, "the name is too long");
	database = kcdbnew();
	uint32_t mode = KCOREADER | KCOWRITER | (fresh ? KCOCREATE | KCOTRUNCATE : 0);
	if (!kcdbopen(database, path, mode))
		die("kcdbopen");
}

static void kyotocabinet_close(void)
{
	if (!kcdbclose(database))
		die("kcdbclose");
	kcdbdel(database);
}

static const char *kyotocabinet_version(void)
{
	return KCVERSION;
}

static void *kyotocabinet_begin(void)
{
	return kcdbcursor(database);
}

static void kyotocabinet_end(void *session)
{
	kccurdel(session);
}

static enum outcome kyotocabinet_insert(
        void *session, const char *key, const char *record, size_t size)
{
	(void)session;
	if (!kcdbset(database, key, strlen(key), record, size))
		die("kcdbset");
	return OUTCOME_OK;
}

static enum outcome failed(const char *what)
{
	if (kcdbecode(database) == KCENOREC)
		return OUTCOME_NOT_FOUND;
	die(what);
}

static enum outcome kyotocabinet_read(void *session, const char *key, char *record, size_t size)
{
	(void)session;
	int32_t found = kcdbgetbuf(database, key, strlen(key), record, size);
	if (found < 0)
		return failed("kcdbgetbuf");
	return (size_t)found == size ? OUTCOME_OK : OUTCOME_UNEXPECTED_STATE;
}

/* What a record is to become, for its visitor. */
struct change {
	const char *bytes;
	size_t at, size;
	char *record;
	enum outcome outcome;
};

static const char *change_record(const char *key, size_t key_size, const char *record,
        size_t record_size, size_t *new_size, void *state)
{
	(void)key, (void)key_size;
	struct change *change = state;
	if (change->at + change->size > record_size) {
		change->outcome = OUTCOME_UNEXPECTED_STATE;
		return KCVISNOP;
	}
	change->record = malloc(record_size);
	if (change->record == NULL)
		store_die("a record", "no memory");
	memcpy(change->record, record, record_size);
	memcpy(change->record + change->at, change->bytes, change->size);
	*new_size = record_size;
	change->outcome = OUTCOME_OK;
	return change->record;
}

static const char *leave_empty(const char *key, size_t key_size, size_t *new_size, void *state)
{
	(void)key, (void)key_size, (void)new_size;
	((struct change *)state)->outcome = OUTCOME_NOT_FOUND;
	return KCVISNOP;
}

static enum outcome kyotocabinet_update(
        void *session, const char *key, const char *bytes, size_t at, size_t size)
{
	(void)session;
	struct change change = { .bytes = bytes, .at = at, .size = size };
	if (!kcdbaccept(database, key, strlen(key), change_record, leave_empty, &change, true))
		die("kcdbaccept");
	free(change.record);
	return change.outcome;
}

static enum outcome kyotocabinet_scan(
        void *session, const char *key, unsigned count, char *record, size_t size)
{
	if (!kccurjumpkey(session, key, strlen(key)))
		return kcdbecode(database) == KCENOREC ? OUTCOME_OK : failed("kccurjumpkey");
	for (unsigned i = 0; i < count; i++) {
		size_t key_size, found;
		const char *value;
		char *pair = kccurget(session, &key_size, &value, &found, true);
		if (pair == NULL) /* the last one has been had */
			return kcdbecode(database) == KCENOREC ? OUTCOME_OK : failed("kccurget");
		bool good = found == size;
		if (good)
			memcpy(record, value, size);
		kcfree(pair);
		if (!good)
			return OUTCOME_UNEXPECTED_STATE;
	}
	return OUTCOME_OK;
}

const struct store kyotocabinet_store = {
	.name = "kyotocabinet",
	.open = kyotocabinet_open,
	.close = kyotocabinet_close,
	.version = kyotocabinet_version,
	.begin = kyotocabinet_begin,
	.end = kyotocabinet_end,
	.insert = kyotocabinet_insert,
	.read = kyotocabinet_read,
	.update = kyotocabinet_update,
	.scan = kyotocabinet_scan,
};
