/*
 * How a server shows that it is ready: a port that answers, a line in its log.
 */
#ifndef LOADER_AB_READY_H
#define LOADER_AB_READY_H

#include <stdbool.h>

#include "../message.h"

/* Whether an option's value is tcp:PORT or tcp:HOST:PORT, log:REGEX. */
bool ready_is_port(const char *ready);
bool ready_is_log(const char *ready);

/* Whether the value can be used. A value of neither kind is a command. */
bool ready_check(const char *ready, char why[WHY_SIZE]);

/* Whether a connection to the port is accepted. */
bool ready_port_answers(const char *ready);

/* Whether a line of the file matches the extended regular expression. */
bool ready_log_matches(const char *ready, const char *path);

#endif
