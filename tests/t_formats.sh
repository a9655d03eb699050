#!/bin/sh
# A run that waits for locks of every kind, with stacks: each format of its report is read by a
# reader that is not ours, and all of them hold the same time and the same waits.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# Sets $python to one that has the readers.
find_python() {
	for python in python3 /usr/bin/python3; do
		! "$python" -c 'import google.protobuf, prometheus_client' 2>/dev/null || return 0
	done
	skip "Python's protobuf or prometheus_client is missing"
}

# write_formats FOLDER RECORD...
write_formats() {
	folder=$1
	shift
	mkdir "$folder"
	while read -r file options; do
		# shellcheck disable=SC2086
		abshim report $options "$@" >"$folder/$file" 2>"$scratch/log" ||
			fail "abshim report $options: exit status $?" "$scratch/log"
	done <<END
report.json --json
lock.csv --csv
site.csv --csv --by site
creation.csv --csv --by creation
thread.csv --csv --by thread
type.csv --csv --by type
waiter.folded --folded
holder.folded --folded --holder
waiter.pprof --pprof
holder.pprof --pprof --holder
report.openmetrics --openmetrics --top 3
END
}

# read_formats FOLDER: sets $wait_ns, $waits and $deepest.
read_formats() {
	"$python" tests/read_formats.py "$1" >"$scratch/sums" 2>"$scratch/log" ||
		fail "the formats in $1" "$scratch/log"
	read -r wait_ns waits deepest <"$scratch/sums"
}

# go tool pprof and promtool read it, where they are there.
read_by_others() {
	if command -v go >/dev/null; then
		for whose in waiter holder; do
			HOME=$scratch timeout "$seconds" go tool pprof -top "$1/$whose.pprof" \
				>"$scratch/top" 2>"$scratch/log" || fail "go tool pprof" "$scratch/log"
			grep -q '^ *flat  *flat%' "$scratch/top" || fail "go tool pprof" "$scratch/top"
		done
		grep -qw hold "$scratch/top" || fail "pprof finds no holder" "$scratch/top"
	fi
	if command -v promtool >/dev/null; then
		promtool check metrics <"$1/report.openmetrics" >"$scratch/log" 2>&1 ||
			[ $? = 3 ] || fail "promtool check metrics" "$scratch/log" # 3: matters of taste
	fi
}

# refuses STATUS WORDS ARGUMENTS...: one line that has the words, and the exit status.
refuses() {
	wanted=$1 words=$2
	shift 2
	abshim report "$@" >"$scratch/out" 2>"$scratch/log"
	expect "exit status of report $*" "$wanted" "$?"
	expect "lines of report $*" 1 "$(wc -l <"$scratch/log")"
	[ ! -s "$scratch/out" ] || fail "report $* prints something" "$scratch/out"
	grep -q -- "$words" "$scratch/log" || fail "report $*" "$scratch/log"
}

find_python
odd="$scratch/o\"d;d,"
cp "$BUILD/workloads/families" "$odd"
for number in 1 2; do
	shimmed ABSHIM_STACKS=16 ABSHIM_STATS=hold ABSHIM_REPORT=none "$odd" >"$scratch/out" 2>&1 ||
		fail "families: exit status $?" "$scratch/out"
	set -- "$ABSHIM_DIR"/*.abshim
	expect records "$number" "$#"
done

write_formats "$scratch/one" "$1"
read_formats "$scratch/one"
first_ns=$wait_ns first_waits=$waits
[ "$waits" -gt 0 ] || fail "nothing waited"
[ "$deepest" -ge 4 ] || fail "no stack of the waiters is deep" "$scratch/one/waiter.folded"
grep -q 'wait_and_give;take' "$scratch/one/waiter.folded" ||
	fail "no stack of the waiter" "$scratch/one/waiter.folded"
read_by_others "$scratch/one"

# Two processes as one report: the sum of both.
write_formats "$scratch/other" "$2"
read_formats "$scratch/other"
second_ns=$wait_ns second_waits=$waits
write_formats "$scratch/both" "$1" "$2"
read_formats "$scratch/both"
expect "time of both" $((first_ns + second_ns)) "$wait_ns"
expect "waits of both" $((first_waits + second_waits)) "$waits"
read_by_others "$scratch/both"

refuses 125 "give one format" --csv --folded "$1"
refuses 125 "does not go with --pprof" --pprof --by site "$1"
refuses 125 "goes with --folded or --pprof" --holder --csv "$1"
refuses 2 "not a record" --openmetrics "$scratch/one/lock.csv"
if command -v script >/dev/null; then
	# shellcheck disable=SC2016
	EMULATOR=$EMULATOR COMMAND=$BUILD/abshim RECORD=$1 \
		script -qec '$EMULATOR "$COMMAND" report --pprof "$RECORD"' /dev/null \
		>"$scratch/out" 2>&1 </dev/null
	expect "exit status of --pprof on a terminal" 125 "$?"
	grep -q "not for a terminal" "$scratch/out" || fail "--pprof on a terminal" "$scratch/out"
fi
abshim report --pprof --to "$scratch/profile" "$1" || fail "--pprof --to: exit status $?"
cmp -s "$scratch/profile" "$scratch/one/waiter.pprof" || fail "--pprof --to writes something else"
