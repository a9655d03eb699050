/*
 * Takes the "#!" line of scripts apart.
 */
#include "script.h"

#include <string.h>

#define BLANKS " \t"

bool script_split(char *line, char **interpreter, char **argument)
{
	line[strcspn(line, "\n")] = '\0';
	size_t length = strlen(line);
	while (length > 2 && strchr(BLANKS, line[length - 1]) != NULL)
		line[--length] = '\0';
	*interpreter = line + 2 + strspn(line + 2, BLANKS);
	if (**interpreter == '\0')
		return false;
	*argument = *interpreter + strcspn(*interpreter, BLANKS);
	if (**argument != '\0') {
		*(*argument)++ = '\0';
		*argument += strspn(*argument, BLANKS);
	}
	return true;
}

char *script_program_of_env(char *argument)
{
	char *at = argument;
	if (strncmp(at, "-S", 2) == 0 || strncmp(at, "-vS", 3) == 0)
		at += at[1] == 'S' ? 2 : 3;
	else if (strncmp(at, "--split-string=", 15) == 0)
		at += 15;
	for (;;) {
		at += strspn(at, BLANKS);
		size_t length = strcspn(at, BLANKS);
		if (length == 0 || *at == '-')
			return NULL;
		if (memchr(at, '=', length) == NULL) {
			at[length] = '\0';
			return at;
		}
		at += length;
	}
}
