/*
 * The atomics switch's hands: room in reach of code, memory for trampolines and who finds it,
 * changes of code; and what it is told by unwind tables of its own. Only AArch64 has them.
 */
#include <check.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shim/real.h"

#if defined(__aarch64__)
#include "shim/atomics/area.h"
#include "shim/atomics/image.h"
#include "shim/atomics/maps.h"
#include "shim/atomics/patch.h"
#include "shim/early.h"

#define MIB      (UINT64_C(1) << 20)
#define LDADD    0xb8200020u /* ldadd w0, w0, [x1] */
#define BASE     UINT64_C(0x123000)
#define RETURN_1 UINT32_C(0x52800020) /* mov w0, #1 */
#define RETURN_2 UINT32_C(0x52800040)

int find_object(void *address, struct real_object *object) __asm__("_dl_find_object");

int patched(void);
__asm__(".text\n\t.p2align 2\n\t.type patched, %function\npatched:\n\t.cfi_startproc\n\t"
        "mov w0, #1\n\tret\n\t.cfi_endproc\n\t.size patched, . - patched\n");

static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)patched;
}

START_TEST(room_is_free_and_in_reach)
{
	uint64_t low = here(), high = low + 4 * MIB;
	for (uint64_t size = 1; size <= 64 * MIB; size *= 8) {
		uint64_t place = maps_find_room(low, high, size, 127 * MIB);
		ck_assert(place != 0 && place % 0x10000 == 0);
		ck_assert(place + size <= low + 127 * MIB && place + 127 * MIB >= high);
		ck_assert_int_eq(maps_protection(place), -1);
		ck_assert_int_eq(maps_protection(place + size - 1), -1);
	}
	ck_assert_uint_eq(maps_find_room(low, high, 300 * MIB, 127 * MIB), 0);
	ck_assert_uint_eq(maps_find_room(low, low + 300 * MIB, 1, 127 * MIB), 0);
}
END_TEST

START_TEST(protection_is_the_page_s)
{
	static int variable;
	ck_assert_int_eq(maps_protection(here()), PROT_READ | PROT_EXEC);
	ck_assert_int_eq(maps_protection((uint64_t)(uintptr_t)&variable), PROT_READ | PROT_WRITE);
	ck_assert_int_eq(maps_protection(16), -1);
}
END_TEST

START_TEST(branch_reaches_128_mib)
{
	const uint64_t from = 1024 * MIB;
	uint32_t word;
	ck_assert(patch_branch(from, from + 128 * MIB - 4, &word) && word == 0x15ffffff);
	ck_assert(patch_branch(from, from - 128 * MIB, &word) && word == 0x16000000);
	ck_assert(patch_branch(from, from + 4, &word) && word == 0x14000001);
	ck_assert(!patch_branch(from, from + 128 * MIB, &word));
	ck_assert(!patch_branch(from, from - 128 * MIB - 4, &word));
}
END_TEST

START_TEST(code_is_changed_and_protected_again)
{
	struct patch patch = { here(), RETURN_2 };
	ck_assert_int_eq(patched(), 1);
	ck_assert_uint_eq(patch_write(&patch, 1, PROT_READ | PROT_EXEC), 1);
	ck_assert_int_eq(maps_protection(here()), PROT_READ | PROT_EXEC);
	ck_assert_int_eq(patched(), 2);
	patch.word = RETURN_1;
	ck_assert_uint_eq(patch_write(&patch, 1, PROT_READ | PROT_EXEC), 1);
	ck_assert_int_eq(patched(), 1);
}
END_TEST

static struct area make_area(unsigned count)
{
	struct area_draft draft;
	bool no_memory;
	ck_assert(area_begin(&draft, here(), here() + 4, count, &no_memory));
	for (unsigned i = 0; i < count; i++) {
		struct trampoline made;
		uint64_t address = area_next(&draft);
		ck_assert(trampoline_from_lse(&made, LDADD, address, here() + 4));
		area_add(&draft, &made, here());
	}
	ck_assert(area_finish(&draft));
	return draft.area;
}

START_TEST(area_is_code_in_reach)
{
	struct area area = make_area(50);
	uint32_t word;
	ck_assert(patch_branch(here(), area.start, &word));
	ck_assert(patch_branch(area.end, here(), &word));
	ck_assert_int_eq(maps_protection(area.start), PROT_READ | PROT_EXEC);
	ck_assert_int_eq(maps_protection(area.end - 1), PROT_READ | PROT_EXEC);
	ck_assert(area.code_end > area.start && area.code_end <= area.eh_frame_hdr);
	area_drop(&area);
	ck_assert_uint_eq(area.start, 0);
}
END_TEST

