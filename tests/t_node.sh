#!/bin/sh
# Node.js, whose pool of threads derives keys, compresses and reads files, and whose workers share
# memory, computes what it does without the library and ends with the same status.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program node

plain "$program" tests/data/pool.js >"$scratch/plain" 2>"$scratch/errors"
expect "without the library: exit status" 4 $?
expect "without the library: workers" "workers 0 0 0 0, 80000" "$(tail -n 1 "$scratch/plain")"

for way in glibc yield:30 spin:50; do
	about="mutex, rwlock and sem $way"
	forget_records
	shimmed ABSHIM_MUTEX=$way ABSHIM_RWLOCK=$way ABSHIM_SEM=$way "$program" tests/data/pool.js >"$scratch/shim" 2>"$scratch/report"
	expect "$about: exit status" 4 $?
	expect_same "$about: output" "$scratch/plain" "$scratch/shim"
	grep -q '^abshim: node' "$scratch/report" || fail "$about: no report" "$scratch/report"
	find_record node
	expect_figure '"\(.process.end) \(.process.exit_status)"' "exit 4"
	expect_figure '.totals.mutex.acquired > 10000' true
	expect_figure '.totals.rwlock | .read_acquired > 1000 and .write_acquired > 1000' true
	expect_figure '.totals.sem | .acquired > 0 and .posts > 0' true
	expect_figure '.totals.mutex.lost + .totals.rwlock.lost + .trust.threads_lost' 0
	expect_figure '.totals.cond.waits > 0 and .totals.cond.signals > 0' true
	expect_figure '.process.threads_created >= 8' true
	expect_figure .settings.rwlock "$way"
done
