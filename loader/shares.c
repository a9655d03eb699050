/*
 * Splits the time waited at each call site over the stacks that were sampled there, and the time
 * that holders caused over theirs.
 */
#include "shares.h"

#include <stdlib.h>

#include "families.h"
#include "holders.h"

/* Rows of samples or blames, by the site that they belong to. */
struct by_site {
	const void **rows;
	size_t count;
	uint32_t (*site_of)(const void *row);
};

/* Wide enough for a whole times a sum of weights. */
typedef unsigned __int128 wide;

static bool add_share(struct shares *shares, const struct share *share)
{
	if (shares->count == shares->room) {
		size_t room = shares->room != 0 ? shares->room * 2 : 256;
		struct share *grown = realloc(shares->rows, room * sizeof(*grown));
		if (grown == NULL)
			return false;
		shares->rows = grown;
		shares->room = room;
	}
	shares->rows[shares->count++] = *share;
	return true;
}

static uint32_t sample_site(const void *row)
{
	return ((const struct sample_row *)row)->site;
}

static uint32_t blame_site(const void *row)
{
	return ((const struct blame_row *)row)->site;
}

static int compare_samples(const void *left, const void *right)
{
	const struct sample_row *a = *(const void *const *)left, *b = *(const void *const *)right;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

static int compare_blames(const void *left, const void *right)
{
	const struct blame_row *a = *(const void *const *)left, *b = *(const void *const *)right;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return (a > b) - (a < b);
}

static bool by_site_open(struct by_site *index, const void *rows, size_t count, size_t size,
        int (*compare)(const void *, const void *))
{
	index->rows = calloc(count + 1, sizeof(*index->rows));
	if (index->rows == NULL)
		return false;
	index->count = count;
	for (size_t i = 0; i < count; i++)
		index->rows[i] = (const char *)rows + i * size;
	qsort(index->rows, count, sizeof(*index->rows), compare);
	return true;
}

static size_t by_site_find(const struct by_site *index, uint32_t site, const void *const **first)
{
	size_t low = 0, high = index->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (index->site_of(index->rows[middle]) < site)
			low = middle + 1;
		else
			high = middle;
	}
	*first = index->rows + low;
	size_t count = 0;
	while (low + count < index->count && index->site_of(index->rows[low + count]) == site)
		count++;
	return count;
}

/* A whole on its way to being split in proportion to weights, without a rest. */
struct split {
	uint64_t whole, given;
	wide weights, seen;
};

/* The part of the next weight: what is due up to and with it, less what was given. */
static uint64_t split_next(struct split *split, uint64_t weight)
{
	split->seen += weight;
	uint64_t due = (uint64_t)(split->whole * split->seen / split->weights);
	uint64_t part = due - split->given;
	split->given = due;
	return part;
}

static struct share share_of_site(const struct site_row *site, enum share_kind kind)
{
	return (struct share){
		.kind = kind, .process = site->process, .family = site->family, .site = site
	};
}

static bool add_samples(struct shares *shares, const struct model *model,
        const struct site_row *site, const void *const *samples, size_t count)
{
	struct split waits = { .whole = site->wait.waits };
	struct split wait_ns = { .whole = site->wait.wait_ns_total };
	for (size_t i = 0; i < count; i++) {
		const struct sample_row *sample = samples[i];
		waits.weights += sample->waits;
		wait_ns.weights += sample->wait_ns_total;
	}
	bool timed = wait_ns.weights != 0;
	if (!timed)
		wait_ns.weights = waits.weights;
	for (size_t i = 0; i < count; i++) {
		const struct sample_row *sample = samples[i];
		const struct stack_row *stack = model_stack(model, sample->stack);
		struct share share = share_of_site(site, SHARE_STACK);
		share.frames = stack->frames;
		share.depth = stack->depth;
		share.waits = split_next(&waits, sample->waits);
		share.wait_ns = split_next(&wait_ns, timed ? sample->wait_ns_total : sample->waits);
		if (!add_share(shares, &share))
			return false;
	}
	return true;
}

static bool add_waiters(struct shares *shares, const struct model *model,
        const struct site_row *site, const struct by_site *samples)
{
	const void *const *first;
	size_t count = by_site_find(samples, site->id, &first);
	if (count > 0)
		return add_samples(shares, model, site, first, count);
	struct share share = share_of_site(site, SHARE_CALL);
	share.frames = &site->code;
	share.depth = 1;
	share.waits = site->wait.waits;
	share.wait_ns = site->wait.wait_ns_total;
	return add_share(shares, &share);
}

