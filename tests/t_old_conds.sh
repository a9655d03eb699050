#!/bin/sh
# A program bound to x86-64's old family of condition variables, which are others than today's, runs
# the same on them, and its calls are counted like those of the new one.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ "$ARCH" = x86_64 ] || skip "there is no old family of condition variables on $ARCH"
need jq gcc

gcc -O2 -pthread -o "$scratch/old_conds" tests/data/old_conds.c || fail "gcc"
readelf --dyn-syms -W "$scratch/old_conds" | grep -q 'pthread_cond_wait@GLIBC_2\.2\.5' ||
	fail "the program is not bound to the old family"
plain "$scratch/old_conds" | grep -v '^acquired' >"$scratch/plain" || fail "the program itself" "$scratch/plain"
for strategy in $(strategies); do
	about=$strategy
	forget_records
	shimmed ABSHIM_MUTEX="$strategy" ABSHIM_REPORT=none "$scratch/old_conds" \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	grep -v '^acquired' "$scratch/shim" >"$scratch/results"
	expect_same "$about: output" "$scratch/plain" "$scratch/results"
	find_record old_conds
	expect_figure '.totals | "acquired \(.mutex.acquired) waits \(.cond.waits) signals " +
		"\(.cond.signals) broadcasts \(.cond.broadcasts) timed_out \(.cond.timed_out)"' \
		"$(grep '^acquired' "$scratch/shim")"
	expect_figure '.totals.cond.signal_wait_ns_total > 0' true
done
