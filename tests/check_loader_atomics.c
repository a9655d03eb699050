/*
 * What reports say of the atomics switch: a line for each object with what became of it, sums,
 * doubts, and the same in JSON; of several processes together.
 */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/atomics_rows.h"
#include "loader/since.h"
#include "loader/write.h"
#include "tests/synthetic.h"

static struct synthetic made[2];
static struct record *records[2];
static struct model *model;
static struct symbols *symbols;

static struct record_control *control(int process)
{
	return synthetic_entry(&made[process], REGION_CONTROL, 0);
}

static void start(void)
{
	for (int i = 0; i < 2; i++) {
		made[i] = synthetic_new();
		made[i].header->machine = 183;
		control(i)->atomics = ATOMICS_LLSC;
		synthetic_thread(&made[i], 11, "main")->counters.mutex.acquired = 1;
	}
}

static void stop(void)
{
	symbols_close(symbols);
	model_free(model);
	for (int i = 0; i < 2; i++) {
		record_free(records[i]);
		free(made[i].bytes);
	}
}

static void build(size_t count)
{
	struct model_source sources[2];
	char why[WHY_SIZE];
	for (size_t i = 0; i < count; i++) {
		records[i] = synthetic_read(&made[i], made[i].size, why);
		ck_assert_msg(records[i] != NULL, "%s", why);
		sources[i] = (struct model_source){ .record = records[i], .wait_status = -1 };
	}
	model = model_build(sources, count);
	ck_assert_ptr_nonnull(model);
	symbols = symbols_open(model->mapped);
	ck_assert_ptr_nonnull(symbols);
}

static char *written(write_function *write, size_t top)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	ck_assert(write(out, model, symbols, &(struct write_options){ .top = top }));
	fclose(out);
	return text;
}

/* The text with every run of blanks and line ends as one blank. */
static char *flat_report(size_t top)
{
	char *text = written(write_text, top), *to = text;
	for (const char *from = text; *from != '\0'; from++) {
		bool blank = *from == ' ' || *from == '\n';
		if (!blank || (to > text && to[-1] != ' '))
			*to++ = (char)(blank ? ' ' : *from);
	}
	*to = '\0';
	return text;
}

static void expect_text(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

static void expect_none(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) == NULL, "\"%s\" is in:\n%s", part, text);
}

static const json_t *member_at(const json_t *value, const char *path)
{
	char copy[128], *rest = copy, *step;
	snprintf(copy, sizeof(copy), "%s", path);
	while ((step = strsep(&rest, "/")) != NULL)
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(step))
		                             : json_object_get(value, step);
	ck_assert_msg(value != NULL, "there is no %s", path);
	return value;
}

static void expect_number(const json_t *report, const char *path, long long number)
{
	const json_t *value = member_at(report, path);
	ck_assert_msg(json_is_integer(value) && json_integer_value(value) == number,
	        "%s is not %lld", path, number);
}

static void expect_string(const json_t *report, const char *path, const char *text)
{
	const char *value = json_string_value(member_at(report, path));
	ck_assert_msg(value != NULL && strcmp(value, text) == 0, "%s is %s, not %s", path,
	        value != NULL ? value : "no string", text);
}

static json_t *json_report(void)
{
	char *text = written(write_json, WRITE_DEFAULT_TOP);
	json_t *report = json_loads(text, 0, NULL);
	ck_assert_msg(report != NULL, "no JSON: %s", text);
	free(text);
	return report;
}

static void set_outline(
        struct record_atomics *atomics, uint32_t outline, uint32_t helpers, uint64_t flag)
{
	atomics->outline = outline;
	atomics->helpers = helpers;
	atomics->flag = flag;
}

static void set_inline(
        struct record_atomics *atomics, uint32_t found, uint32_t rewritten, enum record_left reason)
{
	atomics->inline_found = found;
	atomics->inline_rewritten = rewritten;
	atomics->left[reason] = found - rewritten;
}

/* One object of every kind. */
static void add_objects(struct synthetic *to)
{
	synthetic_atomics(to, "/lib/libm.so.6");
	synthetic_atomics(to, "/lib/libgone.so")->unloaded = 1;
	set_outline(synthetic_atomics(to, "/lib/libc.so.6"), OUTLINE_SWITCHED, 22, 0x1a2b40);
	struct record_atomics *both = synthetic_atomics(to, "/usr/bin/mongod");
	set_outline(both, OUTLINE_SWITCHED, 3, 0x1234);
	both->flags = 2;
	set_inline(both, 4000, 3990, LEFT_unproved);
	both->left[LEFT_unproved] = 7;
	both->left[LEFT_literal] = 3;
	set_inline(synthetic_atomics(to, "/lib/libv81.so"), 12, 12, LEFT_unproved);
	set_inline(synthetic_atomics(to, "/lib/libstuck.so"), 2, 0, LEFT_range);
	set_outline(synthetic_atomics(to, "/lib/libodd.so"), OUTLINE_DISAGREE, 2, 0);
	set_outline(synthetic_atomics(to, "/lib/libprotected.so"), OUTLINE_PROTECTED, 1, 0x99);
	synthetic_atomics(to, "/lib/libblind.so")->unreadable = EACCES;
	struct record_atomics *unloaded = synthetic_atomics(to, "/lib/plugin.so");
	set_outline(unloaded, OUTLINE_SWITCHED, 1, 0x50);
	unloaded->unloaded = 1;
	synthetic_atomics(to, "/lib/claimed.so")->state = 0;
}

