#!/bin/sh
# sysbench takes its mutexes a known number of times: under every strategy exactly that many
# acquisitions are counted; where it yields inside of its locks there is contention.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program sysbench

threads=4
locks=100000 # by each thread
events=300 yields=100 # by all together; with a lock around each yield

# events_of FILE: the events that sysbench says it has done.
events_of() {
	sed -n 's/^ *total number of events: *//p' "$1"
}

mutex() {
	"$@" "$program" mutex --threads=$threads --mutex-locks=$locks --mutex-loops=10 run
}

yields() {
	"$@" "$program" threads --threads=$threads --thread-yields=$yields --thread-locks=2 \
		--events=$events --time=0 run
}

# check COMMAND NAME=VALUE...: leaves the report on its run to be looked at.
check() {
	about="$*"
	command=$1
	shift
	forget_records
	"$command" shimmed "$@" ABSHIM_REPORT=none >"$scratch/shim" 2>&1 ||
		fail "$about: exit status $?" "$scratch/shim"
	find_record sysbench
	expect "$about: events" "$(events_of "$scratch/$command")" "$(events_of "$scratch/shim")"
	expect_figure .totals.mutex.lost 0
	expect_figure '.totals.mutex | .contended == (.histogram | add)' true
}

# check_both NAME=VALUE...
check_both() {
	check mutex "$@"
	expect_figure .totals.mutex.acquired $((locks * threads + 24 + threads))
	expect_figure '.totals.cond | "\(.waits) \(.broadcasts)"' "$threads 1"
	check yields "$@"
	expect_figure '.totals.mutex.contended > 0' true
	expect_figure .totals.mutex.acquired $((events * yields + 24 + threads))
}

mutex plain >"$scratch/mutex" || fail "sysbench mutex itself" "$scratch/mutex"
yields plain >"$scratch/yields" || fail "sysbench threads itself" "$scratch/yields"
for strategy in $(strategies); do
	check_both ABSHIM_MUTEX="$strategy"
done
for atomics in $(switches); do
	check_both ABSHIM_MUTEX=yield ABSHIM_ATOMICS="$atomics"
	expect_figure .atomics.choice "$atomics"
done
