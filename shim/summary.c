/*
 * Puts a few figures into words without stdio.
 */
#include "summary.h"

#include <poll.h>
#include <string.h>

#include "probes/record_map.h"
#include "probes/sys.h"
#include "settings.h"
#include "signals.h"
#include "totals.h"

#define READER_PATIENCE_MS 1000

/* Not on the stack, which may be a small one for signals. One end of the process writes here. */
static struct {
	size_t length;
	char bytes[4096]; /* a pipe takes this many in one piece */
} text;

static void add(const char *string)
{
	size_t length = strlen(string);
	if (length > sizeof(text.bytes) - 1 - text.length)
		length = sizeof(text.bytes) - 1 - text.length;
	memcpy(text.bytes + text.length, string, length);
	text.length += length;
}

static void add_number(uint64_t number)
{
	char digits[24];
	record_decimal(digits, number);
	add(digits);
}

/* Three digits or more, of the largest unit that leaves them: 1234 us, 950 ns, 12345 s. */
static void add_time(uint64_t ns)
{
	static const char *const units[] = { " ns", " us", " ms", " s" };
	size_t unit = 0;
	for (; ns >= 10000 && unit < 3; unit++)
		ns /= 1000;
	add_number(ns);
	add(units[unit]);
}

static void add_process(void)
{
	const char *slash = strrchr(record_header->executable, '/');
	add("abshim: ");
	add(slash != NULL ? slash + 1 : record_header->executable);
	add(" (pid ");
	add_number((uint64_t)record_header->pid);
	add(")");
}

static void add_place(void)
{
	if (record_header->path[0] == '\0') {
		add("there is no record file");
		return;
	}
	add("the record is in ");
	add(record_header->path);
	add("; read it with: abshim report ");
	add(record_header->path);
}

static void add_count(uint64_t number, const char *what)
{
	add_number(number);
	add(what);
}

static void compose(void)
{
	struct counters totals;
	totals_read(&totals);
	text.length = 0;
	add_process();
	add(": mutexes ");
	add(settings.mutex.name);
	add(": ");
	add_count(totals.mutex.acquired, " acquired, ");
	add_count(totals.mutex.contended, " contended, ");
	add_count(totals.mutex.parked, " parked, ");
	add_count(totals.mutex.passed_through, " passed through");
	add("\n");
	add_process();
	add(": waited for mutexes ");
	add_time(totals.mutex.wait_ns_total);
	add(" in all, ");
	add_time(totals.mutex.wait_ns_max);
	add(" at most; ");
	add_count(totals.cond.waits, " waits for condition variables");
	add("\n");
	add_process();
	add(": ");
	add_place();
	add("\n");
}

/* The reader of a pipe may have gone, or may not read. */
static bool is_writable(void)
{
	struct pollfd wish = { .fd = 2, .events = POLLOUT };
	struct timespec limit = { READER_PATIENCE_MS / 1000, READER_PATIENCE_MS % 1000 * 1000000L };
	long ready = sys_call6(SYS_ppoll, SYS_ARG(&wish), 1, SYS_ARG(&limit), 0, 0, 0);
	return ready == 1 && wish.revents == POLLOUT;
}

static bool write_text(void)
{
	return sys_write(2, text.bytes, text.length) == (long)text.length;
}

/* The write may raise SIGPIPE, or, past a limit on file sizes, SIGXFSZ: not for the target. */
static bool write_carefully(void)
{
	const uint64_t raised = SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGXFSZ);
	uint64_t before = signals_pending() & raised, fresh;
	if (!is_writable())
		return false;
	bool written = write_text();
	while ((fresh = signals_pending() & raised & ~before) != 0)
		signals_take(fresh, 0);
	return written;
}

bool summary_write(void)
{
	compose();
	return write_carefully();
}

bool summary_write_blindly(void)
{
	compose();
	return write_text();
}

bool summary_write_place(void)
{
	text.length = 0;
	add_process();
	add(": the report was not written; ");
	add_place();
	add("\n");
	return write_carefully();
}
