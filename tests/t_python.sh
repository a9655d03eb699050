#!/bin/sh
# Python with threads, forks, a pool of processes and a subprocess prints and returns what it does
# without the library; it and each of its forked children leave a record.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program python3

alone="" report=$scratch/report-%p reported=true
[ -z "$EMULATOR" ] || alone=alone report=none reported=false
plain "$program" tests/data/locks.py $alone >"$scratch/plain" 2>&1
expect "without the library: exit status" 5 $?

for mutex in glibc yield:30; do
	about="mutex=$mutex"
	forget_records
	shimmed ABSHIM_MUTEX=$mutex ABSHIM_REPORT="$report" \
		"$program" tests/data/locks.py $alone >"$scratch/shim" 2>&1
	expect "$about: exit status" 5 $?
	expect_same "$about: output" "$scratch/plain" "$scratch/shim"
	parents=0 children=0
	for record in "$ABSHIM_DIR"/python3*.abshim; do
		read_report "$record"
		expect_figure '.totals.mutex.acquired > 0' true
		expect_figure .trust.reported $reported
		case $(figure '"\(.trust.forked) \(.process.end) \(.process.exit_status)"') in
		"false _exit 5") parents=$((parents + 1)) ;;
		"true _exit "[0-9]*) children=$((children + 1)) ;;
		*) fail "$about: an unexpected end: $(figure .process)" ;;
		esac
	done
	expect "$about: records of the program" 1 $parents
	[ $children -ge 3 ] || fail "$about: $children children have a record" "$scratch/shim"
done
