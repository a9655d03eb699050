/*
 * A Java virtual machine and its thread-local allocation buffers.
 */
#include <string.h>

#include "arm.h"
#include "hotspot.h"
#include "notes.h"
#include "probes/record_map.h"
#include "shim/real.h"
#include "shim/settings.h"
#include "shim/start.h"

#define OPTION    "UseTLAB"
#define TEXT_SIZE 65536u

bool alloc_java_asked;

static const struct link_map *find_machine(void)
{
	return real_named("libjvm.so");
}

static void note(enum record_tlab tlab)
{
	alloc_notes.tlab = tlab;
	if (start_has_record())
		__atomic_store_n(&record_header->allocation.tlab, tlab, __ATOMIC_RELAXED);
}

char *alloc_java_options(char *value)
{
	static char text[TEXT_SIZE];
	static const char *const options[] = {
		[ALLOC_SHARED] = "-XX:-" OPTION, [ALLOC_TLAB] = "-XX:+" OPTION
	};
	if (find_machine() == NULL)
		return value;
	note(settings.alloc == ALLOC_LIBC      ? TLAB_LEFT
	        : settings.alloc == ALLOC_TLAB ? TLAB_ON
	                                       : TLAB_OFF);
	alloc_java_asked = true;
	if (settings.alloc == ALLOC_LIBC)
		return value;
	const char *option = options[settings.alloc];
	size_t length = value != NULL ? strlen(value) : 0;
	if (length + strlen(option) + 2 > sizeof(text))
		settings_refuse((const char *const[]){ "ABSHIM_ALLOC=", alloc_arm_name(),
		        ": JAVA_TOOL_OPTIONS is too long to add to", NULL });
	if (length > 0) {
		memcpy(text, value, length);
		text[length++] = ' ';
	}
	strcpy(text + length, option);
	return text;
}

/* Options of the command line, of files and of _JAVA_OPTIONS come after JAVA_TOOL_OPTIONS. */
void alloc_java_check(void)
{
	alloc_java_asked = false;
	const struct link_map *machine = find_machine();
	enum hotspot_answer answer =
	        machine != NULL ? hotspot_option(machine, OPTION) : HOTSPOT_UNKNOWN;
	if (answer == HOTSPOT_UNKNOWN)
		return;
	note(answer == HOTSPOT_ON ? TLAB_IS_ON : TLAB_IS_OFF);
	if (settings.alloc != ALLOC_LIBC &&
	        (settings.alloc == ALLOC_TLAB) != (answer == HOTSPOT_ON))
		settings_refuse((const char *const[]){ "ABSHIM_ALLOC=", alloc_arm_name(),
		        ": this Java virtual machine has ", OPTION,
		        " the other way: take it out of "
		        "its other options",
		        NULL });
}
