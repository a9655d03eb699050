/*
 * Feeds damaged ELF files and archives to what `abshim audit` reads them with: none may crash it,
 * take long, or give rows whose sums are wrong or that are not whole without a reason. Built and
 * run by `make fuzz`.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "loader/audit/audit.h"
#include "loader/audit/interpose.h"

#define MOST_NS 1000000000 /* of the CPU's time for one input */

/* libFuzzer's interface: https://llvm.org/docs/LibFuzzer.html */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static int file;

static void must(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	file = memfd_create("fuzz", 0);
	must(file >= 0);
	return 0;
}

static uint64_t cpu_ns(void)
{
	struct timespec time;
	must(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void check_row(const struct audit_file *row)
{
	uint64_t in_line = 0, outline = 0;
	for (size_t i = 0; i < row->family_count; i++) {
		must(memchr(row->families[i].name, '\0', sizeof(row->families[i].name)) != NULL);
		must(row->families[i].in_line + row->families[i].outline > 0);
		in_line += row->families[i].in_line;
		outline += row->families[i].outline;
	}
	must(in_line == row->lse_inline + row->llsc_inline + row->locked);
	must(outline == row->lse_outline + row->llsc_outline);
	must(row->path != NULL && row->machine != NULL && row->class != NULL && row->libc != NULL);
	must(row->complete || row->note_count > 0);
	must(row->kind != AUDIT_REFUSED || (row->note_count > 0 && row->family_count == 0));
	for (size_t i = 0; i < row->note_count; i++)
		must(row->notes[i][0] != '\0');
}

/* As the survey of a file's libraries and calls does. */
static void examine(struct audit_file *row)
{
	struct dynamic dynamic;
	struct interposition interposition;
	bool read = dynamic_read(file, &dynamic);
	must(interpose_examine(&interposition, row, file, read ? &dynamic : NULL));
	must(row->why != NULL && (row->interposable || row->why[0] != '\0'));
	interpose_free(&interposition);
	if (read)
		dynamic_free(&dynamic);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct audit_list list = { 0 };
	uint64_t start_ns = cpu_ns();
	must(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
	audit_read(&list, file, "fuzz");
	must(list.count > 0 || size > 0);
	for (size_t i = 0; i < list.count; i++)
		check_row(&list.files[i]);
	if (list.count == 1)
		examine(&list.files[0]);
	audit_free(&list);
	must(cpu_ns() - start_ns < MOST_NS);
	return 0;
}

/* A number as damage has it: near a bound, small, or anything. */
static uint64_t odd_number(size_t size)
{
	static const uint64_t odd[] = { 0, 1, 2, 4, UINT32_MAX, UINT32_MAX - 1, INT32_MAX,
		UINT64_MAX, INT64_MAX, UINT64_MAX - 1 };
	long choice = random() % 24;
	if (choice < (long)(sizeof(odd) / sizeof(*odd)))
		return odd[choice];
	if (choice < 18)
		return (uint64_t)random() % (size + 16);
	return (uint64_t)random() << (random() % 33);
}

/* Where a table of the file's headers or one of its sections lies, by its 64-bit header. */
static size_t find_place(const uint8_t *data, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;
	memcpy(&header, data, sizeof(header));
	uint64_t place = (uint64_t)random() % sizeof(header);
	switch (random() % 4) {
	case 0:
		break;
	case 1:
		place = header.e_phoff + (uint64_t)random() % (sizeof(Elf64_Phdr) * 8);
		break;
	case 2:
		place = header.e_shoff + (uint64_t)random() % (sizeof(Elf64_Shdr) * 16);
		break;
	default:
		place = header.e_shoff + sizeof(section) * ((uint64_t)random() % 16);
		if (place > size || sizeof(section) > size - place)
			break;
		memcpy(&section, data + place, sizeof(section));
		place = section.sh_offset + (uint64_t)random() % (section.sh_size % 4096 + 1);
	}
	return place < size ? place / 4 * 4 : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	srandom(seed);
	if (size < sizeof(Elf64_Ehdr) || random() % 4 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	for (long i = 1 + random() % 4; i > 0; i--) {
		size_t at = find_place(data, size), width = (size_t)1 << (random() % 4);
		uint64_t number = odd_number(size);
		if (width <= size - at)
			memcpy(data + at, &number, width);
	}
	return random() % 32 == 0 ? 1 + (size_t)random() % size : size;
}
