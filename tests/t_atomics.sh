#!/bin/sh
# ABSHIM_ATOMICS switches all atomics of a process between AArch64's two families: the flags of
# outline atomics in every file, and inline ones, in what is opened later too. Programs built for
# LSE run on a CPU without it; unwinding and signals find their way through what was rewritten.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ "$ARCH" = aarch64 ] || skip "only AArch64 has the switch"

tools=
[ -z "$EMULATOR" ] || tools=aarch64-linux-gnu-
forced=$BUILD/tests/libabshim-forced.so
with_lse=$EMULATOR
without_lse=${EMULATOR:+${EMULATOR% -cpu *} -cpu cortex-a72}
export ABSHIM_REPORT=none

# atomics ATOMICS [NAME=VALUE...] PROGRAM...: writes $scratch/out; fails unless it ends with 0.
atomics() {
	choice=$1
	shift
	forget_records
	shimmed ABSHIM_ATOMICS="$choice" "$@" >"$scratch/out" 2>&1
	status=$?
	[ $status = 0 ] || fail "$choice $*: exit status $status" "$scratch/out"
}

# right ATOMICS [NAME=VALUE...] PROGRAM...: one that prints that its results are right.
right() {
	atomics "$@"
	[ "$(cat "$scratch/out")" = right ] || fail "$*: results" "$scratch/out"
}

# expect_object NAME FILTER WANTED: in the report read last.
expect_object() {
	expect_figure ".atomics.objects[] | select(.path | endswith(\"$1\")) | $2" "$3"
}

# Prints NAME ADDRESS for each flag in the report read last, in one line.
flags() {
	figure '.atomics.objects[] | select(.flag) | "\(.path | sub(".*/"; "")) \(.flag)"' | paste -sd' '
}

# Every flag is what it should be in main and in a thread, after all initialisers; helpers' counts
# are those of the files.
check_flags() {
	value=$2
	atomics "$1" "$BUILD/workloads/atomics"
	find_record atomics
	about=$1
	for name in /atomics libc.so.6 ld-linux-aarch64.so.1 libabshim.so; do
		expect_object $name .outline switched
	done
	expect_figure '.atomics.total | "\(.unreachable) \(.lost)"' "0 0"
	places=$(flags)
	# shellcheck disable=SC2086
	atomics "$1" "$BUILD/workloads/atomics" flags $places
	expect "$1: flags read" "$(echo "$places" | wc -w)" "$(wc -l <"$scratch/out")"
	expect "$1: values of flags" "$value" "$(cut -d' ' -f2 "$scratch/out" | sort -u)"
}
check_flags llsc 0
[ -z "$EMULATOR" ] || check_flags lse 1
about=

# What asks for the CPU's abilities is told what the switch wants: by every name, in libraries that
# come before this one is ready, and in nobody else's program.
ask() {
	value=$1
	shift
	preload_last=$BUILD/preload/early.so
	atomics "$@" "$BUILD/workloads/atomics" ask
	preload_last=
	expect "$*: answers" "early $value,getauxval $value,__getauxval $value,dlsym $value" \
		"$(grep -E '^(early|.*getauxval|dlsym) ' "$scratch/out" | paste -sd,)"
	expect "$*: the rest" "page 1,unknown 0 ENOENT,errno kept" "$(tail -n 3 "$scratch/out" | paste -sd,)"
}
ask 0 llsc
if [ -n "$EMULATOR" ]; then
	ask 1 lse
	ask 1 native
	ask 1 llsc ABSHIM_MATCH=other
	ask 0 llsc ABSHIM_MATCH='atom*'
fi

# Inline atomics of the family that is not wanted: all rewritten, with right results, also while
# signals arrive, across a fork, and where an atomic faults and a handler looks at the calls.
for what in sum storm fork fault; do
	for built in atomics atomics_lse atomics_llsc; do
		right llsc "$BUILD/workloads/$built" $what
		[ -z "$EMULATOR" ] || right lse "$BUILD/workloads/$built" $what
	done
