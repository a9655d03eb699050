/*
 * A record with sampled stacks and holders, of known content, and its reports in memory.
 */
#ifndef TESTS_SAMPLED_H
#define TESTS_SAMPLED_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/write.h"
#include "tests/synthetic.h"

static struct synthetic made;
static struct record *record;
static struct model *model;
static struct symbols *symbols;

static inline void start(void)
{
	made = synthetic_new();
}

static inline void stop(void)
{
	symbols_close(symbols);
	model_free(model);
	record_free(record);
	free(made.bytes);
}

static inline void build(void)
{
	char why[WHY_SIZE];
	record = synthetic_read(&made, made.size, why);
	ck_assert_msg(record != NULL, "%s", why);
	const struct model_source source = { .record = record, .wait_status = -1 };
	model = model_build(&source, 1);
	ck_assert_ptr_nonnull(model);
	symbols = symbols_open(model->mapped);
	ck_assert_ptr_nonnull(symbols);
}

static inline char *written(
        write_function *write, const struct write_options *options, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	ck_assert(write(out, model, symbols, options));
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static inline void add_stack(const uint64_t *frames, uint32_t depth, uint32_t holders)
{
	struct record_stack *stack = synthetic_add(&made, REGION_STACKS);
	*stack = (struct record_stack){ .hash = 1,
		.first_frame = made.header->regions[REGION_FRAMES].used,
		.depth = depth,
		.holders = holders };
	for (uint32_t i = 0; i < depth; i++)
		memcpy(synthetic_add(&made, REGION_FRAMES), &frames[i], sizeof(frames[i]));
}

static inline void add_sample(uint32_t site, uint32_t stack, uint64_t waits, uint64_t wait_ns)
{
	struct record_sample *sample = synthetic_add(&made, REGION_SAMPLES);
	*sample = (struct record_sample){ waits, wait_ns, site, stack };
}

/* Three call sites, of which two have samples, and 2 waits of 500 ns that found no room. */
static inline void add_waits(void)
{
	struct record_thread *thread = synthetic_thread(&made, 11, "conn");
	thread->counters.mutex.acquired = 100;
	thread->counters.mutex.contended = 9;
	thread->counters.mutex.wait_ns_total = 1700;
	thread->counters.mutex.wait_ns_max = 600;
	thread->counters.mutex.lost = 2;
	made.header->lost_waits = 2;
	made.header->lost_ns = 500;
	synthetic_lock(&made, 0x1000, synthetic_wait(3, 300, 200));
	struct record_lock *lock = synthetic_lock(&made, 0x2000, synthetic_wait(4, 900, 600));
	lock->hold = (struct hold_totals){ 60, 5000, 700 };
	synthetic_site(&made, 0x401000, 0, synthetic_wait(3, 300, 200));
	synthetic_site(&made, 0x401000, 1, synthetic_wait(1, 400, 400));
	synthetic_site(&made, 0x402000, 1, synthetic_wait(3, 500, 300));
	add_stack((const uint64_t[]){ 0x401000, 0x411000, 0x421000 }, 3, 0);
	add_stack((const uint64_t[]){ 0x401000, 0x412000 }, 2, 0);
	add_stack((const uint64_t[]){ 0x402000, 0x413000 }, 2, 3);
	add_stack((const uint64_t[]){ 0x402000, 0x414000 }, 2, 1);
	add_sample(0, 0, 1, 1);
	add_sample(0, 1, 1, 2);
	add_sample(1, 0, 2, 0);
	synthetic_blame(&made, 0x402000, 0, 3, 300);
	synthetic_blame(&made, RECORD_HOLDER_UNKNOWN, 2, 1, 100);
}

#endif
