/*
 * `abshim report`: reads a record from a file, a pipe or a running process, and prints it.
 */
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "message.h"
#include "output.h"
#include "text.h"
#include "words.h"
#include "write.h"

/* What a person sees who asks about a process that did nothing of interest. */
static void write_nothing_counted(FILE *out, const struct process_row *process)
{
	const struct record_header *header = &process->record->header;
	char words[WORDS_SIZE];
	text_escape(out, words_base_name(header->executable));
	fprintf(out, ", pid %d, %s: %s\n", header->pid, words_ending(process, words),
	        process->record->control.stats == STATS_OFF
	                ? "ABSHIM_STATS=off, so nothing was counted"
	                : "acquired no mutex and used no condition variable");
}

/* The whole report in memory; NULL: none. The caller frees it. */
static char *render(const struct model *model, const struct write_format *format,
        const struct write_options *options, size_t *size)
{
	char *text = NULL;
	bool complete = false;
	struct symbols *symbols = symbols_open(model->mapped);
	FILE *out = symbols != NULL ? open_memstream(&text, size) : NULL;
	if (out != NULL) {
		complete = true;
		if (format->write == write_text && model->counted_nothing)
			write_nothing_counted(out, model->processes);
		else
			complete = format->write(out, model, symbols, options);
		complete = !ferror(out) && complete;
		complete = fclose(out) == 0 && complete;
	}
	symbols_close(symbols);
	if (complete)
		return text;
	free(text);
	return NULL;
}

/* What was asked for, by an option or by the file's name. */
static const struct write_format *choose_format(const struct report_options *options)
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
	if (is_refused(choose_format(options), file.fd)) {
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

int report_write(
        const struct model_source *sources, size_t count, const struct report_options *options)
{
	size_t size = 0;
	char *text = NULL;
	const struct record *record = sources->record;
	if (options->to == NULL && is_refused(choose_format(options), options->fd))
		return EXIT_OWN_FAILURE;
	struct model *model = model_build(sources, count);
	bool quiet = model != NULL && model->counted_nothing && options->at_exit;
	if (model != NULL && !quiet)
		text = render(model, choose_format(options), &options->write, &size);
	model_free(model);
	if (quiet)
		return 0;
	if (text == NULL) {
		message("no memory for the report");
		return EXIT_OWN_FAILURE;
	}
	int status = 0;
	int patience_ms = options->at_exit ? OUTPUT_PATIENCE_MS : OUTPUT_FOREVER;
	if (options->to != NULL) {
		status = write_to_path(options, record, text, size, patience_ms);
	} else {
		int error = output_write(options->fd, text, size, patience_ms);
		if (error != 0)
			status = complain(options, "its output", error);
	}
	free(text);
	return status;
}

/* A process id when all of text is digits. */
static bool parse_pid(const char *text, pid_t *pid)
{
	if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
		return false;
	errno = 0;
	long value = strtol(text, NULL, 10);
	*pid = errno != 0 || value > INT_MAX ? INT_MAX : (pid_t)value;
	return true;
}

static bool parse_top(const char *text, size_t *top)
{
	char *end;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value == 0)
		return false;
	*top = value;
	return true;
}

static const char usage[] =
        "Usage: abshim report [--json|--folded|--pprof] [--holder] [--top N] FILE|PID|-\n"
        "\n"
        "Prints who waited for which mutex, where, and for whom. FILE is a record that\n"
        "libabshim.so left behind (DIR/NAME.PID.N.abshim), also after kill -9; PID a running\n"
        "process (./123 is a file of that name); - reads a record from standard input.\n"
        "\n"
        "  --json    everything, as one JSON object\n"
        "  --folded  time waited by stack, a line each, for flame graphs\n"
        "  --pprof   time waited by stack, for go tool pprof and speedscope (binary)\n"
        "  --holder  with --folded and --pprof: by the stacks that held the lock meanwhile\n"
        "  --top N   rows of each table (default 10)\n"
        "  --to FILE write to FILE, as JSON when its name ends in .json; an existing file\n"
        "            is kept, and the new one gets a number\n"
        "\n"
        "Exit status: 0, 2 when there is no record to be read, 125 for anything else.\n";

/* False, with one line on stderr, when another format was asked for before. */
static bool take_format(struct report_options *options, const struct write_format *format)
{
	if (options->format != NULL && options->format != format) {
		message("report: --%s and --%s: give one format; see abshim report --help",
		        options->format->name, format->name);
		return false;
	}
	options->format = format;
	return true;
}

/* Fills in options and operand. Returns -1 to go on, else the exit status. */
static int parse_arguments(
        int argc, char **argv, struct report_options *options, const char **operand)
{
	enum { AT_EXIT = 1000, TOP, TO, HELP, HOLDER, FORMAT };
	static const struct option long_options[] = {
		{ "at-exit", no_argument, NULL, AT_EXIT },
		{ "json", no_argument, NULL, FORMAT + 1 },
		{ "folded", no_argument, NULL, FORMAT + 2 },
		{ "pprof", no_argument, NULL, FORMAT + 3 },
		{ "holder", no_argument, NULL, HOLDER },
		{ "top", required_argument, NULL, TOP },
		{ "to", required_argument, NULL, TO },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (option == AT_EXIT) {
			options->at_exit = true;
			options->fd = STDERR_FILENO;
		} else if (option >= FORMAT) {
			if (!take_format(options, &write_formats[option - FORMAT]))
				return EXIT_OWN_FAILURE;
		} else if (option == HOLDER) {
			options->write.by_holder = true;
		} else if (option == TO) {
			options->to = optarg;
		} else if (option == TOP && !parse_top(optarg, &options->write.top)) {
			message("report: --top %s: must be a number from 1", optarg);
			return EXIT_OWN_FAILURE;
		} else if (option == HELP) {
			fputs(usage, stdout);
			return 0;
		} else if (option == ':' || option == '?') {
			message("report: %s: %s; see abshim report --help", argv[optind - 1],
			        option == ':' ? "needs a value" : "unknown option");
			return EXIT_OWN_FAILURE;
		}
	}
	if (argc - optind != 1) {
		message("report: give one FILE, PID or -; see abshim report --help");
		return EXIT_OWN_FAILURE;
	}
	*operand = argv[optind];
	return -1;
}

/* Sets *pid when the operand is one. */
static struct record *open_operand(const char *operand, pid_t *pid, char why[WHY_SIZE])
{
	if (parse_pid(operand, pid))
		return record_read_process(*pid, why);
	if (strcmp(operand, "-") != 0)
		return record_read_path(operand, why);
	struct record *record = record_read(STDIN_FILENO, why);
	if (record == NULL) {
		char reason[WHY_SIZE];
		memcpy(reason, why, sizeof(reason));
		why_set(why, "standard input: %.400s", reason);
	}
	return record;
}

int command_report(int argc, char **argv)
{
	struct model_source source = { .wait_status = -1 };
	struct report_options options = { .write.top = WRITE_DEFAULT_TOP, .fd = STDOUT_FILENO };
	const char *operand = NULL;
	char why[WHY_SIZE];
	int status = parse_arguments(argc, argv, &options, &operand);
	if (status >= 0)
		return status;
	struct record *record = open_operand(operand, &source.running, why);
	if (record == NULL) {
		message("%s", why);
		return EXIT_UNREADABLE;
	}
	source.record = record;
	status = report_write(&source, 1, &options);
	record_free(record);
	return status;
}
