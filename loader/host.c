/*
 * Reads single lines and fields of the kernel's files.
 */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_file(const char *root, const char *path)
{
	char *whole;
	if (asprintf(&whole, "%s%s", root, path) < 0)
		return NULL;
	FILE *in = fopen(whole, "re");
	free(whole);
	return in;
}

bool host_line(const char *root, const char *path, char line[HOST_LINE])
{
	FILE *in = open_file(root, path);
	bool got = in != NULL && fgets(line, HOST_LINE, in) != NULL;
	if (in != NULL)
		fclose(in);
	line[got ? strcspn(line, "\n") : 0] = '\0';
	return *line != '\0';
}

bool host_field(const char *root, const char *path, const char *key, char value[HOST_LINE])
{
	char line[HOST_LINE];
	size_t length = strlen(key);
	bool found = false;
	FILE *in = open_file(root, path);
	*value = '\0';
	while (in != NULL && !found && fgets(line, sizeof(line), in) != NULL) {
		if (strncmp(line, key, length) != 0 || strchr(": \t", line[length]) == NULL)
			continue;
		char *text = line + length + strspn(line + length, ": \t");
		text[strcspn(text, "\n")] = '\0';
		memcpy(value, text, strlen(text) + 1);
		found = true;
	}
	if (in != NULL)
		fclose(in);
	return found;
}

const char *host_turbo(const char *root)
{
	char line[HOST_LINE];
	if (host_line(root, HOST_TURBO_INTEL, line))
		return strcmp(line, "0") == 0 ? "on" : "off";
	if (host_line(root, HOST_TURBO_OTHER, line))
		return strcmp(line, "1") == 0 ? "on" : "off";
	return "";
}

void host_huge_pages(const char *root, char word[HOST_LINE])
{
	char line[HOST_LINE];
	host_line(root, HOST_HUGE_PAGES, line);
	const char *open = strchr(line, '['), *close = open != NULL ? strchr(open, ']') : NULL;
	*word = '\0';
	if (close != NULL)
		snprintf(word, HOST_LINE, "%.*s", (int)(close - open - 1), open + 1);
}

unsigned host_list_count(const char *list)
{
	unsigned count = 0;
	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		count += last >= first ? (unsigned)(last - first) + 1 : 0;
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}
