#!/bin/sh
# A process that takes no lock has counted nothing; under ABSHIM_ATOMICS it reports what was done to
# each of its files all the same, once, and says nothing in its forked children.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ "$ARCH" = aarch64 ] || skip "only AArch64 has the switch"
find_program true

# check ATOMICS FAMILY
check() {
	about=$1
	forget_records
	shimmed ABSHIM_ATOMICS="$1" "$program" 2>"$scratch/report" ||
		fail "$about: exit status $?" "$scratch/report"
	for name in libc.so.6 ld-linux-aarch64.so.1; do
		grep -Eq "$name:? +outline switched to $2 \(" "$scratch/report" ||
			fail "$about: no line for $name" "$scratch/report"
	done
	find_record "$(basename "$(realpath "$program")")"
	expect_figure .atomics.choice "$1"
	expect_figure '[.atomics.objects[] | select(.path | endswith("/libc.so.6")).outline] | join(" ")' switched
}
check llsc LL/SC
[ -z "$EMULATOR" ] || check lse LSE

about=native
forget_records
shimmed ABSHIM_ATOMICS=native "$program" 2>"$scratch/report"
expect "$about: exit status" 0 $?
expect "$about: lines of the report" 0 "$(wc -l <"$scratch/report")"
expect "$about: records" "" "$(ls "$ABSHIM_DIR")"

about="without statistics"
shimmed ABSHIM_ATOMICS=llsc ABSHIM_STATS=off "$program" 2>"$scratch/report"
expect "$about: exit status" 0 $?
expect "$about: lines of the report" 0 "$(wc -l <"$scratch/report")"
