/*
 * Makes the record of this process: lays out the regions, creates the file, and populates pages
 * before they are touched.
 */
#include "record_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "clock.h"
#include "sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define ALIGNMENT      4096u
#define POPULATE_CHUNK 16384u
#define EAGER_BYTES    262144u /* of each region, where pages are allocated through the file */
#define NAME_TRIES     1000u

struct record_header *record_header;
struct record_place record_places[REGION_COUNT];

/* Whether MADV_POPULATE_WRITE works here; without it pages are allocated through the file. */
static bool populate_works;

static const struct {
	uint32_t entry_size, capacity;
} layout[REGION_COUNT] = {
	[REGION_CONTROL] = { sizeof(struct record_control), 1 },
	[REGION_THREADS] = { sizeof(struct record_thread), 8192 },
	[REGION_RETIRED] = { sizeof(struct record_retired), 256 },
	[REGION_MODULES] = { sizeof(struct record_module), 512 },
	[REGION_LOCK_INDEX] = { sizeof(uint32_t), 8192 },
	[REGION_LOCKS] = { sizeof(struct record_lock), 4096 },
	[REGION_SITE_INDEX] = { sizeof(uint32_t), 16384 },
	[REGION_SITES] = { sizeof(struct record_site), 8192 },
	[REGION_BLAME_INDEX] = { sizeof(uint32_t), 16384 },
	[REGION_BLAME] = { sizeof(struct record_blame), 8192 },
	[REGION_CONDS] = { sizeof(struct record_cond), 1024 },
	[REGION_CREATED] = { sizeof(struct record_created), 131072 },
	[REGION_STACK_INDEX] = { sizeof(uint32_t), 16384 },
	[REGION_STACKS] = { sizeof(struct record_stack), 8192 },
	[REGION_FRAMES] = { sizeof(uint64_t), 262144 },
	[REGION_SAMPLE_INDEX] = { sizeof(uint32_t), 32768 },
	[REGION_SAMPLES] = { sizeof(struct record_sample), 16384 },
	[REGION_UNCOVERED] = { sizeof(struct record_uncovered), 256 },
	[REGION_ATOMICS] = { sizeof(struct record_atomics), 1024 },
};

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint64_t region_bytes(enum record_region_id id)
{
	return (uint64_t)layout[id].entry_size * layout[id].capacity;
}

/* Where a region begins; REGION_COUNT: where the record ends. */
static uint64_t region_offset(enum record_region_id until)
{
	uint64_t offset = round_up(sizeof(struct record_header), ALIGNMENT);
	for (int id = 0; id < (int)until; id++)
		offset += round_up(region_bytes((enum record_region_id)id), ALIGNMENT);
	return offset;
}

static uint64_t record_bytes(void)
{
	return region_offset(REGION_COUNT);
}

unsigned record_decimal(char *text, uint64_t value)
{
	char digits[20];
	unsigned count = 0, at = 0;
	do
		digits[count++] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	while (count > 0)
		text[at++] = digits[--count];
	text[at] = '\0';
	return at;
}

void record_copy_path(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);
	if (length < size) {
		memcpy(to, from, length + 1);
		return;
	}
	memcpy(to, "...", 3);
	memcpy(to + 3, from + length - (size - 4), size - 3);
}

/* A file larger than RLIMIT_FSIZE would mean SIGXFSZ. */
static bool size_allowed(uint64_t bytes)
{
	struct rlimit limit;
	long result = sys_call6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, SYS_ARG(&limit), 0, 0);
	return sys_failed(result) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

/* Populates [from, from + bytes) of the mapping; false where touching it could fault. */
static bool populate(void *from, uint64_t bytes)
{
	uintptr_t start = (uintptr_t)from & ~(uintptr_t)(ALIGNMENT - 1);
	uintptr_t end = (uintptr_t)from + bytes;
	return sys_call3(SYS_madvise, (long)start, (long)(end - start), MADV_POPULATE_WRITE) == 0;
}

