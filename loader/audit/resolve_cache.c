/*
 * Looks libraries up in ld.so.cache. The format is that of glibc's sysdeps/generic/dl-cache.h: a
 * header with its own magic, which may stand behind a table of an older format; entries; strings;
 * and an extension that names the glibc-hwcaps subdirectories.
 */
#include <elf.h>
#include <string.h>

#include "resolve_system.h"

#define OLD_MAGIC     "ld.so-1.7.0"
#define NEW_MAGIC     "glibc-ld.so.cache1.1"
#define EXTENSION     0xeaa42174u
#define TAG_HWCAPS    1u
#define HWCAP_NAMED   (1ull << 62) /* the lower half is an index into names of subdirectories */
#define HWCAP_LEVEL   0x3ffull     /* of the upper half: an ISA level, which goes with a name */
#define FLAGS_X86_64  0x0303u
#define FLAGS_AARCH64 0x0a03u

struct old_header {
	char magic[sizeof(OLD_MAGIC) - 1];
	uint32_t count;
};

struct old_entry {
	int32_t flags;
	uint32_t key, value;
};

struct header {
	char magic[sizeof(NEW_MAGIC) - 1];
	uint32_t count, strings_size;
	uint8_t flags, padding[3];
	uint32_t extension, unused[3];
};

struct entry {
	uint32_t flags, key, value, osversion;
	uint64_t hwcap;
};

struct section {
	uint32_t tag, flags, offset, size;
};

struct cache {
	const char *base; /* what offsets count from */
	size_t size;
	struct header header;
};

static bool copy(const struct cache *cache, uint64_t offset, void *to, size_t size)
{
	if (offset > cache->size || size > cache->size - offset)
		return false;
	memcpy(to, cache->base + offset, size);
	return true;
}

/* NULL where the offset is wrong. The last byte of the cache is followed by a zero. */
static const char *string_at(const struct cache *cache, uint32_t offset)
{
	return offset < cache->size ? cache->base + offset : NULL;
}

static bool open_cache(const struct system *system, struct cache *cache)
{
	struct old_header old;
	*cache = (struct cache){ system->cache, system->cache_size, { .count = 0 } };
	if (system->cache == NULL)
		return false;
	if (copy(cache, 0, &old, sizeof(old)) &&
	        memcmp(old.magic, OLD_MAGIC, sizeof(old.magic)) == 0) {
		uint64_t skip = sizeof(old) + (uint64_t)old.count * sizeof(struct old_entry);
		skip = (skip + _Alignof(struct entry) - 1) &
		       ~(uint64_t)(_Alignof(struct entry) - 1);
		if (skip > cache->size)
			return false;
		cache->base += skip;
		cache->size -= skip;
	}
	return copy(cache, 0, &cache->header, sizeof(cache->header)) &&
	       memcmp(cache->header.magic, NEW_MAGIC, sizeof(cache->header.magic)) == 0;
}

/* The name of a subdirectory by its index; NULL: there is none. */
static const char *hwcap_name(const struct cache *cache, uint32_t index)
{
	uint32_t words[2], offset;
	struct section section;
	uint64_t at = cache->header.extension;
	if (at == 0 || !copy(cache, at, words, sizeof(words)) || words[0] != EXTENSION)
		return NULL;
	for (uint32_t i = 0; i < words[1]; i++) {
		if (!copy(cache, at + sizeof(words) + (uint64_t)i * sizeof(section), &section,
		            sizeof(section)))
			return NULL;
		if (section.tag == TAG_HWCAPS && index < section.size / sizeof(offset) &&
		        copy(cache, section.offset + (uint64_t)index * sizeof(offset), &offset,
		                sizeof(offset)))
			return string_at(cache, offset);
	}
	return NULL;
}

/* How good an entry is here, 1 being the best; 0: not for this CPU. */
static size_t rank(const struct system *system, const struct cache *cache, uint64_t hwcap)
{
	if ((hwcap >> 32 & ~HWCAP_LEVEL) != HWCAP_NAMED >> 32)
		return (hwcap & ~system->legacy_hwcap) == 0 ? system->hwcaps + 1 : 0;
	const char *name = hwcap_name(cache, (uint32_t)hwcap);
	for (size_t i = 0; name != NULL && i < system->hwcaps; i++) {
		const char *known = strchr(system->subdirectories.items[i], '/') + 1;
		size_t length = strlen(known) - 1; /* less a slash */
		if (strncmp(known, name, length) == 0 && name[length] == '\0')
			return i + 1;
	}
	return 0;
}

const char *system_cached(const struct system *system, const char *name)
{
	struct cache cache;
	struct entry entry;
	const char *found = NULL;
	size_t best = SIZE_MAX;
	uint32_t flags = system->machine == EM_X86_64 ? FLAGS_X86_64 : FLAGS_AARCH64;
	if (!open_cache(system, &cache))
		return NULL;
	for (uint32_t i = 0; i < cache.header.count; i++) {
		if (!copy(&cache, sizeof(cache.header) + (uint64_t)i * sizeof(entry), &entry,
		            sizeof(entry)))
			break;
		const char *key = string_at(&cache, entry.key),
		           *value = string_at(&cache, entry.value);
		if (entry.flags != flags || key == NULL || value == NULL || strcmp(key, name) != 0)
			continue;
		/* Of entries that are as good the first one counts: the best was sorted there. */
		size_t how = rank(system, &cache, entry.hwcap);
		if (how != 0 && how < best) {
			best = how;
			found = value;
		}
	}
	return found;
}
