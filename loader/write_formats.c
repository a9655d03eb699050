/*
 * The table of formats: a new one is a file of its own and a line here.
 */
#include "write.h"

const struct write_format write_formats[] = {
	{ "text", NULL, "tables for people, the default", write_text, write_groups_text,
	        write_diff_text, .binary = false },
	{ "json", ".json", "everything, as one JSON object", write_json, write_groups_json,
	        write_diff_json, .binary = false },
	{ "csv", NULL, "one table, of locks without --by, for spreadsheets", write_csv, write_csv,
	        NULL, .binary = false },
	{ "folded", NULL, "time waited by stack, a line each, for flame graphs", write_folded, NULL,
	        NULL, .by_holder = true },
	{ "pprof", NULL, "time waited by stack, for go tool pprof and speedscope (binary)",
	        write_pprof, NULL, NULL, .binary = true, .by_holder = true },
	{ "openmetrics", NULL, "counters and top rows, for Prometheus", write_openmetrics, NULL,
	        NULL, .binary = false },
};

const size_t write_format_count = sizeof(write_formats) / sizeof(*write_formats);
