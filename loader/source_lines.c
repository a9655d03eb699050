/*
 * Asks the debug information of a file for source lines and inlined functions.
 */
#include "source_lines.h"

#include <dwarf.h>
#include <string.h>

#include "symbol_names.h"

#define MAX_NESTING 64 /* scopes around an address; deeper ones are not looked into */

/* The compilation unit of an address; where the file has no address table (clang writes none), by
 * looking at each unit. */
static Dwarf_Die *find_unit(Dwfl_Module *file, uint64_t address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(file, address, bias);
	if (unit != NULL)
		return unit;
	while ((unit = dwfl_module_nextcu(file, unit, bias)) != NULL)
		if (dwarf_haspc(unit, address - *bias) > 0)
			return unit;
	return NULL;
}

struct frame {
	const char *file; /* NULL: unknown */
	int line, column;
};

/* The place from which an inlined function was called. */
static struct frame caller_of_inlined(Dwarf_Die *unit, Dwarf_Die *inlined)
{
	struct frame frame = { NULL, 0, 0 };
	Dwarf_Attribute attribute;
	Dwarf_Word file, line, column;
	Dwarf_Files *files;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
	        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
	        dwarf_getsrcfiles(unit, &files, NULL) != 0)
		return frame;
	frame.file = dwarf_filesrc(files, file, NULL, NULL);
	frame.line = (int)line;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_column, &attribute), &column) == 0)
		frame.column = (int)column;
	return frame;
}

static void name_inlined(Dwarf_Die *function, struct place *place)
{
	Dwarf_Attribute attribute;
	const char *name =
	        dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
	if (name == NULL)
		name = dwarf_diename(function);
	if (name == NULL)
		return;
	symbol_demangle(name, place->name);
	place->name_offset = 0;
}

/* What can hold code, and what can only hold such things. */
static bool is_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
}

/*
 * Fills path[depth ...] with what is nested around an address, outermost first; returns the new
 * depth. (dwarf_getscopes() finds nothing in units that link-time optimisation made.)
 */
static unsigned find_nesting(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die path[MAX_NESTING],
        unsigned depth, unsigned level)
{
	Dwarf_Die child;
	if (depth >= MAX_NESTING || level >= MAX_NESTING || dwarf_child(parent, &child) != 0)
		return depth;
	do {
		int tag = dwarf_tag(&child);
		unsigned inside = depth;
		if (is_scope(tag)) {
			inside = find_nesting(&child, address, path, depth, level + 1);
		} else if (is_code(tag) && dwarf_haspc(&child, address) > 0) {
			path[depth] = child;
			inside = find_nesting(&child, address, path, depth + 1, level + 1);
		}
		if (inside > depth)
			return inside;
	} while (dwarf_siblingof(&child, &child) == 0);
	return depth;
}

/* What is known about an address: its line, and what is nested around it, outermost first. */
struct nest {
	Dwarf_Die unit;
	Dwarf_Die path[MAX_NESTING];
	unsigned depth;
	struct frame frame;
};

static bool find_nest(Dwfl_Module *file, uint64_t address, struct nest *nest)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = find_unit(file, address, &bias);
	if (unit == NULL)
		return false;
	Dwarf_Line *line = dwarf_getsrc_die(unit, address - bias);
	if (line == NULL || dwarf_lineno(line, &nest->frame.line) != 0)
		return false;
	nest->frame.file = dwarf_linesrc(line, NULL, NULL);
	if (nest->frame.file == NULL)
		return false;
	if (dwarf_linecol(line, &nest->frame.column) != 0)
		nest->frame.column = 0;
	/* With -gsplit-dwarf the functions are in a file of their own. */
	Dwarf_Die split;
	uint8_t type;
	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
	        type == DW_UT_skeleton && split.addr != NULL)
		unit = &split;
	nest->unit = *unit;
	nest->depth = find_nesting(&nest->unit, address - bias, nest->path, 0, 0);
	return true;
}

static void set_line(struct place *place, const struct frame *frame)
{
	strncpy(place->file, frame->file, sizeof(place->file) - 1);
	place->line = (unsigned)frame->line;
	place->column = (unsigned)frame->column;
}

void source_find_line(Dwfl_Module *file, uint64_t address, struct place *place)
{
	struct nest nest;
	/* A function that was inlined has no offset: without a line its calls were all one. */
	if (!find_nest(file, address, &nest) || nest.frame.line == 0)
		return;
	for (unsigned depth = nest.depth; depth > 0; depth--) {
		Dwarf_Die *inlined = &nest.path[depth - 1];
		if (dwarf_tag(inlined) != DW_TAG_inlined_subroutine)
			continue;
		if (!symbol_is_header(nest.frame.file)) {
			name_inlined(inlined, place);
			break;
		}
		struct frame outer = caller_of_inlined(&nest.unit, inlined);
		if (outer.file == NULL)
			break;
		nest.frame = outer;
	}
	set_line(place, &nest.frame);
}

unsigned source_find_inlined(
        Dwfl_Module *file, uint64_t address, struct place places[SYMBOL_MAX_INLINED])
{
	struct nest nest;
	unsigned count = 0;
	if (!find_nest(file, address, &nest))
		return 1;
	for (unsigned depth = nest.depth; depth > 0; depth--) {
		Dwarf_Die *inlined = &nest.path[depth - 1];
		if (dwarf_tag(inlined) != DW_TAG_inlined_subroutine)
			continue;
		struct frame outer = caller_of_inlined(&nest.unit, inlined);
		if (outer.file == NULL || count + 1 == SYMBOL_MAX_INLINED)
			break;
		places[count + 1] = places[count];
		name_inlined(inlined, &places[count]);
		set_line(&places[count++], &nest.frame);
		nest.frame = outer;
	}
	set_line(&places[count], &nest.frame);
	return count + 1;
}
