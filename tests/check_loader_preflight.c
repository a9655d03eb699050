/*
 * Which programs are refused before they start, and with what reason. The programs are headers
 * written here: nothing of them is ever executed.
 */
#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/command.h"
#include "loader/elf.h"
#include "loader/preflight.h"
#include "loader/words.h"

#if defined(__x86_64__)
#define OWN_MACHINE   EM_X86_64
#define OTHER_MACHINE EM_AARCH64
#define OTHER_NAME    "AArch64"
#define OWN_LOADER    "ld-linux-x86-64.so.2"
#define MUSL_LOADER   "ld-musl-x86_64.so.1"
#else
#define OWN_MACHINE   EM_AARCH64
#define OTHER_MACHINE EM_X86_64
#define OTHER_NAME    "x86-64"
#define OWN_LOADER    "ld-linux-aarch64.so.1"
#define MUSL_LOADER   "ld-musl-aarch64.so.1"
#endif

#define STRINGS_AT  0x400
#define DYNAMIC_AT  0x600
#define SECTIONS_AT 0x680
#define NAMES_AT    0x740
#define NOTE_AT     0x780
#define FILE_BYTES  0x800

static char directory[] = "/tmp/check_loader.XXXXXX", loader[128], path[256];
static struct environment environment;
static char why[WHY_SIZE];

static const char *in_directory(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void write_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
	int fd = open(in_directory(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void write_script(const char *name, const char *text)
{
	write_file(name, text, strlen(text), 0755);
}

struct program {
	uint16_t machine, type;
	const char *interpreter; /* NULL: none */
	const char *needed;      /* NULL: none */
	const char *soname;      /* NULL: none */
};

/* An ELF file of three segments at most: all of it, its interpreter, its dynamic section. */
static void make_program(unsigned char bytes[FILE_BYTES], const struct program *program)
{
	memset(bytes, 0, FILE_BYTES);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *segment = (Elf64_Phdr *)(bytes + sizeof(*header));
	Elf64_Dyn *dynamic = (Elf64_Dyn *)(bytes + DYNAMIC_AT);
	size_t string = STRINGS_AT + 1;
	*header = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
		                        EV_CURRENT },
		.e_type = program->type,
		.e_machine = program->machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(*header),
		.e_ehsize = sizeof(*header),
		.e_phentsize = sizeof(*segment) };
	segment[header->e_phnum++] = (Elf64_Phdr){ .p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_filesz = FILE_BYTES,
		.p_memsz = FILE_BYTES };
	if (program->interpreter != NULL) {
		strcpy((char *)bytes + string, program->interpreter);
		segment[header->e_phnum++] = (Elf64_Phdr){ .p_type = PT_INTERP,
			.p_offset = string,
			.p_filesz = strlen(program->interpreter) + 1 };
		string += strlen(program->interpreter) + 1;
	}
	segment[header->e_phnum++] = (Elf64_Phdr){
		.p_type = PT_DYNAMIC, .p_offset = DYNAMIC_AT, .p_filesz = 5 * sizeof(*dynamic)
	};
	*dynamic++ = (Elf64_Dyn){ .d_tag = DT_STRTAB, .d_un.d_ptr = STRINGS_AT };
	const char *names[] = { program->needed, program->soname };
	const int64_t tags[] = { DT_NEEDED, DT_SONAME };
	for (int i = 0; i < 2; i++) {
		if (names[i] == NULL)
			continue;
		strcpy((char *)bytes + string, names[i]);
		*dynamic++ = (Elf64_Dyn){ .d_tag = tags[i], .d_un.d_val = string - STRINGS_AT };
		string += strlen(names[i]) + 1;
	}
}

static void write_program(const char *name, const struct program *program)
{
	static unsigned char bytes[FILE_BYTES];
	make_program(bytes, program);
	write_file(name, bytes, sizeof(bytes), 0755);
}

/* The first string in the table of their names is empty. */
static void add_sections(unsigned char *bytes, const char *name)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *section = (Elf64_Shdr *)(bytes + SECTIONS_AT);
	header->e_shoff = SECTIONS_AT;
	header->e_shentsize = sizeof(*section);
	header->e_shnum = 3;
	header->e_shstrndx = 1;
	section[1] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = NOTE_AT - NAMES_AT
	};
	section[2] = (Elf64_Shdr){
		.sh_type = SHT_PROGBITS, .sh_offset = NOTE_AT, .sh_size = 8, .sh_name = 1
	};
	strcpy((char *)bytes + NAMES_AT + 1, name);
}

