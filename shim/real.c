/*
 * Finds the functions behind ours by reading the loaded objects' symbol tables, through the list
 * that the loader keeps for debuggers. dlsym would do, but moved between libraries (libdl until
 * glibc 2.33), may allocate, takes the loader's lock, and a program may have replaced it.
 */
#include "real.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "probes/clock.h"

struct real_functions real_functions;

int real_absent(void)
{
	return 0;
}

static const char always_threaded;
const char *real_single_threaded = &always_threaded;

/* What a symbol search needs of one loaded object. */
struct object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const ElfW(Versym) * versions;
	const ElfW(Verdef) * definitions; /* of versions */
};

struct wanted {
	const char *name;
	void **where;
	bool anywhere; /* also in objects before this library: data that a program may have copied
	                */
	const char *version; /* NULL: the default one, what dlsym would take */
};

static void *copied_single_threaded;

#define OLD_COND(name)                                                                             \
	{                                                                                          \
#name, (void **)&real_functions.old_##name, false, "GLIBC_2.2.5"                   \
	}

static const struct wanted wanted[] = {
#define ENTRY(name, since)  { #name, (void **)&real_functions.name, false, NULL },
#define HELPER(name, since) ENTRY(name, since)
#include "entry_points.def"
#undef ENTRY
	{ "pthread_key_create", (void **)&real_functions.pthread_key_create, false, NULL },
	{ "pthread_setspecific", (void **)&real_functions.pthread_setspecific, false, NULL },
	{ "pthread_testcancel", (void **)&real_functions.pthread_testcancel, false, NULL },
	{ "on_exit", (void **)&real_functions.on_exit, false, NULL },
	{ "__register_atfork", (void **)&real_functions.__register_atfork, false, NULL },
	{ "__cxa_at_quick_exit", (void **)&real_functions.__cxa_at_quick_exit, false, NULL },
	{ "clock_gettime", (void **)&real_functions.clock_gettime, false, NULL },
	{ "__libc_dlopen_mode", (void **)&real_functions.__libc_dlopen_mode, false, NULL },
	{ "_dl_find_object", (void **)&real_functions._dl_find_object, false, NULL },
	{ "getauxval", (void **)&real_functions.getauxval, false, NULL },
	{ "dl_iterate_phdr", (void **)&real_functions.dl_iterate_phdr, false, NULL },
#if defined(__x86_64__)
	OLD_COND(pthread_cond_signal),
	OLD_COND(pthread_cond_broadcast),
	OLD_COND(pthread_cond_wait),
	OLD_COND(pthread_cond_timedwait),
#endif
	{ "__libc_single_threaded", &copied_single_threaded, true, NULL },
};

#define WANTED (sizeof(wanted) / sizeof(*wanted))

/* glibc relocates the pointers in a dynamic section, other loaders leave them relative. */
static const void *dynamic_pointer(uintptr_t base, ElfW(Addr) value)
{
	return (const void *)(value < base ? base + value : value);
}

static bool object_read(struct object *object, const struct link_map *map)
{
	memset(object, 0, sizeof(*object));
	object->base = map->l_addr;
	if (map->l_ld == NULL || strstr(map->l_name, "linux-vdso") != NULL)
		return false;
	for (const ElfW(Dyn) *dynamic = map->l_ld; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *pointer = dynamic_pointer(object->base, dynamic->d_un.d_ptr);
		if (dynamic->d_tag == DT_SYMTAB)
			object->symbols = pointer;
		else if (dynamic->d_tag == DT_STRTAB)
			object->strings = pointer;
		else if (dynamic->d_tag == DT_GNU_HASH)
			object->gnu_hash = pointer;
		else if (dynamic->d_tag == DT_VERSYM)
			object->versions = pointer;
		else if (dynamic->d_tag == DT_VERDEF)
			object->definitions = pointer;
	}
	return object->symbols != NULL && object->strings != NULL && object->gnu_hash != NULL;
}

/* The hash of DT_GNU_HASH: Bernstein's, times 33, from 5381. */
static uint32_t gnu_hash(const char *name)
{
	uint32_t value = 5381;
	for (; *name != '\0'; name++)
		value = value * 33 + (unsigned char)*name;
	return value;
}

/* The index of a version that the object defines, 0: it does not. */
static unsigned version_index(const struct object *object, const char *version)
{
	const ElfW(Verdef) *definition = object->definitions;
	while (definition != NULL) {
		const char *at = (const char *)definition;
		const ElfW(Verdaux) *name = (const void *)(at + definition->vd_aux);
		if (strcmp(object->strings + name->vda_name, version) == 0)
			return definition->vd_ndx;
		definition =
		        definition->vd_next != 0 ? (const void *)(at + definition->vd_next) : NULL;
	}
	return 0;
}

/* Bit 15 of a symbol's version index is clear for the default version. */
static bool has_version(const struct object *object, uint32_t symbol, const char *version)
{
	if (object->versions == NULL)
		return version == NULL;
	unsigned index = object->versions[symbol];
	if (version == NULL)
		return (index & 0x8000) == 0;
	return (index & 0x7fff) == version_index(object, version);
}

