/*
 * One line on stderr, whatever bytes the names in it hold.
 */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "output.h"
#include "text.h"

void message(const char *format, ...)
{
	char *plain = NULL, *line = NULL;
	size_t size = 0;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&plain, format, arguments);
	va_end(arguments);
	FILE *out = length < 0 ? NULL : open_memstream(&line, &size);
	if (out != NULL) {
		fputs("abshim: ", out);
		text_escape(out, plain);
		fputc('\n', out);
		if (fclose(out) == 0)
			output_write(STDERR_FILENO, line, size, OUTPUT_PATIENCE_MS);
	}
	free(line);
	if (length >= 0)
		free(plain);
}

void why_set(char why[WHY_SIZE], const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(why, WHY_SIZE, format, arguments);
	va_end(arguments);
}
