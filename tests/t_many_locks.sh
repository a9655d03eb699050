#!/bin/sh
# A million contended mutexes: the record stays within 64 MiB, and what found no room in its tables
# is counted exactly.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
program=$BUILD/workloads/many_locks

count=1000000
[ -z "$EMULATOR" ] || count=20000
for setting in ABSHIM_MUTEX=glibc ABSHIM_MUTEX=park ABSHIM_STATS=hold; do
	about=$setting
	forget_records
	shimmed $setting ABSHIM_REPORT=none "$program" $count >"$scratch/out" 2>"$scratch/err" ||
		fail "$about: exit status $?" "$scratch/err"
	expect "$about: waits that gave up" $count "$(cat "$scratch/out")"
	find_record many_locks
	expect "$about: the record's size is within 64 MiB" "" "$(find "$record" -size +65536k)"
	expect_figure '.totals.mutex | "\(.acquired) \(.contended) \(.timed_out)"' \
		"$count $count $count"
	expect_figure '(.locks | map(.waits) | add) + .trust.lost_waits' $count
	expect_figure '(.sites | map(.waits) | add) + .trust.lost_waits' $count
	expect_figure '.totals.mutex.lost == .trust.lost_waits' true
	expect_figure '.trust.lost_waits > 0' true
	expect_figure '(.locks | map(.wait_ns_total) | add) + .trust.lost_ns ==
		.totals.mutex.wait_ns_total' true
done
