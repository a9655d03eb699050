/*
 * fio 2 and 3, as people read it. Each job is a result. "read.mean", "read.p99" are the latency of
 * completion (clat), "read.submit." (slat) and "read.total." (lat) the others. Numbers may end in
 * k, times are in the unit of their line's heading.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct fio {
	struct output *output; /* of state_new() */
	char direction[8];     /* "read", "write", "trim", "mixed"; "" outside */
	double scale;          /* of the percentiles that follow; 0: none do */
	size_t open;           /* results from this one on await the end */
	bool began;
};

static int fio_recognise(const char *text, size_t size)
{
	return text_has(text, size, ": (groupid=") || text_has(text, size, ": (g=0): rw=") ? 95 : 0;
}

static void *fio_begin(struct output *output)
{
	return state_new(output, sizeof(struct fio));
}

static bool take_job(struct fio *fio, char *line, char *group, char why[WHY_SIZE])
{
	char label[192];
	unsigned same = 1;
	double error;
	*group = '\0';
	snprintf(label, sizeof(label), "%.127s", line);
	size_t length = strlen(label);
	for (size_t i = fio->open; i < fio->output->result_count; i++) {
		const char *other = fio->output->results[i].label;
		same += strncmp(other, label, length) == 0 &&
		        (other[length] == '\0' || other[length] == '#');
	}
	if (same > 1)
		snprintf(label + length, sizeof(label) - length, "#%u", same);
	const char *err = strstr(group + 1, "err=");
	fio->direction[0] = '\0';
	fio->scale = 0;
	if (!fio->began)
		fio->open = fio->output->result_count;
	fio->began = true;
	if (!state_result(fio->output, label, why))
		return false;
	char number[16];
	const char *text = err != NULL ? err + 4 + strspn(err + 4, " ") : "";
	snprintf(number, sizeof(number), "%.*s", (int)strspn(text, "-0123456789"), text);
	if (!parse_number(number, &error)) {
		why_set(why, "a job without err= NUMBER");
		return false;
	}
	if (error != 0)
		result_set_invalid(output_last(fio->output), "the job ended with err=%g", error);
	return true;
}

/* The text of KEY=TEXT in a list parted by commas, copied; false: there is none. */
static bool field(const char *line, const char *key, char text[64])
{
	const char *at = line;
	size_t length = strlen(key);
	while ((at = strstr(at, key)) != NULL && at[length] != '=')
		at += length;
	if (at == NULL)
		return false;
	at += length + 1;
	at += strspn(at, " ");
	snprintf(text, 64, "%.*s", (int)strcspn(at, ", ()\t"), at);
	return true;
}

static bool refuse(const char *name, const char *text, char why[WHY_SIZE])
{
	why_set(why, "%s is '%.60s'; a number with its unit is needed", name, text);
	return false;
}

static bool add(struct fio *fio, const char *figure, double value, enum metric_unit unit,
        char why[WHY_SIZE])
{
	char name[NAME_SIZE + 16];
	snprintf(name, sizeof(name), "%s.%s", fio->direction, figure);
	return figure_add(output_last(fio->output), name, value, unit, 0, why);
}

/* fio 2 means 1024 by the MB of its bw=, fio 3 says MiB where it does. */
static bool add_bandwidth(struct fio *fio, char *text, double kilo, char why[WHY_SIZE])
{
	double bytes;
	char *slash = strstr(text, "/s");
	if (slash != NULL)
		*slash = '\0';
	if (slash == NULL || !parse_bytes(text, kilo, &bytes))
		return refuse("bandwidth", text, why);
	return add(fio, "bandwidth", bytes, UNIT_BYTE_RATE, why);
}

/* "(100GiB/97218msec)" of fio 3, "runt= 97218msec" of fio 2. */
static bool add_runtime(struct fio *fio, const char *line, char why[WHY_SIZE])
{
	char text[64];
	double seconds;
	const char *slash = strrchr(line, '/');
	if (!field(line, "runt", text)) {
		if (slash == NULL)
			return refuse("runtime", line, why);
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(slash + 1, ")"), slash + 1);
	}
	if (!parse_time(text, 0, &seconds))
		return refuse("runtime", text, why);
	return add(fio, "runtime", seconds, UNIT_SECONDS, why);
}

static bool take_direction(
        struct fio *fio, const char *direction, const char *line, char why[WHY_SIZE])
{
	char text[64];
	double rate;
	bool third = field(line, "IOPS", text);
	if (!third && !field(line, "iops", text))
		return refuse("IOPS", line, why);
	snprintf(fio->direction, sizeof(fio->direction), "%s", direction);
	fio->scale = 0;
	if (!parse_number_suffixed(text, &rate))
		return refuse("IOPS", text, why);
	if (!add(fio, "throughput", rate, UNIT_RATE, why))
		return false;
	if (!field(line, third ? "BW" : "bw", text))
		return refuse("bandwidth", line, why);
	return add_bandwidth(fio, text, third ? 1000 : 1024, why) && add_runtime(fio, line, why);
}

