/*
 * The record: what one process wrote down about its waits. It is a file mapping, so that it
 * survives every kind of process end. libabshim.so writes it, the abshim command reads it.
 *
 * Layout: one struct record_header at offset 0, then the regions at the offsets that the header
 * gives. Every reader takes sizes and offsets from the header, never from sizeof. All integers are
 * in the byte order of the machine that wrote them (little-endian on both supported machines).
 */
#ifndef PROBES_RECORD_H
#define PROBES_RECORD_H

#include <stdint.h>
#include <stddef.h>

#define RECORD_MAGIC        "ABSHIMR"
#define RECORD_VERSION      4u
#define RECORD_SUFFIX       ".abshim"
#define RECORD_NAME_SIZE    16  /* a thread's name with its NUL, as prctl(PR_GET_NAME) gives it */
#define RECORD_PATH_SIZE    512 /* longer paths are cut at the front and begin with "..." */
#define RECORD_OTHER_NAMES  "(others)"
#define RECORD_NO_NAME      "(unnamed)" /* a thread that could not ask for its name */
#define RECORD_BUCKETS      40 /* bucket b counts waits of [2^b, 2^(b+1)) ns; the last is open */
#define RECORD_MAX_SETTINGS 1024

/* The regions, in file order. "dense" tables are arrays filled from the front: entries
 * 0 .. used-1 have been claimed; an entry whose first word is 0 is claimed but not (or not yet)
 * valid and must be skipped. "index" regions are hash indexes of the writer: readers ignore them.
 */
enum record_region_id {
	REGION_CONTROL,     /* one struct record_control: settings that may change while the process
	                       runs */
	REGION_THREADS,     /* struct record_thread, dense; slots of ended threads are reused */
	REGION_RETIRED,     /* struct record_retired, dense: totals of ended threads, by name */
	REGION_MODULES,     /* struct record_module, dense */
	REGION_LOCK_INDEX,  /* uint32_t */
	REGION_LOCKS,       /* struct record_lock, dense */
	REGION_SITE_INDEX,  /* uint32_t */
	REGION_SITES,       /* struct record_site, dense */
	REGION_BLAME_INDEX, /* uint32_t */
	REGION_BLAME,       /* struct record_blame, dense */
	REGION_CONDS,   /* struct record_cond, a hash table: not dense, every entry may be in use */
	REGION_CREATED, /* struct record_created, a hash table of the writer: not dense; used is how
	                   far it has grown */
	REGION_STACK_INDEX,  /* uint32_t */
	REGION_STACKS,       /* struct record_stack, dense */
	REGION_FRAMES,       /* uint64_t, dense: return addresses, see record_stack */
	REGION_SAMPLE_INDEX, /* uint32_t */
	REGION_SAMPLES,      /* struct record_sample, dense */
	REGION_UNCOVERED,    /* struct record_uncovered, dense */
	REGION_ATOMICS,      /* struct record_atomics, dense */
	REGION_COUNT
};

struct record_region {
	uint64_t offset;     /* bytes from the start of the file */
	uint32_t entry_size; /* bytes */
	uint32_t capacity;   /* entries */
	uint32_t used;       /* dense regions: entries claimed so far */
	uint32_t lost;       /* entries that found no room */
	uint64_t populated; /* bytes from the region's start that are safe to touch; the writer's */
};

enum record_state {
	RECORD_RUNNING, /* also: was killed, crashed, or ended by a raw system call */
	RECORD_ENDED,   /* the shim saw the end: end_kind says which */
	RECORD_EXECED,  /* replaced itself by another program, which has a record of its own */
};

enum record_end {
	END_NONE,
	END_EXIT, /* exit() or return from main */
	END_QUICK_EXIT,
	END__EXIT, /* _exit() or _Exit() */
	END_ABORT,
	END_DAEMON, /* the parent that daemon() left behind */
	END_EXEC,
};

