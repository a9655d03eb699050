/*
 * Feeds damaged records to `abshim report` in every format: none may crash it, hang it or make it
 * answer with anything but its documented exit statuses. Built and run by `make fuzz`.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/command.h"

/* Outside of a test libcheck's assertions cannot report. */
#include <check.h>
#undef ck_assert_ptr_nonnull
#undef ck_assert_uint_lt
#undef ck_assert_int_eq
#undef ck_assert_int_ge
#define must(condition)          ((condition) ? (void)0 : abort())
#define ck_assert_ptr_nonnull(x) must((x) != NULL)
#define ck_assert_uint_lt(a, b)  must((a) < (b))
#define ck_assert_int_eq(a, b)   must((a) == (b))
#define ck_assert_int_ge(a, b)   must((a) >= (b))
#include "tests/synthetic.h"

#define SEEDS 4

/* libFuzzer's interface: https://llvm.org/docs/LibFuzzer.html */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static char good_path[64], bad_path[64];
static int bad_fd;

static const char *const formats[][4] = {
	{ NULL },
	{ "--json", NULL },
	{ "--csv", NULL },
	{ "--folded", NULL },
	{ "--folded", "--holder", NULL },
	{ "--pprof", NULL },
	{ "--openmetrics", NULL },
	{ "--top", "3", NULL },
	{ "--by", "lock", NULL },
	{ "--by", "site", NULL },
	{ "--by", "creation", "--csv", NULL },
	{ "--by", "thread", NULL },
	{ "--by", "type", NULL },
	{ "--diff", good_path, NULL },
	{ "--diff", good_path, "--json", NULL },
	{ "--since", good_path, NULL },
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

static struct synthetic seed_record(unsigned seed)
{
	struct synthetic made = synthetic_new();
	for (unsigned i = 0; i < 1 + seed; i++) {
		struct record_thread *thread = synthetic_thread(&made, 10 + i, "worker");
		thread->counters.mutex.acquired = 100;
		thread->counters.mutex.contended = 3;
		thread->counters.mutex.wait_ns_total = 3000;
		thread->pending = (struct record_pending){ 1, 1, 1, 10, 500 };
		struct wait_totals wait = synthetic_wait(3, 3000, 2000);
		struct record_lock *lock = synthetic_lock(&made, 0x1000 + i * 64, wait);
		lock->family = i % FAMILY_COUNT;
		lock->created_address = 0x400123;
		synthetic_site(&made, 0x400100 + i, i, wait);
		synthetic_blame(&made, 0x400200, i, 3, 3000);
		struct record_stack *stack = synthetic_add(&made, REGION_STACKS);
		*stack = (struct record_stack){ .hash = 1 + i, .first_frame = i, .depth = 1 };
		*(uint64_t *)synthetic_add(&made, REGION_FRAMES) = 0x400100 + i;
		*(struct record_sample *)synthetic_add(&made, REGION_SAMPLES) =
		        (struct record_sample){ 1, 1000, i, i };
	}
	synthetic_retired(&made, 2, "ended");
	return made;
}

static void write_all(int fd, const void *bytes, size_t size)
{
	if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	int good_fd = memfd_create("good", 0);
	bad_fd = memfd_create("bad", 0);
	struct synthetic made = seed_record(0);
	write_all(good_fd, made.bytes, made.size);
	free(made.bytes);
	snprintf(good_path, sizeof(good_path), "/proc/self/fd/%d", good_fd);
	snprintf(bad_path, sizeof(bad_path), "/proc/self/fd/%d", bad_fd);
	return 0;
}

static void report(const char *const options[4])
{
	const char *arguments[8] = { "report" };
	int count = 1;
	for (; options[count - 1] != NULL; count++)
		arguments[count] = options[count - 1];
	arguments[count++] = bad_path;
	optind = 0;
	int status = command_report(count, (char **)arguments);
	fflush(stdout);
	if (status != 0 && status != EXIT_UNREADABLE && status != EXIT_OWN_FAILURE)
		abort();
}

/* The last byte chooses the format. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	write_all(bad_fd, data, size - 1);
	report(formats[data[size - 1] % FORMATS]);
	return 0;
}

/* A number as damage has it: near a bound, or anything. */
static uint64_t odd_number(void)
{
	static const uint64_t odd[] = { 0, 1, 2, UINT32_MAX, UINT32_MAX - 1, INT32_MAX, UINT64_MAX,
		INT64_MAX, UINT64_MAX - 1 };
	long choice = random() % 16;
	if (choice < (long)(sizeof(odd) / sizeof(*odd)))
		return odd[choice];
	return (uint64_t)random() << (random() % 33);
}

/* Damages a word of the header or of a table's first entries. */
static void damage(uint8_t *data, size_t size)
{
	struct record_header header;
	memcpy(&header, data, sizeof(header));
	size_t at = (size_t)random() % sizeof(header);
	if (random() % 4 != 0) {
		const struct record_region *region = &header.regions[random() % REGION_COUNT];
		at = region->offset + (size_t)random() % (4 * (size_t)region->entry_size + 1);
	} else if (random() % 2) {
		at = offsetof(struct record_header, regions) +
		     (size_t)random() % sizeof(header.regions);
	}
	at = at / 4 * 4;
	uint64_t number = odd_number();
	size_t width = random() % 2 ? 4 : 8;
	if (at < size && width <= size - at)
		memcpy(data + at, &number, width);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	srandom(seed);
	if (size < sizeof(struct record_header) || random() % 16 == 0) {
		struct synthetic made = seed_record((unsigned)random() % SEEDS);
		size = made.size + 1 < max_size ? made.size + 1 : max_size;
		memcpy(data, made.bytes, size - 1);
		free(made.bytes);
	} else if (random() % 16 == 0) {
		return LLVMFuzzerMutate(data, size, max_size);
	}
	for (long i = 1 + random() % 4; i > 0; i--)
		damage(data, size - 1);
	data[size - 1] = (uint8_t)random();
	return size;
}
