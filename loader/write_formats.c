/*
 * The table of formats: a new one is a file of its own and a line here.
 */
#include "write.h"

const struct write_format write_formats[] = {
	{ "text", NULL, write_text, false },
	{ "json", ".json", write_json, false },
	{ "folded", NULL, write_folded, false },
	{ "pprof", NULL, write_pprof, true },
};

const size_t write_format_count = sizeof(write_formats) / sizeof(*write_formats);
