/*
 * Feeds damaged unwind tables to their reader: it may not crash, hang, or name a function outside
 * of the image, also where that lies at an end of the address space. Built and run by `make fuzz`.
 */
#include <stdlib.h>

#include "probes/code_ranges.h"

/* libFuzzer's interface: https://llvm.org/docs/LibFuzzer.html */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* The first byte chooses the address, the second where .eh_frame_hdr is; the rest is the image. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 0x400000, UINT64_C(0xffff80000000), INT64_MAX - 64,
		UINT64_MAX - 64 };
	if (size < 2)
		return 0;
	uint64_t address = addresses[data[0] % 5];
	struct image_bytes image = { data + 2, size - 2, address };
	struct code_ranges ranges;
	struct code_range range;
	size_t count = 0;
	if (!code_ranges_open(&ranges, &image, address + data[1]))
		return 0;
	for (; code_ranges_next(&ranges, &range); count++) {
		must(range.start < range.end);
		must(range.start >= address && range.end <= address + image.size);
	}
	must(count <= size / 8);
	return 0;
}
