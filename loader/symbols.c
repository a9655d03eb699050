/*
 * With source_lines.c the only user of libdw. Each mapped file is opened at the first question
 * about it, with a session of its own, so that files mapped one after the other at the same place
 * do not meet.
 */
#include "symbols.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "elf.h"
#include "source_lines.h"
#include "symbol_names.h"

#define OVERLAYFS_MAGIC 0x794c7630 /* linux/magic.h, since Linux 4.5 */

struct symbol {
	uint64_t start, size;
	const char *name; /* in the mapped string table */
	bool is_data;
	unsigned char rank; /* of several names for one address the lowest wins */
};

enum module_state { MODULE_UNTRIED, MODULE_OPEN, MODULE_ABSENT, MODULE_CHANGED };

struct module {
	const struct mapped_file *mapped;
	enum module_state state;
	Dwfl *session;
	Dwfl_Module *file;
	uint64_t bias;
	uint64_t start, end; /* of all its segments in memory */
	struct symbol *symbols;
	size_t symbol_count;
	bool symbols_read;
};

struct symbols {
	const struct mapped *mapped;
	struct module *modules; /* by row of mapped.files */
	uint32_t module_count;
	const char **changed;
	size_t changed_count;
};

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct symbols *symbols_open(const struct mapped *mapped)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	if (symbols == NULL)
		return NULL;
	symbols->mapped = mapped;
	symbols->module_count = mapped->file_count;
	symbols->modules = calloc((size_t)symbols->module_count + 1, sizeof(*symbols->modules));
	symbols->changed = calloc((size_t)symbols->module_count + 1, sizeof(*symbols->changed));
	if (symbols->modules == NULL || symbols->changed == NULL) {
		symbols_close(symbols);
		return NULL;
	}
	for (uint32_t i = 0; i < symbols->module_count; i++)
		symbols->modules[i].mapped = &mapped->files[i];
	/* libdw would ask a debug information server on the network. */
	unsetenv("DEBUGINFOD_URLS");
	return symbols;
}

void symbols_close(struct symbols *symbols)
{
	if (symbols == NULL)
		return;
	for (uint32_t i = 0; symbols->modules != NULL && i < symbols->module_count; i++) {
		free(symbols->modules[i].symbols);
		dwfl_end(symbols->modules[i].session);
	}
	free(symbols->modules);
	free(symbols->changed);
	free(symbols);
}

/*
 * Whether the file at the path is the one that was mapped. On overlayfs a mapping shows the inode
 * of the layer below, so there only a change after the start of the process counts.
 */
static bool is_same_file(const struct module *module, int fd, const struct stat *status)
{
	struct statfs file_system;
	uint64_t inode = module->mapped->map.inode;
	if (inode == 0 || status->st_ino == inode)
		return true;
	if (fstatfs(fd, &file_system) != 0 || file_system.f_type != OVERLAYFS_MAGIC)
		return false;
	uint64_t changed_ns =
	        (uint64_t)status->st_ctim.tv_sec * 1000000000u + (uint64_t)status->st_ctim.tv_nsec;
	return changed_ns <= module->mapped->start_real_ns;
}

/* Opens the module's file when it is still the same one; sets the state. */
static int open_same_file(struct module *module)
{
	const struct record_module *map = &module->mapped->map;
	struct stat status;
	module->state = MODULE_ABSENT;
	if (map->start == 0 || map->path[0] != '/')
		return -1;
	int fd = open(map->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return -1;
	}
	if (!is_same_file(module, fd, &status)) {
		module->state = MODULE_CHANGED;
		close(fd);
		return -1;
	}
	return fd;
}

static bool open_session(struct module *module, int fd)
{
	const struct record_module *map = &module->mapped->map;
	if (!elf_load_bias(fd, map->start, map->file_offset, &module->bias)) {
		close(fd);
		return false;
	}
	module->session = dwfl_begin(&callbacks);
	if (module->session != NULL)
		module->file = dwfl_report_elf(
		        module->session, map->path, map->path, fd, module->bias, true);
	if (module->file == NULL) {
		close(fd);
		return false;
	}
	dwfl_report_end(module->session, NULL, NULL);
	dwfl_module_info(module->file, NULL, &module->start, &module->end, NULL, NULL, NULL, NULL);
	return true;
}

