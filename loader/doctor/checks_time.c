/*
 * Whether the CPUs really run when the kernel believes so.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "../ab/machine.h"
#include "../text.h"
#include "doctor.h"

void judge_lost(struct doctor *doctor, const struct lost_time *lost)
{
	char longest_text[TEXT_NUMBER_SIZE];
	uint64_t longest = 0, count = 0;
	double share = lost_time_share(lost), at_once = lost_time_at_once(lost);
	for (size_t i = 0; i < lost->count; i++) {
		const struct lost_cpu *cpu = &lost->cpus[i];
		longest = cpu->longest_ns > longest ? cpu->longest_ns : longest;
		count += cpu->lost_count;
	}
	if (isnan(share)) {
		doctor_say(doctor, "lost_time", FINDING_UNKNOWN, "no CPU came to run");
		return;
	}
	bool much = share > LOST_MUCH;
	doctor_say(doctor, "lost_time", much ? FINDING_WARN : FINDING_OK,
	        "%.1f %% of the CPUs' time went by without their running and without the kernel's "
	        "knowing (gaps: %llu, longest %s)",
	        share * 100, (unsigned long long)count, text_duration(longest_text, longest));
	if (much)
		doctor_advise(doctor, "judge by CPU time too (abshim ab --metric client.cpu, or "
		                      "server.cpu) and by more runs, or use a machine whose CPUs "
		                      "are its own");
	if (isnan(at_once) || lost->count < 2)
		return;
	doctor_say(doctor, "at_once", at_once < 1 - LOST_MUCH ? FINDING_WARN : FINDING_OK,
	        "all %zu CPUs ran at once %.1f %% of the time", lost->count, at_once * 100);
	if (at_once < 1 - LOST_MUCH)
		doctor_advise(doctor, "whether spinning pays depends on this: use a machine whose "
		                      "CPUs are its own");
}

void judge_steal(struct doctor *doctor, double share)
{
	bool much = share > LOST_MUCH;
	doctor_say(doctor, "steal", much ? FINDING_WARN : FINDING_OK,
	        "%.1f %% of the CPUs' time was taken by a hypervisor, as the kernel knows",
	        share * 100);
	if (much)
		doctor_advise(doctor, "judge by CPU time too (abshim ab --metric client.cpu, or "
		                      "server.cpu), or use a machine whose CPUs are its own");
}

void check_time(struct doctor *doctor)
{
	if (!(doctor->seconds > 0)) {
		doctor_say(doctor, "lost_time", FINDING_UNKNOWN, "not measured");
		return;
	}
	struct machine_reading before = machine_read();
	int error = lost_time_measure(&doctor->lost, doctor->seconds);
	struct machine_reading after = machine_read();
	if (error != 0) {
		doctor_say(doctor, "lost_time", FINDING_UNKNOWN, "%s", strerror(error));
		return;
	}
	judge_lost(doctor, &doctor->lost);
	double all = (after.wall - before.wall) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	judge_steal(doctor, all > 0 ? (after.steal - before.steal) / all : 0);
}
