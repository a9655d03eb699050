/*
 * Starts the shim before the program's own code, and again in every forked child.
 */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>

#include "alloc/arm.h"
#include "atomics/switch.h"
#include "auxv.h"
#include "exit.h"
#include "hold.h"
#include "probes/created.h"
#include "probes/record_map.h"
#include "probes/sys.h"
#include "probes/threads.h"
#include "real.h"
#include "settings.h"
#include "stacks.h"
#include "thread.h"
#include "uncovered.h"

bool start_counting;
static bool record_made; /* the process has a record */
static unsigned era;

static char executable[RECORD_PATH_SIZE];
static char library[RECORD_PATH_SIZE];
static char start_directory[RECORD_PATH_SIZE];

bool start_has_record(void)
{
	return record_made;
}

unsigned start_era(void)
{
	return era;
}

bool start_absolute(char *path, size_t size, const char *name)
{
	size_t directory = *name == '/' ? 0 : strlen(start_directory) + 1;
	if (directory + strlen(name) >= size)
		return false;
	if (directory != 0) {
		memcpy(path, start_directory, directory - 1);
		path[directory - 1] = '/';
	}
	memcpy(path + directory, name, strlen(name) + 1);
	return true;
}

/* Where the kernel does not tell (no /proc), the path is the one that was executed: by the kernel's
 * account, or else by the caller's. */
static void read_executable(char *const *environment, const char *argument)
{
	char path[PATH_MAX];
	long length = sys_call6(SYS_readlinkat, AT_FDCWD, SYS_ARG("/proc/self/exe"), SYS_ARG(path),
	        sizeof(path) - 1, 0, 0);
	const char *executed = (const char *)auxv_find(environment, AT_EXECFN);
	if (executed == NULL)
		executed = argument != NULL ? argument : "";
	if (strncmp(executed, "./", 2) == 0)
		executed += 2;
	if (length > 0)
		path[length] = '\0';
	else if (!start_absolute(path, sizeof(path), executed))
		path[0] = '\0';
	record_copy_path(executable, sizeof(executable), path);
}

static void find_library(void)
{
	const char *path = real_own_path();
	if (!start_absolute(library, sizeof(library), *path != '\0' ? path : executable))
		library[0] = '\0';
}