/* What visit_object looks for. */
struct wanted {
	uint64_t address;
	uint64_t tables; /* found */
	unsigned objects;
};

static int visit_object(struct dl_phdr_info *object, size_t size, void *argument)
{
	struct wanted *wanted = argument;
	bool has_it = false;
	(void)size;
	wanted->objects++;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uint64_t start = object->dlpi_addr + header->p_vaddr;
		has_it = has_it || (header->p_type == PT_LOAD && wanted->address >= start &&
		                           wanted->address < start + header->p_memsz);
		if (has_it && header->p_type == PT_GNU_EH_FRAME)
			wanted->tables = start;
	}
	return 0;
}

static unsigned count_objects(void)
{
	struct wanted wanted = { 0, 0, 0 };
	dl_iterate_phdr(visit_object, &wanted);
	return wanted.objects;
}

START_TEST(unwinders_find_published_areas)
{
	unsigned before = count_objects();
	struct real_object object;
	struct area area = make_area(3), other = make_area(1), found;
	ck_assert(!area_at(area.start, &found));
	ck_assert_int_ne(find_object((void *)(uintptr_t)area.start, &object), 0);
	ck_assert(area_publish(&area, BASE));
	ck_assert(area_publish(&other, BASE + 1));
	ck_assert_uint_eq(count_objects(), before + 2);
	ck_assert(area_at(area.code_end - 4, &found) && found.start == area.start);
	ck_assert(!area_at(area.code_end, &found));
	ck_assert_int_eq(find_object((void *)(uintptr_t)area.start, &object), 0);
	ck_assert_ptr_eq(object.eh_frame, (void *)(uintptr_t)area.eh_frame_hdr);
	struct wanted wanted = { area.start, 0, 0 };
	dl_iterate_phdr(visit_object, &wanted);
	ck_assert_uint_eq(wanted.tables, area.eh_frame_hdr);
	area_forget(BASE);
	ck_assert(!area_at(area.start, &found));
	ck_assert_int_eq(maps_protection(area.start), -1);
	ck_assert(area_at(other.start, &found));
	ck_assert_uint_eq(count_objects(), before + 1);
	area_forget(BASE + 1);
	ck_assert_uint_eq(count_objects(), before);
}
END_TEST

/* Objects come and go for ever; the table of areas is of what is there. */
START_TEST(areas_are_bounded_by_what_is_loaded)
{
	for (unsigned i = 0; i < 2100; i++) {
		struct area area = make_area(1);
		ck_assert(area_publish(&area, BASE));
		area_forget(BASE);
	}
}
END_TEST

START_TEST(images_are_those_of_the_loader)
{
	unsigned images = 0;
	bool is_code = false;
	for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
		struct image image;
		struct image_segment segment;
		if (strstr(map->l_name, "vdso") != NULL)
			continue;
		ck_assert_msg(image_open(&image, map), "%s", map->l_name);
		ck_assert_msg(image.unwind_start != 0, "%s", map->l_name);
		for (unsigned next = 0; image_next_code(&image, &next, &segment);)
			is_code = is_code || (here() >= segment.start && here() < segment.end);
		images++;
	}
	ck_assert(images >= 3 && is_code);
}
END_TEST

START_TEST(auxiliary_vector_is_read_early)
{
	unsigned long value;
	ck_assert(early_is_relocated());
	ck_assert(!early_wants_llsc());
	ck_assert(early_auxv(AT_PHDR, &value) && value == real_functions.getauxval(AT_PHDR));
	ck_assert(!early_auxv(123456, &value) && value == 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("atomics");
	TCase *tcase = tcase_create("atomics");
	tcase_add_test(tcase, room_is_free_and_in_reach);
	tcase_add_test(tcase, protection_is_the_page_s);
	tcase_add_test(tcase, branch_reaches_128_mib);
	tcase_add_test(tcase, code_is_changed_and_protected_again);
	tcase_add_test(tcase, area_is_code_in_reach);
	tcase_add_test(tcase, unwinders_find_published_areas);
	tcase_add_test(tcase, areas_are_bounded_by_what_is_loaded);
	tcase_add_test(tcase, images_are_those_of_the_loader);
	tcase_add_test(tcase, auxiliary_vector_is_read_early);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#else

int main(void)
{
	puts("only AArch64 has the switch");
	return 77;
}

#endif
