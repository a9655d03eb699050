/*
 * Looks for invalid runs, for what the machine did meanwhile, and for patterns in the primary
 * metric that an honest order would not leave.
 */
#include "notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lost_time.h"
#include "machine.h"
#include "resolution.h"
#include "records_atomics.h"
#include "sequential.h"

#define MUCH_LOAD   0.05 /* of all CPUs, on average over the counted runs */
#define MUCH_STEAL  0.02
#define UNLIKELY    0.01 /* a p value below this is worth a note */
#define MUCH_SPREAD 0.05 /* the standard deviation of a steady metric is less of its mean */
#define STEADIER    3    /* a metric whose spread is so many times smaller is */
#define LEAST       4    /* values of each kind before a pattern is looked for */

/* The mean over the counted runs; NAN where none has the metric. */
static double mean_of(const struct experiment *experiment, const char *name)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < experiment->run_count; i++) {
		const struct run *run = &experiment->runs[i];
		const struct run_metric *metric = run_counts(run) ? run_metric(run, name) : NULL;
		if (metric == NULL)
			continue;
		sum += metric->value;
		n++;
	}
	return n > 0 ? sum / (double)n : NAN;
}

static bool note_invalid(struct texts *notes, const struct experiment *experiment)
{
	bool done = true;
	for (size_t i = 0; i < experiment->run_count && done; i++) {
		const struct run *run = &experiment->runs[i];
		if (!run->valid)
			done = texts_format(notes, "run %u (arm %s%s) is invalid: %s", run->number,
			        experiment->design.arms.items[run->arm].name,
			        run->warmup ? ", warm-up" : "", run->why);
	}
	return done;
}

static bool note_machine(struct texts *notes, const struct experiment *experiment)
{
	double steal = mean_of(experiment, "machine.steal");
	double load = mean_of(experiment, "machine.other_load");
	bool done = true;
	if (steal > MUCH_STEAL)
		done = texts_format(notes,
		        "the hypervisor took %.1f %% of the CPUs' time: compare client.cpu or "
		        "server.cpu, which leave it out, or use a machine of your own",
		        steal * 100);
	if (load > MUCH_LOAD)
		done = done && texts_format(notes,
		                       "other programs took %.1f %% of the CPUs' time: end them, "
		                       "or keep the experiment away from them with taskset",
		                       load * 100);
	if (mean_of(experiment, "machine.swapped_pages") > 0)
		done = done &&
		       texts_format(notes, "the machine swapped: give the server less memory, or "
		                           "swapoff -a");
	return done;
}

static bool note_lost(struct texts *notes, const struct experiment *experiment)
{
	double lost = mean_of(experiment, "machine.lost");
	return !(lost > LOST_MUCH) ||
	       texts_format(notes,
	               "the CPUs of this virtual machine lost %.1f %% of their time without the "
	               "kernel's knowing (looked at after each run): wall time is not to be "
	               "believed; "
	               "compare CPU time too, make more runs, or use a machine whose CPUs are its "
	               "own "
	               "(abshim doctor)",
	               lost * 100);
}

/* The metric's spread within arms, as a share of the reference's mean; NAN: not known. */
static double spread_of(const struct experiment_values *values, const char *name)
{
	struct resolution resolution;
	for (size_t i = 0; i < values->count; i++)
		if (strcmp(values->metrics[i].name, name) == 0 &&
		        resolution_of(&values->metrics[i], &resolution) && resolution.n >= LEAST)
			return resolution.spread;
	return NAN;
}

/* Whether the primary metric, a rate or a time by the clock, varies much where the CPU time that
 * the same work takes does not. */
static bool note_spread(struct texts *notes, const struct experiment_values *values)
{
	static const char *const steadier[] = { "server.cpu_per_operation",
		"client.cpu_per_operation", "client.cpu" };
	const struct metric_values *primary = &values->metrics[0];
	bool wall = strcmp(primary->name, "client.wall") == 0;
	double spread = spread_of(values, primary->name);
	if (!(spread > MUCH_SPREAD) || (primary->unit != UNIT_RATE && !wall))
		return true;
	/* CPU time as such says nothing beside a rate: many clients run for a given time. */
	for (size_t i = 0; i < sizeof(steadier) / sizeof(*steadier) - !wall; i++) {
		double cpu = spread_of(values, steadier[i]);
		if (cpu * STEADIER < spread)
			return texts_format(notes,
			        "%s varies by %.1f %% within an arm and %s by %.1f %%: the wall "
			        "time is not to be believed as long as it is not known what the "
			        "programs waited for; compare --metric %s too (abshim doctor "
			        "measures what CPUs lose)",
			        primary->name, spread * 100, steadier[i], cpu * 100, steadier[i]);
	}
	return true;
}

static bool note_threads(struct texts *notes, const struct experiment *experiment)
{
	double threads = mean_of(experiment, "shim.threads_created") + 1;
	double cpus = json_number_value(json_object_get(experiment->machine, "cpus"));
	if (!(cpus > 0) || !(threads > cpus))
		return true;
	return texts_format(notes,
	        "the target ran %.0f threads on %.0f CPUs: whoever holds a lock may be preempted, "
	        "which spinning cannot cure; on other machines the result may be another",
	        threads, cpus);
}

/* Values of the first and of the last place of a block, each less its arm's mean. */
struct places {
	double *first, *last;
	size_t first_count, last_count;
};

static void sort_places(struct places *places, const struct experiment *experiment,
        const struct metric_values *metric)
{
	unsigned size = design_block_size(&experiment->design);
	for (unsigned arm = 0; arm < metric->arm_count; arm++)
		for (size_t i = 0; i < metric->arms[arm].n; i++) {
			const struct arm_values *values = &metric->arms[arm];
			double rest = values->values[i] - values->summary.mean;
			const struct design *design = &experiment->design;
			unsigned block = values->blocks[i] - 1;
			if (order_arm(design->order, design->seed, size, block, 0) == arm)
				places->first[places->first_count++] = rest;
			else if (order_arm(design->order, design->seed, size, block, size - 1) ==
			         arm)
				places->last[places->last_count++] = rest;
		}
}

