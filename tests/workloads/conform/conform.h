/*
 * What the cases of the conformance program share: mutexes of the kind under test, operations whose
 * outcome is printed by name, and threads that act at a known moment. Whatever is printed must be
 * the same in every run: nothing depends on time, addresses or ids.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* What a kind is like; what a case wants of one. */
enum trait {
	TRAIT_FIRST = 1 << 0,     /* the first kind: for cases that are about no kind */
	TRAIT_CHECKED = 1 << 1,   /* only the owner may release it */
	TRAIT_UNCHECKED = 1 << 2, /* any thread may release it; the owner's relock waits for ever */
	TRAIT_RECURSIVE = 1 << 3,
	TRAIT_ANSWERS = 1 << 4, /* the owner's relock returns: recursive or with an error */
	TRAIT_ROBUST = 1 << 5,
	TRAIT_SHARED = 1 << 6,
	TRAIT_PLAIN = 1 << 7, /* neither robust nor with a protocol */

	/* What a kind is a kind of; none of these: of mutexes. */
	TRAIT_RWLOCK = 1 << 10,
	TRAIT_SPINLOCK = 1 << 11,
	TRAIT_SEM = 1 << 12,
	TRAIT_BARRIER = 1 << 13,
	TRAIT_ONCE = 1 << 14,

	/* The system's, whatever the kind. An emulator may lack both. */
	TRAIT_DEATHS = 1 << 8,        /* the kernel tells of a robust mutex's dead owner */
	TRAIT_CHILD_THREADS = 1 << 9, /* a forked child may start threads */
};

#define TRAIT_MUTEX    0
#define TRAITS_SUBJECT (TRAIT_RWLOCK | TRAIT_SPINLOCK | TRAIT_SEM | TRAIT_BARRIER | TRAIT_ONCE)

struct kind {
	const char *name;
	int type; /* -1: pthread_mutexattr_settype, or pthread_rwlock_init, is not called */
	int protocol, robust, shared;
	const pthread_mutex_t *initialiser; /* instead of the attributes */
	unsigned traits;
};

struct conform_case {
	const char *name;
	void (*run)(void);
	unsigned wants; /* traits that a kind must have */
};

/* Every group ends with a case without a name. */
extern const struct conform_case calls_cases[], deadlines_cases[], exclusion_cases[], ends_cases[],
        robust_cases[], cancel_cases[], signals_cases[], forks_cases[], conds_cases[],
        processes_cases[], scheduling_cases[], loading_cases[], c11_cases[], rwlocks_cases[],
        rwlock_threads_cases[], spinlocks_cases[], sems_cases[], sem_cancel_cases[],
        barriers_cases[], onces_cases[];

extern const struct kind kinds[];
extern const struct kind *kind_under_test;
extern char **conform_arguments;

/* The kind of that name, or NULL. */
const struct kind *kind_find(const char *name);

/* Makes the calling thread one that may use the kind; an error number where that is not granted. */
int kind_prepare(const struct kind *kind);

/* Sets up memory as a mutex of the kind; the result of pthread_mutex_init. */
int kind_init(const struct kind *kind, pthread_mutex_t *mutex);

/* Traits of the system, as tried out. */
unsigned system_traits(void);

/* Memory that child processes share; zeroed; it lives to the end of the case. */
void *shared_memory(size_t size);

/* A new mutex of the kind under test, in such memory. */
pthread_mutex_t *new_mutex(void);

/* Prints a line, which begins with the case's name. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Ends the program as failed where the case cannot go on. */
void require(bool condition, const char *what);

/* "0", "EBUSY", ... */
const char *result_name(int result);

/* The operations, in a form that can be put into tables. The timed ones take a deadline. */
enum op {
	OP_LOCK,
	OP_TRY,
	OP_TIMED,
	OP_CLOCK_REAL,
	OP_CLOCK_MONO,
	OP_UNLOCK,
	OP_DESTROY,
	OPS,
};
#define OP_ACQUIRING OP_UNLOCK /* all before it acquire */

extern const char *const op_names[OPS];

/* Carries out an operation. The deadline of timed ones: a few ms ahead (do_op), far ahead
 * (do_op_patiently), or given. A change of errno is printed. */
int do_op(enum op op, pthread_mutex_t *mutex);
int do_op_patiently(enum op op, pthread_mutex_t *mutex);
int do_op_until(enum op op, pthread_mutex_t *mutex, const struct timespec *deadline);

/* Carries out an operation and prints it. */
void say_op(enum op op, pthread_mutex_t *mutex);

/* The same in a thread of its own, which releases what it acquired. */
void say_op_elsewhere(enum op op, pthread_mutex_t *mutex);

/* The result of the function in a thread of its own. */
int elsewhere(int (*function)(void *argument), void *argument);

pthread_t start(void *(*function)(void *argument), void *argument);

/* A thread that holds a mutex from start to end. */
struct holder {
	pthread_t thread;
	pthread_mutex_t *mutex;
	sem_t held, release;
	int locked, unlocked; /* results */
};
void holder_start(struct holder *holder, pthread_mutex_t *mutex);
void holder_end(struct holder *holder);

struct timespec time_after_ms(clockid_t clock, long ms);
bool time_has_come(clockid_t clock, const struct timespec *time);
void sleep_ms(long ms);
void semaphore_init(sem_t *semaphore);
void semaphore_wait(sem_t *semaphore);

/* Threads that count under one mutex without atomic operations. Each calls `once` rounds times; it
 * must acquire, call count_up, and release. */
struct counting {
	pthread_mutex_t *mutex;
	unsigned threads, rounds;
	void (*once)(struct counting *counting, unsigned round);
	volatile unsigned long counter, inside, overlaps;
};
void count_up(struct counting *counting);

/* Acquires and releases in the plainest way. */
void count_once(struct counting *counting, unsigned round);

/* Starts the threads; ends when all have ended. True when the counter is exact. In a child that may
 * not start threads, the calling one does all the counting. */
bool count_all(struct counting *counting);

/* The same, and prints what came out. */
void say_count_all(struct counting *counting);

/* Runs the function in a forked child and returns its exit status; -SIGNAL when a signal ended it.
 * The child's time is bounded as the case's is. */
int in_child(int (*function)(void *argument), void *argument);

#endif
