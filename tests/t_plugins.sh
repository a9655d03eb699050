#!/bin/sh
# A program that loads and unloads libraries: what waits in one of them keeps that library's names
# in the report when another one has come to lie in its place. Calls that do not come to the library
# are named: those of libraries that were opened so as to find libc's functions first, and those of
# functions that the program or an earlier library defines itself.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

alpha=$BUILD/plugins/alpha.so gamma=$BUILD/plugins/gamma.so

# load FLAGS FILE...: the workload, whose output must not be an error's. Sets $record.
load() {
	forget_records
	shimmed ABSHIM_REPORT=none "$BUILD/workloads/plugins" "$@" >"$scratch/shim" 2>&1 ||
		fail "$about: exit status $?" "$scratch/shim"
	find_record plugins
}

# The library in which each call site lies.
# shellcheck disable=SC2016
same_library='[.locks, .sites] as [$locks, $sites] | all($sites[]; .function == "plugin_run" and
	.module == (.lock as $id | $locks[] | select(.id == $id).module))'

# expect_rows LOCKS: "symbol library waits destroyed", one row for each lock, in the order in which
# they were waited for, each with one call site in its library's function.
expect_rows() {
	expect_figure '[.locks | sort_by(.first_site)[] | "\(.symbol) \(.module | split("/")[-1]) " +
		"\(.waits) \(.destroyed)"] | join(", ")' "$1"
	expect_figure "$same_library" true
}

about="two libraries in one place"
for _ in 1 2 3 4 5 6 7 8; do # where a library comes to lie is not quite certain
	load - "$alpha" "$gamma" "$alpha"
	[ "$(xargs <"$scratch/shim")" != "at 0 at 0 at 0" ] || break
done
# An emulator never maps anything where something else was.
[ -n "$EMULATOR" ] || expect "$about: places" "at 0 at 0 at 0" "$(xargs <"$scratch/shim")"
expect_rows "lock_of_alpha alpha.so 2 true, lock_of_gamma gamma.so 2 true, lock_of_alpha alpha.so 2 false"

about="libraries that stay"
load k "$alpha" "$gamma" "$alpha"
expect_rows "lock_of_alpha alpha.so 4 false, lock_of_gamma gamma.so 2 false"

about="a library that comes back"
load - "$alpha" "$alpha"
if [ "$(xargs <"$scratch/shim")" = "at 0 at 0" ]; then
	expect_rows "lock_of_alpha alpha.so 4 false"
else
	expect_rows "lock_of_alpha alpha.so 2 true, lock_of_alpha alpha.so 2 false"
fi
expect_figure '.trust.uncovered | length' 0

# expect_uncovered [NOTE...]: "reason function file" for each, and words of the report's notes.
expect_uncovered() {
	expect_figure '[.trust.uncovered[] | "\(.reason) \(.function) " + (.path | split("/")[-1])] |
		join(", ")' "$1"
	shift
	for words; do
		expect_figure "any(.trust.notes[]; contains(\"$words\"))" true
	done
}

# libc must see the true caller.
about="a library that loads others"
load k "$BUILD/plugins/caller.so"
expect "$about: what it finds" "at 0 found, found found, found" "$(xargs <"$scratch/shim")"

# reads COUNT ARGUMENTS...: how often the library looks what is mapped.
reads() {
	about="looks at mappings: $*"
	wanted=$1
	shift
	ABSHIM_REPORT=none strace -f -o "$scratch/trace" -E LD_PRELOAD="$library" -e trace=openat \
		"$BUILD/workloads/plugins" "$@" >"$scratch/shim" || fail "$about: exit status $?"
	expect "$about" "$wanted" "$(grep -c /proc/self/maps "$scratch/trace")"
}

# Once for each library that is new or has taken the place of one that is gone, never again for it.
if [ -z "$EMULATOR" ]; then
	need strace
	reads 1 k "$alpha" "$alpha" "$alpha" "$alpha"
	reads 3 - "$alpha" "$gamma" "$alpha"
fi

about="RTLD_DEEPBIND"
load d "$alpha" "$gamma" "$alpha" "$BUILD/plugins/missing.so"
expect_uncovered "deepbind null alpha.so, deepbind null gamma.so, deepbind null missing.so" \
	"calls of alpha.so, gamma.so, missing.so are not seen: the program asked for RTLD_DEEPBIND"
expect_figure '.totals.mutex.acquired' 1

about="a namespace of its own"
load n "$alpha"
expect_uncovered "namespace null alpha.so" \
	"calls of alpha.so are not seen: the program asked for a namespace of its own"
expect_figure '.totals.mutex.acquired' 1

about="forked children of such a program"
forget_records
shimmed ABSHIM_REPORT=none "$BUILD/workloads/plugins" fd "$alpha" >"$scratch/shim" ||
	fail "$about: exit status $?"
for record in "$ABSHIM_DIR"/plugins.*.abshim; do
	read_report "$record"
	expect_uncovered "deepbind null alpha.so"
done
expect "$about: records" 2 "$(find "$ABSHIM_DIR" -name "*.abshim" | wc -l)"

[ -z "$EMULATOR" ] || exit 0
need gcc
cat >"$scratch/own.c" <<'END'
#include <pthread.h>
int pthread_mutex_trylock(pthread_mutex_t *mutex) { return pthread_mutex_lock(mutex); }
int __attribute__((weak)) main(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	return pthread_mutex_trylock(&mutex);
}
END
gcc -O2 -rdynamic -o "$scratch/own" "$scratch/own.c" || fail "gcc"
gcc -O2 -shared -fPIC -o "$scratch/earlier.so" "$scratch/own.c" || fail "gcc"

about="a program that defines a function of ours"
forget_records
shimmed ABSHIM_REPORT=none "$scratch/own" || fail "$about: exit status $?"
find_record own
expect_uncovered "defined pthread_mutex_trylock own" \
	"own itself defines pthread_mutex_trylock: calls are seen only where it hands them on"
expect_figure '.totals.mutex.acquired' 1

about="an earlier library that does"
forget_records
preload_first=$scratch/earlier.so
shimmed ABSHIM_REPORT=none "$scratch/own" || fail "$about: exit status $?"
find_record own
expect_uncovered "defined pthread_mutex_trylock earlier.so, defined pthread_mutex_trylock own"