static bool note_order(struct texts *notes, const struct experiment *experiment,
        const struct metric_values *metric)
{
	if (experiment->design.order == ORDER_FIXED)
		return texts_format(notes,
		        "the order was fixed: an effect of the place in a block looks like one of "
		        "the arm; use --order abba or random");
	double *values = calloc(2 * experiment->run_count + 1, sizeof(*values));
	if (values == NULL)
		return false;
	struct places places = { .first = values, .last = values + experiment->run_count };
	sort_places(&places, experiment, metric);
	double p = NAN;
	if (places.first_count >= LEAST && places.last_count >= LEAST)
		p = stats_mann_whitney((struct stats_values){ places.first, places.first_count },
		        (struct stats_values){ places.last, places.last_count });
	free(values);
	return !(p < UNLIKELY) ||
	       texts_format(notes,
	               "a run's place in its block has an effect (p = %.2g): the runs disturb each "
	               "other; restore more with --reset, or rest between them",
	               p);
}

static bool note_outliers(struct texts *notes, const struct metric_values *metric)
{
	bool done = true;
	for (size_t i = 0; i < metric->arm_count && done; i++) {
		const struct arm_values *arm = &metric->arms[i];
		bool outlier[arm->n + 1];
		if (stats_outliers((struct stats_values){ arm->values, arm->n }, outlier) == 0)
			continue;
		for (size_t k = 0; k < arm->n && done; k++)
			if (outlier[k])
				done = texts_format(notes,
				        "run %u (arm %s) lies far from its arm's median (%g, "
				        "median "
				        "%g): it counts; look into its files before you leave it "
				        "out",
				        arm->positions[k], arm->name, arm->values[k],
				        arm->summary.median);
	}
	return done;
}

static bool note_shell(struct texts *notes, const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->run_count; i++)
		if (run_counts(&experiment->runs[i]) && experiment->runs[i].only_shell)
			return texts_format(notes,
			        "run %u: only a shell ran under libabshim.so, and used nothing of "
			        "it: what it started was not switched (a static program cannot "
			        "be)",
			        experiment->runs[i].number);
	return true;
}

static bool asks_for_switch(const struct arm *arm)
{
	static const char *const keys[] = { "atomics=", "ABSHIM_ATOMICS=" };
	for (size_t i = 0; i < arm->settings.count; i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			if (strncmp(arm->settings.items[i], keys[k], strlen(keys[k])) == 0 &&
			        strcmp(arm->settings.items[i] + strlen(keys[k]), "native") != 0)
				return true;
	return false;
}

/* Arms of the atomics switch in which nothing was switched. */
static bool note_atomics(struct texts *notes, const struct experiment *experiment)
{
	const struct arms *arms = &experiment->design.arms;
	bool asked = false;
	for (size_t i = 0; i < arms->count; i++)
		asked = asked || asks_for_switch(&arms->items[i]);
	if (!asked || mean_of(experiment, RECORDS_ATOMICS "switched") > 0 ||
	        mean_of(experiment, RECORDS_ATOMICS "rewritten") > 0)
		return true;
	return texts_format(notes, "no file that the target loaded had atomics to switch: unless "
	                           "it asks for the CPU's "
	                           "features itself, all arms executed the same");
}

/* Why the metric that people expect is not there. */
static bool note_primary(
        struct texts *notes, const struct experiment *experiment, const char *primary)
{
	const char *problem = "";
	if (experiment->design.metrics.count > 0 || strcmp(primary, "throughput") == 0)
		return true;
	for (size_t i = 0; i < experiment->run_count && *problem == '\0'; i++)
		if (run_counts(&experiment->runs[i]))
			problem = experiment->runs[i].output;
	bool other = strncmp(primary, "client.", 7) != 0;
	return texts_format(notes,
	        "the output has %s throughput%s%s%s, so %s is compared: --metric chooses another, "
	        "--metric list shows which there are",
	        other ? "more than one" : "no", *problem != '\0' ? " (" : "", problem,
	        *problem != '\0' ? ")" : "", primary);
}

/* What --max-runs has cut short. */
static bool note_width(struct texts *notes, const struct experiment *experiment,
        const struct experiment_values *values)
{
	const struct design *design = &experiment->design;
	if (!(design->until > 0) || values->complete < design->max_runs ||
	        values->half_width <= design->until)
		return true;
	return texts_format(notes,
	        "--max-runs %u ended it before the difference was known to +-%g %%: it is known to "
	        "+-%.2g %%",
	        design->max_runs, design->until * 100, values->half_width * 100);
}

bool notes_collect(struct texts *notes, const struct experiment *experiment,
        const struct experiment_values *values)
{
	bool done = note_invalid(notes, experiment) && machine_notes(experiment->machine, notes) &&
	            note_machine(notes, experiment) && note_lost(notes, experiment) &&
	            note_threads(notes, experiment);
	if (!done || values->chosen == 0)
		return done;
	if (arms_are_same(&experiment->design.arms))
		done = texts_format(notes, "both arms are the same (A/A): what differs is chance");
	const struct metric_values *primary = &values->metrics[0];
	done = done && note_primary(notes, experiment, primary->name) &&
	       note_shell(notes, experiment) && note_atomics(notes, experiment);
	done = done && note_width(notes, experiment, values) && note_spread(notes, values);
	return done && note_order(notes, experiment, primary) && note_outliers(notes, primary);
}