/* What a person must know before trusting the figures: bits of record_header.flags. */
enum record_flag {
	RECORD_IN_MEMORY = 1u << 0, /* no file could be made: this record dies with the process */
	RECORD_NOT_TMPFS =
	        1u << 1,           /* the record lies on a file system that writes back to a disk */
	RECORD_SECCOMP = 1u << 2,  /* a seccomp filter was installed while the process ran */
	RECORD_REPORTED = 1u << 3, /* the exit report was printed in full */
	RECORD_SUMMARISED = 1u << 4, /* only the plain summary could be printed */
	RECORD_FORKED = 1u << 5,     /* the process is a forked child; counting began at the fork */
	RECORD_ELISION = 1u << 6,    /* glibc.elision.enable is set: elided mutexes pass through */
	RECORD_ELSEWHERE =
	        1u << 7, /* ABSHIM_DIR was not for this user: a default directory it is */
	RECORD_NO_STACKS = 1u << 8, /* stacks were asked for, but the process was forked while
	                               another thread was taking one: none can be taken */
	RECORD_NO_ROOM = 1u << 9, /* the record's file system was full when more room was wanted */
	RECORD_ATOMICS_UNHOOKED = 1u << 10, /* the atomics switch cannot see what is opened later:
	                                       the loader is an unknown one */
};

/* Tunables of glibc's malloc, in the order of allocation.def. */
enum record_tunable {
#define TUNABLE(name, shared, tlab) TUNABLE_##name,
#include "allocation.def"
	TUNABLE_COUNT
};

#define TUNABLE_NOT_READ UINT64_MAX /* this libc does not let it be read */

enum record_tlab {
	TLAB_NO_JVM, /* no Java virtual machine has asked for its options */
	TLAB_LEFT,   /* one has: it was left as it is */
	TLAB_ON,     /* it was told to use thread-local buffers */
	TLAB_OFF,    /* it was told not to */
	TLAB_IS_ON,  /* the same, and it says so itself */
	TLAB_IS_OFF,
};

/* What serves the process with memory, as found out in it. */
struct record_allocation {
	uint32_t is_libc;                 /* 1: libc's own malloc */
	uint32_t tlab;                    /* enum record_tlab */
	uint64_t tunables[TUNABLE_COUNT]; /* as the loader holds them; 0 is also what is not set */
	uint32_t tunables_set; /* bit of enum record_tunable: it stood in the environment */
	uint32_t counted;      /* 1: the counters of allocation are at work */
	char libc_version[16];
	char path[RECORD_PATH_SIZE]; /* the object whose malloc the program calls; empty: unknown */
};

struct record_header {
	char magic[8];        /* RECORD_MAGIC */
	uint32_t version;     /* RECORD_VERSION */
	uint32_t header_size; /* bytes of this struct */
	uint64_t file_size;   /* bytes of the whole record */
	uint32_t machine;     /* ELF e_machine: 62 x86-64, 183 AArch64 */
	uint32_t flags;       /* enum record_flag */

	int32_t pid;
	int32_t parent_pid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat: tells a reused pid from this process */
	uint64_t start_ns;    /* CLOCK_MONOTONIC when counting began */
	uint64_t start_real_ns; /* CLOCK_REALTIME at the same moment */
	uint64_t end_ns;        /* CLOCK_MONOTONIC at the end, 0 while running */
	uint32_t state;         /* enum record_state */
	uint32_t end_kind;      /* enum record_end */
	int32_t exit_status;    /* argument of exit, where it was seen; else -1 */
	uint32_t cpus;          /* CPUs in the affinity mask at start */

	uint64_t threads_created; /* successful calls of pthread_create */
	uint64_t threads_lost;    /* threads that found no slot: their locks are not counted */
	uint64_t lost_waits;      /* waits missing from a full table */
	uint64_t lost_ns;
	uint64_t created_lost; /* initialised locks whose creation could not be noted */
	/* Stacks are sampled; taken + skipped <= due. */
	uint64_t stacks_taken;   /* of waiters and of holders */
	uint64_t stacks_skipped; /* another thread was taking one, or was unloading code */
	uint64_t stacks_due;     /* waits of all families that ended, and releases of mutexes that
	                            others waited for, while stacks were in force */
	uint64_t stack_ns_total; /* time spent taking them; no part of any wait */

