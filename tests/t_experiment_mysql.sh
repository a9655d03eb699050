#!/bin/sh
# The experiment with a MySQL server, with few and short runs: it goes through to its verdict, with
# reports, the published figure, and a third arm that is the second one by another name. Another
# client than sysbench finds the server and its table.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ -z "$EMULATOR" ] || skip "the kernel cannot start programs of another machine"
need jq sysbench mariadb mariadb-admin mariadb-install-db
find_program mariadbd

# experiment NAME ARGUMENT...
experiment() {
	dir=$scratch/$1
	shift
	timeout -k 10 200 scripts/experiments/mysql-yieldloops --quick -o "$dir" "$@" \
		>"$scratch/out" 2>"$scratch/err" || fail "$*: status $?" "$scratch/out" "$scratch/err"
}

says() {
	grep -qE -- "$1" "$scratch/out" || fail "not printed: $1" "$scratch/out"
}

experiment sysbench
says '^throughput \(1/s\)'
says '^x a$'
says '^\+ b$'
says '^\* c$'
says '^2 of 2 runs of each arm; left out: 0 for warming up, 0 invalid'
says '^Contention in run [1-6], arm b:'
says '^abshim: mariadbd, pid .*wait by glibc'
says '^abshim: mariadbd, pid .*wait by yield:30'
says '^Arm c waited as arm b did, by yield:30, as the record of every run says\.'
says '^Published .*\+44\.3126 % \+- 1\.6646 %'
says '^Here, yield:30 .*% \+- [0-9.]+ %: .*n = 2\+2'
says '^Here, LIBPTHREAD_YIELDLOOPS=30 .*% \+- [0-9.]+ %: .*n = 2\+2'
jq -s -e 'length == 6 and all(.[]; .valid and .metrics["shim.mutex.acquired"][0] > 1000 and .server_status == 0 and
	.metrics.throughput[0] > 0)' "$dir/runs.jsonl" >/dev/null || fail "a run without figures" "$dir/runs.jsonl"

# One whose result is the number of rows that it found.
# shellcheck disable=SC2016
sql='mariadb --no-defaults --user=$MYSQL_USER --socket=$MYSQL_UNIX_PORT -N test -e'
experiment client --prepare "$sql 'create table t (id int primary key) engine=myisam; insert into t values (1), (2), (3)'" \
	--client "$sql \"select concat('rows=', count(*)) from t\""
jq -s -e 'length == 6 and all(.[]; .valid and .metrics.rows[0] == 3)' "$dir/runs.jsonl" >/dev/null ||
	fail "another client" "$dir/runs.jsonl" "$scratch/out"
