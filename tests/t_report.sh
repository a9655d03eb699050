#!/bin/sh
# What abshim report and abshim run say where there is little to say: of a process that has ended, of
# a run that measures nothing, of a place where no report can be written.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ -z "$EMULATOR" ] || skip "the kernel cannot start programs of another machine"

# expect_line FILE PATTERN: one line, and that.
expect_line() {
	expect "lines of $1" 1 "$(wc -l <"$1")"
	grep -q "$2" "$1" || fail "no line $2" "$1"
}

# A report cannot be written to a directory, and nothing is written beside it.
mkdir "$scratch/reports"
abshim run --report "$scratch/reports" -- sh -c 'echo ran' >"$scratch/out" 2>"$scratch/errors"
expect "exit status of run --report DIRECTORY" 125 $?
expect "output of the program that was not run" "" "$(cat "$scratch/out")"
expect_line "$scratch/errors" "^abshim: run: .* $scratch/reports: it is a directory"
abshim run --report "$scratch/report.json" -- "$BUILD/workloads/forking" 1 20 2>"$scratch/errors"
expect "exit status of run" 0 $?
find_record forking
abshim report --to "$scratch/reports" "$record" >"$scratch/out" 2>"$scratch/errors"
expect "exit status of report --to DIRECTORY" 125 $?
expect_line "$scratch/errors" "^abshim: cannot write the report to $scratch/reports: Is a directory"
expect "files beside it" "$scratch/reports" "$(echo "$scratch"/reports*)"

# Without statistics there is no report, with the command or without it, but proof of life.
forget_records
for way in "shimmed" "abshim run -s stats=off --"; do
	ABSHIM_STATS=off $way "$BUILD/workloads/selectkey" -t 2 -n 100 >"$scratch/out" 2>"$scratch/errors"
	expect "exit status of $way" 0 $?
	expect "lines on stderr of $way" "" "$(cat "$scratch/errors")"
done

# A file that was asked for all the same does not come, and that is said.
ABSHIM_STATS=off abshim run --report "$scratch/off.json" -- "$BUILD/workloads/selectkey" -t 2 -n 100 \
	>"$scratch/out" 2>"$scratch/errors"
expect "exit status without statistics" 0 $?
expect "lines on stderr without statistics" \
	"abshim: run: ABSHIM_STATS=off counts nothing: no report will be written to $scratch/off.json" \
	"$(cat "$scratch/errors")"
expect "a report without statistics" no "$([ -e "$scratch/off.json" ] && echo yes || echo no)"

# The report that run prints knows the signal that ended the program.
forget_records
abshim run "$BUILD/workloads/ends" kill >"$scratch/out" 2>"$scratch/errors"
expect "exit status of a killed program" 137 $?
grep -q '^abshim: ends, pid [0-9]*, killed by signal 9 (Killed) after ' "$scratch/errors" ||
	fail "no word of the signal" "$scratch/errors"

# What a directory holds beside records is told and skipped; nobody waits for the other end of a FIFO.
mkdir "$scratch/mixed"
cp "$ABSHIM_DIR"/ends.*.abshim "$scratch/mixed"
mkfifo "$scratch/mixed/x.1.0.abshim"
timeout 20 "$BUILD/abshim" report "$scratch/mixed" >"$scratch/text" 2>"$scratch/errors"
expect "exit status of report of a directory with a FIFO" 0 $?
expect "lines about the FIFO" "abshim: $scratch/mixed/x.1.0.abshim: is no regular file, so no record of abshim" \
	"$(cat "$scratch/errors")"
grep -q '^abshim: ends, pid ' "$scratch/text" || fail "no report beside the FIFO" "$scratch/text"

# A process that has ended: its record, where there is one.
set -- "$ABSHIM_DIR"/ends.*.abshim
ended=$(abshim report --json "$1" | jq .process.pid)
abshim report "$ended" >"$scratch/text" 2>"$scratch/errors"
expect "exit status of report of an ended process" 0 $?
expect_line "$scratch/errors" "^abshim: process $ended has ended: this is its record $1\$"
abshim report "$1" >"$scratch/of_file"
expect_same "its report" "$scratch/of_file" "$scratch/text"
rm "$1"
abshim report "$ended" >"$scratch/text" 2>"$scratch/errors"
expect "exit status without a record" 2 $?
expect_line "$scratch/errors" "^abshim: process $ended has ended or never was, and no record"

# A zombie has ended, too.
start exec sh -c 'sleep 0.1 & exec sleep 60'
child_is_zombie() {
	child=$(children_of "$server" | tr -d ' ') && grep -q '^State:[[:space:]]*Z' "/proc/$child/status"
}
await child_is_zombie
abshim report "$child" >"$scratch/text" 2>"$scratch/errors"
expect "exit status of report of a zombie" 2 $?
expect_line "$scratch/errors" "^abshim: process $child has ended or never was, and no record"
end_server TERM
