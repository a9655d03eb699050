#!/bin/sh
# What a process under ABSHIM_ATOMICS executes, by the emulator's own trace: of locks and atomics of
# every kind between two marks, and of the whole process from main on, no instruction of the family
# that is not wanted, in libc, the loader, the library and the program. Prints the counts.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq python3
[ "$ARCH" = aarch64 ] || skip "only AArch64 has the switch"
[ -n "$EMULATOR" ] || skip "needs an emulator that traces what it executes"

mkfifo "$scratch/log"
trace=" -d in_asm,exec,nochain -D $scratch/log"

# traced ATOMICS PROGRAM [NAME=VALUE...]: leaves the counts in $scratch/counts, and adds to the table.
traced() {
	about="$1 $2"
	choice=$1 name=$2
	shift 2
	forget_records
	tests/count_executed.py "$scratch/log" "$scratch/out" >"$scratch/counts" 2>&1 &
	counter=$!
	EMULATOR=$EMULATOR$trace
	shimmed ABSHIM_ATOMICS="$choice" ABSHIM_REPORT=none "$@" "$BUILD/workloads/$name" >"$scratch/out" 2>&1
	status=$?
	EMULATOR=${EMULATOR%"$trace"}
	wait $counter || fail "$about: counting" "$scratch/counts" "$scratch/out"
	[ "$status $(tail -n 1 "$scratch/out")" = "0 right" ] ||
		fail "$about: exit status $status" "$scratch/out"
	table="$table
$choice $name $(count marks) $(count main)"
}

# count marks|main: LSE and exclusive instructions executed.
count() {
	sed -n "s/^$1 \([0-9]* [0-9]*\)$/\1/p" "$scratch/counts"
}

# expect_family FAMILY FILE...: some of it is executed in each of these files, none of the other.
expect_family() {
	for which in marks main; do
		case $1 in
		LSE) count $which | grep -q '^[1-9][0-9]* 0$' ;;
		*) count $which | grep -q '^0 [1-9]' ;;
		esac || fail "$about: executed, LSE and exclusive: $(count $which)" "$scratch/counts"
	done
	shift
	for file; do
		grep -q "^marks .* $file$" "$scratch/counts" || fail "$about: none in $file" "$scratch/counts"
	done
	find_record "$name"
	expect_figure '.totals.mutex | .contended > 0 and .acquired > .contended' true
	expect_figure .atomics.choice "$choice"
}

table="atomics program marks:LSE marks:exclusive main:LSE main:exclusive"
# The trace tells the families apart: of programs that nobody switched.
traced native traced ABSHIM_MUTEX=glibc
count marks | grep -q '^[1-9]' || fail "$about: no LSE" "$scratch/counts"
traced native traced_llsc ABSHIM_MUTEX=yield
count marks | grep -q '^[1-9][0-9]* [1-9]' || fail "$about: not both" "$scratch/counts"

traced llsc traced_lse ABSHIM_MUTEX=yield
expect_family exclusive libc.so.6 ld-linux-aarch64.so.1 libabshim.so
traced lse traced_llsc ABSHIM_MUTEX=yield
expect_family LSE libc.so.6 ld-linux-aarch64.so.1 libabshim.so
echo "$table" | column -t 2>/dev/null || echo "$table"
