/*
 * Takes the sites in groups that lie close together, each with an area of trampolines in reach.
 */
#include "rewrite.h"

#include "area.h"
#include "patch.h"
#include "probes/a64.h"
#include "trampoline.h"

#define GROUP_SITES 512u /* as many patches as are kept on the stack */
#define GROUP_SPAN  (UINT64_C(16) << 20)

/* Sites [first, end) of one segment. */
struct group {
	struct site *first, *end;
	struct patch patches[GROUP_SITES];
	struct site *patched[GROUP_SITES]; /* whose each patch is */
	unsigned count;
};

static bool is_wanted(const struct site *site)
{
	return site->left == LEFT_COUNT;
}

static unsigned count_wanted(const struct group *group)
{
	unsigned count = 0;
	for (const struct site *site = group->first; site < group->end; site++)
		count += is_wanted(site);
	return count;
}

static void leave_all(struct group *group, enum record_left why)
{
	for (struct site *site = group->first; site < group->end; site++)
		if (is_wanted(site))
			site->left = (uint8_t)why;
}

static bool make(const struct survey *survey, const struct site *site, uint64_t address,
        struct trampoline *made)
{
	struct exclusive_loop loop;
	if (!survey->wants_lse)
		return trampoline_from_lse(made, site->word, address, site->address + 4);
	return exclusive_loop_match(&loop, image_bytes_at(site->address), site->words) &&
	       trampoline_from_loop(made, &loop, address, site->address);
}

static void fill(const struct survey *survey, struct group *group, struct area_draft *draft)
{
	struct trampoline made;
	for (struct site *site = group->first; site < group->end; site++) {
		struct patch *patch = &group->patches[group->count];
		uint64_t address = area_next(draft);
		if (!is_wanted(site))
			continue;
		patch->address = site->address;
		if (!make(survey, site, address, &made)) {
			site->left = survey->wants_lse ? LEFT_shape : LEFT_range;
		} else if (!patch_branch(site->address, address, &patch->word)) {
			site->left = LEFT_range;
		} else {
			area_add(draft, &made, site->address);
			group->patched[group->count++] = site;
		}
	}
}

/* Returns how many sites have been rewritten. */
static uint32_t patch_group(struct group *group, const struct image_segment *segment)
{
	size_t done = patch_write(group->patches, group->count, segment->protection);
	for (size_t i = done; i < group->count; i++)
		group->patched[i]->left = LEFT_protected;
	return (uint32_t)done;
}

static uint32_t rewrite_group(
        const struct survey *survey, struct group *group, const struct image_segment *segment)
{
	struct area_draft draft;
	unsigned count = count_wanted(group);
	bool no_memory;
	group->count = 0;
	if (count == 0)
		return 0;
	if (!area_begin(&draft, group->first->address, group->end[-1].address, count, &no_memory)) {
		leave_all(group, no_memory ? LEFT_memory : LEFT_range);
		return 0;
	}
	fill(survey, group, &draft);
	if (group->count == 0 || !area_finish(&draft)) {
		if (group->count == 0)
			area_drop(&draft.area);
		leave_all(group, LEFT_protected);
		return 0;
	}
	/* Before anything can be in there. */
	if (!area_publish(&draft.area, survey->image->base)) {
		area_drop(&draft.area);
		leave_all(group, LEFT_memory);
		return 0;
	}
	return patch_group(group, segment);
}

/* The segment that holds the address: every site lies in one. */
static void find_segment(const struct image *image, uint64_t address, struct image_segment *segment)
{
	for (unsigned next = 0; image_next_code(image, &next, segment);)
		if (address >= segment->start && address < segment->end)
			return;
}

uint32_t rewrite(struct survey *survey)
{
	static struct group group; /* one at a time: under the loader's lock */
	struct site *end = survey->sites + survey->count;
	struct image_segment segment;
	uint32_t rewritten = 0;
	group.end = survey->sites;
	while (group.end < end) {
		group.first = group.end;
		uint64_t low = group.first->address;
		find_segment(survey->image, low, &segment);
		while (group.end < end && group.end - group.first < (long)GROUP_SITES &&
		        group.end->address < segment.end && group.end->address - low < GROUP_SPAN)
			group.end++;
		rewritten += rewrite_group(survey, &group, &segment);
	}
	return rewritten;
}

bool rewrite_tests(const struct survey *survey)
{
	struct patch patches[SURVEY_TESTS];
	struct image_segment segment;
	size_t count = survey->helpers < SURVEY_TESTS ? survey->helpers : SURVEY_TESTS, done = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t address = survey->tests[i], target;
		struct patch *patch = &patches[i];
		*patch = (struct patch){ address, A64_NOP };
		if (!survey->wants_lse &&
		        (!a64_branch_target(
		                 *(const uint32_t *)image_bytes_at(address), address, &target) ||
		                !patch_branch(address, target, &patch->word)))
			return false;
	}
	while (done < count) {
		size_t end = done;
		find_segment(survey->image, patches[done].address, &segment);
		while (end < count && patches[end].address < segment.end)
			end++;
		if (patch_write(patches + done, end - done, segment.protection) < end - done)
			return false;
		done = end;
	}
	return count == survey->helpers;
}