	uint32_t retired_rest; /* 1 when REGION_RETIRED was full and its last entry collects the
	                          rest */
	uint32_t unused;

	char executable[RECORD_PATH_SIZE]; /* absolute path */
	char library[RECORD_PATH_SIZE];    /* libabshim.so's own absolute path */
	char path[RECORD_PATH_SIZE]; /* this file's absolute path; empty when in memory only */
	char settings[RECORD_MAX_SETTINGS]; /* the ABSHIM_ variables in force, "NAME=value\n" each
	                                     */

	struct record_allocation allocation;

	struct record_region regions[REGION_COUNT];
};

/* One way to wait that may be switched. */
struct record_choice {
	uint32_t strategy; /* index into strategies.def (mutex) or pollings.def (the others) */
	uint32_t count;    /* its N */
	char name[24];     /* "yield:30", for people */
};

/* Read on the slow path only; the one place that says which strategy is in force. */
struct record_control {
	struct record_choice mutex, rwlock, spinlock, sem, futex;
	uint32_t mutex_pre_spins; /* polls before the mutex strategy: SPINLOOPS with YIELDLOOPS */
	uint32_t stats;           /* enum record_stats */
	uint32_t stack_depth;     /* frames of a stack at most, 0: none are taken */
	uint32_t pause;           /* index into pauses.def */
	uint32_t atomics;         /* enum record_atomics_choice */
	uint32_t alloc;           /* enum record_alloc_choice */
};

enum record_stats { STATS_OFF, STATS_ON, STATS_HOLD, STATS_ALLOC };

/* ABSHIM_ALLOC: from where threads get their memory. */
enum record_alloc_choice { ALLOC_LIBC, ALLOC_SHARED, ALLOC_TLAB };

/* ABSHIM_ATOMICS: which of AArch64's two families of atomics the process executes. */
enum record_atomics_choice { ATOMICS_NATIVE, ATOMICS_LSE, ATOMICS_LLSC };

#define FAMILY(name, title)                  struct name##_counters {
#define COUNTER(family, name, combine, help) uint64_t name;
#define FAMILY_END(name)                                                                           \
	}                                                                                          \
	;
#include "counters.def"

/* All counters of a thread, in the order of counters.def, uint64_t each: see counter_table. */
struct counters {
#define FAMILY(name, title) struct name##_counters name;
#include "counters.def"
};

/* The kinds of locks, in the order of counters.def: FAMILY_mutex, FAMILY_cond, ... */
enum record_family {
#define FAMILY(name, title) FAMILY_##name,
#include "counters.def"
	FAMILY_COUNT
};

/* What others waited for while this thread held the lock. Added to by the waiters, atomically. */
struct caused_counters {
	uint64_t waits;
	uint64_t wait_ns_total;
	uint64_t wait_ns_max;
};

/*
 * A wait that has ended but is not in the tables yet: a thread notes it here while it holds the
 * lock, and adds it to the tables once it holds it no more. A reader adds what it finds here.
 */
struct record_pending {
	uint32_t lock;       /* entry of REGION_LOCKS + 1, 0: nothing is pending */
	uint32_t site;       /* entry of REGION_SITES + 1 */
	uint32_t blame;      /* entry of REGION_BLAME + 1, 0 lost */
	uint32_t holder_tid; /* thread to charge, 0 unknown */
	uint64_t wait_ns;
};

