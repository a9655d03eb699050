#!/bin/sh
# WiredTiger, the engine of mongod, under a driver of ours: threads that read and increment records
# leave what they leave without the library, with a cache that holds the table and with one that evicts.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq gcc
[ -z "$EMULATOR" ] || skip "WiredTiger is not in $root"
echo '#include <wiredtiger.h>' | gcc -E - >/dev/null 2>&1 || skip "wiredtiger.h is missing"

threads=4 operations=6000 writes=50
gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -pthread -o "$scratch/wiredtiger" \
	tests/workloads/wiredtiger/driver.c -lwiredtiger || fail "gcc"

# drive CACHE_MIB plain|shimmed [NAME=VALUE...]
drive() {
	cache=$1
	shift
	rm -rf "$scratch/data"
	mkdir "$scratch/data"
	"$@" "$scratch/wiredtiger" "$scratch/data" $threads $operations $writes "$cache" \
		2>"$scratch/errors" || fail "$about: exit status $?" "$scratch/errors"
}

expect_counted() {
	find_record wiredtiger
	expect_figure '"\(.process.end) \(.process.exit_status)"' "exit 0"
	expect_figure ".totals.mutex.acquired > $((threads * operations * writes / 200))" true
	expect_figure '.totals.mutex.lost + .trust.threads_lost' 0
	expect_figure ".process.threads_created > $threads" true
	expect_figure '.totals.cond.waits > 0 and .totals.cond.signals + .totals.cond.broadcasts > 0' true
	expect_figure .settings.mutex "$mutex"
}

for size in 5 50; do
	about="${size} MiB, without the library"
	drive $size plain >"$scratch/plain"
	awk -F '[ ,]+' -v all=$((threads * operations)) \
		'$2 + $4 == all && $4 == $6 { ok = 1 } END { exit !ok }' "$scratch/plain" ||
		fail "$about: the sum" "$scratch/plain"
	for mutex in glibc yield:30 queue:100; do
		about="${size} MiB, mutex=$mutex"
		forget_records
		drive $size shimmed ABSHIM_MUTEX=$mutex ABSHIM_REPORT=none >"$scratch/shim"
		expect_same "$about: what is in the table" "$scratch/plain" "$scratch/shim"
		expect_counted
	done
done
