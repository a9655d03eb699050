/*
 * The machine under an experiment: what it is, and what else it did meanwhile.
 */
#ifndef LOADER_AB_MACHINE_H
#define LOADER_AB_MACHINE_H

#include <jansson.h>
#include <sys/resource.h>

#include "design.h"
#include "run_line.h"
#include "texts.h"

/* Of the CPUs, on average over the last minute: others are at work. */
#define MACHINE_MUCH_LOAD 0.25

/* Seconds of all CPUs, and pages. */
struct machine_reading {
	double wall, busy, steal;
	double swapped;
};

struct machine_reading machine_read(void);

/* User and system time of a process. */
double machine_cpu(const struct rusage *usage);

/* Adds, as machine.*, what happened since: CPU time stolen by a hypervisor and used by others than
 * the experiment, which used own seconds; pages swapped. Of a run
 * shorter than a second only the pages: the CPUs' time is counted too coarsely. */
void machine_measure(struct run *run, const struct machine_reading *before, double own);

/* Adds, as machine.lost, the share of the CPUs' time that goes by without their running and without
 * the kernel's knowing (lost_time.h): of a moment after a run of so many seconds that is short
 * beside it. A run too short for that gets none. */
void machine_measure_lost(struct run *run, double seconds);

/* CPUs that this process may use. */
unsigned machine_cpus(void);

/* Its fingerprint: CPU, kernel, mitigations, libc, governor, huge pages; versions and build ids of
 * library and target, which is found on the PATH. */
json_t *machine_fingerprint(const struct design *design, const char *library);

/* Whether a machine and its programs are those of an earlier fingerprint; else what differs. */
bool machine_is_same(const json_t *earlier, const json_t *now, char why[WHY_SIZE]);

/* Adds what of it makes figures less steady, with the remedy. False: no memory. */
bool machine_notes(const json_t *fingerprint, struct texts *notes);

#endif