START_TEST(text_says_what_became_of_each_object)
{
	add_objects(&made[0]);
	build(1);
	char *text = flat_report(WRITE_DEFAULT_TOP);
	static const char *const parts[] = {
		" settings: atomics=llsc ",
		" libc.so.6 outline switched to LL/SC (22 helpers, flag 0x1a2b40) ",
		" mongod outline switched to LL/SC (3 helpers, 2 flags, the first 0x1234); inline "
		"rewritten "
		"(3,990 "
		"of 4,000; left: 7 not proved to be code, 3 a load's literal) ",
		" libv81.so inline rewritten (12 of 12) ",
		" libstuck.so inline rewritten (0 of 2; left: 2 no memory within a branch's "
		"reach) ",
		" libodd.so outline out of reach (2 helpers, whose flags are too many or no data) ",
		" libprotected.so outline out of reach (1 helper, flag 0x99 cannot be written) ",
		" libblind.so out of reach (its code cannot be read: Permission denied) ",
		" plugin.so (unloaded) outline switched to LL/SC (1 helper, flag 0x50) ",
		" 2 objects inert (no atomics): libgone.so (unloaded), libm.so.6 ",
		" total: 10 objects; 3 switched by the flag (26 helpers); inline rewritten in 2 "
		"(4,002 of 4,014); 4 out of reach; 2 inert ",
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		expect_text(text, parts[i]);
	expect_none(text, "claimed.so");
	ck_assert(strstr(text, " mongod outline") < strstr(text, " libc.so.6 outline"));
	ck_assert(strstr(text, " plugin.so (un") < strstr(text, " libblind.so out"));
	free(text);
}
END_TEST

START_TEST(what_needs_no_switch_is_told_apart)
{
	struct record_atomics *row = synthetic_atomics(&made[0], "/lib/libsc.so");
	row->kept = 5;
	row->outside = 3;
	row = synthetic_atomics(&made[0], "/lib/libboth.so");
	set_inline(row, 2, 2, LEFT_unproved);
	row->outside = 1;
	row->early = 1;
	synthetic_atomics(&made[0], "/lib/libm.so");
	build(1);
	char *text = flat_report(WRITE_DEFAULT_TOP);
	expect_text(text, " libboth.so inline rewritten (2 of 2); 1 word that looks like atomics, "
	                  "in no function of the unwind tables: not counted ");
	expect_text(text, " 1 object inert (no atomics): libm.so ");
	expect_text(text, " 1 object inert (already LL/SC): libsc.so ");
	expect_text(text, "; 2 inert; 4 words outside functions not counted ");
	expect_text(text, " - initialised before all others (DF_1_INITFIRST), so code ran before "
	                  "anything was switched: libboth.so ");
	free(text);
	json_t *report = json_report();
	expect_number(report, "atomics/objects/0/inline/outside", 1);
	ck_assert(json_is_true(member_at(report, "atomics/objects/0/early")));
	expect_number(report, "atomics/objects/1/inline/kept", 0);
	expect_number(report, "atomics/total/outside", 4);
	json_decref(report);
}
END_TEST

START_TEST(doubts_are_notes)
{
	add_objects(&made[0]);
	made[0].header->regions[REGION_ATOMICS].lost = 5;
	build(1);
	char *text = flat_report(WRITE_DEFAULT_TOP);
	static const char *const parts[] = {
		" - no room for what the atomics switch did to 5 objects",
		" - 12 of 4,014 inline atomics stay as they were built (reasons below): mongod, "
		"libstuck.so ",
		" - the flag of outline atomics cannot be written, so they go by the CPU as ever: "
		"libprotected.so ",
		" - outline atomics whose flags are too many or no data, of which none was set: "
		"libodd.so ",
		" - code in which inline atomics could not be looked for: libblind.so ",
		" - 4,002 inline atomics rewritten: each takes two branches more and may save "
		"registers, and has a barrier more where it orders both ways, so this is slower "
		"than a program that was built for LL/SC ",
		" - the atomics switch reaches files that ld.so loads: ",
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		expect_text(text, parts[i]);
	expect_none(text, "take it for not switched");
	free(text);
}
END_TEST

START_TEST(nothing_is_said_where_nothing_was_asked)
{
	add_objects(&made[0]);
	control(0)->atomics = ATOMICS_NATIVE;
	build(1);
	char *text = flat_report(WRITE_DEFAULT_TOP);
	expect_none(text, "tomics");
	expect_none(text, "libc.so.6");
	free(text);
	json_t *report = json_report();
	expect_string(report, "atomics/choice", "native");
	ck_assert_uint_eq(json_array_size(member_at(report, "atomics/objects")), 0);
	expect_number(report, "atomics/total/objects", 0);
	json_decref(report);
	ck_assert(!atomics_recorded(records[0]));
}
END_TEST

START_TEST(silence_is_a_doubt)
{
	build(1);
	char *text = flat_report(WRITE_DEFAULT_TOP);
	expect_text(text, "take it for not switched");
	expect_none(text, "total: ");
	free(text);
}
END_TEST

START_TEST(json_has_every_object)
{
	add_objects(&made[0]);
	build(1);
	json_t *report = json_report();
	expect_string(report, "settings/atomics", "llsc");
	expect_string(report, "atomics/choice", "llsc");
	ck_assert_uint_eq(json_array_size(member_at(report, "atomics/objects")), 10);
	expect_string(report, "atomics/objects/0/path", "/usr/bin/mongod");
	expect_number(report, "atomics/objects/0/flags", 2);
	expect_string(report, "atomics/objects/0/choice", "llsc");
	expect_string(report, "atomics/objects/0/reach", "active");
	expect_string(report, "atomics/objects/0/outline", "switched");
	expect_number(report, "atomics/objects/0/helpers", 3);
	expect_string(report, "atomics/objects/0/flag", "0x1234");
	expect_number(report, "atomics/objects/0/inline/found", 4000);
	expect_number(report, "atomics/objects/0/inline/rewritten", 3990);
	expect_number(report, "atomics/objects/0/inline/left/unproved", 7);
	expect_number(report, "atomics/objects/0/inline/left/literal", 3);
	expect_number(report, "atomics/objects/0/inline/left/protected", 0);
	expect_number(report, "atomics/objects/0/loads", 1);
	ck_assert(json_is_null(member_at(report, "atomics/objects/0/unreadable")));
	expect_string(report, "atomics/objects/7/path", "/lib/libblind.so");
	expect_string(report, "atomics/objects/7/reach", "unreachable");
	expect_string(report, "atomics/objects/7/unreadable", "Permission denied");
	expect_string(report, "atomics/objects/9/reach", "inert");
	ck_assert(json_is_null(member_at(report, "atomics/objects/9/flag")));
	expect_number(report, "atomics/total/objects", 10);
	expect_number(report, "atomics/total/switched", 3);
	expect_number(report, "atomics/total/helpers", 26);
	expect_number(report, "atomics/total/rewritten_objects", 2);
	expect_number(report, "atomics/total/found", 4014);
	expect_number(report, "atomics/total/rewritten", 4002);
	expect_number(report, "atomics/total/unreachable", 4);
	expect_number(report, "atomics/total/inert", 2);
	expect_number(report, "atomics/total/lost", 0);
	json_decref(report);
}
END_TEST

/* What is the same in two processes is one row; what differs is two. */
START_TEST(rows_of_one_path_are_merged)
{
	for (int i = 0; i < 2; i++) {
		struct record_atomics *row = synthetic_atomics(&made[i], "/lib/libc.so.6");
		set_outline(row, OUTLINE_SWITCHED, 22, 0x100);
		row->base = 0x1000u * (unsigned)(i + 1);
		row->unloaded = (uint32_t)i;
		row = synthetic_atomics(&made[i], "/lib/libx.so");
		set_inline(row, 8, 8 - (uint32_t)i, LEFT_memory);
	}
	build(2);
	json_t *report = json_report();
	ck_assert_uint_eq(json_array_size(member_at(report, "atomics/objects")), 3);
	expect_string(report, "atomics/objects/0/path", "/lib/libc.so.6");
	expect_number(report, "atomics/objects/0/loads", 2);
	expect_number(report, "atomics/objects/0/unloaded", 1);
	expect_number(report, "atomics/objects/1/inline/rewritten", 8);
	expect_number(report, "atomics/objects/2/inline/rewritten", 7);
	json_decref(report);
	char *text = flat_report(WRITE_DEFAULT_TOP);
	expect_text(text, " libc.so.6 (1 unloaded) outline switched ");
	free(text);
}
END_TEST

START_TEST(choices_of_processes_are_kept_apart)
{
	for (int i = 0; i < 2; i++)
		set_outline(synthetic_atomics(&made[i], "/lib/libc.so.6"), OUTLINE_SWITCHED, 22, 1);
	control(1)->atomics = ATOMICS_LSE;
	build(2);
	char *text = flat_report(WRITE_DEFAULT_TOP);
	expect_text(text, " outline switched to LSE (22 helpers, flag 0x1) ");
	expect_text(text, " outline switched to LL/SC (22 helpers, flag 0x1) ");
	free(text);
	json_t *report = json_report();
	ck_assert(json_is_null(member_at(report, "atomics/choice")));
	expect_string(report, "atomics/objects/0/choice", "lse");
	json_decref(report);
}
END_TEST

START_TEST(lse_arms_add_no_barrier)
{
	control(0)->atomics = ATOMICS_LSE;
	set_inline(synthetic_atomics(&made[0], "/lib/libx.so"), 2, 2, LEFT_memory);
	build(1);
	char *text = flat_report(WRITE_DEFAULT_TOP);
	expect_text(text, " - 2 inline atomics rewritten: each takes two branches more");
	expect_text(text, "built for LSE ");
	expect_none(text, "barrier");
	free(text);
}
END_TEST

/* A program without locks: one line, then what the switch did. */
START_TEST(objects_are_told_of_a_process_without_locks)
{
	struct record_thread *thread = synthetic_entry(&made[0], REGION_THREADS, 0);
	thread->counters.mutex.acquired = 0;
	add_objects(&made[0]);
	build(1);
	ck_assert(model->counted_nothing);
	ck_assert(atomics_recorded(records[0]));
	char *text = flat_report(WRITE_DEFAULT_TOP);
	expect_text(text, "used no lock");
	expect_text(text, " - 12 of 4,014 inline atomics stay ");
	expect_text(text, " libc.so.6 outline switched to LL/SC ");
	free(text);
}
END_TEST

/* Whatever a damaged record holds, it is said within the width and the size of a pipe. */
START_TEST(damaged_rows_are_bounded)
{
	char name[40];
	for (uint32_t i = 0; i < SYNTHETIC_CAPACITY; i++) {
		struct record_atomics *row = synthetic_add(&made[0], REGION_ATOMICS);
		memset(row, 0xff, sizeof(*row));
		row->inline_found = 1;
		snprintf(name, sizeof(name), "/%u/\x1b[2J", i);
		memcpy(row->path, name, strlen(name));
	}
	control(0)->atomics = 77;
	build(1);
	char *text = written(write_text, WRITE_DEFAULT_TOP);
	ck_assert_uint_lt(strlen(text), WRITE_TEXT_LIMIT);
	ck_assert_ptr_null(strchr(text, '\x1b'));
	free(text);
	json_decref(json_report());
}
END_TEST

START_TEST(lines_keep_to_the_width)
{
	add_objects(&made[0]);
	char long_name[200];
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[0] = '/';
	long_name[sizeof(long_name) - 1] = '\0';
	set_inline(synthetic_atomics(&made[0], long_name), 1234567, 1, LEFT_entered);
	build(1);
	char *text = written(write_text, WRITE_DEFAULT_TOP);
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
		ck_assert_msg(strcspn(line, "\n") <= 100, "%.*s", (int)strcspn(line, "\n"), line);
	free(text);
}
END_TEST

/* What the switch did is no count: an earlier copy takes nothing away. */
START_TEST(since_keeps_the_objects)
{
	char why[WHY_SIZE];
	for (int i = 0; i < 2; i++)
		add_objects(&made[i]);
	build(2);
	ck_assert_msg(since_subtract(records[0], records[1], why), "%s", why);
	struct model *rest = model_build(
	        &(struct model_source){ .record = records[0], .wait_status = -1, .since = true },
	        1);
	struct atomics_rows rows = atomics_rows_new(rest);
	ck_assert_uint_eq(rows.total.objects, 10);
	ck_assert_uint_eq(rows.total.rewritten, 4002);
	atomics_rows_free(&rows);
	model_free(rest);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("atomics");
	TCase *tcase = tcase_create("known content");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, text_says_what_became_of_each_object);
	tcase_add_test(tcase, what_needs_no_switch_is_told_apart);
	tcase_add_test(tcase, doubts_are_notes);
	tcase_add_test(tcase, nothing_is_said_where_nothing_was_asked);
	tcase_add_test(tcase, silence_is_a_doubt);
	tcase_add_test(tcase, json_has_every_object);
	tcase_add_test(tcase, rows_of_one_path_are_merged);
	tcase_add_test(tcase, choices_of_processes_are_kept_apart);
	tcase_add_test(tcase, lse_arms_add_no_barrier);
	tcase_add_test(tcase, objects_are_told_of_a_process_without_locks);
	tcase_add_test(tcase, damaged_rows_are_bounded);
	tcase_add_test(tcase, lines_keep_to_the_width);
	tcase_add_test(tcase, since_keeps_the_objects);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
