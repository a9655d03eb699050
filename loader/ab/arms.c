/*
 * Collects arms from options and compares what they come to.
 */
#include "arms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../settings.h"

#define NAME_MAX_LENGTH 32

static struct arm *find(const struct arms *arms, const char *name)
{
	for (size_t i = 0; i < arms->count; i++)
		if (strcmp(arms->items[i].name, name) == 0)
			return &arms->items[i];
	return NULL;
}

/* In front or at the end. NULL: no memory. */
static struct arm *add_arm(struct arms *arms, const char *name, bool first)
{
	struct arm *grown = realloc(arms->items, (arms->count + 1) * sizeof(*grown));
	if (grown == NULL)
		return NULL;
	arms->items = grown;
	char *copy = strdup(name);
	if (copy == NULL)
		return NULL;
	size_t at = first ? 0 : arms->count;
	memmove(&grown[at + 1], &grown[at], (arms->count - at) * sizeof(*grown));
	grown[at] = (struct arm){ .name = copy };
	arms->count++;
	return &grown[at];
}

static bool is_arm_name(const char *name)
{
	size_t length = strlen(name);
	if (length == 0 || length > NAME_MAX_LENGTH)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && strchr("_-.", name[i]) == NULL)
			return false;
	return true;
}

/* The directory of records is the experiment's own. */
static bool is_setting(const char *setting, char why[WHY_SIZE])
{
	struct environment nothing = { NULL, 0 };
	bool good = setting_apply(&nothing, setting, why);
	environment_free(&nothing);
	if (good &&
	        (strncmp(setting, "dir=", 4) == 0 || strncmp(setting, "ABSHIM_DIR=", 11) == 0)) {
		why_set(why, "%.200s: the records of an experiment lie in its own directory",
		        setting);
		good = false;
	}
	if (good && strncmp(setting, "AB_", 3) == 0) {
		why_set(why, "%.200s: names that begin with AB_ are abshim's own", setting);
		good = false;
	}
	return good;
}

bool arms_add(struct arms *arms, const char *name, const char *setting, char why[WHY_SIZE])
{
	if (!is_arm_name(name)) {
		why_set(why,
		        "%.100s: the name of an arm is 1 to %d letters, digits, '_', '-' or '.'",
		        name, NAME_MAX_LENGTH);
		return false;
	}
	char reason[WHY_SIZE];
	if (!is_setting(setting, reason)) {
		/* It speaks of -s, the option of `abshim run`. */
		why_set(why, "arm %s: %s", name,
		        strncmp(reason, "-s ", 3) == 0 ? reason + 3 : reason);
		return false;
	}
	struct arm *arm = find(arms, name);
	if (arm == NULL)
		arm = add_arm(arms, name, false);
	if (arm != NULL && texts_add(&arm->settings, setting))
		return true;
	why_set(why, "no memory for the arms");
	return false;
}

bool arms_add_named(struct arms *arms, const char *text, char why[WHY_SIZE])
{
	size_t length = strcspn(text, ":=");
	if (text[length] != ':' || length > NAME_MAX_LENGTH) {
		why_set(why, "--arm %.200s: must be NAME:KEY=VALUE", text);
		return false;
	}
	char name[NAME_MAX_LENGTH + 1];
	memcpy(name, text, length);
	name[length] = '\0';
	return arms_add(arms, name, text + length + 1, why);
}

/* "yield" means the same as "yield:30". */
static bool spell_out(struct environment *environment, const struct setting_variable *variable)
{
	char full[64];
	const char *value = environment_get(environment, variable->name);
	if (value == NULL)
		value = variable->fallback;
	snprintf(full, sizeof(full), "%s", value);
	if (strcmp(variable->values, "NAME[:N]") == 0)
		for (size_t i = 0; i < setting_strategy_count; i++) {
			const struct setting_strategy *strategy = &setting_strategies[i];
			if (strcmp(strategy->name, value) == 0 && strategy->count > 0)
				snprintf(full, sizeof(full), "%s:%u", value, strategy->count);
		}
	return environment_set(
	        environment, variable->name, strlen(value) < sizeof(full) ? full : value);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What the arm comes to, in one order and spelling. False: no memory. */
static bool resolve(
        struct environment *resolved, const struct arm *arm, const struct environment *base)
{
	char why[WHY_SIZE];
	if (!environment_copy(resolved, base->strings))
		return false;
	bool done = true;
	for (size_t i = 0; i < arm->settings.count && done; i++)
		done = setting_apply(resolved, arm->settings.items[i], why);
	for (size_t i = 0; i < setting_variable_count && done; i++)
		if (setting_variables[i].fallback[0] != '\0')
			done = spell_out(resolved, &setting_variables[i]);
	if (!done) {
		environment_free(resolved);
		return false;
	}
	qsort(resolved->strings, resolved->count, sizeof(*resolved->strings), compare_strings);
	return true;
}

static bool are_equal(const struct environment *a, const struct environment *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->strings[i], b->strings[i]) != 0)
			return false;
	return true;
}

