#!/bin/sh
# Trampolines of LSE instructions run where there is no LSE: their test passes there, and the
# instructions themselves end a program. AArch64 under emulation, which can leave LSE out.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ "$ARCH" = aarch64 ] || skip "trampolines are for AArch64"
[ -n "$EMULATOR" ] || skip "needs an emulator that can leave LSE out"

CK_FORK=no
CK_TIMEOUT_MULTIPLIER=10
export CK_FORK CK_TIMEOUT_MULTIPLIER
for cpu in max cortex-a72 cortex-a53; do
	for program in check_trampoline check_trampoline_storm; do
		timeout -k 5 "$seconds" "${EMULATOR%% *}" -L "$root" -cpu $cpu \
			"$BUILD/tests/$program" >"$scratch/output" 2>&1 ||
			fail "$program on $cpu" "$scratch/output"
		case $cpu in
		max) ! grep -q 'no LSE' "$scratch/output" || fail "$cpu has LSE" "$scratch/output" ;;
		*) grep -q 'no LSE' "$scratch/output" || fail "$cpu has no LSE" "$scratch/output" ;;
		esac
	done
done
