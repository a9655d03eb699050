/*
 * What the files of /proc and /sys say of the machine.
 */
#ifndef LOADER_HOST_H
#define LOADER_HOST_H

#include <stdbool.h>

#define HOST_LINE        512
#define HOST_CPUS        "/sys/devices/system/cpu"
#define HOST_TURBO_INTEL HOST_CPUS "/intel_pstate/no_turbo"
#define HOST_TURBO_OTHER HOST_CPUS "/cpufreq/boost"
#define HOST_HUGE_PAGES  "/sys/kernel/mm/transparent_hugepage/enabled"

#define HOST_GOVERNOR_REMEDY "cpupower frequency-set -g performance"

/* root stands before every path: "" for this machine, or the folder of another one's files. Texts
 * are empty where nothing is said. */

/* A file's first line, without its newline. False when it cannot be read or is empty. */
bool host_line(const char *root, const char *path, char line[HOST_LINE]);

/* The text behind "KEY" and blanks or a colon, of the first line that begins so. */
bool host_field(const char *root, const char *path, const char *key, char value[HOST_LINE]);

/* "on", "off" or "". */
const char *host_turbo(const char *root);

/* The word in brackets of "always [madvise] never". */
void host_huge_pages(const char *root, char word[HOST_LINE]);

/* How many CPUs a list such as "0-3,8" names. */
unsigned host_list_count(const char *list);

#endif
