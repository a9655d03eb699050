/*
 * Feeds damaged outputs of tools to their parsers: none may crash, hang, or give a figure that is
 * no number, and every refusal says where and why. Built and run by `make fuzz`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loader/parse/parse.h"

/* libFuzzer's interface: https://llvm.org/docs/LibFuzzer.html */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME "fuzz"

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void check_result(const struct result *result, bool alone)
{
	must(alone == (result->label[0] == '\0'));
	must((result->why[0] != '\0') == (result->incomplete || result->invalid));
	for (size_t i = 0; i < result->metric_count; i++) {
		must(result->metrics[i].name[0] != '\0');
		must(isfinite(result->metrics[i].value));
		must(result_metric(result, result->metrics[i].name) == &result->metrics[i]);
	}
	for (size_t i = 0; i < result->series_count; i++) {
		must(result->series[i].count > 0);
		for (size_t k = 0; k < result->series[i].count; k++)
			must(isfinite(result->series[i].values[k]));
	}
	for (size_t i = 0; i < result->summary_count; i++)
		must(result->summaries[i].n > 0);
}

/* A first byte that no text begins with chooses the parser; else it is found by content. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct parser *parser = NULL;
	char why[WHY_SIZE] = "";
	if (size > 0 && data[0] >= 0x80) {
		parser = parsers[(data[0] - 0x80u) % parser_count];
		data++;
		size--;
	}
	if (size == 0)
		return 0;
	FILE *in = fmemopen((void *)data, size, "r");
	must(in != NULL);
	struct output *output = output_read_stream(in, NAME, parser, why);
	fclose(in);
	must(output != NULL || strncmp(why, NAME ":", sizeof(NAME)) == 0);
	for (size_t i = 0; output != NULL && i < output->result_count; i++)
		check_result(&output->results[i], output->result_count == 1);
	output_free(output);
	return 0;
}