/* An emulator may answer 0 to any advice and do nothing; a kernel does not know this one. */
static bool advice_is_taken(void *page)
{
	return sys_call3(SYS_madvise, SYS_ARG(page), ALIGNMENT, 0x7fff) == -EINVAL;
}

/* Opens a directory of this user where nobody else may make or replace files: never through a link
 * in its last part, and checked on what was opened. forbidden: the bits of its mode that must not
 * be set. Returns a descriptor or -errno: EPERM when it is another user's, EACCES for its mode. */
static int open_directory(const char *path, unsigned forbidden)
{
	struct stat status;
	int fd = sys_open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	long result =
	        sys_call6(SYS_newfstatat, fd, SYS_ARG(""), SYS_ARG(&status), AT_EMPTY_PATH, 0, 0);
	if (!sys_failed(result) && (status.st_mode & forbidden) != 0)
		result = -EPERM;
	else if (!sys_failed(result) && status.st_uid != (uid_t)sys_call3(SYS_geteuid, 0, 0, 0))
		result = status.st_uid == 0 ? -EACCES : -EPERM;
	if (!sys_failed(result))
		return fd;
	sys_close(fd);
	return (int)result;
}

/* directory/NAME.PID.SEQ.abshim with the first SEQ that no file has, in the open directory. Returns
 * a descriptor. */
static int create_file(
        int open_fd, const char *directory, const char *executable, char path[RECORD_PATH_SIZE])
{
	const char *name = strrchr(executable, '/');
	name = name != NULL ? name + 1 : executable;
	size_t at = strlen(directory);
	if (at + strlen(name) + 64 > RECORD_PATH_SIZE)
		return -ENAMETOOLONG;
	memcpy(path, directory, at);
	path[at++] = '/';
	const char *file = path + at;
	memcpy(path + at, name, strlen(name));
	at += strlen(name);
	path[at++] = '.';
	at += record_decimal(path + at, (uint64_t)sys_getpid());
	path[at++] = '.';
	for (unsigned sequence = 0; sequence < NAME_TRIES; sequence++) {
		unsigned digits = record_decimal(path + at, sequence);
		memcpy(path + at + digits, RECORD_SUFFIX, sizeof(RECORD_SUFFIX));
		int fd = (int)sys_call6(SYS_openat, open_fd, SYS_ARG(file),
		        O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600, 0, 0);
		if (fd != -EEXIST)
			return fd;
	}
	return -EEXIST;
}

static int create_in(const char *directory, unsigned forbidden, const char *executable,
        char path[RECORD_PATH_SIZE])
{
	int open_fd = open_directory(directory, forbidden);
	if (open_fd < 0)
		return open_fd;
	int fd = create_file(open_fd, directory, executable, path);
	sys_close(open_fd);
	return fd;
}

/* The default directory of this user under a parent: made with mode 0700 when it is not there. */
static void make_private_directory(const char *parent, const char *name, bool with_user, char *path)
{
	uint64_t user = (uint64_t)(unsigned)sys_call3(SYS_geteuid, 0, 0, 0);
	size_t at = strlen(parent);
	memcpy(path, parent, at);
	if (with_user)
		at += record_decimal(path + at, user);
	memcpy(path + at, name, strlen(name) + 1);
	at += strlen(name);
	if (!with_user)
		record_decimal(path + at, user);
	sys_call3(SYS_mkdirat, AT_FDCWD, SYS_ARG(path), 0700);
}

static int create_default(const char *executable, char path[RECORD_PATH_SIZE])
{
	static const struct {
		const char *parent, *name;
		bool with_user;
	} places[] = {
		{ "/dev/shm", "/abshim-", false },
		{ "/run/user/", "/abshim", true },
		{ "/tmp", "/abshim-", false },
	};
	int result = -ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char directory[64];
		make_private_directory(
		        places[i].parent, places[i].name, places[i].with_user, directory);
		result = create_in(directory, 077, executable, path);
		if (result >= 0)
			return result;
	}
	return result;
}

static uint64_t eager_bytes(enum record_region_id id)
{
	return region_bytes(id) < EAGER_BYTES ? region_bytes(id) : EAGER_BYTES;
}

