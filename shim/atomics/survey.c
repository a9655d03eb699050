/*
 * Looks at every word of the code once, and at the functions among it once more, for what speaks
 * against a change: a load that takes the word for data, a branch into the middle of a loop.
 */
#include "survey.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/a64.h"
#include "probes/code_ranges.h"
#include "probes/exclusive_loop.h"
#include "probes/outline.h"
#include "probes/sys.h"

#define ROOM_FIRST 1024u

/* The functions that unwind tables name, in ascending order. */
struct functions {
	struct code_ranges ranges;
	struct code_range now; /* start is UINT64_MAX behind the last */
	uint64_t last_end;     /* of those seen so far */
};

static void functions_next(struct functions *functions)
{
	if (functions->now.end > functions->last_end)
		functions->last_end = functions->now.end;
	if (!code_ranges_next(&functions->ranges, &functions->now))
		functions->now = (struct code_range){ UINT64_MAX, UINT64_MAX };
}

static bool functions_begin(struct functions *functions, const struct image *image)
{
	struct image_bytes bytes = {
		.bytes = image_bytes_at(image->unwind_start),
		.size = image->unwind_end - image->unwind_start,
		.address = image->unwind_start,
	};
	*functions = (struct functions){ .now = { UINT64_MAX, UINT64_MAX } };
	if (image->unwind_start == 0 ||
	        !code_ranges_open(&functions->ranges, &bytes, image->eh_frame_hdr))
		return false;
	/* Functions may lie in another segment than the tables. */
	functions->ranges.within = (struct code_range){ 0, UINT64_MAX };
	functions->now = (struct code_range){ 0, 0 };
	functions_next(functions);
	return true;
}

/* Whether the word belongs to a function. Addresses must ascend. */
static bool functions_have(struct functions *functions, uint64_t address)
{
	while (address >= functions->now.end && functions->now.end != UINT64_MAX)
		functions_next(functions);
	return address >= functions->now.start && (address & 3) == 0;
}

/* Whether code may lie between functions there: behind the last of them come tables. */
static bool functions_are_around(const struct functions *functions)
{
	return functions->last_end != 0 && functions->now.start != UINT64_MAX;
}

static void *map(size_t size)
{
	long memory = sys_call6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return sys_failed(memory) ? NULL : (void *)memory;
}

/* Of what a process may have forbidden itself, the loader needs no more either: no mremap. */
static bool grow(struct survey *survey)
{
	size_t room = survey->room == 0 ? ROOM_FIRST : survey->room * 2;
	struct site *sites = map(room * sizeof(*sites));
	if (sites == NULL) {
		survey->error = ENOMEM;
		return false;
	}
	size_t count = survey->count;
	memcpy(sites, survey->sites, count * sizeof(*sites));
	survey_end(survey);
	survey->sites = sites;
	survey->count = count;
	survey->room = room;
	return true;
}

static bool add(struct survey *survey, struct site site)
{
	if (survey->count == survey->room && !grow(survey))
		return false;
	survey->sites[survey->count++] = site;
	return true;
}

static void leave(struct survey *survey, enum record_left why, unsigned instructions)
{
	survey->left[why] += instructions;
}

/* A helper's first branch tests the flag. */
static uint64_t find_test(const struct outline_helper *helper)
{
	uint64_t address = helper->address, target;
	while (!a64_branch_target(*(const uint32_t *)image_bytes_at(address), address, &target))
		address += 4;
	return address;
}

static void note_flag(struct survey *survey, uint64_t flag)
{
	for (uint32_t i = 0; i < survey->flag_count; i++)
		if (survey->flags[i] == flag)
			return;
	if (survey->flag_count == SURVEY_FLAGS || !image_is_data(survey->image, flag))
		survey->disagree = true;
	else
		survey->flags[survey->flag_count++] = flag;
}

static void note_helper(struct survey *survey, const struct outline_helper *helper)
{
	if (survey->helpers < SURVEY_TESTS)
		survey->tests[survey->helpers] = find_test(helper);
	survey->helpers++;
	note_flag(survey, helper->flag);
}

