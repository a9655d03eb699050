#!/bin/sh
# A Java virtual machine with many threads computes what it does without the library, ends with the
# same status, by itself and by SIGTERM, and leaves a report.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq javac
find_program java

javac -d "$scratch" tests/data/Locks.java || fail "javac"

# java_locks plain|shimmed [NAME=VALUE...]
java_locks() {
	how=$1
	shift
	"$how" "$@" "$program" -Xmx128m -XX:TieredStopAtLevel=1 -cp "$scratch" Locks "$last"
}

expect_counted() {
	find_record java
	expect_figure '.totals.mutex.acquired > 1000' true
	expect_figure '.totals.cond.waits > 0' true
	expect_figure '.process.threads_created > 1000' true
	expect_figure '.trust.threads_lost' 0
	expect_figure '"\(.process.state) \(.process.end) \(.process.exit_status)"' "ended exit $1"
}

last=end
java_locks plain >"$scratch/plain"
expect "without the library: exit status" 3 $?

for mutex in glibc yield:30 queue; do
	stacks=0
	[ $mutex = glibc ] || stacks=32
	about="mutex=$mutex stacks=$stacks"
	forget_records
	java_locks shimmed ABSHIM_MUTEX=$mutex ABSHIM_STACKS=$stacks >"$scratch/shim" 2>"$scratch/report"
	expect "$about: exit status" 3 $?
	expect_same "$about: output" "$scratch/plain" "$scratch/shim"
	expect_counted 3
	expect_figure "(.sampling.taken > 0) == ($stacks > 0)" true
	expect_figure 'all(.stacks[].frames[]; .module != null)' true # what is compiled has none
	grep -q '^abshim: java' "$scratch/report" || fail "$about: no report" "$scratch/report"
done

about=SIGTERM
last=stay
forget_records
start java_locks shimmed ABSHIM_MUTEX=yield:30
await grep -q . "$server_log"
end_server TERM
expect "$about: exit status" 143 "$status"
expect_counted 143
grep -q '^abshim: java' "$server_log" || fail "$about: no report" "$server_log"