/* "min=16, max=12159, avg=144.90, stdev=161.22", each times the scale. */
static bool take_spread(struct fio *fio, const char *prefix, const char *line, double scale,
        enum metric_unit unit, char why[WHY_SIZE])
{
	static const char *const keys[][2] = { { "min", "min" }, { "max", "max" },
		{ "avg", "mean" }, { "stdev", "stddev" } };
	for (size_t i = 0; i < 4; i++) {
		char text[64], name[NAME_SIZE];
		double value;
		if (!field(line, keys[i][0], text))
			return refuse(keys[i][0], line, why);
		if (!parse_number_suffixed(text, &value))
			return refuse(keys[i][0], text, why);
		snprintf(name, sizeof(name), "%s%s", prefix, keys[i][1]);
		if (!add(fio, name, value * scale, unit, why))
			return false;
	}
	return true;
}

/* The unit in the parentheses of a heading: "clat (usec)", "bw (  MiB/s)". */
static bool heading_scale(const char *line, bool size, double *scale)
{
	char text[32] = "1";
	const char *open = strchr(line, '('), *at = open != NULL ? open + 1 : line;
	size_t used = 1;
	for (; *at != '\0' && *at != ')' && *at != '/' && used < sizeof(text) - 1; at++)
		if (*at != ' ')
			text[used++] = *at;
	text[used] = '\0';
	return size ? parse_bytes(text, 1024, scale) : parse_time(text, 0, scale);
}

/* "|  1.00th=[   38],  5.00th=[   52]". */
static bool take_percentiles(struct fio *fio, char *line, char why[WHY_SIZE])
{
	char *mark;
	while ((mark = strstr(line, "th=[")) != NULL) {
		char name[NAME_SIZE], *end = strchr(mark, ']'), *start = mark;
		double percentile, value;
		while (start > line && (isdigit((unsigned char)start[-1]) || start[-1] == '.'))
			start--;
		if (end == NULL)
			return refuse("percentile", mark, why);
		*mark = *end = '\0';
		char *text = line_trim(mark + 4);
		if (!parse_number(start, &percentile) || !parse_number_suffixed(text, &value))
			return refuse("percentile", text, why);
		name_percentile(name, "", percentile);
		if (!add(fio, name + 1, value * fio->scale, UNIT_SECONDS, why))
			return false;
		line = end + 1;
	}
	return true;
}

static bool take_latency(struct fio *fio, const char *line, char why[WHY_SIZE])
{
	static const char *const kinds[][2] = { { "clat", "" }, { "slat", "submit." },
		{ "lat", "total." } };
	double scale;
	bool percentiles = strstr(line, "percentiles (") != NULL;
	for (size_t i = 0; i < 3; i++) {
		if (strncmp(line, kinds[i][0], strlen(kinds[i][0])) != 0)
			continue;
		if (!heading_scale(line, false, &scale))
			return refuse("unit", line, why);
		if (!percentiles)
			return take_spread(fio, kinds[i][1], line, scale, UNIT_SECONDS, why);
		fio->scale = scale;
	}
	return true;
}

static bool take_detail(struct fio *fio, char *line, char why[WHY_SIZE])
{
	double scale;
	if (*line == '|')
		return fio->scale == 0 || take_percentiles(fio, line, why);
	bool spread = strstr(line, "min=") != NULL;
	if (strstr(line, "lat (") == line || strstr(line, "lat (") == line + 1 ||
	        strstr(line, "lat percentiles (") != NULL)
		return (!spread && strchr(line, '=') != NULL) || take_latency(fio, line, why);
	if (spread && strncmp(line, "bw (", 4) == 0) {
		if (!heading_scale(line, true, &scale))
			return refuse("unit", line, why);
		return take_spread(fio, "bandwidth.", line, scale, UNIT_BYTE_RATE, why);
	}
	if (spread && strncmp(line, "iops ", 5) == 0)
		return take_spread(fio, "iops.", line, 1, UNIT_RATE, why);
	return true;
}

static bool fio_line(
        void *state, char *line, size_t length, unsigned long number, char why[WHY_SIZE])
{
	static const char *const directions[] = { "read", "write", "trim", "mixed" };
	(void)number, (void)length;
	struct fio *fio = state;
	line = line_trim(line);
	char *group = strstr(line, ": (groupid=");
	if (group != NULL)
		return take_job(fio, line, group, why);
	if (strncmp(line, "fio-", 4) == 0)
		snprintf(fio->output->version, sizeof(fio->output->version), "%.30s", line + 4);
	if (strncmp(line, "Run status group", 16) == 0)
		fio->began = false;
	if (!fio->began)
		return true;
	for (size_t i = 0; i < 4; i++) {
		const char *text = line_after(line, directions[i]);
		if (text != NULL && *text == ':')
			return take_direction(fio, directions[i], text, why);
	}
	return fio->direction[0] == '\0' || take_detail(fio, line, why);
}

static bool fio_end(void *state, char why[WHY_SIZE])
{
	(void)why;
	struct fio *fio = state;
	for (size_t i = fio->open; fio->began && i < fio->output->result_count; i++)
		result_set_incomplete(&fio->output->results[i], "no Run status group at the end");
	free(fio);
	return true;
}

const struct parser fio_parser = {
	.name = "fio",
	.title = "fio 2 and 3",
	.recognise = fio_recognise,
	.begin = fio_begin,
	.line = fio_line,
	.end = fio_end,
};
