#!/bin/sh
# A Go program that uses POSIX locks through cgo, in goroutines and in threads made in C, computes what
# it does without the library. It ends by a system call of its own: the record is there all the same,
# and the command prints the report.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq go gcc
[ -z "$EMULATOR" ] || skip "Go programs are built for this machine alone"

number=20000
program=$BUILD/go/locks
env -u GOPATH -u GOROOT GOCACHE="$BUILD/go/cache" HOME="$scratch" GO111MODULE=off GOTOOLCHAIN=local \
	GOFLAGS=-buildvcs=false CGO_ENABLED=1 timeout 200 go build -o "$program" tests/workloads/go/locks.go \
	>"$scratch/go" 2>&1 || fail "go build" "$scratch/go"

# expect_counted: the runtime's own acquisitions come on top.
expect_counted() {
	find_record locks
	expect_figure ".totals.mutex.acquired >= $acquired" true
	expect_figure '.totals.mutex.lost + .trust.threads_lost' 0
	expect_figure '.totals.cond.broadcasts >= 8' true
	expect_figure '.process.threads_created >= 4' true
	expect_figure '"\(.process.state) \(.process.end)"' "unseen none"
	expect_figure .settings.mutex "$mutex"
}

plain "$program" $number >"$scratch/plain" 2>"$scratch/errors"
expect "without the library: exit status" 3 $?
acquired=$((12 * number + 16))
expect "without the library" "acquired $acquired, sum $((12 * number)), visited $((4 * number))" \
	"$(cat "$scratch/plain")"

for mutex in glibc yield:30 queue:100; do
	about="mutex=$mutex"
	forget_records
	shimmed ABSHIM_MUTEX=$mutex "$program" $number >"$scratch/shim" 2>"$scratch/errors"
	expect "$about: exit status" 3 $?
	expect_same "$about: output" "$scratch/plain" "$scratch/shim"
	expect_counted
	about="mutex=$mutex, through the command"
	forget_records
	abshim run -s mutex=$mutex --report "$scratch/told.json" -- "$program" $number \
		>"$scratch/shim" 2>"$scratch/errors"
	expect "$about: exit status" 3 $?
	expect_same "$about: output" "$scratch/plain" "$scratch/shim"
	expect "$about: the report" "3 true" "$(jq -r "\"\(.process.exit_status) \
\(.totals.mutex.acquired >= $acquired)\"" "$scratch/told.json")"
	expect_counted
done
