/*
 * `abshim doctor`: whether this machine lets experiments be believed.
 */
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "doctor.h"

#define DEFAULT_SECONDS 2.0
#define MOST_SECONDS    60.0

static const char usage[] =
        "Usage: abshim doctor [--seconds S] [--json]\n"
        "\n"
        "Looks at what makes measurements on this machine less steady or keeps the library\n"
        "from working, and names the remedy of each: ok, warn, fail or unknown, and what was\n"
        "found.\n"
        "\n"
        "  --seconds S     how long every CPU is kept busy to see whether it loses time\n"
        "                  without the kernel's knowing; 2 when not given, 0 leaves it out\n"
        "  --json          one JSON object\n"
        "\n"
        "Exit status: 0 nothing failed, warnings or not; 1 a check failed; 125 wrong usage, or\n"
        "abshim itself failed.\n";

void doctor_say(
        struct doctor *doctor, const char *name, enum finding_state state, const char *format, ...)
{
	if (doctor->count == DOCTOR_MOST)
		abort(); /* a check was added without room for it */
	struct finding *finding = &doctor->findings[doctor->count++];
	va_list arguments;
	*finding = (struct finding){ .name = name, .state = state };
	va_start(arguments, format);
	vsnprintf(finding->found, sizeof(finding->found), format, arguments);
	va_end(arguments);
}

void doctor_advise(struct doctor *doctor, const char *format, ...)
{
	struct finding *finding = &doctor->findings[doctor->count - 1];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(finding->remedy, sizeof(finding->remedy), format, arguments);
	va_end(arguments);
}

static void check_all(struct doctor *doctor)
{
	static void (*const checks[])(struct doctor *) = { check_library, check_load,
		check_governor, check_turbo, check_smt, check_affinity, check_quota,
		check_huge_pages, check_swap, check_perf, check_core_dumps, check_time };
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		checks[i](doctor);
}

static bool parse_seconds(const char *text, double *seconds)
{
	char *end;
	*seconds = strtod(text, &end);
	return end != text && *end == '\0' && *seconds >= 0 && *seconds <= MOST_SECONDS;
}

/* Returns -1 to go on, else the exit status. */
static int parse_arguments(int argc, char **argv, struct doctor *doctor, bool *json)
{
	enum { SECONDS = 1000, JSON, HELP };
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, SECONDS },
		{ "json", no_argument, NULL, JSON },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
		if (option == HELP) {
			fputs(usage, stdout);
			return fflush(stdout) == 0 ? 0 : EXIT_OWN_FAILURE;
		}
		if (option == JSON) {
			*json = true;
		} else if (option != SECONDS) {
			message("doctor: %s: %s; see abshim doctor --help", argv[optind - 1],
			        option == ':' ? "needs a value" : "unknown option");
			return EXIT_OWN_FAILURE;
		} else if (!parse_seconds(optarg, &doctor->seconds)) {
			message("doctor: --seconds %s: must be a number from 0 to %.0f", optarg,
			        MOST_SECONDS);
			return EXIT_OWN_FAILURE;
		}
	}
	if (optind == argc)
		return -1;
	message("doctor: %s: takes no arguments; see abshim doctor --help", argv[optind]);
	return EXIT_OWN_FAILURE;
}

static bool has_failed(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->count; i++)
		if (doctor->findings[i].state == FINDING_FAIL)
			return true;
	return false;
}

int command_doctor(int argc, char **argv)
{
	struct doctor doctor = {
		.root = "", .privileged = geteuid() == 0, .seconds = DEFAULT_SECONDS
	};
	bool json = false;
	int status = parse_arguments(argc, argv, &doctor, &json);
	if (status != -1)
		return status;
	check_all(&doctor);
	bool done = json ? doctor_write_json(&doctor) : doctor_write_text(&doctor);
	lost_time_free(&doctor.lost);
	if (done)
		return has_failed(&doctor) ? EXIT_CHECK_FAILED : 0;
	message("doctor: the findings cannot be written");
	return EXIT_OWN_FAILURE;
}