/* A build id of 4 bytes. */
static void add_go_note(unsigned char *bytes)
{
	static const Elf64_Nhdr note = { .n_namesz = 4, .n_descsz = 4, .n_type = 4 };
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *segment = (Elf64_Phdr *)(bytes + sizeof(*header));
	memcpy(bytes + NOTE_AT, &note, sizeof(note));
	memcpy(bytes + NOTE_AT + sizeof(note), "Go\0\0abcd", 8);
	segment[header->e_phnum++] = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = NOTE_AT, .p_filesz = sizeof(note) + 8, .p_align = 4
	};
}

/* A program with the note of Go's linker, a section of that name (NULL: none), or both. */
static void write_go(const char *name, bool note, const char *section)
{
	static unsigned char bytes[FILE_BYTES];
	make_program(bytes, &(struct program){ OWN_MACHINE, ET_DYN, loader, NULL, NULL });
	if (note)
		add_go_note(bytes);
	if (section != NULL)
		add_sections(bytes, section);
	write_file(name, bytes, sizeof(bytes), 0755);
}

static void start(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	char *const empty[] = { NULL };
	ck_assert(environment_copy(&environment, empty));
	ck_assert(environment_set(&environment, "PATH", directory));
	/* A file that has the name of glibc's loader is enough. */
	write_script(OWN_LOADER, "");
	snprintf(loader, sizeof(loader), "%s/%s", directory, OWN_LOADER);
	write_program(
	        "good", &(struct program){ OWN_MACHINE, ET_DYN, loader, "libpthread.so.0", NULL });
	write_program("static", &(struct program){ OWN_MACHINE, ET_EXEC, NULL, NULL, NULL });
}

static void stop(void)
{
	char command[128];
	environment_free(&environment);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

/* Checks a command; expects a status and, in the reason, a text. */
static void expect(const char *command, int status, const char *reason)
{
	struct preflight preflight;
	why[0] = '\0';
	int got = preflight_check(&preflight, command, &environment, why);
	ck_assert_msg(got == status, "%s: status %d, expected %d: %s", command, got, status, why);
	ck_assert_msg(strstr(why, reason) != NULL, "%s: \"%s\" does not say \"%s\"", command, why,
	        reason);
	ck_assert_int_eq(preflight.path != NULL, status == 0);
	free(preflight.path);
}

START_TEST(commands_are_found_as_execvp_finds_them)
{
	expect("good", 0, "");
	expect(in_directory("good"), 0, "");
	expect("nothing", EXIT_NOT_FOUND, "not found on PATH");
	expect("/nowhere/x", EXIT_NOT_FOUND, "no such program");
	expect("", EXIT_NOT_FOUND, "no such program");
	expect("/tmp", EXIT_CANNOT_RUN, "directory");
	expect("/dev/null", EXIT_CANNOT_RUN, "cannot be run");
	write_file("data", "x", 1, 0644);
	expect("data", EXIT_CANNOT_RUN, "Permission denied");
	ck_assert(environment_set(&environment, "PATH", ""));
	ck_assert_int_eq(chdir(directory), 0);
	expect("good", 0, "");
	environment_unset(&environment, "PATH");
	expect("good", EXIT_NOT_FOUND, "not found on PATH");
}
END_TEST

START_TEST(programs_without_glibc_are_refused)
{
	char musl[160];
	expect("static", EXIT_CANNOT_RUN, "statically linked");
	write_program("static-pie", &(struct program){ OWN_MACHINE, ET_DYN, NULL, NULL, NULL });
	expect("static-pie", EXIT_CANNOT_RUN, "statically linked");
	snprintf(musl, sizeof(musl), "%s/%s", directory, MUSL_LOADER);
	write_program("musl", &(struct program){ OWN_MACHINE, ET_DYN, musl, NULL, NULL });
	expect("musl", EXIT_CANNOT_RUN, "musl");
	write_program("other",
	        &(struct program){ OWN_MACHINE, ET_DYN, "/libexec/ld-elf.so.1", NULL, NULL });
	expect("other", EXIT_CANNOT_RUN, "not glibc's");
	write_program("absent",
	        &(struct program){ OWN_MACHINE, ET_DYN, "/nowhere/" OWN_LOADER, NULL, NULL });
	expect("absent", EXIT_CANNOT_RUN, "No such file");
	write_program("loader", &(struct program){ OWN_MACHINE, ET_DYN, NULL, NULL, OWN_LOADER });
	expect("loader", 0, "");
	write_program("object", &(struct program){ OWN_MACHINE, ET_REL, NULL, NULL, NULL });
	expect("object", EXIT_CANNOT_RUN, "not a program");
}
END_TEST

START_TEST(programs_of_other_machines_are_refused)
{
	write_program("foreign", &(struct program){ OTHER_MACHINE, ET_DYN, loader, NULL, NULL });
	expect("foreign", EXIT_CANNOT_RUN, "is a program for " OTHER_NAME);
	write_program("unknown", &(struct program){ EM_S390, ET_DYN, loader, NULL, NULL });
	expect("unknown", EXIT_CANNOT_RUN, "ELF machine 22");
	Elf32_Ehdr narrow = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB,
		                      EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_386,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(narrow) };
	write_file("narrow", &narrow, sizeof(narrow), 0755);
	expect("narrow", EXIT_CANNOT_RUN, "32-bit");
	write_script("text", "echo hello\n");
	expect("text", EXIT_CANNOT_RUN, "neither an ELF program nor a script");
	write_file("cut", "\177ELF\2\1\1", 7, 0755);
	expect("cut", EXIT_CANNOT_RUN, "neither an ELF program nor a script");
}
END_TEST

