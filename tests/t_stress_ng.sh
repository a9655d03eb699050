#!/bin/sh
# stress-ng's mutex and thread workers, which are forked children that end by _exit, do what they do
# without the library and leave records of their own, in which nothing is missing.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program stress-ng

# Prints how many operations the worker says it did.
operations_of() {
	awk -v worker="${worker#--}" '$2 == "metrc:" && $4 == worker { print $5; exit }' "$1"
}

# stress WORKER NUMBER ARGUMENTS...: leaves the worker's report to be looked at, and $operations: it
# does as many as it shall, and those that other threads have begun by then.
stress() {
	worker=$1 least=$2
	shift 2
	set -- "$program" "$worker" 1 "$worker-ops" "$least" "$@" --metrics-brief --timeout 30 --temp-path "$scratch"
	forget_records
	plain "$@" >"$scratch/plain" 2>&1 ||
		fail "$worker: exit status $? without the library" "$scratch/plain"
	shimmed ABSHIM_MUTEX="$mutex" ABSHIM_SPINLOCK="$spinlock" ABSHIM_REPORT=none "$@" \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	! grep -q 'fail:\|error:' "$scratch/shim" || fail "$about" "$scratch/shim"
	operations=$(operations_of "$scratch/plain")
	[ "$operations" -ge "$least" ] || fail "$worker: $operations operations" "$scratch/plain"
	operations=$(operations_of "$scratch/shim")
	[ "$operations" -ge "$least" ] || fail "$about: $operations operations" "$scratch/shim"
	for record in "$ABSHIM_DIR"/stress-ng.*.abshim; do
		[ -e "$record" ] || fail "$about: no record" "$scratch/shim"
		read_report "$record"
		[ "$(figure .trust.forked)" != true ] || break
	done
	expect_figure '"\(.trust.forked) \(.process.state) \(.process.end)"' "true ended _exit"
	expect_figure .totals.mutex.lost 0
	expect_figure .trust.threads_lost 0
}

for mutex in glibc yield:30 queue:100; do
	spinlock=$mutex
	[ $mutex != queue:100 ] || spinlock=backoff:4
	about="mutex=$mutex, mutex worker"
	stress --mutex 20000 --mutex-procs 4
	expect_figure '.totals.mutex | .acquired + .passed_through' "$operations"
	expect_figure 'any(.threads[]; .name == "stress-ng-mutex")' true
	about="mutex=$mutex, thread worker"
	stress --pthread 3200 --pthread-max 16
	expect_figure .process.threads_created "$operations"
	expect_figure ".totals.spinlock | .acquired >= $operations and .lost == 0" true
	expect_figure .settings.spinlock $spinlock
	expect_figure '.threads | length < 40' true
done