static void *symbol_address(const struct object *object, const ElfW(Sym) * symbol)
{
	void *address = (void *)(object->base + symbol->st_value);
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		address = ((void *(*)(void))address)();
	return address;
}

/* Layout of DT_GNU_HASH: bucket count, first hashed symbol, bloom words, bloom shift, the bloom
 * filter, the buckets, then one hash a symbol whose lowest bit ends a chain. */
static const ElfW(Sym) *
        object_find_symbol(const struct object *object, const char *name, const char *version)
{
	uint32_t hash = gnu_hash(name);
	const uint32_t *table = object->gnu_hash;
	uint32_t buckets = table[0], first = table[1], bloom_words = table[2];
	const uint32_t *bucket = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = bucket + buckets;
	uint32_t symbol = buckets != 0 ? bucket[hash % buckets] : 0;
	if (symbol < first)
		return NULL;
	for (;; symbol++) {
		const ElfW(Sym) *candidate = &object->symbols[symbol];
		uint32_t entry = chain[symbol - first];
		if ((entry | 1) == (hash | 1) && candidate->st_shndx != SHN_UNDEF &&
		        has_version(object, symbol, version) &&
		        strcmp(object->strings + candidate->st_name, name) == 0)
			return candidate;
		if ((entry & 1) != 0)
			return NULL;
	}
}

static void *object_find(const struct object *object, const char *name, const char *version)
{
	const ElfW(Sym) *symbol = object_find_symbol(object, name, version);
	return symbol != NULL ? symbol_address(object, symbol) : NULL;
}

/* This library's own dynamic section. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* Weak, so that the link needs no more than libc: the loader that defines it is always there. */
extern struct r_debug _r_debug __attribute__((weak));

static bool is_us(const struct link_map *map)
{
	return map->l_ld == _DYNAMIC;
}

const char *real_own_path(void)
{
	for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next)
		if (is_us(map))
			return map->l_name;
	return "";
}

static void find_in(const struct object *object, bool after_us)
{
	for (size_t i = 0; i < WANTED; i++)
		if (*wanted[i].where == NULL && (after_us || wanted[i].anywhere))
			*wanted[i].where = object_find(object, wanted[i].name, wanted[i].version);
}

void real_resolve(void)
{
	bool after_us = false;
	for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
		struct object object;
		if (is_us(map))
			after_us = true;
		else if (object_read(&object, map))
			find_in(&object, after_us);
	}
	if (copied_single_threaded != NULL)
		real_single_threaded = copied_single_threaded;
	if (real_functions.clock_gettime != NULL)
		clock_source = real_functions.clock_gettime;
}

void real_find_before(
        void (*found)(void *argument, const char *name, const char *path), void *argument)
{
	static const char *const names[] = {
#define ENTRY(name, since) #name,
#define ALIAS(name, since) #name,
#if defined(__aarch64__)
#define ENTRY_AARCH64(name, since) #name,
#endif
#include "entry_points.def"
#undef ENTRY
	};
	for (const struct link_map *map = _r_debug.r_map; map != NULL && !is_us(map);
	        map = map->l_next) {
		struct object object;
		if (!object_read(&object, map))
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (object_find_symbol(&object, names[i], NULL) != NULL)
				found(argument, names[i], map->l_name);
	}
}

void *real_load(const char *name)
{
	const int as_dlopen = (int)0x80000000; /* __RTLD_DLOPEN of glibc's include/dlfcn.h */
	if (real_functions.dlopen != NULL)
		return real_functions.dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (real_functions.__libc_dlopen_mode != NULL)
		return real_functions.__libc_dlopen_mode(name, RTLD_NOW | RTLD_LOCAL | as_dlopen);
	return NULL;
}

/* What dlopen returns is the library's place in the loader's list. */
void *real_find_in(const void *library, const char *name)
{
	struct object object;
	return object_read(&object, library) ? object_find(&object, name, NULL) : NULL;
}

const struct link_map *real_defining(const struct link_map *after, const char *name)
{
	struct object object;
	const struct link_map *map = after != NULL ? after->l_next : _r_debug.r_map;
	for (; map != NULL; map = map->l_next)
		if (object_read(&object, map) && object_find_symbol(&object, name, NULL) != NULL)
			return map;
	return NULL;
}

const struct link_map *real_object(const void *dynamic)
{
	const struct link_map *map = _r_debug.r_map;
	while (map != NULL && map->l_ld != dynamic)
		map = map->l_next;
	return map;
}

const struct link_map *real_named(const char *beginning)
{
	for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
		const char *slash = strrchr(map->l_name, '/');
		const char *name = slash != NULL ? slash + 1 : map->l_name;
		if (strncmp(name, beginning, strlen(beginning)) == 0)
			return map;
	}
	return NULL;
}
