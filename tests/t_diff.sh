#!/bin/sh
# Two arms of one deterministic program side by side: equal work in both, the numbers of both as in
# the reports of each. And one process since a copy of its record was made.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

for arm in glibc yield:30; do
	shimmed ABSHIM_REPORT=none ABSHIM_MUTEX=$arm "$BUILD/workloads/selectkey" -t 4 -n 2000 \
		>"$scratch/out" || fail "$arm: exit status $?" "$scratch/out"
	find_record selectkey
	mv "$record" "$scratch/${arm%:*}"
	mv "$scratch/report.json" "$scratch/${arm%:*}.json"
done

abshim report --json --diff "$scratch/yield" "$scratch/glibc" >"$scratch/report.json" ||
	fail "abshim report --diff: exit status $?"
# total SIDE COUNTER: a number of the difference.
total() {
	figure ".totals[] | select(.family == \"mutex\" and .counter == \"$2\") | .$1"
}
expect "mutexes of the sides" "glibc yield:30" "$(figure '"\(.a.mutex) \(.b.mutex)"')"
expect "the same work" "$(total a acquired)" "$(total b acquired)"
expect "no change of it" 0 "$(total change acquired)"
for counter in acquired contended wait_ns_total wait_ns_max; do
	expect "$counter of A" "$(jq ".totals.mutex.$counter" "$scratch/glibc.json")" \
		"$(total a $counter)"
	expect "$counter of B" "$(jq ".totals.mutex.$counter" "$scratch/yield.json")" \
		"$(total b $counter)"
done
expect "change of the waits" $(($(total b contended) - $(total a contended))) \
	"$(total change contended)"
expect "threads on both sides" 4 \
	"$(figure '[.threads[] | select(.a != null and .b != null and (.key | startswith("client-")))] | length')"
expect "duration of A" "$(jq .process.duration_ns "$scratch/glibc.json")" "$(figure .a.duration_ns)"

abshim report --diff "$scratch/yield" "$scratch/glibc" >"$scratch/text" ||
	fail "abshim report --diff: exit status $?"
for line in '^  A  selectkey, pid .*; mutexes wait by glibc$' \
	'^  B  selectkey, pid .*; mutexes wait by yield:30$' '^  mutex acquired ' \
	'^Threads by name, by change of the time waited$'; do
	grep -q "$line" "$scratch/text" || fail "no line $line" "$scratch/text"
done
abshim report --diff "$scratch/nothing" "$scratch/glibc" >"$scratch/text" 2>&1
expect "exit status without the other side" 2 $?

# since: the copy and what came later add up to the whole.
forget_records
start shimmed ABSHIM_REPORT=none "$BUILD/workloads/forking" 1 20000
forked() {
	child=$(children_of "$server" | tr -d ' ') && [ -n "$child" ] &&
		[ "$(abshim report --json "$child" | jq .totals.mutex.acquired)" -gt 20 ]
}
await forked
cp "$ABSHIM_DIR"/forking."$child".*.abshim "$scratch/earlier"
later() {
	[ "$(abshim report --json --since "$scratch/earlier" "$child" |
		jq .totals.mutex.acquired)" -gt 20 ]
}
await later
kill -KILL "$child"
wait "$server"
servers=
find_record "forking.$child"
whole=$(figure .totals.mutex.acquired)
read_report "$scratch/earlier"
before=$(figure .totals.mutex.acquired)
abshim report --json --since "$scratch/earlier" "$record" >"$scratch/report.json" ||
	fail "abshim report --since: exit status $?"
expect "acquired since the copy" $((whole - before)) "$(figure .totals.mutex.acquired)"

expect "duration since the copy, which no record tells" null "$(figure .process.duration_ns)"
# Nor does the copy's own time, which cp keeps or not.
cp -p "$scratch/earlier" "$scratch/kept"
touch -d "2001-01-01" "$scratch/kept"
abshim report --json --since "$scratch/kept" "$record" >"$scratch/other"
expect_same "since the copy with another time" "$scratch/report.json" "$scratch/other"
abshim report --since "$record" "$record" >"$scratch/text"
grep -q "nothing was counted after the earlier copy was made" "$scratch/text" ||
	fail "something since the record itself" "$scratch/text"
grep -q ' after [0-9]' "$scratch/text" && fail "a duration since the record itself" "$scratch/text"

# refused STATUS WORDS ARGUMENTS...: one line that says why.
refused() {
	wanted=$1 words=$2
	shift 2
	abshim report "$@" >"$scratch/out" 2>"$scratch/errors"
	expect "exit status of report $*" "$wanted" $?
	expect "lines of report $*" 1 "$(wc -l <"$scratch/errors")"
	grep -q "$words" "$scratch/errors" || fail "report $* does not say: $words" "$scratch/errors"
}
refused 125 "a record holds totals, no history" --since 10m "$record"
refused 2 "is of another process" --since "$scratch/glibc" "$record"
refused 2 "it is the later one of the two" --since "$record" "$scratch/earlier"
