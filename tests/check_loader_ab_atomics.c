/*
 * Arms of the atomics switch: a run counts only when a record proves that the switch was in force,
 * its figures are metrics, and arms that switched nothing are pointed out.
 */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/ab/experiment.h"
#include "loader/ab/records_atomics.h"
#include "tests/fake_runs.h"
#include "tests/synthetic.h"

static struct design design;
static struct run run;
static struct synthetic made[2];
static struct record *records[2];

static void start(void)
{
	char why[WHY_SIZE];
	design = (struct design)DESIGN_DEFAULTS;
	ck_assert(arms_add(&design.arms, "a", "atomics=native", why));
	ck_assert(arms_add(&design.arms, "b", "atomics=llsc", why));
	ck_assert(texts_add(&design.client, "client"));
	run = (struct run){ .arm = 1, .number = 1, .valid = true };
	for (int i = 0; i < 2; i++)
		made[i] = synthetic_new();
}

static void stop(void)
{
	for (int i = 0; i < 2; i++) {
		record_free(records[i]);
		free(made[i].bytes);
	}
	run_free(&run);
	design_free(&design);
}

static void set_choice(int process, uint32_t choice)
{
	struct record_control *control = synthetic_entry(&made[process], REGION_CONTROL, 0);
	control->atomics = choice;
}

static void read_records(size_t count)
{
	char why[WHY_SIZE];
	for (size_t i = 0; i < count; i++) {
		records[i] = synthetic_read(&made[i], made[i].size, why);
		ck_assert_msg(records[i] != NULL, "%s", why);
	}
}

/* Checks the run by the records; refusal: what the refusal says, NULL where it counts. */
static void expect(size_t count, pid_t pid, const char *refusal)
{
	struct environment base = { NULL, 0 };
	const struct run_places places = { .base = &base,
		.library = "/x/libabshim.so",
		.sanitizer = "",
		.records = "/x",
		.directory = "/x" };
	struct stage stage = { .design = &design, .run = &run, .places = &places };
	char *const empty[] = { NULL };
	ck_assert(environment_copy(&base, empty));
	read_records(count);
	records_check_atomics(&stage, records, count, pid);
	environment_free(&base);
	if (refusal == NULL)
		ck_assert_msg(run.valid, "%s", run.why);
	else
		ck_assert_msg(!run.valid && strstr(run.why, refusal) != NULL, "%s", run.why);
}

START_TEST(switched_processes_count)
{
	set_choice(0, ATOMICS_LLSC);
	synthetic_atomics(&made[0], "/lib/libc.so.6"); /* inert is proof enough */
	expect(1, 4711, NULL);
}
END_TEST

START_TEST(other_choices_do_not)
{
	set_choice(0, ATOMICS_LSE);
	synthetic_atomics(&made[0], "/lib/libc.so.6");
	expect(1, 4711, "not in force: the record of server says atomics=lse, not llsc");
}
END_TEST

START_TEST(silent_records_do_not)
{
	set_choice(0, ATOMICS_LLSC);
	expect(1, 4711, "server does not say what atomics=llsc did to it");
}
END_TEST

START_TEST(records_of_other_processes_do_not)
{
	set_choice(0, ATOMICS_LLSC);
	synthetic_atomics(&made[0], "/lib/libc.so.6");
	expect(1, 4712, "no record of a program");
}
END_TEST

START_TEST(programs_before_an_exec_do_not)
{
	set_choice(0, ATOMICS_LLSC);
	synthetic_atomics(&made[0], "/lib/libc.so.6");
	made[0].header->state = RECORD_EXECED;
	expect(1, 4711, "no record of a program");
}
END_TEST

/* Of a server any program counts, but the shell that began it. */
START_TEST(shells_do_not_prove_a_server)
{
	set_choice(0, ATOMICS_LLSC);
	synthetic_atomics(&made[0], "/lib/libc.so.6");
	strcpy(made[0].header->executable, "/usr/bin/dash");
	expect(1, 0, "no record of a program");
}
END_TEST

START_TEST(servers_behind_a_shell_count)
{
	for (int i = 0; i < 2; i++) {
		set_choice(i, ATOMICS_LLSC);
		synthetic_atomics(&made[i], "/lib/libc.so.6");
	}
	strcpy(made[0].header->executable, "/usr/bin/dash");
	expect(2, 0, NULL);
}
END_TEST

START_TEST(native_arms_need_no_proof)
{
	run.arm = 0;
	expect(0, 4711, NULL);
}
END_TEST

