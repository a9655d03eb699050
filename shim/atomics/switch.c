/*
 * Walks the loader's list for debuggers: at the start, and whenever the loader has changed it.
 */
#include "switch.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "area.h"
#include "hook.h"
#include "image.h"
#include "maps.h"
#include "marks.h"
#include "patch.h"
#include "probes/record_map.h"
#include "probes/sys.h"
#include "rewrite.h"
#include "rows.h"
#include "shim/auxv.h"
#include "shim/settings.h"
#include "shim/start.h"
#include "survey.h"

/* What this library's own outline helpers read: defined here, so that libgcc's, and with it its
 * initialiser, stay out. */
bool __aarch64_have_lse_atomics __attribute__((visibility("hidden")));

/* This library's own dynamic section. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* Weak, so that the link needs no more than libc: the loader that defines it is always there. */
extern struct r_debug _r_debug __attribute__((weak));

/* struct r_debug_extended of glibc 2.35, whose header may be older: version 2 of r_debug. */
struct spaces {
	struct r_debug base;
	struct spaces *next;
};

static const char *program;
static bool started;  /* what is loaded now was not there at the start */
static bool unhooked; /* objects that come later cannot be switched */

static bool wants_lse(void)
{
	return settings.atomics == ATOMICS_LSE;
}

void atomics_follow(char *const *environment)
{
	const bool has_lse = (auxv_find(environment, AT_HWCAP) & AUXV_HWCAP_ATOMICS) != 0;
	__aarch64_have_lse_atomics =
	        settings.atomics == ATOMICS_NATIVE ? has_lse : settings.atomics == ATOMICS_LSE;
}

static bool protect_page(uint64_t address, int protection)
{
	uint64_t page = patch_page();
	return !sys_failed(
	        sys_call3(SYS_mprotect, (long)(address & ~(page - 1)), (long)page, protection));
}

/* The byte may lie in what the loader has made read-only, or is going to. */
static enum record_outline set_flag(const struct image *image, uint64_t flag)
{
	volatile uint8_t *byte = (volatile uint8_t *)(uintptr_t)flag;
	int protection = PROT_READ | PROT_WRITE;
	if (*byte == wants_lse())
		return OUTLINE_SWITCHED;
	if (flag >= image->relro_start && flag < image->relro_end)
		protection = maps_protection(flag);
	bool closed = (protection & PROT_WRITE) == 0;
	if (closed && !protect_page(flag, PROT_READ | PROT_WRITE))
		return OUTLINE_PROTECTED;
	*byte = wants_lse();
	if (closed)
		protect_page(flag, protection);
	return OUTLINE_SWITCHED;
}

static enum record_outline set_flags(const struct image *image, const struct object_row *row)
{
	enum record_outline result = OUTLINE_SWITCHED;
	for (uint32_t i = 0; i < row->made.flags; i++)
		if (set_flag(image, row->flags[i]) != OUTLINE_SWITCHED)
			result = OUTLINE_PROTECTED;
	return result;
}

static void count_left(struct record_atomics *made, const struct survey *survey)
{
	for (unsigned why = 0; why < LEFT_COUNT; why++)
		made->left[why] = survey->left[why];
	for (size_t i = 0; i < survey->count; i++)
		if (survey->sites[i].left < LEFT_COUNT)
			made->left[survey->sites[i].left]++;
}

/* Whether an initialiser of the object's own sets the flag after us, by what libc tells it: the
 * loader's, and those of objects that find libc's getauxval before ours (RTLD_DEEPBIND, other
 * namespaces), which only come later. */
static bool is_set_again(const struct image *image)
{
	return started || image->base == _r_debug.r_ldbase;
}

static void switch_outline(
        const struct image *image, struct object_row *row, const struct survey *survey)
{
	struct record_atomics *made = &row->made;
	made->helpers = survey->helpers;
	if (survey->disagree) {
		made->outline = OUTLINE_DISAGREE;
	} else if (survey->helpers > 0) {
		memcpy(row->flags, survey->flags, sizeof(row->flags));
		made->flags = survey->flag_count;
		made->flag = survey->flags[0] - image->base;
		made->outline = set_flags(image, row);
		if (is_set_again(image))
			rewrite_tests(survey);
	}
}

