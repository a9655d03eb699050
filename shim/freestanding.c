/*
 * The few string functions that the shim and its compiler use, for libabshim.so alone: a program
 * may bring its own (a sanitizer's interceptors do), which must neither see nor serve our calls.
 */
#include <stddef.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	char *at = to;
	const char *source = from;
	while (size-- > 0)
		*at++ = *source++;
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	char *at = to;
	const char *source = from;
	if (at <= source)
		return memcpy(to, from, size);
	while (size-- > 0)
		at[size] = source[size];
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	char *at = to;
	while (size-- > 0)
		*at++ = (char)byte;
	return to;
}

int memcmp(const void *left, const void *right, size_t size)
{
	const unsigned char *a = left, *b = right;
	for (; size > 0; size--, a++, b++)
		if (*a != *b)
			return *a - *b;
	return 0;
}

void *memchr(const void *bytes, int byte, size_t size)
{
	const unsigned char *at = bytes;
	for (; size > 0; size--, at++)
		if (*at == (unsigned char)byte)
			return (void *)at;
	return NULL;
}

size_t strnlen(const char *text, size_t size)
{
	size_t length = 0;
	while (length < size && text[length] != '\0')
		length++;
	return length;
}

size_t strlen(const char *text)
{
	return strnlen(text, (size_t)-1);
}

char *strcpy(char *restrict to, const char *restrict from)
{
	return memcpy(to, from, strlen(from) + 1);
}

int strncmp(const char *left, const char *right, size_t size)
{
	for (; size > 0; size--, left++, right++)
		if (*left != *right || *left == '\0')
			return (unsigned char)*left - (unsigned char)*right;
	return 0;
}

int strcmp(const char *left, const char *right)
{
	return strncmp(left, right, (size_t)-1);
}

char *strchr(const char *text, int byte)
{
	for (; *text != (char)byte; text++)
		if (*text == '\0')
			return NULL;
	return (char *)text;
}

char *strrchr(const char *text, int byte)
{
	const char *found = NULL;
	for (; *text != '\0'; text++)
		if (*text == (char)byte)
			found = text;
	return (char *)(byte == '\0' ? text : found);
}

char *strstr(const char *text, const char *part)
{
	size_t length = strlen(part);
	for (; strncmp(text, part, length) != 0; text++)
		if (*text == '\0')
			return NULL;
	return (char *)text;
}
