/*
 * A profile for pprof while it is put together: every string, function, file and place once.
 */
#ifndef LOADER_PROFILE_H
#define LOADER_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "loader/profile.pb-c.h"

#define PROFILE_VALUES 2 /* of each sample */

struct profile;

/* Functions that want memory note when there is none; profile_write() tells. NULL: no memory. */
struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* The message itself, for its single fields. */
struct Pprof__Profile *profile_message(struct profile *profile);

/* The number of a string, made valid UTF-8. */
int64_t profile_string(struct profile *profile, const char *text);

/* Each value of a sample needs a type. */
void profile_add_type(struct profile *profile, const char *type, const char *unit);
void profile_set_period(
        struct profile *profile, const char *type, const char *unit, int64_t period);
void profile_add_comment(struct profile *profile, const char *text);

/* The mapping of a key of the caller's; *is_new asks the caller to fill it in. NULL: no memory. */
struct Pprof__Mapping *profile_mapping(struct profile *profile, uint64_t key, bool *is_new);

/* The location of a pair of keys of the caller's, likewise. */
struct Pprof__Location *profile_location(
        struct profile *profile, uint64_t first, uint64_t second, bool *is_new);
void profile_add_line(struct profile *profile, struct Pprof__Location *location, const char *name,
        const char *file, unsigned line);

/* Begins the next sample; the calls that follow add to it. */
void profile_add_sample(struct profile *profile, const uint64_t values[PROFILE_VALUES]);
void profile_add_frame(struct profile *profile, const struct Pprof__Location *location);
void profile_add_label(struct profile *profile, const char *key, const char *value);

/* Writes it compressed, as all readers want it. False: no memory or an error of out. */
bool profile_write(struct profile *profile, FILE *out);

#endif
