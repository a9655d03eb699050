#!/bin/sh
# A process that closes, reuses, limits or changes what a report needs: its status, output and
# files stay as they are, the record remains, and the report or a line comes where there is a way.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/ends.sh

program=$BUILD/workloads/ends_hostile
hostile() {
	lines=$1
	shift
	expect_end "$lines" "$program" "$@"
}

# expect_silence WAY: the library wrote nothing to stderr.
expect_silence() {
	[ ! -s "$scratch/shimmed.err" ] || complain "$1: something on stderr"
}

# expect_place WAY: a line says where the record is.
expect_place() {
	grep -q "the record is in $ABSHIM_DIR/.*; read it with: abshim report $ABSHIM_DIR/" \
		"$scratch/shimmed.err" || complain "$1: no line says where the record is"
}

hostile "ended exit 21 1000" close-stderr
expect_silence close-stderr
hostile "ended exit 22 1000" reuse-stderr "$scratch/data"
[ "$(cat "$scratch/data")" = data ] || complain "reuse-stderr: wrote into the target's file"
hostile "ended exit 23 1000 reported" close-all
hostile "ended exit 24 1000 reported" use-up-descriptors
hostile "ended exit 28 1000 reported" change-directory
hostile "ended exit 33 1000 reported" forbid-memory-softly
hostile "ended exit 34 1000 reported" ignore-children
hostile "ended exit 36 1000 reported" spoil-environment
hostile "ended exit 37 1000 reported" lose-environment
hostile "ended exit 38 1000 reported" wild-environment

# The emulator knows no child without a signal, so there a wait() may see the one that reports.
if [ -z "$EMULATOR" ]; then
	hostile "ended exit 35 1000 reported" watch-children
fi

# Limits on the whole process. stderr is a file, which the second may not grow.
hostile "ended exit 32 1000 $by_itself" forbid-memory
expect_place forbid-memory
hostile "ended exit 31 1000" forbid-writing
expect_silence forbid-writing

# Pipes: without a reader, and with one that does not read.
mkfifo "$scratch/pipe"
stderr_to=$scratch/pipe reader=true
hostile "ended exit 25 1000" lose-reader
reader="sleep 120"
hostile "ended exit 26 1000" fill-stderr
stderr_to='' reader=''

if [ "$(id -u)" = 0 ]; then
	mkdir "$scratch/root"
	hostile "ended exit 27 1000 $by_itself" change-root "$scratch/root"
	expect_place change-root
	hostile "ended exit 30 1000 $by_itself" forbid-processes
	expect_place forbid-processes
	others=reported
	chroot --userspec=65534:65534 / test -x "$BUILD/abshim" || others=$by_itself
	hostile "ended exit 29 1000 $others" change-user
fi

finish