/* An atomic in a function. Returns the words that it takes. */
static unsigned note_atomic(
        struct survey *survey, const struct a64_atomic *atomic, uint64_t address, uint64_t end)
{
	const uint32_t *words = image_bytes_at(address);
	struct site site = { address, words[0], 1, 1, LEFT_COUNT };
	struct exclusive_loop loop;
	if ((atomic->kind == A64_LSE) == survey->wants_lse)
		return 1;
	if (survey->wants_lse &&
	        (atomic->kind != A64_LOAD_EXCLUSIVE ||
	                !exclusive_loop_match(&loop, words, (end - address) / 4))) {
		survey->found++;
		leave(survey, LEFT_shape, 1);
		return 1;
	}
	if (survey->wants_lse) {
		site.words = (uint8_t)loop.words;
		site.exclusives = (uint8_t)loop.exclusives;
	}
	survey->found += site.exclusives;
	if (!add(survey, site))
		leave(survey, LEFT_memory, site.exclusives);
	return site.words;
}

static void look_at_segment(
        struct survey *survey, struct functions *functions, const struct image_segment *segment)
{
	uint64_t address = segment->start;
	while (address < segment->end) {
		const uint32_t *words = image_bytes_at(address);
		struct outline_helper helper;
		struct a64_atomic atomic;
		if (outline_match(words, (segment->end - address) / 4, address, &helper)) {
			note_helper(survey, &helper);
			address += helper.words * UINT64_C(4);
			continue;
		}
		unsigned taken = 1;
		if (a64_may_be_atomic(words[0]) && a64_decode(words[0], &atomic)) {
			if (functions_have(functions, address)) {
				uint64_t end = functions->now.end < segment->end
				                       ? functions->now.end
				                       : segment->end;
				taken = note_atomic(survey, &atomic, address, end);
			} else if (functions_are_around(functions) &&
			           (atomic.kind == A64_LSE) != survey->wants_lse) {
				survey->found++;
				leave(survey, LEFT_unproved, 1);
			}
		}
		address += taken * UINT64_C(4);
	}
}

/* The first site that ends behind the address. */
static struct site *site_at(const struct survey *survey, uint64_t address)
{
	size_t low = 0, high = survey->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct site *site = &survey->sites[middle];
		if (site->address + site->words * UINT64_C(4) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < survey->count ? &survey->sites[low] : NULL;
}

/* What the words of a function mean for sites anywhere. */
static void check_word(struct survey *survey, uint32_t word, uint64_t address)
{
	uint64_t target;
	unsigned size;
	if (a64_literal(word, address, &target, &size)) {
		struct site *site = site_at(survey, target);
		for (; site != NULL && site < survey->sites + survey->count &&
		        site->address < target + size;
		        site++)
			site->left = LEFT_literal;
	} else if (survey->wants_lse && a64_branch_target(word, address, &target)) {
		struct site *site = site_at(survey, target);
		if (site != NULL && target > site->address &&
		        (address < site->address ||
		                address >= site->address + site->words * UINT64_C(4)))
			site->left = LEFT_entered;
	}
}

static void check_functions(struct survey *survey, const struct image_segment *segment)
{
	struct functions functions;
	if (!functions_begin(&functions, survey->image))
		return;
	for (; functions.now.end != UINT64_MAX; functions_next(&functions)) {
		uint64_t at = functions.now.start, end = functions.now.end;
		if (at < segment->start)
			at = segment->start;
		for (at = (at + 3) & ~UINT64_C(3); at + 4 <= end && at < segment->end; at += 4)
			check_word(survey, *(const uint32_t *)image_bytes_at(at), at);
	}
}

void survey_make(struct survey *survey, const struct image *image, bool wants_lse)
{
	struct image_segment segment;
	struct functions functions;
	*survey = (struct survey){ .image = image, .wants_lse = wants_lse };
	functions_begin(&functions, image);
	for (unsigned next = 0; image_next_code(image, &next, &segment);)
		look_at_segment(survey, &functions, &segment);
	for (unsigned next = 0; survey->count > 0 && image_next_code(image, &next, &segment);)
		check_functions(survey, &segment);
}

void survey_end(struct survey *survey)
{
	if (survey->sites != NULL)
		sys_call3(SYS_munmap, SYS_ARG(survey->sites),
		        (long)(survey->room * sizeof(*survey->sites)), 0);
	survey->sites = NULL;
	survey->count = survey->room = 0;
}
