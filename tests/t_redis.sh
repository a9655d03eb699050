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
	timeout "$seconds" redis-benchmark -p "$port" -q -c 8 -n $operations \
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
	load >"$scratch/shim"
	expect_same "$about: the data" "$scratch/plain" "$scratch/shim"
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
