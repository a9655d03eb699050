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

static void add_hex(uint64_t number)
{
	char digits[2] = "";
	unsigned shift = 60;
	while (shift > 0 && number >> shift == 0)
		shift -= 4;
	add("0x");
	for (;; shift -= 4) {
		digits[0] = "0123456789abcdef"[number >> shift & 15];
		add(digits);
		if (shift == 0)
			return;
	}
}

static void add_outline(const struct record_atomics *made)
{
	const char *family = settings.atomics == ATOMICS_LSE ? "LSE" : "LL/SC";
	if (made->outline == OUTLINE_SWITCHED) {
		add("outline switched to ");
		add(family);
		add(" (");
		add_count(made->helpers, made->helpers == 1 ? " helper" : " helpers");
		add(", flag ");
		add_hex(made->flag);
		add(")");
	} else if (made->outline == OUTLINE_DISAGREE) {
		add("outline out of reach (flags too many or no data)");
	} else if (made->outline == OUTLINE_PROTECTED) {
		add("outline out of reach (the flag cannot be written)");
	}
}

static void add_inline(const struct record_atomics *made)
{
	static const char *const reasons[LEFT_COUNT] = {
#define LEFT(name, text) text,
#include "probes/atomics_left.def"
	};
	if (made->inline_found == 0)
		return;
	add(made->outline != OUTLINE_NONE ? ", inline rewritten " : "inline rewritten ");
	add_count(made->inline_rewritten, " of ");
	add_number(made->inline_found);
	for (unsigned why = 0; why < LEFT_COUNT; why++)
		if (made->left[why] != 0) {
			add(", ");
			add_count(made->left[why], " left: ");
			add(reasons[why]);
		}
}

static void add_object(const struct record_atomics *made)
{
	const char *slash = strrchr(made->path, '/');
	add("abshim: atomics: ");
	add(slash != NULL ? slash + 1 : made->path);
	add(made->unloaded != 0 ? " (unloaded): " : ": ");
	add_outline(made);
	add_inline(made);
	if (made->unreadable != 0) {
		add("out of reach (errno ");
		add_count(made->unreadable, ")");
	} else if (made->outline == OUTLINE_NONE && made->inline_found == 0) {
		add(made->kept == 0                       ? "inert (no atomics)"
		        : settings.atomics == ATOMICS_LSE ? "inert (already LSE)"
		                                          : "inert (already LL/SC)");
	}
	if (made->outside != 0) {
		add("; ");
		add_count(made->outside, " words outside functions not counted");
	}
	add("\n");
}

/* What the atomics switch did; a line that has no room is left out whole. */
static void add_objects(void)
{
	for (uint32_t entry = 0; entry < record_used(REGION_ATOMICS); entry++) {
		const struct record_atomics *made = record_entry(REGION_ATOMICS, entry);
		size_t before = text.length;
		/* Pairs with row_put: the row is complete. */
		if (__atomic_load_n(&made->state, __ATOMIC_ACQUIRE) == 0)
			continue;
		add_object(made);
		if (text.length == sizeof(text.bytes) - 1)
			text.length = before;
	}
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
	add_objects();
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
