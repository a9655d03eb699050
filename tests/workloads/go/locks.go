// Goroutines and threads made in C that meet at a POSIX mutex and at a condition variable through
// cgo. Prints sums that are right only if each was exclusive, and how often the mutex was acquired;
// ends with status 3.
//
//	locks NUMBER	of additions by each goroutine and each thread
package main

/*
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long sum, acquired, ready;

// Exported by Go.
extern void visit(long);

static void add(long number)
{
	pthread_mutex_lock(&mutex);
	acquired++;
	sum += number;
	pthread_mutex_unlock(&mutex);
}

// Has the Go code add, so that it runs in a thread that it did not make.
static void *adder(void *number)
{
	for (long i = 0; i < (long)number; i++)
		visit(1);
	return NULL;
}

static int start_adder(pthread_t *thread, long number)
{
	return pthread_create(thread, NULL, adder, (void *)number);
}

static void make_ready(void)
{
	pthread_mutex_lock(&mutex);
	acquired++;
	ready++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void await_ready(long number)
{
	pthread_mutex_lock(&mutex);
	acquired++;
	while (ready < number)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static long sum_now(void) { return sum; }
static long acquired_now(void) { return acquired; }
*/
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

const (
	goroutines = 8
	threads    = 4
)

var (
	visits  sync.Mutex
	visited int
)

//export visit
func visit(number C.long) {
	visits.Lock()
	visited += int(number)
	visits.Unlock()
	C.add(number)
}

// All goroutines add, after all have met.
func addInGoroutines(number int) {
	var all sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			C.make_ready()
			C.await_ready(goroutines)
			for j := 0; j < number; j++ {
				C.add(1)
			}
		}()
	}
	all.Wait()
}

func addInThreads(number int) {
	var made [threads]C.pthread_t
	for i := range made {
		if C.start_adder(&made[i], C.long(number)) != 0 {
			panic("pthread_create")
		}
	}
	for i := range made {
		C.pthread_join(made[i], nil)
	}
}

func main() {
	number := 0
	if len(os.Args) == 2 {
		number, _ = strconv.Atoi(os.Args[1])
	}
	if number <= 0 {
		fmt.Fprintln(os.Stderr, "usage: locks NUMBER")
		os.Exit(64)
	}
	addInGoroutines(number)
	addInThreads(number)
	fmt.Printf("acquired %d, sum %d, visited %d\n", C.acquired_now(), C.sum_now(), visited)
	os.Exit(3)
}
