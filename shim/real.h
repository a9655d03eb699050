/*
 * The functions behind ours: the next definition after this library in the program's symbol search
 * order, which is libc's unless another preload stands between.
 */
#ifndef SHIM_REAL_H
#define SHIM_REAL_H

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <threads.h>
#include <unistd.h>

/* Newer than some glibc headers; the running libc may lack them: then the pointer stays NULL. */
pid_t _Fork(void);
int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags);

/* What libc's static parts make of pthread_atfork and at_quick_exit. */
int __register_atfork(
        void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso_handle);
int __cxa_at_quick_exit(void (*handler)(void *), void *dso_handle);

/* Calls main, and everything of the program's own that comes before it. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
        void (*fini)(void), void (*loader_fini)(void), void *stack_end);

/* struct dl_find_object of glibc 2.35, whose header may be older; both machines have no more. */
struct real_object {
	unsigned long long flags;
	void *map_start, *map_end;
	void *link_map;
	void *eh_frame; /* PT_GNU_EH_FRAME */
	unsigned long long reserved[7];
};

/*
 * What is called here is never what the program itself brought along: its sanitizer's interceptors,
 * say, may not be ready before main.
 */
struct real_functions {
#define ENTRY(name, since)  __typeof__(name) *name;
#define HELPER(name, since) ENTRY(name, since)
#include "entry_points.def"
#undef ENTRY
#if defined(__x86_64__)
	__typeof__(pthread_cond_signal) *old_pthread_cond_signal;
	__typeof__(pthread_cond_broadcast) *old_pthread_cond_broadcast;
	__typeof__(pthread_cond_wait) *old_pthread_cond_wait;
	__typeof__(pthread_cond_timedwait) *old_pthread_cond_timedwait;
#endif
	__typeof__(pthread_key_create) *pthread_key_create;
	__typeof__(pthread_setspecific) *pthread_setspecific;
	__typeof__(pthread_testcancel) *pthread_testcancel;
	__typeof__(on_exit) *on_exit;
	__typeof__(clock_gettime) *clock_gettime;
	__typeof__(__register_atfork) *__register_atfork;
	__typeof__(__cxa_at_quick_exit) *__cxa_at_quick_exit;
	void *(*__libc_dlopen_mode)(const char *name, int mode); /* before 2.34, as libdl's */
	int (*_dl_find_object)(void *address, struct real_object *object);
	unsigned long (*getauxval)(unsigned long type);
	int (*dl_iterate_phdr)(
	        int (*visit)(struct dl_phdr_info *object, size_t size, void *argument),
	        void *argument);
};

extern struct real_functions real_functions __attribute__((visibility("hidden")));

/* libc's own word: not 0 while the process has one thread. Points to a 0 where libc has no such
 * word (before 2.32). */
extern const char *real_single_threaded __attribute__((visibility("hidden")));

/* Finds whatever has not been found yet; cheap when nothing is missing. Takes no lock of the
 * program and allocates nothing, so it may run inside the first call of any entry point. */
void real_resolve(void);

/* Loads a library and what it needs, for nobody but the caller; NULL when it cannot be. */
void *real_load(const char *name);

/* The function of that name in a library that real_load() has returned, or NULL. */
void *real_find_in(const void *library, const char *name);

/* Calls found(argument, ...) for every function of ours that the program or a library before this
 * one defines: with its name, and the path by which the loader found that object, empty for the
 * program. */
void real_find_before(
        void (*found)(void *argument, const char *name, const char *path), void *argument);

/* The first object that defines the function, in the order in which the loader looks for it: behind
 * `after`, which is one of its list, or from the start (NULL). NULL: there is none. */
const struct link_map *real_defining(const struct link_map *after, const char *name);

/* The loaded object whose dynamic section this is, and the first whose file's name begins so; NULL:
 * none. */
const struct link_map *real_object(const void *dynamic);
const struct link_map *real_named(const char *beginning);

/* The path by which the loader found this library; empty when it is part of the program. */
const char *real_own_path(void);

/* The same, but only when thread functions are missing: libc before 2.34 gets them when a program
 * loads libpthread later. */
static inline void real_resolve_missing(void)
{
	if (__builtin_expect(real_functions.pthread_key_create == NULL, 0))
		real_resolve();
}

/* The function behind ours, resolved on first use; only for names that every supported libc has. */
#define REAL(name)                                                                                 \
	(__builtin_expect(real_functions.name == NULL, 0) ? (real_resolve(), real_functions.name)  \
	                                                  : real_functions.name)

/* Answers 0, as libc's own stand-ins for mutex functions do where there can be no second thread. */
int real_absent(void);

/* The same for a name that libc before 2.34 has only once a program has loaded libpthread: a
 * program without it may still find ours, where it looks for them by a weak reference. */
#define REAL_THREADS(name)                                                                         \
	(__builtin_expect(REAL(name) == NULL, 0) ? (__typeof__(name) *)(void (*)(void))real_absent \
	                                         : real_functions.name)

#endif
