/*
 * Which loaded object a code address belongs to, and where its unwind tables lie, without any lock
 * of the loader's: a thread that holds it may wait for the lock that the caller holds.
 */
#ifndef SHIM_OBJECTS_H
#define SHIM_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct object {
	uint64_t start, end;   /* its image in memory */
	uint64_t eh_frame_hdr; /* PT_GNU_EH_FRAME */
};

/* False when no loaded object with unwind tables has code there. Safe in any thread at any time,
 * except while an object is being unloaded. */
bool object_at(uint64_t address, struct object *object);

#endif
