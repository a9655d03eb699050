/*
 * Three tables of one shape: entries claimed from the front of a dense region, found through a
 * hash index of entry numbers. Nothing is ever moved or freed, so readers need no lock.
 */
#include "waits.h"

#include "counters.h"
#include "created.h"
#include "modules.h"
#include "record_map.h"
#include "threads.h"

#define PROBES 64u /* buckets looked at before an entry counts as lost */

struct table_key {
	uint64_t address;
	uint64_t second; /* lock: its family; site: the lock's entry; blame: the site's entry */
	uint32_t detail; /* lock: its kind; site: its mode; not compared */
};

enum table_match { MATCH_OTHER, MATCH_SAME, MATCH_STALE };

struct table {
	enum record_region_id index, entries;
	enum table_match (*match)(const void *entry, const struct table_key *key);
	void (*fill)(void *entry, const struct table_key *key);
};

static enum table_match lock_match(const void *entry, const struct table_key *key)
{
	const struct record_lock *lock = entry;
	if (__atomic_load_n(&lock->destroyed, __ATOMIC_RELAXED))
		return MATCH_STALE;
	return lock->address == key->address && lock->family == key->second ? MATCH_SAME
	                                                                    : MATCH_OTHER;
}

static void lock_fill(void *entry, const struct table_key *key)
{
	struct record_lock *lock = entry;
	lock->family = (uint32_t)key->second;
	lock->kind = key->detail;
	lock->created_address = record_lock_creation(key->address);
	if (lock->created_address != 0)
		lock->created_module = record_module_of(lock->created_address);
	__atomic_store_n(&lock->address, key->address, __ATOMIC_RELEASE); /* pairs with readers */
}

static enum table_match site_match(const void *entry, const struct table_key *key)
{
	const struct record_site *site = entry;
	if (site->address != key->address || site->lock != key->second)
		return MATCH_OTHER;
	return record_module_is_gone(site->module) ? MATCH_STALE : MATCH_SAME;
}

static void site_fill(void *entry, const struct table_key *key)
{
	struct record_site *site = entry;
	site->lock = (uint32_t)key->second;
	site->mode = key->detail;
	site->module = record_module_of(key->address);
	__atomic_store_n(&site->address, key->address, __ATOMIC_RELEASE); /* pairs with readers */
}

static enum table_match blame_match(const void *entry, const struct table_key *key)
{
	const struct record_blame *blame = entry;
	if (blame->holder_address != key->address || blame->site != key->second)
		return MATCH_OTHER;
	return record_module_is_gone(blame->holder_module) ? MATCH_STALE : MATCH_SAME;
}

static void blame_fill(void *entry, const struct table_key *key)
{
	struct record_blame *blame = entry;
	blame->site = (uint32_t)key->second;
	if (key->address != RECORD_HOLDER_UNKNOWN)
		blame->holder_module = record_module_of(key->address);
	__atomic_store_n(&blame->holder_address, key->address, __ATOMIC_RELEASE); /* as above */
}

static const struct table lock_table = { REGION_LOCK_INDEX, REGION_LOCKS, lock_match, lock_fill };
static const struct table site_table = { REGION_SITE_INDEX, REGION_SITES, site_match, site_fill };
static const struct table blame_table = { REGION_BLAME_INDEX, REGION_BLAME, blame_match,
	blame_fill };

/* Fibonacci hashing: Knuth, The Art of Computer Programming, volume 3, section 6.4. The second
 * multiplier is the fraction of the square root of 2, so that one address with thousands of seconds
 * is spread as well. */
static uint32_t hash(const struct table_key *key, bool with_second)
{
	uint64_t value = key->address * UINT64_C(0x9e3779b97f4a7c15);
	if (with_second)
		value += key->second * UINT64_C(0x6a09e667f3bcc909);
	return (uint32_t)(value >> 32);
}

/* Puts a new entry into a bucket that held `old`. Returns the entry or RECORD_NONE: the table is
 * full (*full is set), or another thread was first. */
static uint32_t insert(const struct table *table, const struct table_key *key, uint32_t *bucket,
        uint32_t old, bool *full)
{
	uint32_t entry = record_claim(table->entries);
	if (entry == RECORD_NONE) {
		*full = true;
		return RECORD_NONE;
	}
	table->fill(record_entry(table->entries, entry), key);
	if (__atomic_compare_exchange_n(bucket, &old, entry + 1, false, __ATOMIC_RELEASE,
	            __ATOMIC_RELAXED)) /* pairs with the acquire in find_or_insert */
		return entry;
	/* The bucket's new entry may be ours: a hole stays behind, which readers skip. */
	*(uint64_t *)record_entry(table->entries, entry) = 0;
	return RECORD_NONE;
}

static uint32_t find_or_insert(const struct table *table, const struct table_key *key, bool add)
{
	const struct record_place *index = &record_places[table->index];
	uint32_t start = hash(key, table != &lock_table);
	uint32_t *free_bucket, free_value;
	bool full = false;
	if (!record_reserve(table->index, index->capacity - 1))
		return RECORD_NONE;
	do {
		free_bucket = NULL;
		free_value = 0;
		for (uint32_t probe = 0; probe < PROBES; probe++) {
			uint32_t *bucket =
			        record_entry(table->index, (start + probe) % index->capacity);
			uint32_t value = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
			enum table_match match =
			        value == 0 ? MATCH_STALE
			                   : table->match(
			                             record_entry(table->entries, value - 1), key);
			if (match == MATCH_SAME)
				return value - 1;
			if (match == MATCH_STALE && free_bucket == NULL) {
				free_bucket = bucket;
				free_value = value;
			}
			if (value == 0)
				break;
		}
		if (!add || free_bucket == NULL)
			return RECORD_NONE;
		uint32_t entry = insert(table, key, free_bucket, free_value, &full);
		if (entry != RECORD_NONE)
			return entry;
	} while (!full);
	return RECORD_NONE;
}

