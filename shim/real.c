/*
 * Finds the functions behind ours by reading the loaded objects' symbol tables. dlsym would do, but
 * moved between libraries (libdl until glibc 2.33), may allocate, and takes the loader's lock.
 */
#include "real.h"

#include <elf.h>
#include <link.h>
#include <string.h>

struct real_functions real_functions;

static const char always_threaded;
const char *real_single_threaded = &always_threaded;

/* What a symbol search needs of one loaded object. */
struct object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const ElfW(Versym) * versions;
};

struct wanted {
	const char *name;
	void **where;
	bool anywhere; /* also in objects before this library: data that a program may have copied
	                */
};

static void *copied_single_threaded;

static const struct wanted wanted[] = {
#define ENTRY(name, since) { #name, (void **)&real_functions.name, false },
#include "entry_points.def"
#undef ENTRY
	{ "pthread_key_create", (void **)&real_functions.pthread_key_create, false },
	{ "pthread_setspecific", (void **)&real_functions.pthread_setspecific, false },
	{ "__libc_single_threaded", &copied_single_threaded, true },
};

#define WANTED (sizeof(wanted) / sizeof(*wanted))

/* glibc relocates the pointers in a dynamic section, other loaders leave them relative. */
static const void *dynamic_pointer(uintptr_t base, ElfW(Addr) value)
{
	return (const void *)(value < base ? base + value : value);
}

static bool object_read(struct object *object, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;
	memset(object, 0, sizeof(*object));
	object->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(object->base + info->dlpi_phdr[i].p_vaddr);
	if (dynamic == NULL || strstr(info->dlpi_name, "linux-vdso") != NULL)
		return false;
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *pointer = dynamic_pointer(object->base, dynamic->d_un.d_ptr);
		if (dynamic->d_tag == DT_SYMTAB)
			object->symbols = pointer;
		else if (dynamic->d_tag == DT_STRTAB)
			object->strings = pointer;
		else if (dynamic->d_tag == DT_GNU_HASH)
			object->gnu_hash = pointer;
		else if (dynamic->d_tag == DT_VERSYM)
			object->versions = pointer;
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

/* Only a default version counts (bit 15 of its version index is clear): what dlsym would take. */
static bool is_default(const struct object *object, uint32_t symbol)
{
	return object->versions == NULL || (object->versions[symbol] & 0x8000) == 0;
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
static void *object_find(const struct object *object, const char *name)
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
		        is_default(object, symbol) &&
		        strcmp(object->strings + candidate->st_name, name) == 0)
			return symbol_address(object, candidate);
		if ((entry & 1) != 0)
			return NULL;
	}
}

static bool holds_us(const struct dl_phdr_info *info)
{
	uintptr_t here = (uintptr_t)&real_functions;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD &&
		        here - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *passed_us)
{
	struct object object;
	(void)size;
	bool after = *(bool *)passed_us;
	if (holds_us(info)) {
		*(bool *)passed_us = true;
		return 0;
	}
	if (!object_read(&object, info))
		return 0;
	for (size_t i = 0; i < WANTED; i++)
		if (*wanted[i].where == NULL && (after || wanted[i].anywhere))
			*wanted[i].where = object_find(&object, wanted[i].name);
	return 0;
}

void real_resolve(void)
{
	bool passed_us = false;
	dl_iterate_phdr(visit, &passed_us);
	if (copied_single_threaded != NULL)
		real_single_threaded = copied_single_threaded;
}
