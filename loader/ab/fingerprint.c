/*
 * What a result must be read with: the machine and the programs it came from.
 */
#include <dirent.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../command.h"
#include "../elf.h"
#include "../host.h"
#include "../json_members.h"
#include "machine.h"

#define RANDOMIZE "/proc/sys/kernel/randomize_va_space"

static void member_line(json_t *object, const char *key, const char *path)
{
	char line[HOST_LINE];
	host_line("", path, line);
	member_known(object, key, line);
}

/* The model's name, or on AArch64 the numbers that stand for it. */
static void add_cpu(json_t *object)
{
	static const char *const keys[] = { "model name", "CPU implementer", "CPU part" };
	char line[HOST_LINE], text[HOST_LINE] = "";
	FILE *in = fopen("/proc/cpuinfo", "re");
	for (size_t at = 0; in != NULL && fgets(line, sizeof(line), in) != NULL && *line != '\n';) {
		char *value = strstr(line, ": ");
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && value != NULL; i++)
			if (strncmp(line, keys[i], strlen(keys[i])) == 0 && at < sizeof(text))
				at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s",
				        at > 0 ? " " : "", (int)strcspn(value + 2, "\n"),
				        value + 2);
	}
	if (in != NULL)
		fclose(in);
	member_known(object, "cpu", text);
	member_integer(object, "cpus", machine_cpus());
	member_integer(object, "cpus_online", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void add_kernel(json_t *object)
{
	struct utsname name;
	if (uname(&name) != 0)
		return;
	char text[2 * HOST_LINE];
	snprintf(text, sizeof(text), "%.200s %.200s %.200s", name.sysname, name.release,
	        name.machine);
	member_string(object, "kernel", text);
	snprintf(text, sizeof(text), "glibc %s", gnu_get_libc_version());
	member_string(object, "libc", text);
}

static void add_mitigations(json_t *object)
{
	json_t *mitigations = json_object();
	DIR *directory = opendir(HOST_CPUS "/vulnerabilities");
	struct dirent *entry;
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char path[HOST_LINE];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), HOST_CPUS "/vulnerabilities/%s", entry->d_name);
		member_line(mitigations, entry->d_name, path);
	}
	if (directory != NULL)
		closedir(directory);
	json_object_set_new(object, "mitigations", mitigations);
}

static void add_huge_pages(json_t *object)
{
	char word[HOST_LINE];
	host_huge_pages("", word);
	member_known(object, "transparent_huge_pages", word);
}

static void add_load(json_t *object)
{
	double load;
	if (getloadavg(&load, 1) == 1)
		json_object_set_new(object, "load_average", json_real(load));
}

static json_t *file_json(const char *path)
{
	char id[ELF_BUILD_ID_SIZE] = "";
	struct stat status;
	json_t *object = json_object();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	member_string(object, "path", path);
	if (fd >= 0)
		elf_build_id(fd, id);
	member_known(object, "build_id", id);
	if (fd >= 0 && fstat(fd, &status) == 0) {
		member_integer(object, "size", (uint64_t)status.st_size);
		member_integer(object, "modified", (uint64_t)status.st_mtim.tv_sec);
	}
	if (fd >= 0)
		close(fd);
	return object;
}

/* As a shell finds it; the caller's to free. NULL: it does not. */
static char *find_program(const char *name)
{
	const char *list = getenv("PATH");
	if (strchr(name, '/') != NULL)
		return realpath(name, NULL);
	for (const char *at = list != NULL ? list : ""; *at != '\0';) {
		size_t length = strcspn(at, ":");
		char *path;
		if (asprintf(&path, "%.*s/%s", (int)length, at, name) < 0)
			return NULL;
		if (access(path, X_OK) == 0)
			return path;
		free(path);
		at += length + (at[length] == ':');
	}
	return NULL;
}

/* The client, or the first word of the server's command. NULL: not known. */
static char *find_target(const struct design *design)
{
	if (design->server.start == NULL)
		return find_program(design->client.items[0]);
	const char *at = design->server.start;
	if (strncmp(at, "exec ", 5) == 0)
		at += 5;
	char *word = strndup(at, strcspn(at, " \t\n"));
	char *path = word != NULL ? find_program(word) : NULL;
	free(word);
	return path;
}

json_t *machine_fingerprint(const struct design *design, const char *library)
{
	json_t *object = json_object();
	char *target = find_target(design);
	member_string(object, "abshim", ABSHIM_VERSION);
	add_cpu(object);
	add_kernel(object);
	add_mitigations(object);
	member_line(object, "governor", HOST_CPUS "/cpu0/cpufreq/scaling_governor");
	member_known(object, "turbo", host_turbo(""));
	add_huge_pages(object);
	member_line(object, "randomize_va_space", RANDOMIZE);
	add_load(object);
	json_object_set_new(object, "library", file_json(library));
	json_object_set_new(object, "target", target != NULL ? file_json(target) : json_null());
	free(target);
	return object;
}

/* By build id, or where there is none by size and date. */
static bool is_same_file(const json_t *a, const json_t *b)
{
	const json_t *id = json_object_get(a, "build_id");
	if (json_is_string(id))
		return json_equal(id, json_object_get(b, "build_id"));
	return json_equal(a, b);
}

bool machine_is_same(const json_t *earlier, const json_t *now, char why[WHY_SIZE])
{
	static const char *const parts[] = { "cpu", "kernel", "libc" };
	static const char *const files[] = { "library", "target" };
	const char *other = NULL;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!json_equal(json_object_get(earlier, parts[i]), json_object_get(now, parts[i])))
			other = parts[i];
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!is_same_file(
		            json_object_get(earlier, files[i]), json_object_get(now, files[i])))
			other = files[i];
	if (other == NULL)
		return true;
	why_set(why,
	        "the %s is another one than when the experiment began: runs of both would not "
	        "belong together; begin a new one",
	        other);
	return false;
}

bool machine_notes(const json_t *fingerprint, struct texts *notes)
{
	const char *governor = json_string_value(json_object_get(fingerprint, "governor"));
	const char *turbo = json_string_value(json_object_get(fingerprint, "turbo"));
	double load = json_number_value(json_object_get(fingerprint, "load_average"));
	double cpus = json_number_value(json_object_get(fingerprint, "cpus_online"));
	bool done = true;
	if (governor != NULL && strcmp(governor, "performance") != 0)
		done = texts_format(notes,
		        "the CPUs' governor is %s, which changes their clock with the "
		        "load: " HOST_GOVERNOR_REMEDY,
		        governor);
	if (turbo != NULL && strcmp(turbo, "on") == 0)
		done = done &&
		       texts_format(notes, "turbo is on, so the clock depends on heat and on other "
		                           "cores: write 1 to intel_pstate/no_turbo or 0 to "
		                           "cpufreq/boost in " HOST_CPUS);
	if (cpus > 0 && load > MACHINE_MUCH_LOAD * cpus)
		done = done && texts_format(notes,
		                       "other programs were at work when the experiment began "
		                       "(load average %.2f on %.0f CPUs): end them, or run when "
		                       "they have ended",
		                       load, cpus);
	return done;
}