void record_wait_blame(struct record_pending *pending, uint32_t holder_tid, uint64_t holder_site)
{
	uint64_t holder = holder_site != 0 ? holder_site : RECORD_HOLDER_UNKNOWN;
	pending->holder_tid = holder_tid;
	if (pending->site == 0)
		return;
	pending->blame = find_or_insert(&blame_table,
	                         &(struct table_key){ holder, pending->site - 1, 0 }, true) +
	                 1;
}

struct record_pending record_wait_begin(struct record_thread *self, const struct wait_event *event)
{
	/* RECORD_NONE + 1 is 0, which stands for lost. */
	struct record_pending pending = { .lock = 0 };
	record_wait_flush(self);
	record_modules_settle();
	uint32_t lock = find_or_insert(
	        &lock_table, &(struct table_key){ event->lock, event->family, event->kind }, true);
	if (lock == RECORD_NONE)
		return pending;
	uint32_t site = find_or_insert(
	        &site_table, &(struct table_key){ event->site, lock, event->mode }, true);
	if (site == RECORD_NONE)
		return pending;
	pending.lock = lock + 1;
	pending.site = site + 1;
	struct record_lock *entry = record_entry(REGION_LOCKS, lock);
	if (__atomic_load_n(&entry->first_site, __ATOMIC_RELAXED) == 0) {
		/* By now the file that waits is known, which is mostly the lock's as well. */
		__atomic_store_n(
		        &entry->module, record_module_around(event->lock), __ATOMIC_RELAXED);
		__atomic_store_n(&entry->first_site, site + 1, __ATOMIC_RELAXED);
	}
	return pending;
}

bool record_wait_end(
        struct record_thread *self, const struct record_pending *pending, uint64_t wait_ns)
{
	if (self->pending.lock != 0) /* a signal handler waited for another lock meanwhile */
		record_wait_flush(self);
	if (pending->lock != 0) {
		self->pending = *pending;
		self->pending.wait_ns = wait_ns;
		return true;
	}
	shared_add(&record_header->lost_waits, 1);
	shared_add(&record_header->lost_ns, wait_ns);
	return false;
}

static void add_caused(struct record_thread *holder, uint64_t wait_ns)
{
	shared_add(&holder->caused.waits, 1);
	shared_add(&holder->caused.wait_ns_total, wait_ns);
	shared_max(&holder->caused.wait_ns_max, wait_ns);
}

static void add_blame(struct record_blame *blame, uint64_t wait_ns)
{
	shared_add(&blame->waits, 1);
	shared_add(&blame->wait_ns_total, wait_ns);
	shared_max(&blame->wait_ns_max, wait_ns);
}

void record_wait_flush(struct record_thread *self)
{
	struct record_pending pending = self->pending;
	if (pending.lock == 0)
		return;
	struct record_lock *lock = record_entry(REGION_LOCKS, pending.lock - 1);
	wait_totals_add(&lock->wait, pending.wait_ns);
	struct record_site *site = record_entry(REGION_SITES, pending.site - 1);
	wait_totals_add(&site->wait, pending.wait_ns);
	if (pending.blame != 0)
		add_blame(record_entry(REGION_BLAME, pending.blame - 1), pending.wait_ns);
	struct record_thread *holder = record_thread_find(pending.holder_tid);
	if (holder != NULL)
		add_caused(holder, pending.wait_ns);
	self->pending.lock = 0;
}

struct record_lock *record_lock_row(uint64_t address, enum record_family family, uint32_t kind)
{
	const struct record_region *locks = &record_header->regions[REGION_LOCKS];
	struct table_key key = { address, family, kind };
	record_modules_settle();
	uint32_t entry = find_or_insert(&lock_table, &key, false);
	if (entry == RECORD_NONE &&
	        __atomic_load_n(&locks->used, __ATOMIC_RELAXED) < locks->capacity / 4 * 3)
		entry = find_or_insert(&lock_table, &key, true);
	return entry == RECORD_NONE ? NULL : record_entry(REGION_LOCKS, entry);
}

void record_lock_gone(uint64_t address, enum record_family family)
{
	record_lock_forget(address);
	/* Without any contended lock there is nothing to look up, and no page to touch. */
	if (__atomic_load_n(&record_header->regions[REGION_LOCKS].used, __ATOMIC_RELAXED) == 0)
		return;
	uint32_t entry =
	        find_or_insert(&lock_table, &(struct table_key){ address, family, 0 }, false);
	if (entry == RECORD_NONE)
		return;
	struct record_lock *lock = record_entry(REGION_LOCKS, entry);
	__atomic_store_n(&lock->destroyed, 1, __ATOMIC_RELAXED);
}

void record_locks_gone(uint64_t start, uint64_t end)
{
	uint32_t used = record_used(REGION_LOCKS);
	for (uint32_t i = 0; i < used; i++) {
		struct record_lock *lock = record_entry(REGION_LOCKS, i);
		uint64_t address = __atomic_load_n(&lock->address, __ATOMIC_ACQUIRE);
		if (address < start || address >= end)
			continue;
		record_lock_forget(address);
		__atomic_store_n(&lock->destroyed, 1, __ATOMIC_RELAXED);
	}
}
