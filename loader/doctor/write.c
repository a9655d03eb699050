/*
 * The findings for people and for programs.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "../json_members.h"
#include "../text.h"
#include "doctor.h"

#define FORMAT_VERSION 1

static const char *const state_words[] = { [FINDING_OK] = "ok",
	[FINDING_WARN] = "warn",
	[FINDING_FAIL] = "fail",
	[FINDING_UNKNOWN] = "unknown" };

bool doctor_write_text(const struct doctor *doctor)
{
	unsigned counts[4] = { 0 };
	for (size_t i = 0; i < doctor->count; i++) {
		const struct finding *finding = &doctor->findings[i];
		counts[finding->state]++;
		printf("%-8s %-11s ", state_words[finding->state], finding->name);
		text_escape(stdout, finding->found);
		if (*finding->remedy != '\0') {
			printf("\n%20s remedy: ", "");
			text_escape(stdout, finding->remedy);
		}
		putchar('\n');
	}
	printf("%u ok, %u to be warned of, %u failed, %u unknown\n", counts[FINDING_OK],
	        counts[FINDING_WARN], counts[FINDING_FAIL], counts[FINDING_UNKNOWN]);
	return fflush(stdout) == 0;
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *lost_object(const struct doctor *doctor)
{
	const struct lost_time *lost = &doctor->lost;
	if (lost->count == 0)
		return json_null();
	json_t *cpus = json_array();
	for (size_t i = 0; i < lost->count; i++) {
		const struct lost_cpu *cpu = &lost->cpus[i];
		json_t *object = json_object();
		member_integer(object, "cpu", cpu->cpu);
		member_integer(object, "wall_ns", cpu->end_ns - cpu->begin_ns);
		member_integer(object, "cpu_ns", cpu->cpu_ns);
		member_integer(object, "waited_ns", cpu->waited_ns);
		member_integer(object, "lost_ns", cpu->lost_ns);
		member_integer(object, "lost_count", cpu->lost_count);
		member_integer(object, "longest_ns", cpu->longest_ns);
		json_array_append_new(cpus, object);
	}
	return json_pack("{s:f, s:o, s:o, s:o}", "seconds", doctor->seconds, "share",
	        number(lost_time_share(lost)), "at_once", number(lost_time_at_once(lost)), "cpus",
	        cpus);
}

bool doctor_write_json(const struct doctor *doctor)
{
	json_t *checks = json_array();
	for (size_t i = 0; i < doctor->count; i++) {
		const struct finding *finding = &doctor->findings[i];
		json_t *object = json_object();
		member_string(object, "name", finding->name);
		member_string(object, "state", state_words[finding->state]);
		member_string(object, "found", finding->found);
		member_known(object, "remedy", finding->remedy);
		json_array_append_new(checks, object);
	}
	json_t *all = json_pack("{s:i, s:o, s:o}", "version", FORMAT_VERSION, "checks", checks,
	        "lost_time", lost_object(doctor));
	bool done = all != NULL && json_dumpf(all, stdout, JSON_INDENT(2)) == 0;
	putchar('\n');
	json_decref(all);
	return fflush(stdout) == 0 && done;
}
