/*
 * WiredTiger, mongod's storage engine: a session and a cursor for each thread, updates in
 * transactions under snapshot isolation that are repeated when they conflict, as mongod does.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wiredtiger.h>

#include "store.h"

#define TABLE "table:usertable"

struct session {
	WT_SESSION *session;
	WT_CURSOR *cursor;
	char *record; /* being changed */
	size_t size;
};

static WT_CONNECTION *connection;

static void require(int error, const char *what)
{
	if (error != 0)
		store_die(what, wiredtiger_strerror(error));
}

static void wiredtiger_open_table(const char *folder, bool fresh, unsigned cache_mib)
{
	char config[160];
	/* As many sessions as YCSB has threads, and those of the engine itself. */
	snprintf(config, sizeof(config),
	        "%scache_size=%uM,session_max=20000,log=(enabled=true,file_max=10M,prealloc=false)",
	        fresh ? "create,exclusive," : "", cache_mib);
	require(wiredtiger_open(folder, NULL, config, &connection), "wiredtiger_open");
	if (!fresh)
		return;
	WT_SESSION *session;
	require(connection->open_session(connection, NULL, NULL, &session), "open_session");
	require(session->create(session, TABLE, "key_format=S,value_format=u"), "create");
	require(session->close(session, NULL), "close a session");
}

static void wiredtiger_close(void)
{
	require(connection->close(connection, NULL), "close");
}

static const char *wiredtiger_version_text(void)
{
	static char text[32];
	int major, minor, patch;
	wiredtiger_version(&major, &minor, &patch);
	snprintf(text, sizeof(text), "%d.%d.%d", major, minor, patch);
	return text;
}

static void *wiredtiger_begin(void)
{
	struct session *session = calloc(1, sizeof(*session));
	if (session == NULL)
		store_die("a session", "no memory");
	require(connection->open_session(connection, NULL, "isolation=snapshot", &session->session),
	        "open_session");
	require(session->session->open_cursor(
	                session->session, TABLE, NULL, NULL, &session->cursor),
	        "open_cursor");
	return session;
}

static void wiredtiger_end(void *state)
{
	struct session *session = state;
	require(session->session->close(session->session, NULL), "close a session");
	free(session->record);
	free(session);
}

static enum outcome wiredtiger_insert(void *state, const char *key, const char *record, size_t size)
{
	struct session *session = state;
	WT_CURSOR *cursor = session->cursor;
	WT_ITEM item = { .data = record, .size = size };
	int error;
	do {
		cursor->set_key(cursor, key);
		cursor->set_value(cursor, &item);
		error = cursor->insert(cursor);
	} while (error == WT_ROLLBACK);
	require(error, "insert");
	require(cursor->reset(cursor), "reset");
	return OUTCOME_OK;
}

static enum outcome take(WT_CURSOR *cursor, char *record, size_t size)
{
	WT_ITEM item;
	require(cursor->get_value(cursor, &item), "get_value");
	if (item.size != size)
		return OUTCOME_UNEXPECTED_STATE;
	memcpy(record, item.data, size);
	return OUTCOME_OK;
}

static enum outcome wiredtiger_read(void *state, const char *key, char *record, size_t size)
{
	struct session *session = state;
	WT_CURSOR *cursor = session->cursor;
	cursor->set_key(cursor, key);
	int error = cursor->search(cursor);
	if (error == WT_NOTFOUND)
		return OUTCOME_NOT_FOUND;
	require(error, "search");
	enum outcome outcome = take(cursor, record, size);
	require(cursor->reset(cursor), "reset");
	return outcome;
}

/* One attempt, in the transaction that is open. */
static int try_update(
        struct session *session, const char *key, const char *bytes, size_t at, size_t size)
{
	WT_CURSOR *cursor = session->cursor;
	WT_ITEM item;
	cursor->set_key(cursor, key);
	int error = cursor->search(cursor);
	if (error == 0)
		error = cursor->get_value(cursor, &item);
	if (error != 0)
		return error;
	if (item.size > session->size) {
		session->record = realloc(session->record, item.size);
		if (session->record == NULL)
			store_die("a record", "no memory");
		session->size = item.size;
	}
	if (at + size > item.size)
		return EINVAL;
	memcpy(session->record, item.data, item.size);
	memcpy(session->record + at, bytes, size);
	item.data = session->record;
	cursor->set_value(cursor, &item);
	return cursor->update(cursor);
}

static enum outcome wiredtiger_update(
        void *state, const char *key, const char *bytes, size_t at, size_t size)
{
	struct session *session = state;
	WT_SESSION *own = session->session;
	int error;
	do {
		require(own->begin_transaction(own, NULL), "begin_transaction");
		error = try_update(session, key, bytes, at, size);
		if (error == 0)
			error = own->commit_transaction(own, NULL);
		else
			require(own->rollback_transaction(own, NULL), "rollback_transaction");
	} while (error == WT_ROLLBACK);
	if (error == WT_NOTFOUND)
		return OUTCOME_NOT_FOUND;
	if (error == EINVAL)
		return OUTCOME_UNEXPECTED_STATE;
	require(error, "update");
	require(session->cursor->reset(session->cursor), "reset");
	return OUTCOME_OK;
}

static enum outcome wiredtiger_scan(
        void *state, const char *key, unsigned count, char *record, size_t size)
{
	struct session *session = state;
	WT_CURSOR *cursor = session->cursor;
	enum outcome outcome = OUTCOME_OK;
	int where;
	cursor->set_key(cursor, key);
	int error = cursor->search_near(cursor, &where);
	if (error == 0 && where < 0)
		error = cursor->next(cursor);
	for (unsigned i = 0; error == 0 && outcome == OUTCOME_OK && i < count; i++) {
		outcome = take(cursor, record, size);
		if (i + 1 < count)
			error = cursor->next(cursor);
	}
	if (error != WT_NOTFOUND)
		require(error, "next");
	require(cursor->reset(cursor), "reset");
	return outcome;
}

const struct store wiredtiger_store = {
	.name = "wiredtiger",
	.open = wiredtiger_open_table,
	.close = wiredtiger_close,
	.version = wiredtiger_version_text,
	.begin = wiredtiger_begin,
	.end = wiredtiger_end,
	.insert = wiredtiger_insert,
	.read = wiredtiger_read,
	.update = wiredtiger_update,
	.scan = wiredtiger_scan,
};
