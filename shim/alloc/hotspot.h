/*
 * Asks HotSpot about its own options.
 */
#ifndef SHIM_ALLOC_HOTSPOT_H
#define SHIM_ALLOC_HOTSPOT_H

#include <stdbool.h>

struct link_map;

enum hotspot_answer { HOTSPOT_UNKNOWN, HOTSPOT_OFF, HOTSPOT_ON };

/* Whether an option of the kind -XX:+NAME is on, in a loaded libjvm.so; UNKNOWN where the virtual
 * machine is another one, or has no such option. */
enum hotspot_answer hotspot_option(const struct link_map *machine, const char *name);

#endif