static void switch_image(const struct image *image, struct object_row *row, bool is_us)
{
	struct survey survey;
	struct marks marks;
	struct record_atomics *made = &row->made;
	marks_open(&marks, image, made->path);
	survey_make(&survey, image, &marks, wants_lse());
	made->unreadable = (uint32_t)survey.error;
	switch_outline(image, row, &survey);
	/* What would be rewritten is running; it has nothing inline. */
	if (!is_us) {
		made->inline_found = survey.found;
		made->inline_rewritten = rewrite(&survey);
		made->outside = survey.outside;
		made->kept = survey.kept;
		count_left(made, &survey);
	}
	survey_end(&survey);
	marks_close(&marks);
}

/* glibc initialises one such object before all others, the one that was loaded last: not us. */
static bool is_early(const struct link_map *map)
{
	if (started || map->l_ld == _DYNAMIC)
		return false;
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_FLAGS_1)
			return (entry->d_un.d_val & DF_1_INITFIRST) != 0;
	return false;
}

static void switch_object(const struct link_map *map)
{
	struct image image;
	struct object_row *row = row_claim(map);
	if (row == NULL) {
		if (start_has_record())
			record_header->regions[REGION_ATOMICS].lost++;
		return;
	}
	row->seen = true;
	row->made.base = map->l_addr;
	row->made.early = is_early(map);
	record_copy_path(row->made.path, sizeof(row->made.path),
	        *map->l_name != '\0' ? map->l_name : program);
	if (image_open(&image, map))
		switch_image(&image, row, map->l_ld == _DYNAMIC);
	else
		row->made.unreadable = ENOEXEC;
	row_put(row);
}

/* The kernel's page of functions holds no atomics, and belongs to it. */
static bool is_object(const struct link_map *map)
{
	return map->l_ld != NULL && strstr(map->l_name, "linux-vdso") == NULL;
}

/* consistent: the objects of the list are whole. */
static void look_at_list(const struct link_map *map, bool consistent)
{
	for (; map != NULL; map = map->l_next) {
		if (!is_object(map))
			continue;
		struct object_row *row = row_of(map);
		if (row != NULL)
			row->seen = true;
		else if (consistent)
			switch_object(map);
	}
}

static void retire_the_rest(void)
{
	struct object_row *row;
	for (unsigned next = 0; (row = row_next(&next)) != NULL;)
		if (!row->seen) {
			area_forget(row->made.base);
			row_retire(row);
		}
}

static void look(void)
{
	struct object_row *row;
	for (unsigned next = 0; (row = row_next(&next)) != NULL;)
		row->seen = false;
	look_at_list(_r_debug.r_map, _r_debug.r_state == RT_CONSISTENT);
	if (_r_debug.r_version >= 2) {
		const struct spaces *space = (const void *)&_r_debug;
		while ((space = space->next) != NULL)
			look_at_list(space->base.r_map, space->base.r_state == RT_CONSISTENT);
	}
	retire_the_rest();
}

/* Something is switched, or nothing had to be. */
static bool is_in_force(const char **protected_path)
{
	struct object_row *row;
	*protected_path = NULL;
	for (unsigned next = 0; (row = row_next(&next)) != NULL;) {
		const struct record_atomics *made = &row->made;
		if (row->dynamic == _DYNAMIC)
			continue;
		if (made->outline == OUTLINE_SWITCHED || made->inline_rewritten > 0)
			return true;
		if (made->outline == OUTLINE_PROTECTED || made->left[LEFT_protected] > 0)
			*protected_path = made->path;
	}
	return *protected_path == NULL;
}

static void put_state(void)
{
	if (unhooked && start_has_record())
		record_header->flags |= RECORD_ATOMICS_UNHOOKED;
}

void atomics_start(const char *executable)
{
	const char *path;
	if (settings.atomics == ATOMICS_NATIVE)
		return;
	program = executable;
	look();
	started = true;
	/* An arm of which a part is out of reach is one that says so in its rows; one of which all
	 * is out of reach is none. */
	if (!is_in_force(&path))
		settings_refuse((const char *const[]){
		        "ABSHIM_ATOMICS=", wants_lse() ? "lse" : "llsc",
		        ": this system lets no code or data of loaded files be changed: ", path,
		        NULL });
	unhooked = !hook_set(look);
	put_state();
}

void atomics_settle(void)
{
	struct image image;
	if (settings.atomics == ATOMICS_NATIVE)
		return;
	for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
		struct object_row *row = is_object(map) ? row_of(map) : NULL;
		if (row != NULL && row->made.outline == OUTLINE_SWITCHED && image_open(&image, map))
			set_flags(&image, row);
	}
}

void atomics_put(void)
{
	struct object_row *row;
	for (unsigned next = 0; (row = row_next(&next)) != NULL;)
		row_put(row);
	put_state();
}
