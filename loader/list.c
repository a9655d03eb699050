/*
 * `abshim list`: what can be set and what is counted.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "message.h"
#include "settings.h"

struct counter_help {
	const char *name, *help;
};

static const struct counter_help mutex_counters[] = {
#define MUTEX_COUNTER(name, combine, help) { #name, help },
#include "probes/counters.def"
};

static const struct counter_help cond_counters[] = {
#define COND_COUNTER(name, combine, help) { #name, help },
#include "probes/counters.def"
};

#define MUTEX_COUNTERS (sizeof(mutex_counters) / sizeof(*mutex_counters))
#define COND_COUNTERS  (sizeof(cond_counters) / sizeof(*cond_counters))

static void print_counters(const char *title, const struct counter_help *counters, size_t count)
{
	printf("\n%s\n", title);
	for (size_t i = 0; i < count; i++)
		printf("  %-22s %s\n", counters[i].name, counters[i].help);
}

static void print_variable(const struct setting_variable *variable)
{
	char name[64];
	snprintf(name, sizeof(name), "%s=%s", variable->name, variable->values);
	printf("  %s", name);
	if (variable->key != NULL)
		printf("%*s[%s]", (int)(38 - strlen(name)), "", variable->key);
	printf("\n      %s", variable->help);
	if (*variable->fallback != '\0')
		printf("; default %s", variable->fallback);
	putchar('\n');
}

static void print_text(void)
{
	puts("Strategies: ABSHIM_MUTEX=NAME[:N], or abshim run -s mutex=NAME[:N]");
	for (size_t i = 0; i < setting_strategy_count; i++) {
		const struct setting_strategy *strategy = &setting_strategies[i];
		char name[64];
		if (strategy->count > 0)
			snprintf(name, sizeof(name), "%s:%u", strategy->name, strategy->count);
		else
			snprintf(name, sizeof(name), "%s", strategy->name);
		printf("  %-14s %s\n", name, strategy->help);
	}
	puts("\nVariables (in brackets the key for abshim run -s KEY=VALUE)");
	for (size_t i = 0; i < setting_variable_count; i++)
		print_variable(&setting_variables[i]);
	print_counters("Counters of mutexes", mutex_counters, MUTEX_COUNTERS);
	print_counters("Counters of condition variables", cond_counters, COND_COUNTERS);
}

static json_t *counters_array(const struct counter_help *counters, size_t count)
{
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_pack("{s:s, s:s}", "name", counters[i].name,
		                                     "help", counters[i].help));
	return array;
}

static json_t *strategies_array(void)
{
	json_t *array = json_array();
	for (size_t i = 0; i < setting_strategy_count; i++) {
		const struct setting_strategy *strategy = &setting_strategies[i];
		json_t *count = strategy->count > 0 ? json_integer(strategy->count) : json_null();
		json_array_append_new(array, json_pack("{s:s, s:o, s:s}", "name", strategy->name,
		                                     "count", count, "help", strategy->help));
	}
	return array;
}

static json_t *variables_array(void)
{
	json_t *array = json_array();
	for (size_t i = 0; i < setting_variable_count; i++) {
		const struct setting_variable *variable = &setting_variables[i];
		const char *fallback = *variable->fallback != '\0' ? variable->fallback : NULL;
		json_array_append_new(
		        array, json_pack("{s:s, s:s?, s:s, s:s?, s:s}", "name", variable->name,
		                       "key", variable->key, "values", variable->values, "default",
		                       fallback, "help", variable->help));
	}
	return array;
}

static bool print_json(void)
{
	json_t *list = json_pack("{s:i, s:o, s:o, s:{s:o, s:o}}", "version", 1, "strategies",
	        strategies_array(), "variables", variables_array(), "counters", "mutex",
	        counters_array(mutex_counters, MUTEX_COUNTERS), "cond",
	        counters_array(cond_counters, COND_COUNTERS));
	bool done = list != NULL && json_dumpf(list, stdout, JSON_INDENT(2)) == 0;
	putchar('\n');
	json_decref(list);
	return done;
}

static const char usage[] = "Usage: abshim list [--json]\n"
                            "\n"
                            "Lists the strategies with their default N, the variables with their\n"
                            "defaults, and the counters of a report.\n";

int command_list(int argc, char **argv)
{
	bool json = argc == 2 && strcmp(argv[1], "--json") == 0, done = true;
	if (argc > 1 && !json && strcmp(argv[1], "--help") != 0) {
		message("list: takes nothing or --json; see abshim list --help");
		return EXIT_OWN_FAILURE;
	}
	if (json)
		done = print_json();
	else if (argc > 1)
		fputs(usage, stdout);
	else
		print_text();
	if (fflush(stdout) == 0 && done)
		return 0;
	message("list: cannot write the list");
	return EXIT_OWN_FAILURE;
}