/* Field 22 of /proc/self/stat, counted from behind the command's closing parenthesis. */
static uint64_t start_ticks(void)
{
	char text[1024];
	int fd = sys_open("/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
	long length = fd < 0 ? -1 : sys_read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		sys_close(fd);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	const char *field = strrchr(text, ')');
	for (int i = 2; field != NULL && i < 22; i++)
		field = strchr(field + 1, ' ');
	uint64_t ticks = 0;
	for (field = field != NULL ? field + 1 : ""; *field >= '0' && *field <= '9'; field++)
		ticks = ticks * 10 + (uint64_t)(*field - '0');
	return ticks;
}

static uint32_t count_cpus(void)
{
	cpu_set_t cpus;
	memset(&cpus, 0, sizeof(cpus));
	sys_call3(SYS_sched_getaffinity, 0, sizeof(cpus), SYS_ARG(&cpus));
	return (uint32_t)CPU_COUNT(&cpus);
}

static void describe_process(uint32_t flags)
{
	struct record_header *header = record_header;
	record_copy_path(header->executable, sizeof(header->executable), executable);
	record_copy_path(header->library, sizeof(header->library), library);
	memcpy(header->settings, settings.text, sizeof(header->settings));
	header->start_ticks = start_ticks();
	header->cpus = count_cpus();
	header->flags |= flags | (settings.elision ? RECORD_ELISION : 0);
	struct record_control *control = record_entry(REGION_CONTROL, 0);
	control->mutex = settings.mutex;
	control->rwlock = settings.rwlock;
	control->spinlock = settings.spinlock;
	control->sem = settings.sem;
	control->futex = settings.futex;
	control->mutex_pre_spins = settings.mutex_pre_spins;
	control->stats = settings.stats;
	control->stack_depth = settings.stack_depth;
	control->pause = settings.pause;
	control->atomics = settings.atomics;
	control->alloc = settings.alloc;
}

/* error: what record_create() returned. */
static _Noreturn void refuse_directory(const char *directory, int error)
{
	const char *fault = "cannot make a record file there; right is a directory of this user";
	switch (-error) {
	case ENOENT:
		fault = "does not exist; right is a directory of this user";
		break;
	case ENOTDIR:
	case ELOOP:
		fault = "is no directory (a link is not followed); right is a directory of this "
		        "user";
		break;
	case EPERM:
		fault = "others may write there; right is a directory of this user, mode 0700";
		break;
	case EFBIG:
		fault = "the limit on file sizes (ulimit -f) is lower than the size of a record";
		break;
	case EMFILE:
	case ENFILE:
		fault = "no descriptor is left for a record file (ulimit -n)";
		break;
	case EROFS:
		fault = "a read-only file system; right is a directory of this user in a tmpfs";
		break;
	case EOPNOTSUPP:
	case ENODEV:
	case EINVAL:
		fault = "no file system for a record; right is a directory of this user in a tmpfs";
		break;
	case ENAMETOOLONG:
		fault = "the path of a record file would be too long";
		break;
	case EEXIST:
		fault = "holds a thousand records of this process id; remove old ones";
		break;
	case EIO:
		fault = "input or output error";
		break;
	case ENOMEM:
		fault = "no memory for a record; raise the limit on it (ulimit -v)";
		break;
	case ENOSPC:
	case EDQUOT:
		fault = "no room for a record on this file system";
		break;
	default:
		break;
	}
	settings_refuse((const char *const[]){ "ABSHIM_DIR=", directory, ": ", fault, NULL });
}

/* may_refuse: whether the process has not begun yet, so that it may be ended with a message. */
static void make_record(uint32_t flags, bool may_refuse)
{
	const char *directory = settings.directory[0] != '\0' ? settings.directory : NULL;
	int result = record_create(directory, executable, may_refuse);
	if (result != 0 && may_refuse && directory != NULL)
		refuse_directory(directory, result);
	if (result != 0 && may_refuse)
		settings_refuse((const char *const[]){
		        "no memory for a record: raise the limit on it (ulimit -v)", NULL });
	record_made = result == 0;
	start_counting = record_made && !settings_stay_out();
	if (!record_made)
		return;
	describe_process(flags);
	alloc_put();
	uncovered_put();
	atomics_put();
}

static void begin_anew(uint32_t flags)
{
	thread_forget();
	record_threads_forget();
	record_created_take();
	make_record(flags, false);
	if (record_made)
		record_created_put();
	thread_forked();
}

void start_forked(void)
{
	if (!record_made)
		return;
	era++;
	/* The child is under the filter as well, and making a record might kill it. */
	if (record_filtered()) {
		thread_forget();
		record_made = start_counting = false;
		return;
	}
	begin_anew(RECORD_FORKED | (stacks_forked() ? 0 : RECORD_NO_STACKS));
}

void start_renew(void)
{
	begin_anew(record_header->flags & (RECORD_FORKED | RECORD_NO_STACKS));
}

/* Weak: only glibc has it. */
const char *gnu_get_libc_version(void) __attribute__((weak));

void start_need_glibc(void)
{
	if (gnu_get_libc_version == NULL)
		settings_refuse((const char *const[]){
		        "this program does not run on glibc: unset LD_PRELOAD for it", NULL });
}

/* Runs before every other constructor of the process; libc has not set environ yet. */
__attribute__((constructor)) static void start(int argc, char **argv, char **environment)
{
	start_need_glibc(); /* another libc does not even pass these arguments */
	if (sys_failed(sys_call3(SYS_getcwd, SYS_ARG(start_directory), sizeof(start_directory), 0)))
		start_directory[0] = '\0';
	read_executable(environment, argc > 0 ? argv[0] : NULL);
	settings_read(environment, executable);
	atomics_follow(environment);
	real_resolve();
	if (!settings.matches)
		return;
	find_library();
	alloc_begin(environment);
	uncovered_find_defined(executable);
	make_record(0, true);
	atomics_start(executable);
	if (settings.stats == STATS_HOLD && !hold_start())
		settings_refuse((const char *const[]){
		        "ABSHIM_STATS=hold: no memory for held locks: raise the limit on it "
		        "(ulimit -v)",
		        NULL });
	thread_watch_ends();
	exit_watch();
	real_functions.__register_atfork(NULL, NULL, start_forked, NULL);
}