/* Allocates the header and the beginning of each region: what most processes need, so that one that
 * has changed its root needs no more. Returns 0 or -errno. */
static long allocate_eagerly(int fd)
{
	uint64_t offset = round_up(sizeof(struct record_header), ALIGNMENT);
	long result = sys_call6(SYS_fallocate, fd, 0, 0, (long)offset, 0, 0);
	for (int id = 0; id < REGION_COUNT && !sys_failed(result); id++) {
		result = sys_call6(SYS_fallocate, fd, 0, (long)offset,
		        (long)eager_bytes((enum record_region_id)id), 0, 0);
		offset += round_up(region_bytes((enum record_region_id)id), ALIGNMENT);
	}
	return result;
}

/* Makes [from, from + bytes) of the record safe to touch: by advice, or by allocating that part of
 * its file, which is opened anew for it. */
static bool make_pages(const char *from, uint64_t bytes)
{
	if (populate_works)
		return populate((void *)(uintptr_t)from, bytes);
	int fd = sys_open(record_header->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return false;
	long result = sys_call6(
	        SYS_fallocate, fd, 0, from - (const char *)record_header, (long)bytes, 0, 0);
	sys_close(fd);
	return !sys_failed(result);
}

/* What no record can do without: the header, the control page, some threads, and rows for ended
 * ones so that the totals are complete whatever else finds no room. Adjacent but for the last. */
static bool populate_least(char *record)
{
	return populate(record, region_offset(REGION_THREADS) + POPULATE_CHUNK) &&
	       populate(record + region_offset(REGION_RETIRED), POPULATE_CHUNK);
}

/* Gives the file its size and maps it at `at` (or anywhere). Returns the address or -errno. */
static long map_file(int fd, uint64_t bytes, void *at)
{
	long result = sys_call3(SYS_ftruncate, fd, (long)bytes, 0);
	if (sys_failed(result))
		return result;
	long address = sys_call6(SYS_mmap, SYS_ARG(at), (long)bytes, PROT_READ | PROT_WRITE,
	        MAP_SHARED | (at != NULL ? MAP_FIXED : 0), fd, 0);
	if (sys_failed(address))
		return address;
	populate_works = advice_is_taken((void *)address) && populate((void *)address, ALIGNMENT);
	if (populate_works)
		result = populate_least((char *)address) ? 0 : -ENOSPC;
	else
		result = allocate_eagerly(fd);
	if (!sys_failed(result))
		return address;
	if (at == NULL)
		sys_call3(SYS_munmap, address, (long)bytes, 0);
	return result;
}

static long map_memory(uint64_t bytes, void *at)
{
	populate_works = false;
	return sys_call6(SYS_mmap, SYS_ARG(at), (long)bytes, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0), -1, 0);
}

/* How many of a region's bytes map_file() or map_memory() has made safe to touch. */
static uint64_t populated_at_start(enum record_region_id id, bool in_memory)
{
	if (in_memory || id == REGION_CONTROL)
		return region_bytes(id);
	if (!populate_works)
		return eager_bytes(id);
	return id == REGION_THREADS || id == REGION_RETIRED ? POPULATE_CHUNK : 0;
}

static void fill_header(uint64_t bytes, uint32_t flags, const char *path)
{
	struct record_header *header = record_header;
	uint64_t offset = round_up(sizeof(*header), ALIGNMENT);
	for (int id = 0; id < REGION_COUNT; id++) {
		struct record_region *region = &header->regions[id];
		record_places[id] = (struct record_place){ (char *)header + offset,
			layout[id].entry_size, layout[id].capacity };
		region->offset = offset;
		region->entry_size = layout[id].entry_size;
		region->capacity = layout[id].capacity;
		region->populated = populated_at_start(
		        (enum record_region_id)id, (flags & RECORD_IN_MEMORY) != 0);
		offset += round_up(region_bytes((enum record_region_id)id), ALIGNMENT);
	}
	header->version = RECORD_VERSION;
	header->header_size = sizeof(*header);
	header->file_size = bytes;
#if defined(__x86_64__)
	header->machine = 62;
#else
	header->machine = 183;
#endif
	header->flags = flags;
	header->pid = sys_getpid();
	header->parent_pid = (int)sys_call3(SYS_getppid, 0, 0, 0);
	header->start_ns = clock_monotonic_ns();
	header->start_real_ns = clock_ns(CLOCK_REALTIME);
	header->exit_status = -1;
	record_copy_path(header->path, sizeof(header->path), path);
	/* A reader takes the record for one when the magic is there: last. */
	__atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with the reader's copy of the file */
	memcpy(header->magic, RECORD_MAGIC, sizeof(header->magic));
}