START_TEST(programs_that_are_cut_short_are_refused)
{
	static const off_t sizes[] = { sizeof(Elf64_Ehdr), DYNAMIC_AT, FILE_BYTES - 1 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		write_program("cut", &(struct program){ OWN_MACHINE, ET_DYN, loader, NULL, NULL });
		ck_assert_int_eq(truncate(in_directory("cut"), sizes[i]), 0);
		expect("cut", EXIT_CANNOT_RUN, "cut is a damaged ELF program");
	}
}
END_TEST

START_TEST(programs_that_gain_rights_are_refused)
{
	ck_assert_int_eq(chmod(in_directory("good"), 04755), 0);
	expect("good", 0, ""); /* it is ours already */
	if (getuid() != 0)
		return;
	ck_assert_int_eq(chown(in_directory("good"), 12345, 0), 0);
	ck_assert_int_eq(chmod(in_directory("good"), 04755), 0);
	expect("good", EXIT_CANNOT_RUN, "set-user-ID");
	ck_assert_int_eq(chown(in_directory("good"), 0, 12345), 0);
	ck_assert_int_eq(chmod(in_directory("good"), 02755), 0);
	expect("good", EXIT_CANNOT_RUN, "set-group-ID");
	ck_assert_int_eq(chmod(in_directory("good"), 0755), 0);
	expect("good", 0, "");
}
END_TEST

START_TEST(scripts_are_judged_by_what_runs_them)
{
	char text[512];
	snprintf(text, sizeof(text), "#! \t%s/good -x  \nbody", directory);
	write_script("script", text);
	expect("script", 0, "");
	snprintf(text, sizeof(text), "#!%s/static\n", directory);
	write_script("bad", text);
	expect("bad", EXIT_CANNOT_RUN, "/static is statically linked");
	snprintf(text, sizeof(text), "#!%s/script", directory);
	write_script("nested", text);
	expect("nested", 0, "");
	write_script("empty", "#!  \n");
	expect("empty", EXIT_CANNOT_RUN, "names no interpreter");
	write_script("lost", "#!/nowhere/sh\n");
	expect("lost", EXIT_CANNOT_RUN, "/nowhere/sh cannot be run");
	snprintf(text, sizeof(text), "#!%s/loop\n", directory);
	write_script("loop", text);
	expect("loop", EXIT_CANNOT_RUN, "too deep");
}
END_TEST

START_TEST(env_in_a_script_is_followed)
{
	static const struct {
		const char *words;
		int status;
		const char *reason;
	} cases[] = {
		{ "good", 0, "" },
		{ "static", EXIT_CANNOT_RUN, "statically linked" },
		{ "-S static -x", EXIT_CANNOT_RUN, "statically linked" },
		{ "-S A=1 B=2 static", EXIT_CANNOT_RUN, "statically linked" },
		{ "A=1 static", EXIT_CANNOT_RUN, "statically linked" },
		{ "nothing", EXIT_NOT_FOUND, "not found on PATH" },
		{ "--unknown static", 0, "" },
		{ "", 0, "" },
	};
	write_program("env", &(struct program){ OWN_MACHINE, ET_DYN, loader, NULL, NULL });
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[512];
		snprintf(text, sizeof(text), "#!%s/env %s\n", directory, cases[i].words);
		write_script("script", text);
		expect("script", cases[i].status, cases[i].reason);
	}
}
END_TEST

