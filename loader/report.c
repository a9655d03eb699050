/*
 * `abshim report`: makes a model of records, and brings the report of it out.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomics_rows.h"
#include "command.h"
#include "message.h"
#include "output.h"
#include "report_options.h"
#include "since.h"
#include "words.h"

/* A report in the making: of one side, or of two. */
struct rendering {
	struct write_side sides[2];
	size_t count;
};

static bool open_side(struct rendering *rendering, const struct sources *sources)
{
	struct write_side *side = &rendering->sides[rendering->count++];
	side->model = model_build(sources->rows, sources->count);
	if (side->model != NULL)
		side->symbols = symbols_open(side->model->mapped);
	return side->symbols != NULL;
}

static void close_sides(struct rendering *rendering)
{
	for (size_t i = 0; i < rendering->count; i++) {
		symbols_close(rendering->sides[i].symbols);
		model_free((struct model *)rendering->sides[i].model);
	}
}

static bool write_sides(
        FILE *out, const struct rendering *rendering, const struct report_options *options)
{
	const struct write_format *format = report_format(options);
	const struct write_side *side = rendering->sides;
	if (rendering->count > 1)
		return format->write_diff(out, side, &options->write);
	write_function *write =
	        options->write.by != GROUP_NONE ? format->write_groups : format->write;
	return write(out, side->model, side->symbols, &options->write);
}

/* The whole report in memory; NULL: no memory. The caller frees it. */
static char *render(
        const struct rendering *rendering, const struct report_options *options, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	if (out == NULL)
		return NULL;
	bool complete = write_sides(out, rendering, options) && !ferror(out);
	if (fclose(out) == 0 && complete)
		return text;
	free(text);
	return NULL;
}

const struct write_format *report_format(const struct report_options *options)
{
	if (options->format != NULL || options->to == NULL)
		return options->format != NULL ? options->format : write_formats;
	size_t length = strlen(options->to);
	for (size_t i = 0; i < write_format_count; i++) {
		const char *suffix = write_formats[i].suffix;
		if (suffix != NULL && length >= strlen(suffix) &&
		        strcmp(options->to + length - strlen(suffix), suffix) == 0)
			return &write_formats[i];
	}
	return write_formats;
}

static int complain(const struct report_options *options, const char *path, int error)
{
	if (!options->silent)
		message("cannot write the report to %s: %s", path, strerror(error));
	return EXIT_OWN_FAILURE;
}

/* Says so when the format is not fit for where it would go. */
static bool is_refused(const struct write_format *format, int fd)
{
	if (!format->binary || !isatty(fd))
		return false;
	message("report: --%s is not for a terminal: give --to FILE, or a pipe", format->name);
	return true;
}

static int write_to_path(const struct report_options *options, const struct record *record,
        const char *text, size_t size, int patience_ms)
{
	const char *path = options->to;
	struct output_file file;
	int error = output_open(path, &file);
	if (error != 0)
		return complain(options, path, error);
	if (is_refused(report_format(options), file.fd)) {
		output_close(&file);
		return EXIT_OWN_FAILURE;
	}
	error = output_write(file.fd, text, size, patience_ms);
	char *real_path = file.path;
	file.path = NULL;
	int close_error = output_close(&file);
	error = error != 0 ? error : close_error;
	if (error != 0) {
		complain(options, real_path, error);
		if (file.created)
			unlink(real_path);
	} else if (strcmp(real_path, path) != 0) {
		message("%s exists: the report of %s (pid %d) is in %s", path,
		        words_base_name(record->header.executable), record->header.pid, real_path);
	}
	free(real_path);
	return error == 0 ? 0 : EXIT_OWN_FAILURE;
}

static int bring_out(const struct report_options *options, const struct record *record,
        const char *text, size_t size)
{
	int patience_ms = options->at_exit ? OUTPUT_PATIENCE_MS : OUTPUT_FOREVER;
	if (options->to != NULL)
		return write_to_path(options, record, text, size, patience_ms);
	int error = output_write(options->fd, text, size, patience_ms);
	return error != 0 ? complain(options, "its output", error) : 0;
}

/* Whether an exit report says more than that the library was there. */
static bool is_worth_it(const struct model *model)
{
	return !model->counted_nothing || atomics_recorded(model->processes->record);
}

int report_write(const struct sources *sources, const struct sources *others,
        const struct report_options *options)
{
	struct rendering rendering = { .count = 0 };
	size_t size = 0;
	char *text = NULL;
	if (options->to == NULL && is_refused(report_format(options), options->fd))
		return EXIT_OWN_FAILURE;
	bool ready =
	        open_side(&rendering, sources) && (others == NULL || open_side(&rendering, others));
	bool quiet = ready && options->at_exit && !is_worth_it(rendering.sides->model);
	if (ready && !quiet)
		text = render(&rendering, options, &size);
	close_sides(&rendering);
	if (quiet)
		return 0;
	if (text == NULL) {
		message("no memory for the report");
		return EXIT_OWN_FAILURE;
	}
	int status = bring_out(options, sources->rows->record, text, size);
	free(text);
	return status;
}

/* Takes what an earlier copy holds out of the record. Returns an exit status. */
static int subtract_earlier(const struct sources *sources, const char *path)
{
	char why[WHY_SIZE];
	struct record *earlier = record_read_path(path, why);
	if (earlier == NULL) {
		message("report: --since %s", why);
		return EXIT_UNREADABLE;
	}
	bool done = since_subtract((struct record *)sources->rows->record, earlier, why);
	if (!done)
		message("report: --since %s: %s", path, why);
	sources->rows->since = done;
	record_free(earlier);
	return done ? 0 : EXIT_UNREADABLE;
}

static int report(
        const struct report_request *request, struct sources *sources, struct sources *others)
{
	for (size_t i = 0; i < request->operand_count; i++)
		sources_add(sources, request->operands[i]);
	if (request->diff != NULL)
		sources_add(others, request->diff);
	bool compares = request->diff != NULL;
	if (sources->count == 0 || (compares && others->count == 0))
		return EXIT_UNREADABLE;
	if (request->since != NULL && sources->count > 1) {
		message("report: --since takes one record, not a directory of them");
		return EXIT_OWN_FAILURE;
	}
	int status = 0;
	if (request->since != NULL)
		status = subtract_earlier(sources, request->since);
	if (status == 0)
		status = report_write(sources, compares ? others : NULL, &request->options);
	if (status == 0 && (sources->fault || others->fault))
		status = EXIT_UNREADABLE;
	return status;
}

int command_report(int argc, char **argv)
{
	struct report_request request = { .options = { .write.top = WRITE_DEFAULT_TOP,
		                                  .fd = STDOUT_FILENO } };
	struct sources sources = { .count = 0 }, others = { .count = 0 };
	int status = report_parse_arguments(argc, argv, &request);
	if (status >= 0)
		return status;
	status = report(&request, &sources, &others);
	sources_close(&sources);
	sources_close(&others);
	return status;
}
