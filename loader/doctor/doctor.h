/*
 * What `abshim doctor` looks at: each check says in a line what it found, and the remedy.
 */
#ifndef LOADER_DOCTOR_DOCTOR_H
#define LOADER_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../lost_time.h"
#include "../message.h"

enum finding_state { FINDING_OK, FINDING_WARN, FINDING_FAIL, FINDING_UNKNOWN };

struct finding {
	const char *name;
	enum finding_state state;
	char found[WHY_SIZE];
	char remedy[WHY_SIZE]; /* of a warning or failure, else empty */
};

#define DOCTOR_MOST 24

struct doctor {
	const char *root;      /* as in host.h */
	bool privileged;       /* this user may do all that root may */
	double seconds;        /* how long lost time is measured, 0: not at all */
	struct lost_time lost; /* no CPUs where it was not measured */
	struct finding findings[DOCTOR_MOST];
	size_t count;
};

/* Adds a finding, and to the last one its remedy. */
void doctor_say(struct doctor *doctor, const char *name, enum finding_state state,
        const char *format, ...) __attribute__((format(printf, 4, 5)));
void doctor_advise(struct doctor *doctor, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* What the kernel's files say, in checks_cpus.c and checks_system.c: nothing but root is needed. */
void check_governor(struct doctor *doctor);
void check_turbo(struct doctor *doctor);
void check_smt(struct doctor *doctor);
void check_affinity(struct doctor *doctor);
void check_quota(struct doctor *doctor);
void check_load(struct doctor *doctor);
void check_huge_pages(struct doctor *doctor);
void check_swap(struct doctor *doctor);
void check_perf(struct doctor *doctor);
void check_core_dumps(struct doctor *doctor);

/* What has to be tried: programs under the library, in checks_library.c; time, in checks_time.c. */
void check_library(struct doctor *doctor);
void check_time(struct doctor *doctor);

/* What they make of what they find. */
struct doctor_place {
	const char *path; /* of the folder */
	bool tmpfs;
	uint64_t free_bytes, record_bytes;
};
void judge_libc(struct doctor *doctor, const char *version);
void judge_atomics(struct doctor *doctor, bool aarch64, bool lse);
void judge_place(struct doctor *doctor, const struct doctor_place *place);
void judge_lost(struct doctor *doctor, const struct lost_time *lost);
void judge_steal(struct doctor *doctor, double share);

/* Prints all findings. False: they cannot be written. */
bool doctor_write_text(const struct doctor *doctor);
bool doctor_write_json(const struct doctor *doctor);

#endif
