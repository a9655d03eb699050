/*
 * Looks at every word of the code once, and at the functions among it once more, for what speaks
 * against a change: a load that takes the word for data, a branch into the middle of a loop.
 */
#include "survey.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/a64.h"
#include "probes/adr_data.h"
#include "probes/code_ranges.h"
#include "probes/exclusive_loop.h"
#include "probes/outline.h"
#include "probes/sys.h"

#define ROOM_FIRST 1024u
/* Of less code than that, what compilers add to start a program may be half. */
#define SMALL 4096u

/* The functions that unwind tables name, in ascending order. */
struct functions {
	struct code_ranges ranges;
	struct code_range now; /* start is UINT64_MAX behind the last */
	uint64_t last_end;     /* of those seen so far */
	uint64_t covered;      /* bytes of these */
};

static void functions_next(struct functions *functions)
{
	if (functions->now.end != UINT64_MAX && functions->now.end > functions->last_end) {
		uint64_t start = functions->now.start;
		start = start > functions->last_end ? start : functions->last_end;
		functions->covered += functions->now.end - start;
		functions->last_end = functions->now.end;
	}
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

static enum mark_kind kind_at(const struct survey *survey, uint64_t address, uint64_t *end)
{
	enum mark_kind kind = marks_kind(survey->marks, address - survey->image->base, end);
	if (*end != UINT64_MAX)
		*end += survey->image->base;
	return kind;
}

static bool has_data(const struct survey *survey, uint64_t start, unsigned words)
{
	uint64_t end;
	for (unsigned word = 0; word < words; word++)
		if (kind_at(survey, start + word * UINT64_C(4), &end) == MARK_DATA)
			return true;
	return false;
}

/* An atomic in code that ends at `end`. Returns the words that it takes. */
static unsigned note_atomic(
        struct survey *survey, const struct a64_atomic *atomic, uint64_t address, uint64_t end)
{
	const uint32_t *words = image_bytes_at(address);
	struct site site = { address, words[0], 1, LEFT_COUNT };
	struct exclusive_loop loop;
	/* Of exclusives, loops are counted: by their loads. */
	if (atomic->kind == A64_STORE_EXCLUSIVE)
		return 1;
	if ((atomic->kind == A64_LSE) == survey->wants_lse) {
		survey->kept++;
		return 1;
	}
	survey->found++;
	if (survey->wants_lse) {
		if (!exclusive_loop_match(&loop, words, (end - address) / 4)) {
			survey->left[LEFT_shape]++;
			return 1;
		}
		site.words = (uint8_t)loop.words;
	}
	if (has_data(survey, address, site.words))
		site.left = LEFT_unproved;
	if (!add(survey, site))
		survey->left[LEFT_memory]++;
	return site.words;
}

/* Words that are not proved to be code and look like what is to be changed. */
struct doubtful {
	uint32_t unknown, data;
};

/* A word that looks like an atomic. Returns the words that it takes. */
static unsigned note_word(struct survey *survey, struct functions *functions,
        struct doubtful *doubtful, const struct a64_atomic *atomic, uint64_t address,
        uint64_t segment_end)
{
	uint64_t end;
	enum mark_kind kind = kind_at(survey, address, &end);
	bool in_function = functions_have(functions, address);
	if (in_function)
		end = functions->now.end;
	if (in_function || kind == MARK_CODE)
		return note_atomic(survey, atomic, address, end < segment_end ? end : segment_end);
	if (atomic->kind != (survey->wants_lse ? A64_LOAD_EXCLUSIVE : A64_LSE))
		return 1;
	if (kind == MARK_DATA)
		doubtful->data++;
	else if (kind == MARK_UNKNOWN)
		doubtful->unknown++;
	return 1;
}

static void look_at_segment(struct survey *survey, struct functions *functions,
        struct doubtful *doubtful, const struct image_segment *segment)
{
	uint64_t address = segment->start;
	while (address < segment->end) {
		const uint32_t *words = image_bytes_at(address);
		struct outline_helper helper;
		struct a64_atomic atomic;
		unsigned taken = 1;
		if (outline_match(words, (segment->end - address) / 4, address, &helper)) {
			note_helper(survey, &helper);
			taken = helper.words;
		} else if (a64_may_be_atomic(words[0]) && a64_decode(words[0], &atomic)) {
			taken = note_word(
			        survey, functions, doubtful, &atomic, address, segment->end);
		}
		address += taken * UINT64_C(4);
	}
}

/* What lies in no function is data where unwind tables tell of the code, else perhaps code. */
static void judge_doubtful(
        struct survey *survey, struct functions *functions, const struct doubtful *doubtful)
{
	struct image_segment segment;
	uint64_t size = survey->marks->code_size;
	bool from_sections = size != 0;
	for (unsigned next = 0; !from_sections && image_next_code(survey->image, &next, &segment);)
		size += segment.end - segment.start;
	while (functions->now.end != UINT64_MAX)
		functions_next(functions);
	survey->outside = doubtful->data;
	if (size >= SMALL && code_ranges_are_trusted(functions->covered, size, from_sections)) {
		survey->outside += doubtful->unknown;
	} else {
		survey->found += doubtful->unknown;
		survey->left[LEFT_unproved] += doubtful->unknown;
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

/* Sites that something takes for data. */
static void leave_data(struct survey *survey, uint64_t start, uint64_t end)
{
	struct site *site = site_at(survey, start);
	for (; site != NULL && site < survey->sites + survey->count && site->address < end; site++)
		site->left = LEFT_literal;
}

/* What a word of code means for sites anywhere. */
static void check_word(struct survey *survey, uint32_t word, uint64_t address)
{
	uint64_t target;
	unsigned size;
	if (a64_literal(word, address, &target, &size)) {
		leave_data(survey, target, target + size);
	} else if (survey->wants_lse && a64_branch_target(word, address, &target)) {
		struct site *site = site_at(survey, target);
		if (site != NULL && target > site->address &&
		        (address < site->address ||
		                address >= site->address + site->words * UINT64_C(4)))
			site->left = LEFT_entered;
	}
}

static void check_code(struct survey *survey, const struct adr_code *code)
{
	struct adr_data data;
	for (size_t i = 0; i < code->count; i++) {
		uint32_t word = code->words[i];
		if (!adr_is(word))
			check_word(survey, word, code->address + i * UINT64_C(4));
		else if (adr_data_find(code, i, &data))
			leave_data(survey, data.start, data.end);
	}
}

/* The part of [start, end) that lies in the segment. */
static void check_range(
        struct survey *survey, const struct image_segment *segment, uint64_t start, uint64_t end)
{
	start = ((start > segment->start ? start : segment->start) + 3) & ~UINT64_C(3);
	end = end < segment->end ? end : segment->end;
	if (start < end)
		check_code(survey, &(struct adr_code){ image_bytes_at(start),
		                           (size_t)(end - start) / 4, start });
}

static void check_functions(struct survey *survey, const struct image_segment *segment)
{
	struct functions functions;
	if (!functions_begin(&functions, survey->image))
		return;
	for (; functions.now.end != UINT64_MAX; functions_next(&functions))
		check_range(survey, segment, functions.now.start, functions.now.end);
}

static void check_marked(struct survey *survey, const struct image_segment *segment)
{
	uint64_t end;
	for (uint64_t at = segment->start; at < segment->end; at = end)
		if (kind_at(survey, at, &end) == MARK_CODE)
			check_range(survey, segment, at, end);
}

void survey_make(
        struct survey *survey, const struct image *image, const struct marks *marks, bool wants_lse)
{
	struct image_segment segment;
	struct functions functions;
	struct doubtful doubtful = { 0, 0 };
	*survey = (struct survey){ .image = image, .marks = marks, .wants_lse = wants_lse };
	functions_begin(&functions, image);
	for (unsigned next = 0; image_next_code(image, &next, &segment);)
		look_at_segment(survey, &functions, &doubtful, &segment);
	judge_doubtful(survey, &functions, &doubtful);
	for (unsigned next = 0; survey->count > 0 && image_next_code(image, &next, &segment);) {
		check_functions(survey, &segment);
		check_marked(survey, &segment);
	}
}

void survey_end(struct survey *survey)
{
	if (survey->sites != NULL)
		sys_call3(SYS_munmap, SYS_ARG(survey->sites),
		        (long)(survey->room * sizeof(*survey->sites)), 0);
	survey->sites = NULL;
	survey->count = survey->room = 0;
}
