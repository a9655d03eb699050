/*
 * The experiment as a state that its lines alone determine: the next run is that of the first place
 * in the order that has no valid one.
 */
#include "conduct.h"

#include <math.h>
#include <stdlib.h>

#include "sequential.h"

bool conduct_is_complete(const struct experiment *experiment)
{
	const struct design *design = &experiment->design;
	unsigned size = design_block_size(design), filled = journal_filled(experiment);
	unsigned warmups = design->warmups * size;
	if (filled < warmups || (filled - warmups) % size != 0)
		return false;
	unsigned blocks = (filled - warmups) / size;
	if (blocks >= design_blocks(design))
		return true;
	return design->until > 0 && blocks >= DESIGN_LEAST_BLOCKS &&
	       sequential_half_width(experiment) <= design->until;
}

/* The next run, but for what the launcher fills in. */
static struct run next_run(const struct experiment *experiment, unsigned attempt)
{
	struct design_slot slot = design_slot(&experiment->design, journal_filled(experiment));
	return (struct run){ .number = (unsigned)experiment->run_count + 1,
		.arm = slot.arm,
		.block = slot.block,
		.warmup = slot.warmup,
		.attempt = attempt,
		.valid = true,
		.client_status = -1,
		.server_status = -1 };
}

/* One attempt. CONDUCT_COMPLETE: the run has its line. */
static enum conduct_end attempt_run(struct experiment *experiment, struct launcher *launcher,
        struct conduct_observer *observer, struct run *run, char why[WHY_SIZE])
{
	char *directory = journal_make_run_directory(experiment, why);
	if (directory == NULL)
		return CONDUCT_BROKEN;
	if (observer->begins != NULL)
		observer->begins(observer, experiment, run);
	enum launch_end end = launcher->run(launcher, &experiment->design, run, directory);
	free(directory);
	if (end == LAUNCH_INTERRUPTED) {
		run_free(run);
		return CONDUCT_INTERRUPTED;
	}
	if (!journal_append(experiment, run, why)) {
		run_free(run);
		return CONDUCT_BROKEN;
	}
	if (observer->ended != NULL)
		observer->ended(observer, experiment);
	return end == LAUNCH_HOPELESS ? CONDUCT_HOPELESS : CONDUCT_COMPLETE;
}

enum conduct_end conduct(struct experiment *experiment, struct launcher *launcher,
        struct conduct_observer *observer, char why[WHY_SIZE])
{
	unsigned attempt = 1;
	while (!conduct_is_complete(experiment)) {
		struct run run = next_run(experiment, attempt);
		enum conduct_end end = attempt_run(experiment, launcher, observer, &run, why);
		if (end != CONDUCT_COMPLETE)
			return end;
		attempt = experiment->runs[experiment->run_count - 1].valid ? 1 : attempt + 1;
		if (attempt > experiment->design.retries + 1)
			return CONDUCT_INVALID;
	}
	return CONDUCT_COMPLETE;
}
