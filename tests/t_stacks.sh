#!/bin/sh
# Stacks are taken of threads that wait while others load and unload libraries, throw, and hold the
# loader's lock: nothing hangs, dies or is missing, and the report has the chains of calls. Without a
# libunwind that can be used the program does not start.
# STACKS_RUNS and STACKS_LENGTH: how often the first part runs, and for how many seconds.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

: "${STACKS_RUNS:=3}" "${STACKS_LENGTH:=2}"
limit="timeout -k 5 $((STACKS_LENGTH + 40))"
workload=$BUILD/workloads/stacks
libunwind=libunwind-$ARCH.so.8
find_libunwind() {
	for folder in "$root/usr/lib/$ARCH-linux-gnu" "$root/usr/lib64" "$root/usr/lib"; do
		[ ! -e "$folder/$libunwind" ] || return 0
	done
	skip "$libunwind is missing${root:+ in $root}"
}

# run_workload [NAME=VALUE...]
run_workload() {
	forget_records
	shimmed "$@" ABSHIM_STACKS=16 ABSHIM_REPORT=none "$workload" "$STACKS_LENGTH" \
		"$BUILD/preload/contending.so" "$BUILD/preload/constructor.so" \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	grep -q '^added [0-9]*, thrown [0-9]*, walked [0-9]*, loaded [0-9]*$' "$scratch/shim" ||
		fail "$about: output" "$scratch/shim"
}

# Functions of a chain, from the innermost, with those between left out.
expect_chain() {
	expect_figure "[.stacks[] | [.frames[].function // \"\" | split(\"::\") | last] | join(\" \") |
		select(test(\"$1\"))] | length > 0" true
}

expect_sampled() {
	expect_figure '.sampling.taken > 0' true
	expect_figure '.sampling | .taken + .skipped <= .due' true
	expect_figure '.sampling.depth' 16
	expect_figure '[.stacks[].frames | map(select(.inlined | not)) | length] | max <= 16' true
	expect_figure '[.samples[].waits] | add <= '"$(figure .sampling.taken)" true
	expect_figure '[.stacks[].holders, .samples[].waits] | add' "$(figure .sampling.taken)"
	expect_figure '.stacks | map(.frames[0].address) | all(. != null)' true
}

find_libunwind

# A closed standard input stays closed, whatever libunwind opens.
if [ -z "$EMULATOR" ]; then
	plain cat <&- >"$scratch/out" 2>"$scratch/plain"
	expect "status of cat without input" 1 $?
	shimmed ABSHIM_STACKS=16 ABSHIM_REPORT=none cat <&- >"$scratch/out" 2>"$scratch/err"
	expect "status of cat without input, with stacks" 1 $?
	cmp "$scratch/plain" "$scratch/err" || fail "cat without input" "$scratch/err"
	# shellcheck disable=SC2016
	shimmed ABSHIM_STACKS=16 ABSHIM_REPORT=none sh -c 'exec 3</dev/null && readlink /proc/$$/fd/[34]' \
		>"$scratch/out" 2>"$scratch/err"
	expect "the next free descriptors" /dev/null "$(cat "$scratch/out")"
fi

round=0
while [ $round -lt "$STACKS_RUNS" ]; do
	round=$((round + 1))
	for mutex in glibc yield:30; do
		about="round $round, mutex=$mutex"
		run_workload ABSHIM_MUTEX=$mutex
		find_record stacks
		expect_sampled
		expect_chain '^add[(][)] call.* contend[(][)]'
	done
done

# Neither the library nor libunwind calls malloc or the loader once main has begun.
preload_last=$BUILD/preload/trap.so
for guest in libabshim.so "$(basename "$(realpath "$folder/$libunwind")")"; do
	about="trapped in $guest"
	run_workload ABSHIM_MUTEX=yield:30 TRAP_GUEST="$guest" TRAP_FROM=sched_yield TRAP_ONLY=lockers
	find_record stacks
	expect_sampled
done
preload_last=

about="libunwind cannot be loaded"
: >"$scratch/$libunwind"
forget_records
shimmed ABSHIM_STACKS=16 LD_LIBRARY_PATH="$scratch" "$workload" 1 none >"$scratch/shim" 2>&1
expect "$about: exit status" 78 $?
expect "$about: message" "abshim: ABSHIM_STACKS: cannot load $libunwind: install the package libunwind8" \
	"$(cat "$scratch/shim")"
expect "$about: records" "" "$(ls "$ABSHIM_DIR")"

about="libunwind is not wanted"
forget_records
shimmed ABSHIM_STACKS=0 LD_LIBRARY_PATH="$scratch" "$workload" 1 "$BUILD/preload/contending.so" \
	>"$scratch/shim" 2>&1
expect "$about: exit status" 0 $?