int record_create(const char *directory, const char *executable, bool must_file)
{
	char path[RECORD_PATH_SIZE];
	uint64_t bytes = record_bytes();
	uint32_t flags = 0;
	void *at = record_header;
	long address = -EFBIG;
	int fd = -EFBIG;

	if (size_allowed(bytes))
		fd = directory != NULL ? create_in(directory, S_IWOTH, executable, path)
		                       : create_default(executable, path);
	if (directory != NULL && fd < 0 && fd != -EFBIG && (fd == -EACCES || !must_file)) {
		fd = create_default(executable, path);
		flags |= RECORD_ELSEWHERE;
	}
	if (fd >= 0) {
		struct statfs file_system;
		address = map_file(fd, bytes, at);
		if (sys_failed(address))
			sys_call3(SYS_unlinkat, AT_FDCWD, SYS_ARG(path), 0);
		else if (!sys_failed(sys_call3(SYS_fstatfs, fd, SYS_ARG(&file_system), 0)) &&
		         file_system.f_type != TMPFS_MAGIC)
			flags |= RECORD_NOT_TMPFS;
		sys_close(fd);
	} else {
		address = fd;
	}
	if (sys_failed(address)) {
		if (must_file && directory != NULL)
			return (int)address;
		path[0] = '\0';
		flags |= RECORD_IN_MEMORY;
		address = map_memory(bytes, at);
		if (sys_failed(address))
			return (int)address;
	}
	record_header = (struct record_header *)address;
	fill_header(bytes, flags, path);
	return 0;
}

bool record_reserve(enum record_region_id id, uint32_t entry)
{
	const struct record_place *place = &record_places[id];
	uint64_t *mark = &record_header->regions[id].populated;
	uint64_t need = (uint64_t)(entry + 1) * place->entry_size;
	uint64_t populated = __atomic_load_n(mark, __ATOMIC_ACQUIRE);
	if (entry >= place->capacity)
		return false;
	if (need <= populated)
		return true;
	if (record_filtered())
		return false;
	uint64_t bytes = (uint64_t)place->capacity * place->entry_size;
	uint64_t goal = round_up(need, POPULATE_CHUNK);
	if (goal > bytes)
		goal = bytes;
	if (!make_pages(place->start + populated, goal - populated)) {
		__atomic_fetch_or(&record_header->flags, RECORD_NO_ROOM, __ATOMIC_RELAXED);
		return false;
	}
	/* Another thread may have populated further: the mark only grows. */
	while (populated < goal && !__atomic_compare_exchange_n(mark, &populated, goal, false,
	                                   __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		;
	return true;
}

uint32_t record_claim(enum record_region_id id)
{
	struct record_region *region = &record_header->regions[id];
	uint32_t used = __atomic_load_n(&region->used, __ATOMIC_RELAXED);
	do {
		if (used >= record_places[id].capacity || !record_reserve(id, used)) {
			__atomic_fetch_add(&region->lost, 1, __ATOMIC_RELAXED);
			return RECORD_NONE;
		}
	} while (!__atomic_compare_exchange_n(
	        &region->used, &used, used + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return used;
}

void record_unlink(void)
{
	if (record_header->path[0] != '\0')
		sys_call3(SYS_unlinkat, AT_FDCWD, SYS_ARG(record_header->path), 0);
}