static bool open_module(struct module *module)
{
	if (module->state != MODULE_UNTRIED)
		return module->state == MODULE_OPEN;
	int fd = open_same_file(module);
	if (fd >= 0 && open_session(module, fd))
		module->state = MODULE_OPEN;
	return module->state == MODULE_OPEN;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void add_symbol(struct module *module, int number)
{
	GElf_Sym entry;
	GElf_Addr address;
	const char *name =
	        dwfl_module_getsym_info(module->file, number, &entry, &address, NULL, NULL, NULL);
	int type = GELF_ST_TYPE(entry.st_info);
	if (name == NULL || *name == '\0' || entry.st_size == 0 || entry.st_shndx == SHN_UNDEF)
		return;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT)
		return;
	static const unsigned char ranks[] = { [STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1 };
	unsigned binding = GELF_ST_BIND(entry.st_info);
	module->symbols[module->symbol_count++] = (struct symbol){ .start = address,
		.size = entry.st_size,
		.name = name,
		.is_data = type == STT_OBJECT,
		.rank = binding < sizeof(ranks) ? ranks[binding] : 0 };
}

static void read_symbols(struct module *module)
{
	module->symbols_read = true;
	int count = dwfl_module_getsymtab(module->file);
	if (count <= 0)
		return;
	module->symbols = calloc((size_t)count, sizeof(*module->symbols));
	if (module->symbols == NULL)
		return;
	for (int i = 0; i < count; i++)
		add_symbol(module, i);
	qsort(module->symbols, module->symbol_count, sizeof(*module->symbols), compare_symbols);
}

/* The named thing that holds address. Nested symbols are rare: a few steps back find the outer one.
 */
static const struct symbol *find_symbol(struct module *module, uint64_t address, bool data)
{
	if (!module->symbols_read)
		read_symbols(module);
	size_t low = 0, high = module->symbol_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (module->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	const struct symbol *best = NULL;
	for (size_t at = low; at > 0 && low - at < 16; at--) {
		const struct symbol *symbol = &module->symbols[at - 1];
		if (best != NULL && symbol->start != best->start)
			break;
		if (symbol->is_data == data && address - symbol->start < symbol->size)
			best = symbol;
	}
	return best;
}

static void name_place(struct module *module, uint64_t address, bool data, struct place *place)
{
	const struct symbol *symbol = find_symbol(module, address, data);
	if (symbol == NULL)
		return;
	symbol_demangle(symbol->name, place->name);
	/* A call was looked for one byte before the address that it returns to. */
	place->name_offset = address - symbol->start + !data;
}

/* Fills in what needs no lines. NULL when the file cannot be asked. */
static struct module *find_function(struct symbols *symbols, struct code code, struct place *place)
{
	memset(place, 0, sizeof(*place));
	place->address = code.address;
	if (code.file >= symbols->module_count)
		return NULL;
	struct module *module = &symbols->modules[code.file];
	memcpy(place->module, module->mapped->map.path, sizeof(place->module));
	place->module_offset = mapped_offset(symbols->mapped, code);
	if (!open_module(module))
		return NULL;
	place->module_offset = code.address - module->bias;
	/* The address is that of the instruction after the call, which may belong to other code. */
	name_place(module, code.address - 1, false, place);
	return module;
}

void symbols_find_call(struct symbols *symbols, struct code code, struct place *place)
{
	struct module *module = find_function(symbols, code, place);
	if (module != NULL)
		source_find_line(module->file, code.address - 1, place);
}

unsigned symbols_find_frames(
        struct symbols *symbols, struct code code, struct place places[SYMBOL_MAX_INLINED])
{
	struct module *module = find_function(symbols, code, &places[0]);
	return module != NULL ? source_find_inlined(module->file, code.address - 1, places) : 1;
}

size_t symbols_build_id(struct symbols *symbols, uint32_t file, const unsigned char **id)
{
	GElf_Addr address;
	struct module *module = &symbols->modules[file];
	int size = open_module(module) ? dwfl_module_build_id(module->file, id, &address) : 0;
	return size > 0 ? (size_t)size : 0;
}

static bool find_data_in(
        struct symbols *symbols, const struct mapping *mapping, struct place *place)
{
	if (mapping->start == 0)
		return false;
	struct module *module = &symbols->modules[mapping->file];
	if (!open_module(module))
		return false;
	/* Where it would lie if the file were where the first process had it. */
	uint64_t there = place->address - mapping->start + module->mapped->map.start;
	if (there < module->start || there >= module->end)
		return false;
	memcpy(place->module, module->mapped->map.path, sizeof(place->module));
	place->module_offset = there - module->bias;
	name_place(module, there, true, place);
	return true;
}

bool symbols_find_lock(struct symbols *symbols, size_t process, const struct record_lock *lock,
        struct place *place)
{
	memset(place, 0, sizeof(*place));
	place->address = lock->address;
	const struct mapped_process *in = &symbols->mapped->processes[process];
	if (lock->module != 0 && lock->module <= in->count)
		return find_data_in(symbols, &in->mappings[lock->module - 1], place);
	/* A later mapping replaced the earlier ones that it overlaps. */
	for (uint32_t i = in->count; i > 0; i--)
		if (find_data_in(symbols, &in->mappings[i - 1], place))
			return true;
	return false;
}

static bool is_listed(const struct symbols *symbols, const char *path)
{
	for (size_t i = 0; i < symbols->changed_count; i++)
		if (strcmp(symbols->changed[i], path) == 0)
			return true;
	return false;
}

size_t symbols_count_changed(struct symbols *symbols)
{
	symbols->changed_count = 0;
	for (uint32_t i = 0; i < symbols->module_count; i++) {
		struct module *module = &symbols->modules[i];
		open_module(module);
		if (module->state == MODULE_CHANGED &&
		        !is_listed(symbols, module->mapped->map.path))
			symbols->changed[symbols->changed_count++] = module->mapped->map.path;
	}
	return symbols->changed_count;
}

const char *symbols_changed_path(const struct symbols *symbols, size_t n)
{
	return symbols->changed[n];
}
