#!/bin/sh
# Second names of the functions, which old programs bind in versions that new ones cannot name, are
# taken over like the first ones.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# The program's calls by other names would show nothing.
names=$(readelf --dyn-syms -W "$BUILD/workloads/old_names" |
	awk '$7 == "UND" && $8 ~ /^__pthread_(mutex|rwlock|once)/ { n++ } $8 ~ /^pthread_/ { n = "" } END { print n }')
expect "second names in the program" 13 "$names"

plain "$BUILD/workloads/old_names" >"$scratch/plain" || fail "the workload itself" "$scratch/plain"
for strategy in $(strategies); do
	about=$strategy
	forget_records
	shimmed ABSHIM_MUTEX="$strategy" ABSHIM_REPORT=none "$BUILD/workloads/old_names" \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	expect_same "$about: output" "$scratch/plain" "$scratch/shim"
	find_record old_names
	expect_figure '.totals | "mutex \(.mutex.acquired) \(.mutex.try_failed) rwlock " +
		"\(.rwlock.read_acquired) \(.rwlock.write_acquired) \(.rwlock.try_failed) " +
		"once \(.once.calls) \(.once.ran)"' "$(cat "$scratch/shim")"
done
