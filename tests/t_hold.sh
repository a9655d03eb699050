#!/bin/sh
# A server whose holds are timed does as without the library, and the figures fit together: every
# acquisition is in a lock's row or counted as lost, and no mutex was held for longer than the server
# ran.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/mariadb.sh

events=2000
[ -z "$EMULATOR" ] || events=300

load() {
	bench oltp_point_select --threads=4 --time=0 --events=$events run
	sql "checksum table sbtest.sbtest1"
}

# A hold that lasts over the end has not ended; 64 locks are more than all threads have then. Inner
# acquisitions of recursive mutexes go on with their owner's hold.
# shellcheck disable=SC2016
expect_holds() {
	expect_figure '([.locks[] | select(.type == "mutex") | .hold.acquired] | add) as $held |
		.totals.mutex | ($held + .hold_lost) as $ended | $held > 0 and
		$ended <= .acquired and $ended >= .acquired * 0.98 - 64' true
	expect_figure '.process.duration_ns as $duration | [.locks[] | select(.type == "mutex" and
		.hold.hold_ns_total > $duration * 1.02)] | length' 0
	expect_figure '[.locks[].hold | objects |
		select(.hold_ns_max > .hold_ns_total)] | length' 0
	expect_figure '([.locks[] | select(.type == "mutex") | .hold.hold_ns_total] | add) as $held |
		.totals.mutex | .hold_ns_total >= $held and $held > 0' true
	expect_figure '([.locks[].read_hold | objects | .hold_ns_total] | add) as $held |
		.totals.rwlock | .read_hold_ns_total >= $held and $held > 0' true
}

# Where there is no memory to time holds, a process does not begin: as much as it needs otherwise is
# not enough. (An emulator needs more itself.)
expect_refusal() {
	for kilobytes in $(seq 8000 4000 100000); do
		limit="prlimit --as=$((kilobytes * 1024)) timeout $seconds"
		shimmed ABSHIM_STATS=on true 2>/dev/null || continue
		shimmed ABSHIM_STATS=hold true 2>"$scratch/refusal"
		expect "$kilobytes kB: exit status" 78 $?
		grep -q '^abshim: ABSHIM_STATS=hold: no memory' "$scratch/refusal" ||
			fail "$kilobytes kB: no such line" "$scratch/refusal"
		unset limit
		return
	done
	fail "no limit lets a process begin"
}
[ -n "$EMULATOR" ] || expect_refusal

prepare_data
serve_copy plain
load >"$scratch/plain"
end_server TERM
for mutex in glibc yield:30; do
	about="mutex=$mutex"
	serve_copy shimmed ABSHIM_STATS=hold ABSHIM_MUTEX=$mutex ABSHIM_REPORT="$scratch/report"
	load >"$scratch/shim"
	expect_same "$about: what the load left" "$scratch/plain" "$scratch/shim"
	end_server TERM
	expect "$about: exit status" 0 "$status"
	find_record mariadbd
	expect_figure .settings.stats hold
	expect_figure 'any(.trust.notes[]; startswith("ABSHIM_STATS=hold: "))' true
	expect_holds
done
