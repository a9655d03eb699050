/*
 * What the cases of semaphores share.
 */
#ifndef CONFORM_SEM_OPS_H
#define CONFORM_SEM_OPS_H

#include "conform.h"

enum sem_op {
	SEM_WAIT,
	SEM_TRY,
	SEM_TIMED,
	SEM_CLOCK_REAL,
	SEM_CLOCK_MONO,
	SEM_OPS,
};

extern const char *const sem_names[SEM_OPS];

/* A new semaphore of the kind under test, in memory that child processes share. */
sem_t *new_sem(unsigned value);

/* 0, or errno. The deadline: a few ms ahead, far ahead, or given. A result other than 0 and -1, and
 * a change of errno by a call that succeeds, are printed. */
int sem_do(enum sem_op op, sem_t *semaphore);
int sem_do_patiently(enum sem_op op, sem_t *semaphore);
int sem_do_until(enum sem_op op, sem_t *semaphore, const struct timespec *deadline);

/* Prints the outcome, and the value that is left. */
void say_sem(enum sem_op op, sem_t *semaphore);
void say_value(sem_t *semaphore);

/* A thread that waits once, patiently, and stays until told, so that signals find it. */
struct sem_waiter {
	pthread_t thread;
	sem_t *semaphore;
	enum sem_op op;
	sem_t end;
	int error;
	volatile bool done;
};

void sem_waiter_start(struct sem_waiter *waiter, enum sem_op op, sem_t *semaphore);
void sem_waiter_end(struct sem_waiter *waiter);

#endif
