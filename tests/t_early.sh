#!/bin/sh
# Locks where a library may not be ready or must not allocate: in C++'s static constructors and
# destructors, and inside of a program's own malloc. Every acquisition is counted.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# check WORKLOAD STATUS STRATEGY: the count that it prints is that of the record.
check() {
	about="$1, $3"
	forget_records
	shimmed ABSHIM_MUTEX="$3" ABSHIM_REPORT=none "$BUILD/workloads/$1" \
		>"$scratch/shim" 2>&1
	expect "$about: exit status" "$2" $?
	find_record "$1"
	expect_figure .totals.mutex.acquired "$(sed -n 's/^acquired //p' "$scratch/shim")"
}

plain "$BUILD/workloads/cxx_locks" >"$scratch/plain"
expect "without the library: exit status" 6 $?
for strategy in $(strategies); do
	check cxx_locks 6 "$strategy"
	expect_same "$about: output" "$scratch/plain" "$scratch/shim"
	expect_figure '.totals.mutex | "\(.timed_out) \(.try_failed)"' "1 1"
	expect_figure '.totals.cond.waits > 0' true
	check own_malloc 0 "$strategy"
done
