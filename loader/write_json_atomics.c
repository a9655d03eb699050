/*
 * What a JSON report says of the atomics switch.
 */
#include <string.h>

#include "atomics_rows.h"
#include "json_members.h"
#include "words.h"
#include "write_json.h"

static json_t *left_object(const uint32_t left[LEFT_COUNT])
{
	json_t *object = json_object();
	for (int i = 0; i < LEFT_COUNT; i++)
		member_integer(object, atomics_left_name[i], left[i]);
	return object;
}

static json_t *row_object(const struct atomics_row *row)
{
	static const char *const reach[] = {
		[ATOMICS_ACTIVE] = "active",
		[ATOMICS_UNREACHABLE] = "unreachable",
		[ATOMICS_INERT] = "inert",
	};
	const struct record_atomics *made = &row->made;
	json_t *object = json_object(), *in_line = json_object();
	member_string(object, "path", made->path);
	member_string(object, "choice", words_atomics(row->choice));
	member_integer(object, "loads", row->loads);
	member_integer(object, "unloaded", row->unloaded);
	member_string(object, "reach", reach[atomics_row_reach(row)]);
	member_string(object, "outline", atomics_outline_name(made->outline));
	member_integer(object, "helpers", made->helpers);
	member_integer(object, "flags", made->flags);
	if (made->flag != 0)
		member_address(object, "flag", made->flag);
	else
		json_object_set_new(object, "flag", json_null());
	member_integer(in_line, "found", made->inline_found);
	member_integer(in_line, "rewritten", made->inline_rewritten);
	member_integer(in_line, "outside", made->outside);
	member_integer(in_line, "kept", made->kept);
	json_object_set_new(in_line, "left", left_object(made->left));
	json_object_set_new(object, "inline", in_line);
	json_object_set_new(object, "early", json_boolean(made->early != 0));
	json_object_set_new(object, "unreadable",
	        made->unreadable != 0 ? json_string(strerror((int)made->unreadable)) : json_null());
	return object;
}

/* The choice of all processes; null where they differ. */
static json_t *choice_value(const struct model *model)
{
	uint32_t first = model->processes->record->control.atomics;
	for (size_t i = 1; i < model->process_count; i++)
		if (model->processes[i].record->control.atomics != first)
			return json_null();
	return json_string(words_atomics(first));
}

json_t *json_atomics(const struct model *model)
{
	struct atomics_rows rows = atomics_rows_new(model);
	json_t *object = json_object(), *total = json_object(), *array = json_array();
	for (size_t i = 0; i < rows.count; i++)
		json_array_append_new(array, row_object(&rows.rows[i]));
	member_integer(total, "objects", rows.total.objects);
	member_integer(total, "switched", rows.total.switched);
	member_integer(total, "helpers", rows.total.helpers);
	member_integer(total, "rewritten_objects", rows.total.rewritten_objects);
	member_integer(total, "found", rows.total.found);
	member_integer(total, "rewritten", rows.total.rewritten);
	member_integer(total, "outside", rows.total.outside);
	member_integer(total, "unreachable", rows.total.unreachable);
	member_integer(total, "inert", rows.total.inert);
	member_integer(total, "lost", rows.lost);
	json_object_set_new(object, "choice", choice_value(model));
	json_object_set_new(object, "total", total);
	json_object_set_new(object, "objects", array);
	atomics_rows_free(&rows);
	return object;
}
