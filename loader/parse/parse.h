/*
 * What a benchmark tool printed, as named figures: the interface of all parsers of output.
 *
 * A parser knows one tool. It is fed lines as they come, in constant memory, or (JSON) the whole
 * text. It never guesses: what it does not understand is refused with the line and the reason, what
 * stops early is INCOMPLETE.
 */
#ifndef LOADER_PARSE_PARSE_H
#define LOADER_PARSE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../message.h"

enum metric_unit {
	UNIT_NONE,    /* a plain number whose unit the tool does not tell */
	UNIT_COUNT,   /* operations, errors */
	UNIT_RATE,    /* operations per second */
	UNIT_SECONDS, /* every time, whatever unit the tool prints */
	UNIT_BYTES,
	UNIT_BYTE_RATE, /* bytes per second */
	UNIT_RATIO,     /* 0.51, not 51 % */
};

enum metric_better { BETTER_UNKNOWN, BETTER_MORE, BETTER_LESS };

enum metric_flag {
	METRIC_DERIVED = 1u << 0, /* computed by the parser: the tool does not print it */
	METRIC_BOUND = 1u << 1,   /* the tool says "at most" */
};

struct metric {
	char *name; /* lower case, parts joined by '.': "throughput", "read.p99", "set.mean" */
	double value;
	enum metric_unit unit;
	enum metric_better better;
	unsigned flags;
};

/* Several values of one thing in one file, a run each: ministat's input, hyperfine's times. */
struct series {
	char *name;
	double *values;
	size_t count;
	enum metric_unit unit;
	enum metric_better better;
};

/* The same when only its summary was printed; NAN where it was not. */
struct summary {
	char *name;
	size_t n;
	double mean, stddev, median, min, max;
	enum metric_unit unit;
	enum metric_better better;
};

/* One run of the tool, of which a file may hold several with other parameters. */
struct result {
	/* What tells it from the others of its file: "threads=4", or "run=2" where the tool does
	 * not tell its parameters; "" when it is alone. The same label: the same parameters. */
	char *label;
	struct metric *metrics;
	size_t metric_count;
	struct series *series;
	size_t series_count;
	struct summary *summaries;
	size_t summary_count;
	uint64_t errors;    /* operations that failed by the tool's own account */
	bool incomplete;    /* the output stops before its end */
	bool invalid;       /* complete, but not to be used as a figure: why says the reason */
	char why[WHY_SIZE]; /* of incomplete or invalid */
};

struct parser;

/* A file's content. */
struct output {
	const struct parser *parser;
	char version[32];       /* of the tool, "" when it does not tell */
	struct result *results; /* moved by output_add_result() */
	size_t result_count;
	unsigned column;        /* of output_read_column(), for the reader of bare numbers */
	const char *delimiters; /* NULL: blanks */
};

struct parser {
	const char *name;  /* of --as */
	const char *title; /* "YCSB 0.1 to 0.17" */
	/* How surely the text (the file's first bytes, at most 64 KiB) is this tool's: 0 no, 100
	 * certain. */
	int (*recognise)(const char *text, size_t size);
	/* Line by line: begin returns the state (NULL: no memory); line and end return false, with
	 * a reason, for what is refused; end frees the state in any case. Lines come without their
	 * newline, terminated, numbered from 1. */
	void *(*begin)(struct output *output);
	bool (*line)(
	        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE]);
	bool (*end)(void *state, char why[WHY_SIZE]);
	/* A last line without its newline is whole: people write such files. Else a line that
	 * begins so is taken for cut, and the last result for INCOMPLETE. */
	bool open_end;
	/* Instead of these three, for formats that are one document. size bytes and a NUL. The
	 * reason begins with the line: "12: what; what would be right". */
	bool (*whole)(struct output *output, const char *text, size_t size, char why[WHY_SIZE]);
};

/* All parsers, in the order of parsers.def. */
extern const struct parser *const parsers[];
extern const size_t parser_count;

/* NULL when there is none of that name. */
const struct parser *parser_by_name(const char *name);

/*
 * Reads a file to its end. as: a parser to use, NULL: found out by content. Returns NULL with a
 * reason of the form "FILE:LINE: what; what would be right" when it is refused. The caller frees it
 * with output_free().
 */
struct output *output_read(const char *path, const struct parser *as, char why[WHY_SIZE]);
struct output *output_read_stream(
        FILE *in, const char *name, const struct parser *as, char why[WHY_SIZE]);
/* A file of one number a line as ministat reads it: the column (from 1) of each line, columns being
 * parted by any of the delimiters (NULL: blanks). */
struct output *output_read_column(
        const char *path, unsigned column, const char *delimiters, char why[WHY_SIZE]);
void output_free(struct output *output);

/* The metric of that name, NULL when the result has none. "p50" and "median" are one. */
const struct metric *result_metric(const struct result *result, const char *name);

/* For parsers. All copy their strings; false: no memory. A name that is there already is refused by
 * result_add (false with errno EEXIST). */
struct result *output_add_result(struct output *output, const char *label);
struct result *output_last(const struct output *output); /* NULL: there is none yet */
bool result_add(struct result *result, const char *name, double value, enum metric_unit unit,
        enum metric_better better, unsigned flags);
bool result_add_value(struct result *result, const char *series, double value,
        enum metric_unit unit, enum metric_better better);
struct summary *result_add_summary(struct result *result, const char *name, size_t n);

/* Marks a result; the first reason stays. */
void result_set_incomplete(struct result *result, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void result_set_invalid(struct result *result, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Numbers as tools print them, independent of the locale: thousands separators ("1,234"), k M G and
 * Ki Mi Gi suffixes where allowed, exponents, "NaN" (true with NAN). The whole text must be the
 * number. */
bool parse_number(const char *text, double *value);
bool parse_number_suffixed(const char *text, double *value);
/* "1.5ms", "12 us", "3 s", "250 ns": seconds. unit: what a bare number means, 0: refuse it. */
bool parse_time(const char *text, double unit, double *seconds);
/* "1.5MB", "292 MiB", "12 KB": bytes. kilo: what K, M and G without an i mean, 1000 or 1024. */
bool parse_bytes(const char *text, double kilo, double *bytes);

#define PARSER(name) extern const struct parser name##_parser;
#include "parsers.def"
#undef PARSER

#endif