/* A file with a section of Go's, as far as it is looked at. */
START_TEST(go_programs_are_not_reached)
{
	char path[] = "/tmp/check_loader.XXXXXX";
	int fd = mkstemp(path);
	unsigned char bytes[512] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT };
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *segment = (Elf64_Phdr *)(bytes + sizeof(*header));
	static const Elf64_Nhdr note = { .n_namesz = 4, .n_descsz = 4, .n_type = 4 };
	header->e_type = ET_DYN;
	header->e_machine = EM_AARCH64;
	header->e_version = EV_CURRENT;
	header->e_phoff = header->e_ehsize = sizeof(*header);
	header->e_phentsize = sizeof(*segment);
	header->e_phnum = 1;
	*segment = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = 256, .p_filesz = 20, .p_align = 4 };
	memcpy(bytes + 256, &note, sizeof(note));
	memcpy(bytes + 256 + sizeof(note), "Go\0\0abcd", 8);
	ck_assert_int_eq(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	set_choice(0, ATOMICS_LLSC);
	synthetic_atomics(&made[0], "/lib/libc.so.6");
	strcpy(made[0].header->executable, path);
	expect(1, 4711, "is a Go program, whose atomics atomics=llsc does not reach");
	unlink(path);
}
END_TEST

static double metric(const char *name)
{
	const struct run_metric *found = run_metric(&run, name);
	return found != NULL ? found->value : 0;
}

START_TEST(figures_are_metrics)
{
	set_choice(0, ATOMICS_LLSC);
	struct record_atomics *row = synthetic_atomics(&made[0], "/lib/libc.so.6");
	row->outline = OUTLINE_SWITCHED;
	row->helpers = 22;
	row->inline_found = 10;
	row->inline_rewritten = 7;
	row->left[LEFT_range] = 3;
	synthetic_atomics(&made[0], "/lib/libm.so.6");
	read_records(1);
	struct model *model =
	        model_build(&(struct model_source){ .record = records[0], .wait_status = 0 }, 1);
	ck_assert(records_measure_atomics(&run, model));
	model_free(model);
	ck_assert_uint_eq(run.metric_count, 4);
	ck_assert_double_eq(metric("shim.atomics.switched"), 1);
	ck_assert_double_eq(metric("shim.atomics.helpers"), 22);
	ck_assert_double_eq(metric("shim.atomics.rewritten"), 7);
	ck_assert_double_eq(metric("shim.atomics.left"), 3);
}
END_TEST

START_TEST(names_of_metrics_are_checked)
{
	char why[WHY_SIZE] = "";
	for (size_t i = 0; i < RECORDS_ATOMICS_METRICS; i++) {
		char name[64];
		snprintf(name, sizeof(name), "shim.atomics.%s", records_atomics_metrics[i]);
		ck_assert_msg(measure_check_counter(name, why), "%s", why);
	}
	ck_assert(!measure_check_counter("shim.atomics.swapped", why));
	ck_assert_msg(strstr(why, "shim.atomics.switched, .helpers, .rewritten or .left") != NULL,
	        "%s", why);
}
END_TEST

/* An experiment of arms a and b whose runs switched that many objects. */
static bool is_noted(const char *a, const char *b, unsigned switched)
{
	struct fake fake = fake_launcher();
	struct experiment experiment;
	char *parent = fake_directory(), path[256], why[WHY_SIZE];
	struct design fakes = DESIGN_DEFAULTS;
	bool found = false;
	ck_assert(arms_add(&fakes.arms, "a", a, why) && arms_add(&fakes.arms, "b", b, why));
	fakes.runs = 2;
	fakes.directory = strdup("/");
	ck_assert(texts_add(&fakes.client, "client"));
	fake.switched = switched;
	fake_create(&experiment, parent, &fakes);
	ck_assert_int_eq(fake_conduct(&experiment, &fake), CONDUCT_COMPLETE);
	journal_close(&experiment);
	snprintf(path, sizeof(path), "%s/x", parent);
	struct experiment_values *values = experiment_load(path, why);
	ck_assert_msg(values != NULL, "%s", why);
	for (size_t i = 0; i < values->note_count; i++)
		found = found || strstr(values->notes[i], "had atomics to switch") != NULL;
	experiment_values_free(values);
	fake_remove(parent);
	return found;
}

START_TEST(arms_without_anything_to_switch_are_noted)
{
	ck_assert(is_noted("atomics=llsc", "atomics=lse", 0));
	ck_assert(is_noted("ABSHIM_ATOMICS=llsc", "mutex=park", 0));
	ck_assert(!is_noted("atomics=llsc", "atomics=lse", 3));
	ck_assert(!is_noted("atomics=native", "mutex=park", 0));
	ck_assert(!is_noted("mutex=glibc", "mutex=park", 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arms of atomics");
	TCase *tcase = tcase_create("runs");
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, switched_processes_count);
	tcase_add_test(tcase, other_choices_do_not);
	tcase_add_test(tcase, silent_records_do_not);
	tcase_add_test(tcase, records_of_other_processes_do_not);
	tcase_add_test(tcase, programs_before_an_exec_do_not);
	tcase_add_test(tcase, shells_do_not_prove_a_server);
	tcase_add_test(tcase, servers_behind_a_shell_count);
	tcase_add_test(tcase, native_arms_need_no_proof);
	tcase_add_test(tcase, go_programs_are_not_reached);
	tcase_add_test(tcase, figures_are_metrics);
	tcase_add_test(tcase, names_of_metrics_are_checked);
	tcase_add_test(tcase, arms_without_anything_to_switch_are_noted);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