/* One running thread. The first cache line is the one that the uncontended path writes. */
struct record_thread {
	uint32_t tid;             /* 0: the slot is free */
	uint32_t slot;            /* its own number */
	struct counters counters; /* mutex.acquired is the first: same cache line as tid */
	struct record_pending pending;
	uint64_t handle;     /* pthread_self() */
	uint64_t started_ns; /* first time the shim saw the thread */
	char name[RECORD_NAME_SIZE];
	struct caused_counters caused __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* Ended threads of one name. All fields are added to atomically. */
struct record_retired {
	uint32_t state;              /* 0 not valid yet, 1 valid */
	uint32_t threads;            /* how many ended threads are in here */
	char name[RECORD_NAME_SIZE]; /* RECORD_OTHER_NAMES collects what found no row of its own */
	struct counters counters;
	struct caused_counters caused;
};

/* A file mapped executable at [start, end). A later entry that overlaps an older one replaced it.
 */
struct record_module {
	uint64_t start; /* 0: not valid */
	uint64_t end;
	uint64_t file_offset; /* of start */
	uint64_t inode;
	uint32_t device_major, device_minor;
	uint64_t image_start, image_end; /* of all its mappings, data included */
	uint32_t unloaded;               /* 1: it is mapped no more */
	uint32_t seen;                   /* the writer's: number of the last look that found it */
	char path[RECORD_PATH_SIZE];
};

struct wait_totals {
	uint64_t waits;
	uint64_t wait_ns_total;
	uint64_t wait_ns_max;
	uint32_t histogram[RECORD_BUCKETS];
};

/* With STATS_HOLD: what holders did with one lock. */
struct hold_totals {
	uint64_t acquired; /* acquisitions that have ended; not those of an owner that holds it */
	uint64_t hold_ns_total;
	uint64_t hold_ns_max;
};

/* A lock that was waited for, or, with STATS_HOLD, held. A destroyed one keeps its row; its address
 * may appear again. */
struct record_lock {
	uint64_t address;         /* 0: not valid */
	uint32_t family;          /* enum record_family */
	uint32_t kind;            /* of a mutex: its __kind word; else 0 */
	uint32_t destroyed;       /* 1: destroyed, or its module was unloaded */
	uint32_t first_site;      /* entry of REGION_SITES + 1 that waited first, 0 unknown */
	uint64_t created_address; /* return address of the call that initialised it, 0 unknown */
	uint32_t created_module;  /* as in record_site */
	uint32_t module;          /* whose data it lies in, as in record_site */
	struct wait_totals wait;
	struct hold_totals hold;      /* of a reader-writer lock: its writers' */
	struct hold_totals read_hold; /* each reader's */
} __attribute__((aligned(64)));       /* rows are written by different threads at a time */

enum record_mode {
	MODE_EXCLUSIVE,
	MODE_SHARED, /* a reader's call */
};

/* A call site that waited for one lock. */
struct record_site {
	uint64_t address; /* return address of the call, 0: not valid */
	uint32_t lock;    /* entry of REGION_LOCKS */
	uint32_t module; /* entry of REGION_MODULES + 1, 0 when the address lies in no known file */
	uint32_t mode;   /* enum record_mode */
	uint32_t sampled; /* 1: a stack of a wait here has been taken */
	struct wait_totals wait;
};

/* Waits at one site while the lock had been acquired at another: who blocked whom. */
struct record_blame {
	uint64_t holder_address; /* return address of the acquiring call, 1 when unknown, 0: not
	                            valid */
	uint32_t holder_module;  /* as in record_site */
	uint32_t site;           /* the waiter: entry of REGION_SITES */
	uint64_t waits;
	uint64_t wait_ns_total;
	uint64_t wait_ns_max;
};

#define RECORD_HOLDER_UNKNOWN 1u

/* The writer's notes on a condition variable with waiters; of no interest to a reader. */
#define RECORD_SIGNALS 8
struct record_cond {
	uint64_t address; /* 0: free */
	uint32_t waiters; /* threads inside a wait */
	uint32_t granted; /* signals given to waiters so far; modulo 2^32 */
	uint32_t taken;   /* signals that returning waiters have taken */
	uint32_t unused;
	uint64_t signalled_ns[RECORD_SIGNALS]; /* time of grant g at [g % RECORD_SIGNALS] */
};

/* Where a lock that still exists was initialised. */
struct record_created {
	uint64_t lock; /* 0: free, 1: being written; else the lock's address */
	uint64_t site; /* return address of the call of pthread_..._init */
};

#define RECORD_MAX_STACK 64u

enum record_stack_end {
	STACK_COMPLETE, /* the outermost frame is the thread's first */
	STACK_DEPTH,    /* cut at stack_depth frames */
	STACK_SIGNAL,   /* ends at the frame of a signal handler */
	STACK_UNKNOWN,  /* ends at code of no known file, or without unwind tables */
};

/* A chain of calls, each once in the table whoever was there: its number is the stack's id. Frame 0
 * of a waiter's is the address of its record_site. A holder's is taken as it releases
 * the lock: frame 0 is the acquiring call, as in record_blame, where known; those below are the
 * release's, without the releasing call itself where it lies in the same function. */
struct record_stack {
	uint64_t hash;        /* of its frames, 0: not valid */
	uint32_t first_frame; /* entry of REGION_FRAMES; frame 0 is a return address as in
	                         record_site */
	uint32_t depth;       /* frames, 1 .. RECORD_MAX_STACK */
	uint32_t end;         /* enum record_stack_end */
	uint32_t holders;     /* how often it was taken of a holder, at its release */
};

/* Waits at one site of which a stack was taken. They are in here before they are in their site's
 * totals. */
struct record_sample {
	uint64_t waits; /* 0: not valid (yet) */
	uint64_t wait_ns_total;
	uint32_t site;  /* entry of REGION_SITES */
	uint32_t stack; /* entry of REGION_STACKS */
};

/* Calls that do not come to the library. */
enum record_uncovered_reason {
	UNCOVERED_DEEPBIND = 1, /* those of a file that was to be opened with RTLD_DEEPBIND */
	UNCOVERED_NAMESPACE,    /* those of a file that was to be opened in another namespace */
	UNCOVERED_DEFINED,      /* those of a function that a file before the library defines */
};

struct record_uncovered {
	uint32_t reason; /* enum record_uncovered_reason, 0: not valid (yet) */
	uint32_t unused;
	char symbol[56];             /* the function's name; else empty */
	char path[RECORD_PATH_SIZE]; /* of the file, as the program called it */
};

/* Why an instruction was left as it was, in the order of atomics_left.def. */
enum record_left {
#define LEFT(name, text) LEFT_##name,
#include "atomics_left.def"
	LEFT_COUNT
};

/* What came of an object's outline-atomics helpers. */
enum record_outline {
	OUTLINE_NONE,      /* it has none that read a flag */
	OUTLINE_SWITCHED,  /* they read the flags that were set */
	OUTLINE_DISAGREE,  /* they read too many bytes, or what is no data: none was touched */
	OUTLINE_PROTECTED, /* the flag could not be written */
};

/* With ATOMICS_LSE or ATOMICS_LLSC: what the switch did to one loaded object. */
struct record_atomics {
	uint32_t state;            /* 0: not valid (yet), 1 valid */
	uint32_t outline;          /* enum record_outline */
	uint32_t helpers;          /* outline helpers that read the flag */
	uint32_t unloaded;         /* 1: it is mapped no more */
	uint32_t inline_found;     /* inline sites of the other family: LSE instructions; with
	                              ATOMICS_LSE exclusive loops */
	uint32_t inline_rewritten; /* of these */
	uint32_t left[LEFT_COUNT]; /* of these, by reason: the rest */
	uint32_t outside;          /* words that look like such, in no function: not found */
	uint32_t kept;             /* inline sites of the family that is wanted */
	uint32_t unreadable;       /* errno when its code could not be looked at, else 0 */
	uint32_t flags;            /* that were to be set: objects of two compilers have two */
	uint32_t early;            /* 1: it has itself initialised first of all (DF_1_INITFIRST),
	                              so code may have run before it was looked at */
	uint32_t reserved;
	uint64_t flag;               /* link-time address of the first of them, 0 none */
	uint64_t base;               /* how far it is loaded from its link-time addresses */
	char path[RECORD_PATH_SIZE]; /* as the loader found it; the program's absolute one */
};

#endif
