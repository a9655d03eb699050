/*
 * The switch of atomics (ABSHIM_ATOMICS) at work in the process: what it does to each loaded
 * object, and when. AArch64 alone has it.
 */
#ifndef SHIM_ATOMICS_SWITCH_H
#define SHIM_ATOMICS_SWITCH_H

#if defined(__aarch64__)

/* Lets this library's own atomics be those that the CPU has and the settings want: once, when they
 * are known. environment: as it lies on the initial stack. */
void atomics_follow(char *const *environment);

/* Switches everything that is loaded, and sees to it that what comes later will be. executable: the
 * program's absolute path. Does not return when nothing can be switched. The process must have one
 * thread. */
void atomics_start(const char *executable);

/* All initialisers have run, the loader's own among them, which sets its flag again. */
void atomics_settle(void);

/* Writes the rows of what has been done into a record that is new. */
void atomics_put(void);

#else

static inline void atomics_follow(char *const *environment)
{
	(void)environment;
}

static inline void atomics_start(const char *executable)
{
	(void)executable;
}

static inline void atomics_settle(void)
{
}

static inline void atomics_put(void)
{
}

#endif

#endif
