#!/bin/sh
# The experiment with a MySQL server, with few and short runs: it goes through to its verdict, with
# both reports and the published figure.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ -z "$EMULATOR" ] || skip "the kernel cannot start programs of another machine"
need jq sysbench mariadb mariadb-admin mariadb-install-db
find_program mariadbd

dir=$scratch/experiment
timeout -k 10 250 scripts/experiments/mysql-yieldloops -n 3 -s 1 -o "$dir" \
	>"$scratch/out" 2>"$scratch/err" || fail "status $?" "$scratch/out" "$scratch/err"

says() {
	grep -qE -- "$1" "$scratch/out" || fail "not printed: $1" "$scratch/out"
}

says '^throughput \(1/s\)'
says '^x a$'
says '^\+ b$'
says '^3 of 3 runs of each arm; left out: 2 for warming up, 0 invalid'
says '^Contention of the server in run 8, arm b:'
says '^abshim: mariadbd, pid .*wait by glibc'
says '^abshim: mariadbd, pid .*wait by yield:30'
says '^Published .*\+44\.3126 % \+- 1\.6646 %'
says '^Here .*% \+- [0-9.]+ %: .*n = 3\+3'
jq -s -e 'all(.[]; .valid and .metrics["shim.mutex.acquired"][0] > 1000 and .server_status == 0 and
	.metrics.throughput[0] > 0)' "$dir/runs.jsonl" >/dev/null || fail "a run without figures" "$dir/runs.jsonl"
