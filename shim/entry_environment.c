/*
 * What the program reads of its environment. Nothing is changed there: a Java virtual machine is
 * told more than stands in it, and its children are not.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc/arm.h"
#include "export.h"
#include "real.h"
#include "settings.h"

EXPORT char *getenv(const char *name)
{
	char *value = REAL(getenv)(name);
	if (name[0] == 'J' && settings.matches && strcmp(name, "JAVA_TOOL_OPTIONS") == 0)
		return alloc_java_options(value);
	return value;
}
