/*
 * The table of formats: a new one is a file of its own and a line here.
 */
#include "write.h"

const struct write_format write_formats[] = {
	{ "text", NULL, write_text, false, write_groups_text, write_diff_text,
	        "tables for people, the default" },
	{ "json", ".json", write_json, false, write_groups_json, write_diff_json,
	        "everything, as one JSON object" },
	{ "csv", NULL, write_csv, false, write_csv, NULL,
	        "one table, of locks without --by, for spreadsheets" },
	{ "folded", NULL, write_folded, false, NULL, NULL,
	        "time waited by stack, a line each, for flame graphs" },
	{ "pprof", NULL, write_pprof, true, NULL, NULL,
	        "time waited by stack, for go tool pprof and speedscope (binary)" },
	{ "openmetrics", NULL, write_openmetrics, false, NULL, NULL,
	        "counters and top rows for Prometheus" },
};

const size_t write_format_count = sizeof(write_formats) / sizeof(*write_formats);
