#!/bin/sh
# What asks for the CPU's abilities by itself follows ABSHIM_ATOMICS: libatomic's 16-byte atomics, which
# the loader chooses, are exact with either family and on a CPU without LSE, whether libatomic was
# there from the start or is opened; a library that asks as the Java virtual machine does is told what
# was asked for.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ "$ARCH" = aarch64 ] || skip "only AArch64 has the switch"
libatomic=$root/usr/lib/aarch64-linux-gnu/libatomic.so.1
[ -e "$libatomic" ] || skip "libatomic.so.1 is missing${root:+ in $root}"
with_lse=$EMULATOR
without_lse=${EMULATOR:+${EMULATOR% -cpu *} -cpu cortex-a72}
export ABSHIM_REPORT=none

# sum ATOMICS: and nothing of the other family is left in libatomic.
sum() {
	for preload_last in "" "$libatomic"; do
		about="$1${preload_last:+, preloaded}"
		forget_records
		shimmed ABSHIM_ATOMICS="$1" "$BUILD/workloads/wide_atomics" sum "$libatomic" >"$scratch/out" 2>&1
		expect "$about: exit status" 0 $?
		expect "$about: sums" right "$(cat "$scratch/out")"
		[ "$1" != native ] || continue
		find_record wide_atomics
		expect_figure '.atomics.objects[] | select(.path | endswith("/libatomic.so.1")) |
			"\(.outline) \(.inline.found - .inline.rewritten)"' "switched 0"
	done
	preload_last=
}

# ask VALUE ATOMICS
ask() {
	shimmed ABSHIM_ATOMICS="$2" "$BUILD/workloads/wide_atomics" ask "$BUILD/plugins/hwcap.so" \
		>"$scratch/out" 2>&1
	expect "$2: exit status" 0 $?
	expect "$2: answer" "LSE $1" "$(cat "$scratch/out")"
}

sum native
sum llsc
ask 0 llsc
[ -n "$EMULATOR" ] || exit 0
sum lse
ask 1 lse
ask 1 native
EMULATOR=$without_lse
sum llsc
sum native
ask 0 native
EMULATOR=$with_lse
