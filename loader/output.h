/*
 * Bytes out of the command: complete, in bounded time where the target waits for it, and never over
 * an existing file.
 */
#ifndef LOADER_OUTPUT_H
#define LOADER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#define OUTPUT_PATIENCE_MS 2000
#define OUTPUT_FOREVER     (-1)

/*
 * Writes all of text. With a patience in milliseconds it gives up (ETIMEDOUT) when a pipe or
 * terminal takes nothing for that long. Returns 0 or an errno value.
 */
int output_write(int fd, const char *text, size_t size, int patience_ms);

struct output_file {
	int fd;
	char *path;   /* where it really went; the caller's to free */
	bool created; /* a new regular file: false for a device or a pipe */
};

/*
 * Opens path for a report. An existing regular file is left alone: out.json becomes out.1.json,
 * out.2.json, ... A device or a pipe is written to as it is. Returns 0 or an errno value.
 */
int output_open(const char *path, struct output_file *file);

/* Whether the path is a directory, which no report can be written to. */
bool output_is_directory(const char *path);

/* Closes the file and frees its path. Returns 0 or the errno value of a write that came late. */
int output_close(struct output_file *file);

/* Gives descriptors 0 to 2, where closed, a placeholder on which reading and writing fails, so that
 * no file opened later takes their numbers. Programs started from here see them closed again. */
void output_guard_standard_descriptors(void);

#endif
