#!/bin/sh
# Every loop of exclusives that the compilers here make, at all usual levels of optimisation, is matched,
# and its trampoline does what the loop does.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ "$ARCH" = aarch64 ] || skip "trampolines are for AArch64"

# compile COMPILER...: all levels, into $objects.
compile() {
	name=$(basename "$1")
	for level in 0 1 2 3; do
		"$@" -march=armv8-a -mno-outline-atomics -O$level -c -o "$scratch/$name$level.o" \
			tests/data/exclusive_loops.c 2>"$scratch/log" || fail "$* -O$level" "$scratch/log"
		objects="$objects $scratch/$name$level.o"
	done
}

objects=
for gcc in aarch64-linux-gnu-gcc aarch64-linux-gnu-gcc-12 gcc; do
	command -v $gcc >/dev/null || continue
	[ $gcc != gcc ] || [ -z "$EMULATOR" ] || continue
	compile $gcc
	break
done
[ -z "$(command -v clang)" ] || compile clang --target=aarch64-linux-gnu
[ -n "$objects" ] || skip "no compiler for AArch64"

# shellcheck disable=SC2086
OBJECTS=${objects# } CK_TIMEOUT_MULTIPLIER=10 timeout -k 5 "$seconds" \
	$EMULATOR "$BUILD/tests/check_exclusive_loop" >"$scratch/output" 2>&1 ||
	fail "not all loops" "$scratch/output"
grep -E '^loops' "$scratch/output"
awk '/^loops in OBJECTS/ && $4 + 0 > 3000 && $4 + 0 == $6 { found = 1 } END { exit !found }' \
	"$scratch/output" || fail "wanted all of thousands of loops" "$scratch/output"
