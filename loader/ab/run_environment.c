/*
 * Builds environments of arms and pads them.
 */
#include "run_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../alloc.h"
#include "../preload.h"
#include "../settings.h"

#define PADDING       "AB_PADDING"
#define PID_DIGITS    10
#define RUN_DIGITS    10
#define PIECE         100000 /* bytes of a variable, of which execve() takes 128 KiB at most */
#define PADDING_ROUND 1024   /* so that a longer process id after --resume changes nothing */

static bool set_number(struct environment *environment, const char *name, unsigned number)
{
	char text[24];
	snprintf(text, sizeof(text), "%u", number);
	return environment_set(environment, name, text);
}

/* AB_RUN has fewer digits than it might. */
static size_t missing_digits(const struct run *run)
{
	return RUN_DIGITS - (size_t)snprintf(NULL, 0, "%u", run->number);
}

/* What every command of the run is told. */
static bool tell_run(struct environment *environment, const struct design *design,
        const struct run *run, const struct run_places *places, size_t arm)
{
	return environment_set(environment, "AB_DIRECTORY", places->directory) &&
	       environment_set(environment, "AB_ARM", design->arms.items[arm].name) &&
	       set_number(environment, "AB_RUN", run->number);
}

/* Without padding. The settings were checked when the options were read. */
static bool build_target(struct environment *environment, const struct design *design,
        const struct run *run, const struct run_places *places, size_t arm)
{
	char why[WHY_SIZE], pid[24];
	const struct texts *settings = &design->arms.items[arm].settings;
	if (!environment_copy(environment, places->base->strings))
		return false;
	bool done = tell_run(environment, design, run, places, arm);
	if (done && design->server.start == NULL)
		done = environment_set(environment, "LC_ALL", "C");
	if (done && environment_get(environment, "ABSHIM_REPORT") == NULL)
		done = environment_set(environment, "ABSHIM_REPORT", "none");
	for (size_t i = 0; i < settings->count && done; i++)
		done = setting_apply(environment, settings->items[i], why);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	done = done && environment_set(environment, "ABSHIM_DIR", places->records) &&
	       environment_set(environment, "ABSHIM_RUN_PID", pid) &&
	       preload_set(environment, places->library, places->sanitizer) &&
	       alloc_set(environment);
	if (!done)
		environment_free(environment);
	return done;
}

static size_t string_bytes(const struct environment *environment)
{
	size_t bytes = 0;
	for (size_t i = 0; i < environment->count; i++)
		bytes += strlen(environment->strings[i]) + 1;
	return bytes;
}

size_t run_environment_size(const struct environment *environment)
{
	return string_bytes(environment) + environment->count * sizeof(char *);
}

static bool set_filler(struct environment *environment, size_t number, size_t bytes)
{
	char name[32];
	char *filler = malloc(bytes + 1);
	if (filler == NULL)
		return false;
	memset(filler, 'x', bytes);
	filler[bytes] = '\0';
	snprintf(name, sizeof(name), PADDING "_%zu", number);
	bool done = environment_set(environment, name, filler);
	free(filler);
	return done;
}

/* Fills up to that many variables and bytes, which leave room for the fillers' names. */
static bool pad(struct environment *environment, size_t count, size_t bytes)
{
	size_t first = environment->count;
	bool done = true;
	for (size_t i = first; i < count && done; i++)
		done = set_filler(environment, i, 0);
	size_t rest = bytes - string_bytes(environment);
	for (size_t i = first; i < count && done && rest > 0; i++) {
		size_t piece = rest < PIECE ? rest : PIECE;
		done = set_filler(environment, i, piece);
		rest -= piece;
	}
	return done;
}

bool run_environment_target(struct environment *environment, const struct design *design,
        const struct run *run, const struct run_places *places)
{
	size_t count = 0, bytes = 0, arms = design->arms.count;
	for (size_t arm = 0; arm < arms; arm++) {
		struct environment other;
		if (!build_target(&other, design, run, places, arm))
			return false;
		if (count < other.count)
			count = other.count;
		if (bytes < string_bytes(&other))
			bytes = string_bytes(&other);
		environment_free(&other);
	}
	if (!build_target(environment, design, run, places, run->arm))
		return false;
	/* Room for the names of fillers: as many as an arm lacks variables, and those of every
	 * arm. */
	size_t pieces = (bytes + count * sizeof(PADDING "_99999=")) / PIECE + 2;
	size_t room = bytes + missing_digits(run) + (count + pieces) * sizeof(PADDING "_99999=");
	room = (room + PADDING_ROUND - 1) / PADDING_ROUND * PADDING_ROUND;
	if (pad(environment, count + pieces, room))
		return true;
	environment_free(environment);
	return false;
}

bool run_environment_other(struct environment *environment, const struct design *design,
        const struct run *run, const struct run_places *places, pid_t server)
{
	if (!environment_copy(environment, places->base->strings))
		return false;
	size_t longest = 0;
	for (size_t i = 0; i < design->arms.count; i++)
		if (strlen(design->arms.items[i].name) > longest)
			longest = strlen(design->arms.items[i].name);
	char pid[PID_DIGITS + 1];
	int digits = snprintf(pid, sizeof(pid), "%d", (int)server);
	char filler[longest + sizeof(pid) + RUN_DIGITS];
	size_t missing = longest - strlen(design->arms.items[run->arm].name);
	missing += PID_DIGITS - (size_t)digits + missing_digits(run);
	memset(filler, 'x', missing);
	filler[missing] = '\0';
	bool done = tell_run(environment, design, run, places, run->arm) &&
	            environment_set(environment, "LC_ALL", "C") &&
	            environment_set(environment, PADDING, filler) &&
	            environment_set(environment, "AB_SERVER_PID", pid);
	if (!done)
		environment_free(environment);
	return done;
}
