/*
 * Opens regular files, and nothing else.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const char *file_kind(mode_t mode)
{
	if (S_ISREG(mode))
		return NULL;
	return S_ISDIR(mode)    ? "a directory"
	       : S_ISFIFO(mode) ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
	                        : "a device";
}

int file_open(const char *path, struct stat *status, const char **why)
{
	if (stat(path, status) != 0) {
		*why = strerror(errno);
		return -1;
	}
	*why = file_kind(status->st_mode);
	if (*why != NULL)
		return -1;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		*why = strerror(errno);
		return -1;
	}
	if (fstat(fd, status) == 0 && S_ISREG(status->st_mode))
		return fd;
	*why = "it changes";
	close(fd);
	return -1;
}
