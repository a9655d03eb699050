/*
 * Audits a made file of much code, and prints what that took: one line for scripts/bench. The code
 * is plain instructions with an outline helper's call in every 256 (AArch64), or what this
 * program's own code is (x86-64).
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "loader/audit/audit.h"

#define HEADERS 4096
#define PART    (1 << 20)

static double cpu_seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What compilers mostly make: moves, loads, stores, arithmetic, branches, addresses. */
static void fill_a64(uint32_t *words, size_t count)
{
	static const uint32_t usual[] = { 0xa9be7bfd, 0x910003fd, 0xf9000bf3, 0xaa0003f3,
		0xb40000a0, 0x90000080, 0x91050000, 0xf9400001, 0x94000010, 0x7100041f, 0x54000081,
		0xb9400a62, 0x0b020042, 0xb9000a62, 0xf9400bf3, 0xa8c27bfd, 0xd65f03c0 };
	for (size_t i = 0; i < count; i++)
		words[i] = usual[i * 7919 % (sizeof(usual) / sizeof(*usual))];
	for (size_t i = 0; i < count; i += 256)
		words[i] = 0xb8e00020; /* ldaddal w0, w0, [x1] */
}

/* A function of what compilers mostly make, again and again; in one of 64 its imul is an atomic. */
static void fill_x86(unsigned char *bytes, size_t size)
{
	static const unsigned char usual[] = { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x53, 0x48, 0x8b,
		0x47, 0x10, 0x48, 0x85, 0xc0, 0x74, 0x1a, 0x8b, 0x50, 0x08, 0x48, 0x8d, 0x35, 1, 2,
		3, 0, 0xe8, 1, 2, 3, 0, 0x83, 0xf8, 0x01, 0x0f, 0x84, 1, 2, 3, 0, 0x48, 0xc7, 0x43,
		0x18, 0, 0, 0, 0, 0x0f, 0xb6, 0x44, 0x24, 0x0f, 0x48, 0x0f, 0xaf, 0xc1, 0x5b, 0x41,
		0x5c, 0x5d, 0xc3, 0x66, 0x90 };
	static const unsigned char lock_xadd[] = { 0xf0, 0x0f, 0xc1, 0x07 };
	size_t imul =
	        (size_t)((unsigned char *)memmem(usual, sizeof(usual), "\x48\x0f\xaf", 3) - usual);
	for (size_t at = 0; at < size; at++)
		bytes[at] = usual[at % sizeof(usual)];
	for (size_t at = imul; at + sizeof(lock_xadd) <= size; at += 64 * sizeof(usual))
		memcpy(bytes + at, lock_xadd, sizeof(lock_xadd));
}

/* A file of headers and parts of code. Returns it open. */
static int make(unsigned machine, unsigned parts)
{
	static union {
		uint32_t words[PART / 4];
		unsigned char bytes[PART];
	} code;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} head = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		        .e_type = ET_DYN,
		        .e_machine = (Elf64_Half)machine,
		        .e_phoff = sizeof(Elf64_Ehdr),
		        .e_phentsize = sizeof(Elf64_Phdr),
		        .e_phnum = 1 },
		.segment = { PT_LOAD, PF_R | PF_X, HEADERS, HEADERS, HEADERS,
		        (uint64_t)parts * PART, (uint64_t)parts * PART, HEADERS },
	};
	int fd = memfd_create("code", MFD_CLOEXEC);
	bool whole = fd >= 0 && pwrite(fd, &head, sizeof(head), 0) == sizeof(head);
	if (machine == EM_AARCH64)
		fill_a64(code.words, PART / 4);
	else
		fill_x86(code.bytes, PART);
	for (unsigned i = 0; i < parts && whole; i++)
		whole = pwrite(fd, &code, PART, HEADERS + (off_t)i * PART) == PART;
	return whole ? fd : -1;
}

int main(int count, char **arguments)
{
	struct audit_list list = { 0 };
	struct rusage usage;
	if (count != 3)
		return EXIT_FAILURE;
	unsigned machine = strcmp(arguments[1], "aarch64") == 0 ? EM_AARCH64 : EM_X86_64;
	int fd = make(machine, (unsigned)atoi(arguments[2]));
	double began = cpu_seconds();
	audit_read(&list, fd, "code");
	double cpu = cpu_seconds() - began;
	const struct audit_file *row = &list.files[0];
	if (!row->complete || row->lse_inline + row->locked == 0) {
		fprintf(stderr, "bench_audit: %s\n",
		        row->note_count != 0 ? row->notes[0] : "no atomics");
		return EXIT_FAILURE;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%s %lu %.6f %ld\n", row->machine, row->code_bytes, cpu, usage.ru_maxrss);
	audit_free(&list);
	return EXIT_SUCCESS;
}