done
rewritten() {
	right "$1" ABSHIM_STATS=hold "$BUILD/workloads/$2"
	find_record "$2"
	about="$1 $2"
	expect_object "/$2" '.inline | .found > 0 and .rewritten == .found' true
	about=
}
rewritten llsc atomics_lse
[ -z "$EMULATOR" ] || rewritten lse atomics_llsc
right llsc ABSHIM_STATS=off "$BUILD/workloads/atomics_lse"

# The loader tells the resolvers of ifuncs what the CPU has, and they do not ask: what they choose
# is rewritten.
libatomic=$root/usr/lib/aarch64-linux-gnu/libatomic.so.1
if [ -e "$libatomic" ]; then
	preload_last=$libatomic
	rewritten llsc atomics_lse
	expect_object /libatomic.so.1 '.inline | .found > 0 and .rewritten == .found' true
	preload_last=
fi

# Each process of a fork has its rows.
right llsc "$BUILD/workloads/atomics_lse" fork
for record in "$ABSHIM_DIR"/*.abshim; do
	read_report "$record"
	expect_object /atomics_lse '.inline | .found == .rewritten' true
done

# Libraries that are opened, closed and opened again, by the program and by libc.
right llsc "$BUILD/workloads/atomics" open "$BUILD/plugins/atomics_lse.so" 20
find_record atomics
expect_object /atomics_lse.so '"\(.inline.found - .inline.rewritten) \(.unloaded)"' "0 0"
for apart in space deep; do
	right llsc "$BUILD/workloads/atomics" $apart "$BUILD/plugins/atomics_lse.so"
	find_record atomics
	expect_object /atomics_lse.so '.inline | .found - .rewritten' 0
done
right llsc "$BUILD/workloads/atomics" open "$BUILD/plugins/atomics.so" 3
find_record atomics
expect_object /atomics.so .outline switched

# A flag that is read-only, in a library that is there from the start or comes later.
preload_last=$BUILD/plugins/atomics_relro.so
atomics llsc "$BUILD/workloads/atomics"
preload_last=
find_record atomics
expect_object /atomics_relro.so '"\(.outline) \(.helpers)"' "switched 1"
place=$(figure '.atomics.objects[] | select(.path | endswith("/atomics_relro.so")).flag')
preload_last=$BUILD/plugins/atomics_relro.so
atomics llsc "$BUILD/workloads/atomics" flags atomics_relro.so "$place"
preload_last=
expect "a flag that is read-only" "atomics_relro.so 0" "$(sort -u "$scratch/out")"
right llsc "$BUILD/workloads/atomics" open "$BUILD/plugins/atomics_relro.so" 3
find_record atomics
expect_object /atomics_relro.so '"\(.outline) \(.helpers)"' "switched 1"
right llsc "$BUILD/workloads/atomics" open "$BUILD/plugins/atomics_disagree.so" 1
find_record atomics
expect_object /atomics_disagree.so '"\(.outline) \(.helpers)"' "disagree 5"

# Objects of two compilers have two flags: both are set, in what was there and in what came later.
two_flags() {
	preload_last=$BUILD/plugins/atomics_flags.so
	# shellcheck disable=SC2046
	atomics "$1" "$BUILD/workloads/atomics" flags $("${tools}nm" "$preload_last" |
		sed -n 's/^\([0-9a-f]*\) d \(other_\)\{0,1\}flag$/atomics_flags.so 0x\1/p')
	preload_last=
	expect "$1: two flags" 4 "$(wc -l <"$scratch/out")"
	expect "$1: their values" "atomics_flags.so $2" "$(sort -u "$scratch/out")"
	right "$1" "$BUILD/workloads/atomics" open "$BUILD/plugins/atomics_flags.so" 2
	find_record atomics
	expect_object /atomics_flags.so '"\(.outline) \(.helpers) \(.flags)"' "switched 2 2"
}
two_flags llsc 0
[ -z "$EMULATOR" ] || two_flags lse 1

# What only looks like an atomic, or may not be changed, is left as it is, with the reason.
traps=$BUILD/workloads/atomics_traps
traps() {
	atomics "$1" "$traps"
	expect "$1: values of traps" "b8200020 b8200020 2" "$(cat "$scratch/out")"
	find_record atomics_traps
	expect_object /atomics_traps '.inline | "\(.found) \(.rewritten)"' "$2"
	expect_object /atomics_traps '.inline.left | to_entries | map(select(.value > 0) | "\(.key) \(.value)") | join(" ")' "$3"
}
traps llsc "3 1" "literal 2"
[ -z "$EMULATOR" ] || traps lse "1 0" "entered 1"

# Without symbols, nothing proves that what no function of the unwind tables holds is code; what an
# ADR leads to is data all the same.
whole=$traps
traps=$scratch/atomics_traps
if "${tools}strip" -o "$traps" "$whole" 2>/dev/null; then
	traps llsc "3 0" "unproved 1 literal 2"
fi

# Without unwind tables, mapping symbols prove what is code; without either, nothing does, which is
# no false zero.
traps=$scratch/atomics_bare
if "${tools}objcopy" --remove-section .eh_frame_hdr "$BUILD/workloads/atomics_lse" "$traps" 2>/dev/null; then
	bare() {
		atomics llsc "$traps"
		find_record atomics_bare
	}
	bare
	expect_object /atomics_bare '.inline | .found > 0 and .rewritten == .found' true
	"${tools}strip" "$traps"
	bare
	expect_object /atomics_bare '.inline | "\(.found > 0) \(.rewritten) \(.left.unproved == .found)"' "true 0 true"
fi

# No memory is writable and executable at a time, whatever is rewritten and when, by the emulator's
# list of system calls.
if [ -n "$EMULATOR" ]; then
	EMULATOR="$with_lse -strace"
	shimmed ABSHIM_ATOMICS=llsc "$BUILD/workloads/atomics_lse" open \
		"$BUILD/plugins/atomics_lse.so" 2 >"$scratch/out" 2>"$scratch/calls"
	EMULATOR=$with_lse
	expect "results under -strace" right "$(cat "$scratch/out")"
	[ "$(grep -c 'mprotect(.*PROT_EXEC' "$scratch/calls")" -ge 5 ] ||
		fail "no code was changed by mprotect" "$scratch/calls"
	! grep -E '(mmap|mprotect)\(.*(PROT_WRITE.*PROT_EXEC|PROT_EXEC.*PROT_WRITE)' "$scratch/calls" ||
		fail "memory is writable and executable"
fi

# On a CPU without LSE the switch is life or death: programs and libraries that need it run, and a
# process that is set to LSE by force dies at once.
[ -n "$EMULATOR" ] || exit 0
EMULATOR=$without_lse
plain "$BUILD/workloads/atomics_lse" >"$scratch/out" 2>&1
expect "LSE without the switch: exit status" 132 $?
for what in sum fault fork; do
	right llsc "$BUILD/workloads/atomics_lse" $what
done
right llsc "$BUILD/workloads/atomics" open "$BUILD/plugins/atomics_lse.so" 3
for apart in space deep; do
	right llsc "$BUILD/workloads/atomics" $apart "$BUILD/plugins/atomics_lse.so"
done
shimmed ABSHIM_ATOMICS=lse "$BUILD/workloads/atomics" >"$scratch/out" 2>&1
expect "lse without LSE: exit status" 78 $?
expect "lse without LSE: lines" 1 "$(wc -l <"$scratch/out")"
library=$forced
for choice in native llsc; do
	right $choice "$BUILD/workloads/atomics"
done
shimmed ABSHIM_ATOMICS=lse "$BUILD/workloads/atomics" >"$scratch/out" 2>&1
expect "lse by force: exit status" 132 $?
EMULATOR=$with_lse
right lse "$BUILD/workloads/atomics"
