#!/bin/sh
# A redis server, whose malloc takes mutexes, holds the same data as without the library; and the
# child that it forks to save them leaves a record of its own.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq redis-cli redis-benchmark
find_program redis-server
[ "$(nproc)" -gt 1 ] || skip "one CPU: an I/O thread of redis would spin for minutes"

operations=8000
name=$(basename "$(realpath "$program")") # of the file behind the link redis-server

# serve plain|shimmed [NAME=VALUE...]. More than one I/O thread per CPU would spin for minutes.
serve() {
	mkdir "$scratch/data"
	find_port
	start "$@" "$program" --port "$port" --bind 127.0.0.1 --save "" --dir "$scratch/data" \
		--io-threads 2 --enable-debug-command local
	await redis ping
}

redis() {
	timeout "$seconds" redis-cli -p "$port" "$@"
}

# Prints a digest of the data, and whether it is the same after saving and loading.
load() {
	timeout "$seconds" redis-benchmark -p "$port" -q -c 8 -P 8 -n $operations \
		-t set,get,incr,lpush,hset >"$scratch/load" 2>&1 ||
		fail "redis-benchmark" "$scratch/load" "$server_log"
	redis get counter:__rand_int__
	redis llen mylist
	redis debug digest
	redis debug reload
	redis debug digest
	redis bgsave
	await has_saved
}

has_saved() {
	redis info persistence | grep rdb_bgsave_in_progress:0 &&
		redis info persistence | grep rdb_last_bgsave_status:ok
}

# Prints how often jemalloc says that its own mutexes were acquired, or nothing where redis was built
# with another allocator. Rows are named by mutex, or by size, the column being the one below the
# heading's word before.
jemalloc_acquired() {
	redis memory malloc-stats | awk '
		/^arenas\[/ { exit }
		/^large:/ { column = 0 }
		named && /^[a-z_]+ +[0-9]/ { sum += $2 }
		column && /^ +[0-9]/ { sum += $column }
		/n_lock_ops/ {
			named = !/^bins:/
			for (column = named ? 0 : NF; column > 0 && $(column + 1) != "n_lock_ops";)
				column--
		}
		END { if (sum) print sum }'
}

# Each of them tries, by pthread_mutex_trylock, before anything else.
expect_jemalloc() {
	read_report "$server"
	acquired=$(figure .totals.mutex.acquired)
	before=$(jemalloc_acquired)
	[ -n "$before" ] || return 0
	redis debug populate 20000 >"$scratch/populate"
	after=$(jemalloc_acquired)
	[ $((after - before)) -gt 100 ] || fail "$about: jemalloc: $before, then $after"
	read_report "$server"
	expect_figure ".totals.mutex.acquired - $acquired >= $after - $before" true
}

stop() {
	end_server TERM
	expect "$about: exit status" 0 "$status"
	rm -r "$scratch/data"
}

about="without the library"
serve plain
load >"$scratch/plain"
expect "increments" $operations "$(head -n 1 "$scratch/plain")"
stop

for mutex in glibc yield:30; do
	about="mutex=$mutex"
	forget_records
	serve shimmed ABSHIM_MUTEX=$mutex
	# On AArch64 a child at the start has tried the kernel.
	find "$ABSHIM_DIR" -name '*.abshim' ! -name "$name.$server.*" -delete
	load >"$scratch/shim"
	expect_same "$about: the data" "$scratch/plain" "$scratch/shim"
	expect_jemalloc
	stop
	grep -q "^abshim: .*$server" "$server_log" || fail "$about: no report" "$server_log"
	find_record "$name.$server"
	expect_figure '.totals.mutex.acquired > 0' true
	expect_figure '"\(.process.end) \(.trust.forked)"' "exit false"
	expect_figure 'any(.threads[]; .name == "io_thd_1")' true
	mv "$record" "$scratch/record"
	find_record "$name"
	expect_figure '"\(.process.parent_pid) \(.process.end)"' "$server _exit"
	expect_figure .trust.forked true
done
