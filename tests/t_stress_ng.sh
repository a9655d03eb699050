#!/bin/sh
# stress-ng's mutex and thread workers, which are forked children that end by _exit, do what they do
# without the library and leave records of their own.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program stress-ng

# stress ARGUMENTS...: leaves the worker's report to be looked at.
stress() {
	forget_records
	plain "$program" "$@" --timeout 30 >"$scratch/plain" 2>&1 ||
		fail "$1: exit status $? without the library" "$scratch/plain"
	shimmed ABSHIM_MUTEX="$mutex" ABSHIM_REPORT=none "$program" "$@" --timeout 30 \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	! grep -q 'fail:\|error:' "$scratch/shim" || fail "$about" "$scratch/shim"
	for record in "$ABSHIM_DIR"/stress-ng.*.abshim; do
		[ -e "$record" ] || fail "$about: no record" "$scratch/shim"
		read_report "$record"
		[ "$(figure .trust.forked)" != true ] || break
	done
	expect_figure '"\(.trust.forked) \(.process.state) \(.process.end)"' "true ended _exit"
	expect_figure .totals.mutex.lost 0
	expect_figure .trust.threads_lost 0
}

for mutex in glibc yield:30 queue; do
	about="mutex=$mutex, mutex worker"
	stress --mutex 1 --mutex-procs 4 --mutex-ops 20000
	expect_figure '.totals.mutex | .acquired + .passed_through >= 20000' true
	expect_figure 'any(.threads[]; .name == "stress-ng-mutex")' true
	about="mutex=$mutex, thread worker"
	stress --pthread 1 --pthread-max 16 --pthread-ops 1600
	expect_figure '.process.threads_created >= 1600' true
	expect_figure '.threads | length < 40' true
done
