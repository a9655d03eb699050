#!/bin/sh
# A MariaDB server under load does as without the library: the same tables come out and it ends the
# same way; and there is a report after SIGTERM, after SIGKILL and while it runs.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/mariadb.sh
need mysqlslap

transactions=300 updates=4000 selects=8000
[ -z "$EMULATOR" ] || transactions=60 updates=1000 selects=2000

# A load with one right outcome: one thread with known random numbers; then four that increment
# the same rows; then four that read.
load() {
	bench oltp_read_write --threads=1 --time=0 --events=$transactions run
	sql "checksum table sbtest.sbtest1"
	timeout "$seconds" mysqlslap --no-defaults -uroot -S "$socket" --create-schema=sbtest \
		--concurrency=4 --number-of-queries=$updates --delimiter=';' \
		--query='update counter set n = n + 1 where id < 6; select n from counter' \
		>"$scratch/bench" 2>&1 || fail "mysqlslap" "$scratch/bench" "$server_log"
	sql "checksum table sbtest.counter"
	sql "select sum(n) from sbtest.counter"
	bench oltp_point_select --threads=4 --time=0 --events=$selects run
}

# Every statement takes several mutexes.
expect_counted() {
	expect_figure ".totals.mutex.acquired > $((selects * 5))" true
	expect_figure .totals.mutex.lost 0
	expect_figure 'any(.threads[]; .running > 0)' true
	expect_figure '.process.executable' "$(realpath "$program")"
}

prepare_data "create table sbtest.counter (id int primary key, n int)" \
	"insert into sbtest.counter values (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)"
serve_copy plain
load >"$scratch/plain"
end_server TERM
expect "without the library: exit status" 0 "$status"

for mutex in glibc yield:30 queue:100; do
	stacks=0
	[ $mutex = glibc ] || stacks=16
	about="mutex=$mutex stacks=$stacks"
	serve_copy shimmed ABSHIM_MUTEX=$mutex ABSHIM_STACKS=$stacks ABSHIM_REPORT="$scratch/report"
	load >"$scratch/shim"
	expect_same "$about: what the load left" "$scratch/plain" "$scratch/shim"
	end_server TERM
	expect "$about: exit status after SIGTERM" 0 "$status"
	find_record mariadbd
	expect_counted
	expect_figure .settings.mutex $mutex
	expect_figure "(.sampling.taken > 0) == ($stacks > 0)" true
	expect_figure '.sampling | .taken + .skipped <= .due' true
	expect_figure '"\(.process.state) \(.process.end)"' "ended exit"
done

about="while it runs"
serve_copy shimmed ABSHIM_MUTEX=yield:30
load >"$scratch/shim"
read_report $server
expect_counted
expect_figure .process.state running
live=$(figure .totals.mutex.acquired)

about="after SIGKILL"
end_server KILL
expect "$about: exit status" 137 "$status"
find_record mariadbd
expect_counted
expect_figure '"\(.process.state) \(.process.end)"' "unseen none"
expect_figure ".totals.mutex.acquired >= $live" true