START_TEST(atomics_are_refused_where_they_cannot_be_switched)
{
	write_go("note", true, NULL);
	write_go("table", false, ".gopclntab");
	write_go("relro", false, ".data.rel.ro.gopclntab");
	write_go("c", false, ".text");
	expect("note", 0, "");
	expect("table", 0, "");
	ck_assert(environment_set(&environment, "ABSHIM_ATOMICS", "native"));
	expect("note", 0, "");
	expect("good", 0, "");
	ck_assert(environment_set(&environment, "ABSHIM_ATOMICS", "llsc"));
	expect("note", EXIT_CANNOT_RUN, "/note is a Go program, whose atomics atomics=llsc");
	expect("table", EXIT_CANNOT_RUN, "/table is a Go program");
	expect("relro", EXIT_CANNOT_RUN, "/relro is a Go program");
	expect("static", EXIT_CANNOT_RUN, "statically linked");
	if (OWN_MACHINE == EM_AARCH64) {
		expect("good", 0, "");
		expect("c", 0, "");
		ck_assert_int_eq(preflight_check_settings(&environment, why), 0);
	} else {
		expect("good", EXIT_REFUSED, "atomics=llsc: the switch between LSE and LL/SC is");
		expect("c", EXIT_REFUSED, "this abshim is for x86-64");
		ck_assert_int_eq(preflight_check_settings(&environment, why), EXIT_REFUSED);
	}
}
END_TEST

START_TEST(needed_sanitizer_is_found)
{
	struct preflight preflight;
	write_program(
	        "asan", &(struct program){ OWN_MACHINE, ET_DYN, loader, "libasan.so.8", NULL });
	ck_assert_int_eq(preflight_check(&preflight, "asan", &environment, why), 0);
	ck_assert_str_eq(preflight.sanitizer, "libasan.so.8");
	free(preflight.path);
	ck_assert_int_eq(preflight_check(&preflight, "good", &environment, why), 0);
	ck_assert_str_eq(preflight.sanitizer, "");
	free(preflight.path);
}
END_TEST

/* Damaged programs are refused or let through, never crashed on. */
START_TEST(damaged_programs_never_crash)
{
	unsigned char good[FILE_BYTES], bytes[FILE_BYTES];
	write_go("go", true, ".gopclntab");
	int fd = open(in_directory("go"), O_RDONLY);
	ck_assert_int_eq(read(fd, good, sizeof(good)), sizeof(good));
	close(fd);
	srandom(4);
	for (int round = 0; round < 500; round++) {
		struct preflight preflight;
		memcpy(bytes, good, sizeof(bytes));
		for (int flip = 0; flip < 3; flip++)
			bytes[4 + random() % 300] ^= (unsigned char)(1 << random() % 8);
		bytes[DYNAMIC_AT + random() % 80] ^= (unsigned char)(1 << random() % 8);
		bytes[SECTIONS_AT + random() % (FILE_BYTES - SECTIONS_AT)] ^=
		        (unsigned char)(1 << random() % 8);
		write_file("damaged", bytes, sizeof(bytes) - (size_t)(random() % 1024), 0755);
		int status = preflight_check(&preflight, "damaged", &environment, why);
		ck_assert(status == 0 || status == EXIT_CANNOT_RUN);
		free(preflight.path);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pre-flight");
	TCase *tcase = tcase_create("programs");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, commands_are_found_as_execvp_finds_them);
	tcase_add_test(tcase, programs_without_glibc_are_refused);
	tcase_add_test(tcase, programs_of_other_machines_are_refused);
	tcase_add_test(tcase, programs_that_are_cut_short_are_refused);
	tcase_add_test(tcase, programs_that_gain_rights_are_refused);
	tcase_add_test(tcase, scripts_are_judged_by_what_runs_them);
	tcase_add_test(tcase, env_in_a_script_is_followed);
	tcase_add_test(tcase, atomics_are_refused_where_they_cannot_be_switched);
	tcase_add_test(tcase, needed_sanitizer_is_found);
	tcase_add_test(tcase, damaged_programs_never_crash);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
