#!/bin/sh
# Under every strategy, mutexes of plain kinds are counted as acquired, and calls for robust ones
# and for those of priority inheritance and protection as passed through; all of them exclude.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

plain "$BUILD/workloads/kinds" >"$scratch/plain" || fail "the workload itself" "$scratch/plain"
counts=$(sed -n 's/^plain acquisitions \([0-9]*\), other calls \([0-9]*\)$/\1 \2/p' "$scratch/plain")
for strategy in $(strategies); do
	about=$strategy
	forget_records
	shimmed ABSHIM_MUTEX="$strategy" ABSHIM_REPORT=none "$BUILD/workloads/kinds" \
		>"$scratch/shim" 2>&1 || fail "$strategy: exit status $?" "$scratch/shim"
	expect_same "$strategy: output" "$scratch/plain" "$scratch/shim"
	find_record kinds
	expect_figure '.totals.mutex | "\(.acquired) \(.passed_through)"' "$counts"
done