/* 0 they differ, 1 they are the same, -1 no memory. */
static int compare_arms(const struct arm *a, const struct arm *b, const struct environment *base)
{
	struct environment one, other;
	if (!resolve(&one, a, base))
		return -1;
	if (!resolve(&other, b, base)) {
		environment_free(&one);
		return -1;
	}
	int same = are_equal(&one, &other);
	environment_free(&one);
	environment_free(&other);
	return same;
}

static bool all_differ(const struct arms *arms, const struct environment *base, char why[WHY_SIZE])
{
	for (size_t i = 0; i < arms->count; i++)
		for (size_t k = i + 1; k < arms->count; k++) {
			int same = compare_arms(&arms->items[i], &arms->items[k], base);
			if (same == 0)
				continue;
			if (same < 0)
				why_set(why, "no memory for the arms");
			else
				why_set(why,
				        "arm %s changes nothing against arm %s: leave -b out for "
				        "an A/A run, or give it another setting",
				        arms->items[k].name, arms->items[i].name);
			return false;
		}
	return true;
}

static bool copy_settings(struct arm *to, const struct arm *from)
{
	for (size_t i = 0; i < from->settings.count; i++)
		if (!texts_add(&to->settings, from->settings.items[i]))
			return false;
	return true;
}

/* b as a copy of a. */
static bool make_same(struct arms *arms)
{
	struct arm *b = add_arm(arms, "b", false);
	return b != NULL && copy_settings(b, &arms->items[0]);
}

static void move_to_front(struct arms *arms, const char *name)
{
	struct arm *arm = find(arms, name);
	if (arm == NULL)
		return;
	struct arm moved = *arm;
	memmove(&arms->items[1], &arms->items[0],
	        (size_t)(arm - arms->items) * sizeof(*arms->items));
	arms->items[0] = moved;
}

bool arms_complete(struct arms *arms, const struct environment *base, char why[WHY_SIZE])
{
	bool done = true, with_b = find(arms, "b") != NULL;
	move_to_front(arms, "b");
	move_to_front(arms, "a");
	if (arms->count == 0 || (with_b && find(arms, "a") == NULL))
		done = add_arm(arms, "a", true) != NULL;
	if (done && arms->count == 1 && strcmp(arms->items[0].name, "a") == 0)
		done = make_same(arms);
	else if (done && arms->count == 1) {
		why_set(why, "--arm %s is the only arm: give another one", arms->items[0].name);
		return false;
	} else if (done)
		return all_differ(arms, base, why);
	if (!done)
		why_set(why, "no memory for the arms");
	return done;
}

bool arms_are_same(const struct arms *arms)
{
	if (arms->count != 2 || arms->items[0].settings.count != arms->items[1].settings.count)
		return false;
	for (size_t i = 0; i < arms->items[0].settings.count; i++)
		if (strcmp(arms->items[0].settings.items[i], arms->items[1].settings.items[i]) != 0)
			return false;
	return true;
}

char *arm_text(const struct arm *arm)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return NULL;
	for (size_t i = 0; i < arm->settings.count; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "", arm->settings.items[i]);
	return fclose(out) == 0 ? text : NULL;
}

void arms_free(struct arms *arms)
{
	for (size_t i = 0; i < arms->count; i++) {
		free(arms->items[i].name);
		texts_free(&arms->items[i].settings);
	}
	free(arms->items);
	*arms = (struct arms){ NULL, 0 };
}
