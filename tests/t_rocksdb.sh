#!/bin/sh
# RocksDB's own benchmarks, with one shard so that all threads meet at one mutex, store and find what
# they do without the library.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program ldb
ldb=$program
find_program cache_bench
cache_bench=$program
find_program db_bench

operations=20000

# database plain|shimmed [NAME=VALUE...]: prints how many keys were found and a digest of all. Which
# thread's value stays in a key that two have written is chance.
database() {
	rm -rf "$scratch/db"
	"$@" "$program" --db="$scratch/db" --seed=3 --threads=4 --num=$operations --reads=$operations \
		--benchmarks=fillrandom,overwrite,compact,readrandom,seekrandom --disable_wal=1 \
		--compression_type=none --write_buffer_size=2000000 --cache_size=1000000 \
		--cache_numshardbits=0 >"$scratch/out" 2>"$scratch/errors" ||
		fail "$about: db_bench: exit status $?" "$scratch/errors"
	tr '\r' '\n' <"$scratch/out" | sed -n 's/.*(\([0-9]* of .* found\))/\1/p'
	plain "$ldb" --db="$scratch/db" scan --hex --no_value >"$scratch/keys" || fail "$about: ldb"
	wc -l <"$scratch/keys"
	sha256sum <"$scratch/keys"
}

# cache plain|shimmed [NAME=VALUE...]: prints what it says that it did.
cache() {
	"$@" "$cache_bench" -threads=4 -ops_per_thread=$operations -num_shard_bits=0 \
		-cache_size=16777216 >"$scratch/out" 2>"$scratch/errors" ||
		fail "$about: cache_bench: exit status $?" "$scratch/errors"
	sed -n '/^DMutex\|^Max key\|^Resident/p; s/^\(Count: [0-9]*\) .*/\1/p' "$scratch/out"
}

# expect_counted NAME THREADS LEAST: at least so many threads started and mutexes acquired.
expect_counted() {
	find_record "$1"
	expect_figure '"\(.process.end) \(.process.exit_status)"' "exit 0"
	expect_figure ".totals.mutex.acquired >= $3" true
	expect_figure '.totals.mutex.lost' 0
	expect_figure ".process.threads_created >= $2" true
	expect_figure .settings.mutex "$mutex"
}

about="without the library"
database plain >"$scratch/database"
expect "counts of keys found" 2 "$(grep -c found "$scratch/database")"
cache plain >"$scratch/cache"
expect "operations" "Count: $((4 * operations))" "$(tail -n 1 "$scratch/cache")"

for mutex in glibc yield:30 queue:100; do
	about="mutex=$mutex"
	forget_records
	database shimmed ABSHIM_MUTEX=$mutex ABSHIM_REPORT=none >"$scratch/shim"
	expect_same "$about: the database" "$scratch/database" "$scratch/shim"
	expect_counted db_bench 20 $((8 * operations))
	expect_figure '.totals.rwlock | .read_acquired + .write_acquired > 0 and .lost == 0' true
	cache shimmed ABSHIM_MUTEX=$mutex ABSHIM_REPORT=none >"$scratch/shim"
	expect_same "$about: the cache" "$scratch/cache" "$scratch/shim"
	expect_counted cache_bench 4 $((4 * operations))
done
