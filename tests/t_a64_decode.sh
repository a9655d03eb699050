#!/bin/sh
# The decoder of AArch64's atomics agrees with objdump on every encoding of the groups that hold
# them, registers of every kind in all fields, and on words at random: which are atomics, which one,
# of which size and ordering, with which registers.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
objdump=aarch64-linux-gnu-objdump
[ "$(uname -m)" != aarch64 ] || objdump=objdump
need $objdump
printf '\040\004\241\310' >"$scratch/casp" # fails where objdump knows no AArch64
$objdump -D -b binary -m aarch64 "$scratch/casp" >/dev/null 2>&1 || skip "$objdump knows no AArch64"

decoder() {
	# shellcheck disable=SC2086
	ABSHIM_REPORT=none timeout -k 5 $seconds $EMULATOR "$BUILD/tests/check_a64" "$1"
}

# Keeps what objdump says of atomics, as the decoder would; of all others a dash.
only_atomics() {
	awk -F '\t' '
		BEGIN {
			operation = "add|clr|eor|set|smax|smin|umax|umin"
			atomic = "^((casp|((cas|swp|(ld|st)(" operation "))(a|l|al)?[bh]?))|casp(a|l|al)" \
				"|(ldxr|ldaxr|stxr|stlxr)[bh]?|(ldxp|ldaxp|stxp|stlxp))$"
		}
		/^ *[0-9a-f]+:\t/ { print $3 ~ atomic ? $3 " " $4 : "-" }'
}

decoder words >"$scratch/words" || fail "check_a64 words: exit status $?"
decoder decode <"$scratch/words" >"$scratch/ours" || fail "check_a64 decode: exit status $?"
$objdump -D -z -b binary -m aarch64 "$scratch/words" >"$scratch/dump" || fail "objdump: exit status $?"
only_atomics <"$scratch/dump" >"$scratch/theirs"

words=$(($(wc -c <"$scratch/words") / 4))
expect "words decoded" $words "$(wc -l <"$scratch/ours")"
expect "words that objdump decoded" $words "$(wc -l <"$scratch/theirs")"
mnemonics=$(cut -d ' ' -f 1 "$scratch/theirs" | sort -u | wc -l)
# cas, swp, 8 operations: 12 of loads each; 8 operations: 6 of stores each; casp: 4; exclusives: 16,
# those of pairs 4 more; the dash.
expect "mnemonics among them" 189 "$mnemonics"
paste -d '|' "$scratch/ours" "$scratch/theirs" | awk -F '|' '$1 != $2' >"$scratch/differences"
[ ! -s "$scratch/differences" ] ||
	fail "ours and objdump's differ $(wc -l <"$scratch/differences") times" "$scratch/differences"
