/*
 * Record files from tmpfs to where an experiment keeps them.
 */
#include "records.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME  "/abshim-ab-XXXXXX"
#define CHUNK 65536

static bool copy_range(int from, int to, off_t at, off_t end)
{
	char chunk[CHUNK];
	while (at < end) {
		size_t size = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		ssize_t got = pread(from, chunk, size, at);
		if (got <= 0 || pwrite(to, chunk, (size_t)got, at) != got)
			return false;
		at += got;
	}
	return true;
}

static bool copy_data(int from, int to)
{
	struct stat status;
	if (fstat(from, &status) != 0 || ftruncate(to, status.st_size) != 0)
		return false;
	off_t at = 0, end;
	while ((at = lseek(from, at, SEEK_DATA)) >= 0 && at < status.st_size) {
		end = lseek(from, at, SEEK_HOLE);
		if (end < 0 || !copy_range(from, to, at, end))
			return false;
		at = end;
	}
	return true;
}

bool records_move(const char *from, const char *to)
{
	if (rename(from, to) == 0)
		return true;
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	bool done = out >= 0 && copy_data(in, out);
	if (out >= 0)
		close(out);
	if (in >= 0)
		close(in);
	if (done)
		unlink(from);
	return done;
}

char *records_make_directory(void)
{
	const char *const places[] = { getenv("ABSHIM_DIR"), "/dev/shm", getenv("TMPDIR"), "/tmp" };
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char *path;
		if (places[i] == NULL || asprintf(&path, "%s" NAME, places[i]) < 0)
			continue;
		if (mkdtemp(path) != NULL)
			return path;
		free(path);
	}
	return NULL;
}

void records_remove_directory(const char *path)
{
	struct stat status;
	if (strstr(path, "/abshim-ab-") == NULL || lstat(path, &status) != 0 ||
	        !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
		return;
	DIR *directory = opendir(path);
	struct dirent *entry;
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory != NULL)
		closedir(directory);
	rmdir(path);
}
