/*
 * Demangling and shortening of symbol names.
 */
#include "symbol_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The Itanium C++ ABI's entry point, in libstdc++; there is no C header for it. */
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

/* Rust's old mangling ends in "::h" and 16 hexadecimal digits. */
static void drop_rust_hash(char *name)
{
	size_t length = strlen(name);
	if (length <= 19 || strncmp(name + length - 19, "::h", 3) != 0)
		return;
	if (strspn(name + length - 16, "0123456789abcdef") == 16)
		name[length - 19] = '\0';
}

void symbol_demangle(const char *name, char to[SYMBOL_NAME_SIZE])
{
	int status = -1;
	/* "name@@VERSION" in some symbol tables; no language has the sign in its names. */
	char bare[SYMBOL_NAME_SIZE];
	size_t bare_length = strcspn(name, "@");
	if (name[bare_length] == '@' && bare_length > 0 && bare_length < sizeof(bare)) {
		memcpy(bare, name, bare_length);
		bare[bare_length] = '\0';
		name = bare;
	}
	char *plain =
	        strncmp(name, "_Z", 2) == 0 ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
	if (status == 0 && plain != NULL) {
		drop_rust_hash(plain);
		name = plain;
	}
	size_t length = strnlen(name, SYMBOL_NAME_SIZE - 1);
	memcpy(to, name, length);
	to[length] = '\0';
	free(plain);
}

bool symbol_is_header(const char *file)
{
	static const char *const endings[] = { ".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ic",
		".ipp", ".tcc" };
	if (strstr(file, "/include/c++/") != NULL || strncmp(file, "/usr/include/", 13) == 0)
		return true;
	const char *dot = strrchr(file, '.');
	for (size_t i = 0; dot != NULL && i < sizeof(endings) / sizeof(*endings); i++)
		if (strcmp(dot, endings[i]) == 0)
			return true;
	return false;
}

/* Whether the text at `at` is an operator's name, whose brackets are no brackets. */
static size_t operator_length(const char *start, const char *at)
{
	static const char word[] = "operator";
	size_t length = sizeof(word) - 1;
	if (strncmp(at, word, length) != 0 ||
	        (at > start && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
		return 0;
	if (strncmp(at + length, "()", 2) == 0 || strncmp(at + length, "[]", 2) == 0)
		return length + 2;
	return length + strspn(at + length, "<>=-!");
}

/*
 * Copies name without what stands between `open` and `close`, the brackets themselves kept when
 * `keep` is set. "(anonymous namespace)" is no list of arguments and stays.
 */
static void drop_bracketed(char *name, char open, char close, bool keep)
{
	static const char anonymous[] = "(anonymous namespace)";
	int depth = 0;
	const char *from = name;
	char *to = name;
	while (*from != '\0') {
		size_t whole = depth == 0 ? operator_length(name, from) : 0;
		if (whole == 0 && strncmp(from, anonymous, sizeof(anonymous) - 1) == 0 &&
		        depth == 0)
			whole = sizeof(anonymous) - 1;
		if (whole > 0) {
			memmove(to, from, whole);
			to += whole;
			from += whole;
			continue;
		}
		if (*from == open && depth++ == 0 && keep)
			*to++ = open;
		if (*from == close && depth > 0 && --depth == 0) {
			if (keep)
				*to++ = close;
		} else if (depth == 0) {
			*to++ = *from;
		}
		from++;
	}
	*to = '\0';
}

/* Demangled templates begin with their return type, and clones of the compiler end in a note. */
static void keep_name_only(char *text)
{
	static const char word[] = "operator";
	char *clone = strstr(text, " [clone");
	if (clone != NULL)
		*clone = '\0';
	int depth = 0;
	const char *name = text;
	for (const char *at = text; *at != '\0'; at++) {
		size_t before = (size_t)(at - text);
		size_t length = operator_length(text, at);
		if (length > 0) {
			at += length - 1;
			continue;
		}
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
		bool conversion = before >= sizeof(word) - 1 &&
		                  strncmp(at - (sizeof(word) - 1), word, sizeof(word) - 1) == 0;
		if (*at == ' ' && depth == 0 && !conversion)
			name = at + 1;
	}
	memmove(text, name, strlen(name) + 1);
}

/* Behind the first "::" that is not inside template arguments; NULL when there is none. */
static char *next_scope(char *name)
{
	int depth = 0;
	for (char *at = name; *at != '\0'; at++) {
		depth += (*at == '<') - (*at == '>');
		if (depth == 0 && at[0] == ':' && at[1] == ':' && at[2] != '\0')
			return at + 2;
	}
	return NULL;
}

void symbol_shorten(const char *name, unsigned width, char *to)
{
	char text[SYMBOL_NAME_SIZE];
	size_t length = strnlen(name, sizeof(text) - 1);
	memcpy(text, name, length);
	text[length] = '\0';
	drop_bracketed(text, '(', ')', false);
	char *qualifier = strstr(text, " const");
	if (qualifier != NULL && qualifier[6] == '\0')
		*qualifier = '\0';
	keep_name_only(text);
	if (strlen(text) > width)
		drop_bracketed(text, '<', '>', true);
	/* The outermost scopes say least. */
	char *inner = text;
	for (char *scope = text; strlen(inner) > width; inner = scope) {
		scope = next_scope(inner);
		if (scope == NULL)
			break;
	}
	length = strlen(inner);
	if (length <= width) {
		memcpy(to, inner, length + 1);
		return;
	}
	const char *cut = width > 3 ? "..." : "";
	size_t tail = width - strlen(cut);
	memcpy(to, cut, strlen(cut));
	memcpy(to + strlen(cut), inner + length - tail, tail + 1);
}
