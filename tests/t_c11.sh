#!/bin/sh
# C11's mutexes, condition variables, threads and call_once behave the same under every strategy, and are
# counted like those of pthread: exactly, and with the waits at the program's own call sites.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

plain "$BUILD/workloads/c11" >"$scratch/plain" || fail "the workload itself" "$scratch/plain"
counts=$(sed -n 's/^acquired //p' "$scratch/plain" | tr -d 'a-z_' | tr -s ' ')
for strategy in $(strategies); do
	about=$strategy
	forget_records
	shimmed ABSHIM_MUTEX="$strategy" ABSHIM_REPORT=none "$BUILD/workloads/c11" \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	expect_same "$about: output" "$scratch/plain" "$scratch/shim"
	find_record c11
	expect_figure '[.totals.mutex.acquired, .totals.mutex.try_failed, .totals.mutex.timed_out,
		.totals.cond.signals, .totals.cond.broadcasts, .process.threads_created] | join(" ")' \
		"$counts"
	expect_figure '.totals.mutex.passed_through' 0
	expect_figure '.totals.cond.waits > 0' true
	# Of forty calls one ran the function, and at most three waited for it.
	expect_figure '.totals.once | [.ran, .calls + .contended] | join(" ")' "1 39"
	expect_figure '.totals.once | .run_ns_total >= 20000000 and .contended < 4' true
	# The thread that finds the mutex taken waits in one place.
	expect_figure 'any(.sites[]; .function == "find_taken" and (.module | endswith("/c11")))' true
done

# The same of C++: two functions end by an exception, one returns.
about="std::call_once"
forget_records
shimmed ABSHIM_REPORT=none "$BUILD/workloads/cxx" once >"$scratch/shim" 2>&1 ||
	fail "$about: exit status $?" "$scratch/shim"
expect "$about: output" "once: tried 3, done 1" "$(head -n 1 "$scratch/shim")"
find_record cxx
expect_figure '.totals.once | .ran >= 3 and .run_ns_total >= 30000000' true

# libc's own functions, where the library keeps out.
shimmed ABSHIM_STATS=off ABSHIM_REPORT=none "$BUILD/workloads/c11" >"$scratch/shim" 2>&1 ||
	fail "ABSHIM_STATS=off: exit status $?" "$scratch/shim"
expect_same "ABSHIM_STATS=off: output" "$scratch/plain" "$scratch/shim"
