/*
 * `abshim list`: what can be set, what is counted, and whose output is understood.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "command.h"
#include "message.h"
#include "parse/parse.h"
#include "probes/counters.h"
#include "settings.h"

static void print_counters(const struct counter_family *family)
{
	printf("\nCounters of %s (%s)\n", family->title, family->name);
	for (size_t i = family->first; i < family->first + family->count; i++)
		printf("  %-22s %s\n", counter_table[i].name, counter_table[i].help);
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

static void print_allocators(void)
{
	size_t count;
	struct alloc_library *libraries = alloc_list(&count);
	puts("\nAllocators installed here: each is an arm by LD_PRELOAD+=NAME");
	if (count == 0)
		puts("  (none of jemalloc, tcmalloc, mimalloc)");
	for (size_t i = 0; i < count; i++) {
		const char *path = libraries[i].path != NULL ? libraries[i].path : "";
		printf("  %-26s %s, %s\n", libraries[i].name, libraries[i].title, path);
	}
	alloc_list_free(libraries, count);
}

static json_t *allocators_array(void)
{
	size_t count;
	json_t *array = json_array();
	struct alloc_library *libraries = alloc_list(&count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(
		        array, json_pack("{s:s, s:s, s:s?}", "title", libraries[i].title, "preload",
		                       libraries[i].name, "path", libraries[i].path));
	alloc_list_free(libraries, count);
	return array;
}

static void print_text(void)
{
	puts("Strategies: ABSHIM_MUTEX=NAME[:N], or abshim run -s mutex=NAME[:N]; the same for");
	puts("the other kinds of locks, in brackets");
	for (size_t i = 0; i < setting_strategy_count; i++) {
		const struct setting_strategy *strategy = &setting_strategies[i];
		char name[64], families[64];
		if (strategy->count > 0)
			snprintf(name, sizeof(name), "%s:%u", strategy->name, strategy->count);
		else
			snprintf(name, sizeof(name), "%s", strategy->name);
		printf("  %-14s [%s] %s\n", name,
		        setting_families(strategy->families, families, sizeof(families)),
		        strategy->help);
	}
	puts("\nVariables (in brackets the key for abshim run -s KEY=VALUE)");
	for (size_t i = 0; i < setting_variable_count; i++)
		print_variable(&setting_variables[i]);
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		print_counters(&counter_families[i]);
	print_allocators();
	puts("\nTools whose output is understood: --as NAME, or found out by content");
	for (size_t i = 0; i < parser_count; i++)
		printf("  %-18s %s\n", parsers[i]->name, parsers[i]->title);
}

static json_t *counters_object(void)
{
	json_t *object = json_object();
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		const struct counter *counter = &counter_table[i];
		const char *family = counter_families[counter->family].name;
		json_t *array = json_object_get(object, family);
		if (array == NULL) {
			array = json_array();
			json_object_set_new(object, family, array);
		}
		json_array_append_new(array,
		        json_pack("{s:s, s:s}", "name", counter->name, "help", counter->help));
	}
	return object;
}

static json_t *strategies_array(void)
{
	json_t *array = json_array();
	for (size_t i = 0; i < setting_strategy_count; i++) {
		const struct setting_strategy *strategy = &setting_strategies[i];
		json_t *count = strategy->count > 0 ? json_integer(strategy->count) : json_null();
		char families[64];
		setting_families(strategy->families, families, sizeof(families));
		json_array_append_new(
		        array, json_pack("{s:s, s:s, s:o, s:s}", "name", strategy->name, "for",
		                       families, "count", count, "help", strategy->help));
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

static json_t *parsers_array(void)
{
	json_t *array = json_array();
	for (size_t i = 0; i < parser_count; i++)
		json_array_append_new(array, json_pack("{s:s, s:s}", "name", parsers[i]->name,
		                                     "help", parsers[i]->title));
	return array;
}

static bool print_json(void)
{
	json_t *list = json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "version", 1, "strategies",
	        strategies_array(), "variables", variables_array(), "counters", counters_object(),
	        "allocators", allocators_array(), "parsers", parsers_array());
	bool done = list != NULL && json_dumpf(list, stdout, JSON_INDENT(2)) == 0;
	putchar('\n');
	json_decref(list);
	return done;
}

static const char usage[] =
        "Usage: abshim list [--json]\n"
        "\n"
        "Lists the strategies with their default N, the variables with their\n"
        "defaults, the counters of a report, the allocators that are installed,\n"
        "and the tools whose output is understood.\n";

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
