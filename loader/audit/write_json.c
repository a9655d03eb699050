/*
 * An audit as JSON: a row a file, and which files each argument has.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../json_members.h"
#include "write.h"

#define FORMAT_VERSION 1

static const char *method_word(enum audit_method method)
{
	static const char *const words[] = {
		[AUDIT_SYMBOLS] = "symbols",
		[AUDIT_SHAPE] = "shape",
		[AUDIT_SEGMENTS] = "segments",
	};
	return words[method];
}

static json_t *pair(const char *first, uint64_t a, const char *second, uint64_t b)
{
	json_t *object = json_object();
	member_integer(object, first, a);
	member_integer(object, second, b);
	return object;
}

static json_t *reach_object(uint64_t switchable, uint64_t rewritable, uint64_t fixed)
{
	json_t *object = pair("switchable", switchable, "rewritable", rewritable);
	member_integer(object, "fixed", fixed);
	return object;
}

static json_t *families_object(const struct audit_file *file)
{
	json_t *object = json_object();
	for (size_t i = 0; i < file->family_count; i++) {
		const struct audit_family *family = &file->families[i];
		json_object_set_new(object, family->name,
		        pair("inline", family->in_line, "outline", family->outline));
	}
	return object;
}

static json_t *interposable_object(
        const struct audit_file *file, const struct interposition *interposition)
{
	json_t *object = json_object();
	member_bool(object, "yes", file->interposable);
	member_string(object, "why", file->why);
	json_object_set_new(object, "imports", texts_json(&interposition->imports));
	json_object_set_new(object, "defines", texts_json(&interposition->defines));
	member_bool(object, "opens", interposition->opens);
	return object;
}

static json_t *notes_array(char *const *notes, size_t count)
{
	const struct texts texts = { (char **)notes, count };
	return texts_json(&texts);
}

static void set_flag(json_t *object, const struct audit_file *file)
{
	if (file->flag == AUDIT_FLAG_ONE)
		member_address(object, "flag", file->flag_address);
	else if (file->flag == AUDIT_FLAG_SEVERAL)
		member_string(object, "flag", "disagree");
	else
		json_object_set_new(object, "flag", json_null());
}

static json_t *file_object(const struct audit_file *file, const struct interposition *interposition)
{
	json_t *object = json_object();
	member_string(object, "path", file->path);
	member_known(object, "machine", file->machine);
	member_known(object, "class", file->class);
	member_bool(object, "big_endian", file->big_endian);
	member_string(object, "type", audit_kind_word(file->kind));
	member_bool(object, "static", file->is_static);
	member_string(object, "libc", file->libc);
	member_bool(object, "stripped", file->stripped);
	member_integer(object, "code_bytes", file->code_bytes);
	json_object_set_new(
	        object, "lse", pair("inline", file->lse_inline, "outline", file->lse_outline));
	json_object_set_new(
	        object, "llsc", pair("inline", file->llsc_inline, "outline", file->llsc_outline));
	member_integer(object, "locked", file->locked);
	member_integer(object, "helpers", file->helpers);
	member_integer(object, "helper_calls", file->helper_calls);
	set_flag(object, file);
	json_object_set_new(object, "families", families_object(file));
	json_object_set_new(
	        object, "reach", reach_object(file->switchable, file->rewritable, file->fixed));
	json_object_set_new(object, "interposable", interposable_object(file, interposition));
	member_string(object, "method", method_word(file->method));
	member_bool(object, "complete", file->complete);
	json_object_set_new(object, "notes", notes_array(file->notes, file->note_count));
	return object;
}

static json_t *target_object(const struct survey *survey, const struct target *target)
{
	json_t *object = json_object(), *files = json_array();
	struct audit_sum sum = audit_sum(survey, target, "aarch64");
	const char *bar = target_bar(survey, target);
	for (size_t i = 0; i < target->row_count; i++)
		json_array_append_new(files, json_integer((json_int_t)target->rows[i]));
	member_string(object, "name", target->name);
	member_string(object, "kind", target_kind_word(target->kind));
	json_object_set_new(object, "files", files);
	json_object_set_new(
	        object, "reach", reach_object(sum.switchable, sum.rewritable, sum.fixed));
	member_integer(object, "locked", audit_sum(survey, target, "x86-64").locked);
	member_known(object, "barred", bar != NULL ? bar : "");
	member_bool(object, "complete", target_is_complete(survey, target));
	json_object_set_new(object, "notes", notes_array(target->notes.items, target->notes.count));
	return object;
}

json_t *audit_json(const struct survey *survey)
{
	json_t *object = json_object(), *files = json_array(), *targets = json_array();
	json_object_set_new(object, "version", json_integer(FORMAT_VERSION));
	for (size_t i = 0; i < survey->list.count; i++)
		json_array_append_new(
		        files, file_object(&survey->list.files[i], &survey->interpositions[i]));
	for (size_t i = 0; i < survey->target_count; i++)
		json_array_append_new(targets, target_object(survey, &survey->targets[i]));
	json_object_set_new(object, "files", files);
	json_object_set_new(object, "targets", targets);
	return object;
}