static bool add_blame(struct shares *shares, const struct site_row *site,
        const struct blame_row *blame, const struct holders *holders)
{
	const struct stack_row *const *stacks;
	bool known = blame->holder.address != 0;
	size_t count = known ? holders_find(holders, site->process, blame->holder, &stacks) : 0;
	struct share share = share_of_site(site, known ? SHARE_CALL : SHARE_UNKNOWN_HOLDER);
	if (count == 0) {
		share.frames = &blame->holder;
		share.depth = known ? 1 : 0;
		share.waits = blame->waits;
		share.wait_ns = blame->wait_ns_total;
		return add_share(shares, &share);
	}
	struct split waits = { .whole = blame->waits };
	struct split wait_ns = { .whole = blame->wait_ns_total };
	share.kind = SHARE_STACK;
	for (size_t i = 0; i < count; i++)
		waits.weights += stacks[i]->holders;
	wait_ns.weights = waits.weights;
	for (size_t i = 0; i < count; i++) {
		share.frames = stacks[i]->frames;
		share.depth = stacks[i]->depth;
		share.waits = split_next(&waits, stacks[i]->holders);
		share.wait_ns = split_next(&wait_ns, stacks[i]->holders);
		if (!add_share(shares, &share))
			return false;
	}
	return true;
}

static uint64_t rest(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

static bool add_holders(struct shares *shares, const struct site_row *site,
        const struct by_site *blames, const struct holders *holders)
{
	const void *const *first;
	size_t count = by_site_find(blames, site->id, &first);
	struct share unblamed = share_of_site(site, SHARE_NO_HOLDER);
	unblamed.waits = site->wait.waits;
	unblamed.wait_ns = site->wait.wait_ns_total;
	for (size_t i = 0; i < count; i++) {
		const struct blame_row *blame = first[i];
		unblamed.waits = rest(unblamed.waits, blame->waits);
		unblamed.wait_ns = rest(unblamed.wait_ns, blame->wait_ns_total);
		if (!add_blame(shares, site, blame, holders))
			return false;
	}
	return (unblamed.waits == 0 && unblamed.wait_ns == 0) || add_share(shares, &unblamed);
}

/* What the counters of a process know more of than its call sites, which add up to found. */
static bool add_lost(struct shares *shares, const struct model *model, uint32_t process,
        const struct family_sum found[FAMILY_COUNT + 1])
{
	for (uint32_t family = 0; family < FAMILY_COUNT; family++) {
		struct family_sum sum =
		        family_sum(&model->processes[process].counters, (enum record_family)family);
		struct share lost = { .kind = SHARE_LOST,
			.process = process,
			.family = family,
			.waits = rest(sum.waits, found[family].waits),
			.wait_ns = rest(sum.wait_ns_total, found[family].wait_ns_total) };
		if ((lost.waits != 0 || lost.wait_ns != 0) && !add_share(shares, &lost))
			return false;
	}
	return true;
}

static bool add_all_lost(struct shares *shares, const struct model *model)
{
	struct family_sum(*found)[FAMILY_COUNT + 1] = calloc(model->process_count, sizeof(*found));
	bool ok = found != NULL;
	for (size_t i = 0; ok && i < model->site_count; i++) {
		const struct site_row *site = &model->sites[i];
		found[site->process][site->family].waits += site->wait.waits;
		found[site->process][site->family].wait_ns_total += site->wait.wait_ns_total;
	}
	for (uint32_t i = 0; ok && i < model->process_count; i++)
		ok = add_lost(shares, model, i, found[i]);
	free(found);
	return ok;
}

bool shares_of_waiters(struct shares *shares, const struct model *model)
{
	struct by_site samples = { .site_of = sample_site };
	*shares = (struct shares){ .rows = NULL };
	bool ok = by_site_open(&samples, model->samples, model->sample_count,
	        sizeof(*model->samples), compare_samples);
	for (size_t i = 0; ok && i < model->site_count; i++)
		ok = add_waiters(shares, model, &model->sites[i], &samples);
	free(samples.rows);
	return ok && add_all_lost(shares, model);
}

bool shares_of_holders(struct shares *shares, const struct model *model)
{
	struct by_site blames = { .site_of = blame_site };
	struct holders holders;
	*shares = (struct shares){ .rows = NULL };
	bool ok = holders_open(&holders, model) &&
	          by_site_open(&blames, model->blames, model->blame_count, sizeof(*model->blames),
	                  compare_blames);
	for (size_t i = 0; ok && i < model->site_count; i++)
		ok = add_holders(shares, &model->sites[i], &blames, &holders);
	free(blames.rows);
	holders_close(&holders);
	return ok && add_all_lost(shares, model);
}

void shares_close(struct shares *shares)
{
	free(shares->rows);
}

const char *share_name(const struct share *share)
{
	static const char *const names[] = {
		[SHARE_STACK] = "",
		[SHARE_CALL] = "",
		[SHARE_UNKNOWN_HOLDER] = "[unknown holder]",
		[SHARE_NO_HOLDER] = "[no holder]",
		[SHARE_LOST] = "[lost]",
	};
	return names[share->kind];
}
