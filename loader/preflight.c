/*
 * Finds the program as execvp() would, and refuses those that ld.so would not preload into.
 */
#include "preflight.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "alloc.h"
#include "command.h"
#include "script.h"
#include "words.h"

#define DEFAULT_PATH "/bin:/usr/bin" /* confstr(_CS_PATH) */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#define OWN_LOADER  "ld-linux-x86-64.so"
#else
#define OWN_MACHINE EM_AARCH64
#define OWN_LOADER  "ld-linux-aarch64.so"
#endif

/* 0 when the file can be executed, else an errno value. */
static int try_file(const char *path)
{
	struct stat status;
	if (stat(path, &status) != 0)
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	if (!S_ISREG(status.st_mode))
		return EACCES;
	return access(path, X_OK) == 0 ? 0 : errno;
}

static int explain_file(const char *path, int error, char why[WHY_SIZE])
{
	if (error == ENOENT || error == ENOTDIR) {
		why_set(why, "%.300s: no such program", path);
		return EXIT_NOT_FOUND;
	}
	why_set(why, "%.300s: cannot be run: %s", path, strerror(error));
	return EXIT_CANNOT_RUN;
}

/* One directory of PATH: an empty one is the working directory. NULL: no memory. */
static char *join(const char *directory, size_t length, const char *command)
{
	char *path;
	int made = length == 0 ? asprintf(&path, "./%s", command)
	                       : asprintf(&path, "%.*s/%s", (int)length, directory, command);
	return made < 0 ? NULL : path;
}

/* Sets *path, the caller's to free. Returns an exit status. */
static int find_command(
        const char *command, const struct environment *environment, char **path, char why[WHY_SIZE])
{
	int refused = 0;
	*path = NULL;
	if (strchr(command, '/') != NULL || *command == '\0') {
		int error = *command == '\0' ? ENOENT : try_file(command);
		if (error != 0)
			return explain_file(*command == '\0' ? "(empty)" : command, error, why);
		*path = strdup(command);
		return *path != NULL ? 0 : EXIT_CANNOT_RUN;
	}
	const char *list = environment_get(environment, "PATH");
	for (const char *at = list != NULL ? list : DEFAULT_PATH;; at++) {
		size_t length = strcspn(at, ":");
		char *candidate = join(at, length, command);
		int error = candidate != NULL ? try_file(candidate) : ENOMEM;
		if (error == 0) {
			*path = candidate;
			return 0;
		}
		free(candidate);
		if (error != ENOENT && error != ENOTDIR && error != EISDIR)
			refused = error;
		at += length;
		if (*at == '\0')
			break;
	}
	if (refused != 0)
		return explain_file(command, refused, why);
	why_set(why, "%.300s: not found on PATH", command);
	return EXIT_NOT_FOUND;
}

/* A program that gains rights by its file runs in secure mode, where ld.so ignores LD_PRELOAD. */
static bool gains_rights(int fd, const char *path, char why[WHY_SIZE])
{
	struct stat status;
	const char *what = NULL;
	if (fstat(fd, &status) != 0)
		return false;
	if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid())
		what = "is set-user-ID";
	else if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 &&
	         status.st_gid != getgid())
		what = "is set-group-ID";
	else if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		what = "has file capabilities";
	if (what == NULL)
		return false;
	why_set(why,
	        "%.300s %s, so the kernel would make ld.so ignore LD_PRELOAD: run a copy of it"
	        " without that, or run as its user",
	        path, what);
	return true;
}

static bool check_machine(const char *path, const struct elf_facts *facts, char why[WHY_SIZE])
{
	if (facts->is_64_bit && facts->machine == OWN_MACHINE)
		return true;
	const char *other = words_machine(facts->machine);
	if (other != NULL && facts->is_64_bit)
		why_set(why, "%.300s is a program for %s, this abshim is for %s", path, other,
		        words_machine(OWN_MACHINE));
	else
		why_set(why,
		        "%.300s is a %s-bit program for another machine (ELF machine %u), this "
		        "abshim is for 64-bit %s",
		        path, facts->is_64_bit ? "64" : "32", facts->machine,
		        words_machine(OWN_MACHINE));
	return false;
}

static bool check_loader(const char *path, const struct elf_facts *facts, char why[WHY_SIZE])
{
	const char *loader = words_base_name(facts->interpreter);
	if (facts->is_loader && !facts->dynamic) /* ld.so itself obeys LD_PRELOAD */
		return true;
	if (!facts->dynamic)
		why_set(why, "%.300s is statically linked: nothing can be preloaded into it", path);
	else if (strstr(loader, "musl") != NULL)
		why_set(why, "%.200s is linked with musl (%.100s): libabshim.so needs glibc", path,
		        facts->interpreter);
	else if (strncmp(loader, OWN_LOADER, strlen(OWN_LOADER)) != 0)
		why_set(why,
		        "%.200s asks for the loader %.100s, which is not glibc's: "
		        "libabshim.so needs glibc",
		        path, facts->interpreter);
	else if (access(facts->interpreter, X_OK) != 0)
		why_set(why, "%.200s asks for the loader %.100s: %s", path, facts->interpreter,
		        strerror(errno));
	else
		return true;
	return false;
}

