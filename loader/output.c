/*
 * Writes reports to descriptors and files.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBER_TRIES 10000u

/* A pipe that poll() calls writable takes this much without blocking. */
#define CHUNK PIPE_BUF

static int wait_writable(int fd, int patience_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int ready;
	do
		ready = poll(&poll_fd, 1, patience_ms);
	while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return errno;
	return ready == 0 ? ETIMEDOUT : 0;
}

int output_write(int fd, const char *text, size_t size, int patience_ms)
{
	while (size > 0) {
		int error = wait_writable(fd, patience_ms);
		if (error != 0)
			return error;
		ssize_t written = write(fd, text, size < CHUNK ? size : CHUNK);
		if (written < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (written < 0)
			return errno;
		text += written;
		size -= (size_t)written;
	}
	return 0;
}

/* "dir/out.json", 3 -> "dir/out.3.json". NULL: no memory. */
static char *numbered(const char *path, unsigned number)
{
	const char *base = strrchr(path, '/');
	base = base != NULL ? base + 1 : path;
	const char *dot = strrchr(base, '.');
	if (dot == NULL || dot == base)
		dot = base + strlen(base);
	char *name;
	int length = asprintf(&name, "%.*s.%u%s", (int)(dot - path), path, number, dot);
	return length < 0 ? NULL : name;
}

static int open_special(const char *path, struct output_file *file)
{
	if (strcmp(path, "/dev/stderr") == 0)
		file->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	else if (strcmp(path, "/dev/stdout") == 0)
		file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return file->fd < 0 ? errno : 0;
}

static bool is_special(const char *path)
{
	struct stat status;
	if (strcmp(path, "/dev/stderr") == 0 || strcmp(path, "/dev/stdout") == 0)
		return true;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool output_is_directory(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int output_open(const char *path, struct output_file *file)
{
	bool special = is_special(path);
	*file = (struct output_file){ .fd = -1, .created = !special, .path = strdup(path) };
	if (file->path == NULL)
		return ENOMEM;
	int error = special ? open_special(path, file) : EEXIST;
	if (output_is_directory(path))
		error = EISDIR;
	for (unsigned number = 0; !special && error == EEXIST && number < NUMBER_TRIES; number++) {
		free(file->path);
		file->path = number == 0 ? strdup(path) : numbered(path, number);
		if (file->path == NULL)
			return ENOMEM;
		file->fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		error = file->fd < 0 ? errno : 0;
	}
	if (error != 0) {
		free(file->path);
		file->path = NULL;
	}
	return error;
}

int output_close(struct output_file *file)
{
	int error = close(file->fd) != 0 ? errno : 0;
	free(file->path);
	file->path = NULL;
	return error;
}

void output_guard_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* open() returns the lowest free number: this one. */
		if (open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			return;
	}
}
