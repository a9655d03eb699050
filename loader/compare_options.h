/*
 * The arguments of `abshim compare`.
 */
#ifndef LOADER_COMPARE_OPTIONS_H
#define LOADER_COMPARE_OPTIONS_H

#include "verdict/evaluate.h"

#define COMPARE_ARMS 7

struct compare_arm {
	const char *name; /* "a" and "b", or the file's name */
	const char *const *paths;
	size_t count;
};

struct compare_options {
	struct compare_arm arms[COMPARE_ARMS];
	size_t arm_count;
	bool letters;            /* arms are -a and -b */
	const struct parser *as; /* NULL: by content */
	const char **metrics;    /* in the order asked for; none: all */
	size_t metric_count;
	int column; /* of ministat's input, from 1 */
	const char *delimiters;
	struct evaluate_options evaluate;
	bool json, student, plot, full;
	int width;
};

/* Fills in options, which point into argv. Returns -1 to go on, else the exit status, after what
 * had to be said. The caller frees with compare_options_free() after a -1. */
int compare_parse(int argc, char **argv, struct compare_options *options);
void compare_options_free(struct compare_options *options);

/* "2%", "2 %", "0.5%": a share of 1 between 0 and 1, both excluded. */
bool compare_parse_percent(const char *text, double *share);

#endif
