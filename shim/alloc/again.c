/*
 * Raw system calls only: libc is not ready when this runs.
 */
#include "again.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "probes/sys.h"
#include "shim/auxv.h"

#define EXECUTABLE   "/proc/self/exe"
#define ARGUMENTS    "/proc/self/cmdline"
#define BYTES_FIRST  65536u
#define SCRIPT_DEPTH 8u /* an interpreter, its argument, and scripts that run scripts: 5 levels */

/* argv[count] is NULL. */
struct arguments {
	char **argv;
	size_t count;
};

static void *get_memory(size_t bytes)
{
	long made = sys_call6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return sys_failed(made) ? NULL : (void *)made;
}

/* A whole file of /proc, whose size nobody tells. *bytes: how many were read. */
static char *read_file(const char *path, size_t *bytes)
{
	size_t room = BYTES_FIRST;
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	char *text = fd >= 0 ? get_memory(room) : NULL;
	long got = 0;
	*bytes = 0;
	while (text != NULL && (got = sys_read(fd, text + *bytes, room - *bytes)) > 0) {
		*bytes += (size_t)got;
		if (*bytes < room)
			continue;
		char *more = get_memory(2 * room);
		if (more != NULL)
			memcpy(more, text, room);
		text = more;
		room *= 2;
	}
	if (fd >= 0)
		sys_close(fd);
	return got == 0 ? text : NULL;
}

static bool read_arguments(struct arguments *arguments)
{
	size_t bytes, count = 0;
	char *text = read_file(ARGUMENTS, &bytes);
	/* A program that was started without any has one, since Linux 5.18, which is empty. */
	if (text == NULL || bytes == 0 || text[bytes - 1] != '\0')
		return false;
	for (size_t at = 0; at < bytes; at++)
		count += text[at] == '\0';
	char **argv = get_memory((count + 1) * sizeof(*argv));
	if (argv == NULL)
		return false;
	for (size_t i = 0; i < count; i++) {
		argv[i] = text;
		text += strlen(text) + 1;
	}
	*arguments = (struct arguments){ argv, count };
	return true;
}

static bool file_of(const char *path, struct stat *status)
{
	return !sys_failed(
	        sys_call6(SYS_newfstatat, AT_FDCWD, SYS_ARG(path), SYS_ARG(status), 0, 0, 0));
}

static bool is_executable(const char *path, const struct stat *self)
{
	struct stat status;
	return file_of(path, &status) && status.st_dev == self->st_dev &&
	       status.st_ino == self->st_ino;
}

static bool is_script(const char *path)
{
	char head[2];
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
	bool is = fd >= 0 && sys_read(fd, head, sizeof(head)) == sizeof(head) && head[0] == '#' &&
	          head[1] == '!';
	if (fd >= 0)
		sys_close(fd);
	return is;
}

/* The script by which the kernel came to this program stands among its arguments, behind the
 * interpreter and what the script's first line gives it; the kernel will put all that there again.
 * False: none of them is it. */
static bool leave_to_script(struct arguments *arguments, const char *script)
{
	for (size_t i = 1; i < arguments->count && i <= SCRIPT_DEPTH; i++) {
		if (strcmp(arguments->argv[i], script) != 0)
			continue;
		arguments->argv += i;
		arguments->count -= i;
		return true;
	}
	return false;
}

/* The path to execute; may write it to path. */
static const char *choose_path(
        struct arguments *arguments, const char *executed, char path[PATH_MAX])
{
	struct stat self;
	if (executed == NULL || !file_of(EXECUTABLE, &self))
		return EXECUTABLE;
	if (is_executable(executed, &self))
		return executed;
	if (is_script(executed) && leave_to_script(arguments, executed))
		return executed;
	long length = sys_call6(
	        SYS_readlinkat, AT_FDCWD, SYS_ARG(EXECUTABLE), SYS_ARG(path), PATH_MAX - 1, 0, 0);
	if (length <= 0)
		return EXECUTABLE;
	path[length] = '\0';
	return is_executable(path, &self) ? path : EXECUTABLE;
}

static const struct again_variable *find_change(const struct again *again, const char *string)
{
	for (size_t i = 0; i < again->count; i++) {
		size_t length = strlen(again->variables[i].name);
		if (strncmp(string, again->variables[i].name, length) == 0 && string[length] == '=')
			return &again->variables[i];
	}
	return NULL;
}

/* In the order of the old one, what is new at its end. */
static char **change_environment(const struct again *again, char *const *environment)
{
	size_t count = 0, used = 0;
	bool done[AGAIN_MOST] = { false };
	while (environment[count] != NULL)
		count++;
	char **changed = get_memory((count + again->count + 1) * sizeof(*changed));
	if (changed == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct again_variable *change = find_change(again, environment[i]);
		if (change == NULL) {
			changed[used++] = environment[i];
			continue;
		}
		size_t at = (size_t)(change - again->variables);
		if (!done[at] && change->string != NULL)
			changed[used++] = (char *)(uintptr_t)change->string;
		done[at] = true;
	}
	for (size_t i = 0; i < again->count; i++)
		if (!done[i] && again->variables[i].string != NULL)
			changed[used++] = (char *)(uintptr_t)again->variables[i].string;
	return changed;
}

static const char *fault_of(long error)
{
	switch (-error) {
	case EACCES:
		return "this program may not be executed again (its file's mode, or a file system "
		       "mounted noexec)";
	case EPERM:
		return "the kernel does not let this program execute anything";
	case ENOEXEC:
		return "the kernel does not know how to execute this program: it runs under an "
		       "emulator";
	case ENOENT:
		return "the program's file is not there any more";
	case E2BIG:
		return "no room for longer variables beside the arguments";
	default:
		return "this program cannot be executed again";
	}
}

const char *again_execute(const struct again *again, char *const *environment)
{
	char path[PATH_MAX];
	struct arguments arguments;
	if (!read_arguments(&arguments))
		return "no " ARGUMENTS " to take the program's arguments from";
	char **changed = change_environment(again, environment);
	if (changed == NULL)
		return "no memory to execute the program again";
	const char *executed = (const char *)auxv_find(environment, AT_EXECFN);
	const char *chosen = choose_path(&arguments, executed, path);
	return fault_of(
	        sys_call3(SYS_execve, SYS_ARG(chosen), SYS_ARG(arguments.argv), SYS_ARG(changed)));
}
