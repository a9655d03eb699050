#!/bin/sh
# InnoDB's locks sleep by raw futexes, where no pthread function sees them: under a load of writes
# the server's record has its waits, at call sites in the server; and with any polling before them
# the same rows come out and the server ends the same way.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/mariadb.sh

events=6000
[ -z "$EMULATOR" ] || events=1500

# Eight threads that add to rows of one small table: each event adds one.
load() {
	bench oltp_update_index --threads=8 --time=0 --events=$events run
	sql "select sum(k) - (select sum(k) from sbtest.before_load) from sbtest.sbtest1"
	sql "select count(*), sum(id) from sbtest.sbtest1"
	sql "check table sbtest.sbtest1 extended"
}

# The report's rows of raw futexes alone.
# shellcheck disable=SC2016
rows='[.locks[] | select(.type == "futex")] as $locks |
	{ locks: $locks, sites: [.sites[] | select([.lock] | inside([$locks[].id]))] }'

# All of InnoDB's waits lie in the server's own code, which calls no pthread function for them. Its
# symbols are stripped: the places have names only where other files bind them.
expect_innodb() {
	find_record mariadbd
	expect_figure .settings.futex "$1"
	expect_figure '.totals.futex.waits > 20' true
	expect_figure '.totals.futex | .waits == .slept + .changed + .timed_out + .interrupted' true
	expect_figure '.totals.futex.wakes >= .totals.futex.woken' true
	expect_figure '.totals.futex.lost' 0
	expect_figure "$rows | [.locks[].waits] | add" "$(figure .totals.futex.waits)"
	# C++'s own guards of static variables sleep by the same call.
	expect_figure "$rows | [.sites[].module | select(contains(\"libstdc++\") | not)] | unique |
		join(\" \")" "$(realpath "$program")"
}

prepare_data
serve "$(command -v mariadbd)" "$scratch/first" exec
sql "create table sbtest.before_load as select k from sbtest.sbtest1"
end_server TERM

serve_copy plain
load >"$scratch/plain"
end_server TERM
expect "without the library: exit status" 0 "$status"
grep -qx $events "$scratch/plain" || fail "the load itself" "$scratch/plain"

for futex in kernel yield:30 spin:100; do
	about="futex=$futex"
	serve_copy shimmed ABSHIM_FUTEX=$futex ABSHIM_REPORT=none
	load >"$scratch/shim"
	expect_same "$about: what the load left" "$scratch/plain" "$scratch/shim"
	end_server TERM
	expect "$about: exit status after SIGTERM" 0 "$status"
	expect_innodb $futex
	case $futex in
	kernel) expect_figure '.totals.futex | .spun + .yielded' 0 ;;
	yield*) expect_figure '.totals.futex | .yielded > 0 and .spun_useful > 0' true ;;
	spin*) expect_figure '.totals.futex | .spun > 0' true ;;
	esac
done
