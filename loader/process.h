/*
 * What /proc says about a process.
 */
#ifndef LOADER_PROCESS_H
#define LOADER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "message.h"
#include "probes/record.h"

/* When the process started, in clock ticks since boot; 0 when there is no such process. */
uint64_t process_start_ticks(pid_t pid);

/* Whether there is no such process, or only a zombie of it without a thread that lives. */
bool process_has_ended(pid_t pid);

/* Reads the current name of a thread; leaves name alone when the thread is gone. */
void process_thread_name(pid_t pid, pid_t tid, char name[RECORD_NAME_SIZE]);

struct process_mapping {
	uint64_t start, end;
	int fd; /* the mapped file opened for reading, or -1 when only the memory can be read */
	pid_t thread; /* one of the process that has the memory still */
};

/*
 * Finds the record that a running process has mapped, even when its file was unlinked or lies in
 * another root. The caller closes fd. Returns false with a reason when there is none.
 */
bool process_find_record(pid_t pid, struct process_mapping *mapping, char why[WHY_SIZE]);

#endif