/* The value of ABSHIM_ATOMICS where it asks for a switch, else NULL. */
static const char *asked_atomics(const struct environment *environment)
{
	const char *value = environment_get(environment, "ABSHIM_ATOMICS");
	return value != NULL && strcmp(value, "native") != 0 ? value : NULL;
}

/* Go asks the kernel itself what the CPU has, and keeps the answer where nobody finds it. */
static bool check_switch(const char *path, const struct elf_facts *facts,
        const struct environment *environment, char why[WHY_SIZE])
{
	const char *value = asked_atomics(environment);
	if (facts->is_go && alloc_is_asked(environment)) {
		why_set(why,
		        "%.300s is a Go program, which allocates by itself: leave alloc at libc "
		        "and stats at another value than alloc",
		        path);
		return false;
	}
	if (value == NULL || !facts->is_go)
		return true;
	why_set(why,
	        "%.300s is a Go program, whose atomics atomics=%.20s does not reach: leave it at "
	        "native",
	        path, value);
	return false;
}

static int check_elf(struct preflight *preflight, const char *path, int fd,
        const struct environment *environment, char why[WHY_SIZE])
{
	struct elf_facts facts;
	if (!elf_inspect(fd, &facts)) {
		why_set(why, "%.300s is neither an ELF program nor a script that begins with #!",
		        path);
		return EXIT_CANNOT_RUN;
	}
	if (!facts.is_program) {
		why_set(why, "%.300s is an ELF file, but not a program", path);
		return EXIT_CANNOT_RUN;
	}
	if (!check_machine(path, &facts, why))
		return EXIT_CANNOT_RUN;
	if (!facts.is_complete) {
		why_set(why, "%.300s is a damaged ELF program: it ends before its segments do",
		        path);
		return EXIT_CANNOT_RUN;
	}
	if (!check_loader(path, &facts, why) || gains_rights(fd, path, why) ||
	        !check_switch(path, &facts, environment, why))
		return EXIT_CANNOT_RUN;
	int status = alloc_check_program(path, fd, environment, &preflight->is_java, why);
	if (status != 0)
		return status;
	memcpy(preflight->sanitizer, facts.sanitizer, sizeof(preflight->sanitizer));
	return 0;
}

static int check_file(struct preflight *preflight, const char *path,
        const struct environment *environment, int depth, char why[WHY_SIZE]);

static int check_script(struct preflight *preflight, const char *path, char *line,
        const struct environment *environment, int depth, char why[WHY_SIZE])
{
	char *interpreter, *argument, *program_path;
	if (!script_split(line, &interpreter, &argument)) {
		why_set(why, "%.300s: its #! line names no interpreter", path);
		return EXIT_CANNOT_RUN;
	}
	int error = try_file(interpreter);
	if (error != 0) {
		why_set(why, "%.200s: its interpreter %.200s cannot be run: %s", path, interpreter,
		        strerror(error));
		return EXIT_CANNOT_RUN;
	}
	int status = check_file(preflight, interpreter, environment, depth + 1, why);
	if (status != 0 || strcmp(words_base_name(interpreter), "env") != 0)
		return status;
	char *program = script_program_of_env(argument);
	if (program == NULL)
		return 0;
	status = find_command(program, environment, &program_path, why);
	if (status == 0)
		status = check_file(preflight, program_path, environment, depth + 1, why);
	free(program_path);
	return status;
}

static int check_file(struct preflight *preflight, const char *path,
        const struct environment *environment, int depth, char why[WHY_SIZE])
{
	char line[SCRIPT_LINE_SIZE + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno == EACCES) /* it may be run but not read: the proof of life decides */
		return 0;
	if (fd < 0)
		return explain_file(path, errno, why);
	ssize_t length = pread(fd, line, SCRIPT_LINE_SIZE, 0);
	line[length > 0 ? length : 0] = '\0';
	int status;
	if (strncmp(line, "#!", 2) != 0) {
		status = check_elf(preflight, path, fd, environment, why);
	} else if (depth >= SCRIPT_MAX_DEPTH) {
		why_set(why, "%.300s: scripts that run scripts, too deep", path);
		status = EXIT_CANNOT_RUN;
	} else {
		status = check_script(preflight, path, line, environment, depth, why);
	}
	close(fd);
	return status;
}

int preflight_check_settings(const struct environment *environment, char why[WHY_SIZE])
{
	const char *value = asked_atomics(environment);
	int status = alloc_check_settings(environment, why);
	if (status != 0 || value == NULL || OWN_MACHINE == EM_AARCH64)
		return status;
	why_set(why,
	        "atomics=%.20s: the switch between LSE and LL/SC is AArch64's, this abshim is for "
	        "%s",
	        value, words_machine(OWN_MACHINE));
	return EXIT_REFUSED;
}

int preflight_check(struct preflight *preflight, const char *command,
        const struct environment *environment, char why[WHY_SIZE])
{
	*preflight = (struct preflight){ .path = NULL };
	int status = find_command(command, environment, &preflight->path, why);
	if (status == 0)
		status = check_file(preflight, preflight->path, environment, 0, why);
	if (status == 0)
		status = preflight_check_settings(environment, why);
	if (status != 0) {
		free(preflight->path);
		preflight->path = NULL;
	}
	return status;
}
