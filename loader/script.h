/*
 * The "#!" line of scripts.
 */
#ifndef LOADER_SCRIPT_H
#define LOADER_SCRIPT_H

#include <stdbool.h>

#define SCRIPT_LINE_SIZE 256 /* what the kernel reads of the line: BINPRM_BUF_SIZE */
#define SCRIPT_MAX_DEPTH 5   /* scripts run by scripts, as the kernel has it */

/*
 * Splits the line as the kernel does: the interpreter up to a blank, the rest one argument. Both
 * lie in the line, which is changed. False when the line names none.
 */
bool script_split(char *line, char **interpreter, char **argument);

/*
 * The program that "env" in a "#!" line will look for: "X", "-S X ...", "NAME=VALUE X". Cuts it out
 * of argument; NULL when env is given options that are not known here.
 */
char *script_program_of_env(char *argument);

#endif
