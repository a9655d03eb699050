/*
 * The table of formats: a new one is a file of its own and a line here.
 */
#include "write.h"

const struct write_format write_formats[] = {
	{ "text", NULL, write_text },
	{ "json", ".json", write_json },
};

const size_t write_format_count = sizeof(write_formats) / sizeof(*write_formats);
