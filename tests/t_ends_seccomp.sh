#!/bin/sh
# A process that has put itself under a seccomp filter is not killed for the library's sake: waits
# make no call but futex, the end none but write.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/ends.sh
[ -z "$EMULATOR" ] || skip "the emulator has no seccomp filters"

program=$BUILD/workloads/ends_seccomp
filtered() {
	expect_end "$2" "$program" "$1"
}

for strategy in $(strategies); do
	settings=ABSHIM_MUTEX=$strategy
	filtered deny "ended exit 41 1202 summarised"
	grep -q "the record is in $ABSHIM_DIR/" "$scratch/shimmed.err" ||
		complain "deny: no line says where the record is"
	filtered allow-little "ended _exit 42 1202 summarised"
done
settings=
filtered deny-by-prctl "ended exit 43 1100 summarised"
filtered strict "unseen none - 1100"
filtered deny-to-child "ended exit 45 1100 summarised"
filtered probe "ended exit 46 1000 reported"
# Strict mode takes the time stamp counter away, which times holds.
settings=ABSHIM_STATS=hold
filtered strict "unseen none - 1100"
filtered deny-to-child "ended exit 45 1100 summarised"
settings=

# What a pipe does cannot be foreseen: nothing is written to one.
mkfifo "$scratch/pipe"
stderr_to=$scratch/pipe reader="cat"
filtered deny "ended exit 41 1202"

finish
