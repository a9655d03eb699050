#!/bin/sh
# ABSHIM_ALLOC: under each arm glibc's malloc has the arenas and caches of the arm, by its own
# account; the report says so; where an arm cannot act, nothing runs.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
workload=$BUILD/workloads/alloc
executes=yes # whether a program can execute itself here
threads=40 blocks=100

# The loader under an emulator reads tunables as any other, but the kernel cannot execute programs of
# the other machine: the arms are tried with the tunables set beforehand.
# tunables ARM: what they are.
tunables() {
	case $1 in
	shared) echo "GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0" ;;
	tlab)
		echo "GLIBC_TUNABLES=glibc.malloc.arena_max=65536:glibc.malloc.arena_test=65536$(
		)":glibc.malloc.tcache_count=65535:glibc.malloc.tcache_max=1032
		;;
	esac
}

# under ARM COMMAND...: by the variable alone.
under() {
	arm=$1
	shift
	beforehand=
	[ $executes = yes ] || beforehand=$(tunables "$arm")
	# shellcheck disable=SC2086
	shimmed ABSHIM_ALLOC="$arm" ABSHIM_REPORT=none $beforehand "$@"
}

check_arm() {
	expect "$1: arenas" "$2" "$(under "$1" "$workload" arenas $threads)"
	expect "$1: blocks in the cache" "$3" "$(under "$1" "$workload" cached $blocks)"
}

# check_read_back ARM TUNABLES: as the report says them.
check_read_back() {
	forget_records
	under "$1" "$workload" counts 1 4 >/dev/null || fail "$1: exit status $?"
	find_record alloc
	expect_figure .settings.alloc "$1"
	expect_figure '"\(.allocation.choice) \(.allocation.is_libc) \(.allocation.readable)"' "$1 true true"
	expect_figure '.allocation.path | test("/libc.so.6$")' true
	expect_figure '.allocation.tunables | [.arena_max, .arena_test, .tcache_count, .tcache_max] | tostring' "$2"
	expect_figure '.processes[0].allocation == .allocation' true
	abshim report "$record" >"$scratch/text" || fail "report"
	[ "$1" = libc ] || grep -q "^  memory: malloc of glibc [0-9.]*; in force: arena_max=" "$scratch/text" ||
		fail "$1: the report does not say what is in force" "$scratch/text"
}

# refused STATUS REASON COMMAND...: one line that has the reason, and nothing was run.
refused() {
	wanted=$1 reason=$2
	shift 2
	"$@" >"$scratch/out" 2>"$scratch/refusal"
	expect "$reason: exit status" "$wanted" $?
	expect "$reason: lines" 1 "$(wc -l <"$scratch/refusal")"
	grep -q "$reason" "$scratch/refusal" || fail "wanted: $reason" "$scratch/refusal"
	[ ! -s "$scratch/out" ] || fail "$reason: something ran" "$scratch/out"
}

check_refusals() {
	for arm in shared tlab; do
		refused 78 "brings its own malloc" shimmed ABSHIM_ALLOC=$arm "$BUILD/workloads/own_malloc"
		refused 78 "brings its own malloc" abshim run -s alloc=$arm -- "$BUILD/workloads/own_malloc"
	done
	refused 78 "right are libc, shared and tlab" shimmed ABSHIM_ALLOC=arena "$workload" cached 1
	refused 125 "right are libc, shared and tlab" abshim run -s alloc=arena -- "$workload" cached 1
	conflict=GLIBC_TUNABLES=glibc.malloc.perturb=0:glibc.malloc.arena_max=2
	refused 78 "another value to glibc.malloc.arena_max" shimmed ABSHIM_ALLOC=shared $conflict "$workload" cached 1
	refused 78 "another value to glibc.malloc.arena_max" \
		abshim run -s alloc=shared -s $conflict -- "$workload" cached 1
	refused 78 MALLOC_ARENA_MAX shimmed ABSHIM_ALLOC=tlab MALLOC_ARENA_MAX=4 "$workload" cached 1
	refused 78 MALLOC_ARENA_MAX abshim run -s alloc=tlab -s MALLOC_ARENA_MAX=4 -- "$workload" cached 1
}

# Those that only this machine has.
check_other_allocators() {
	for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
		abshim list --json | jq -e --arg name $name '.allocators | any(.preload == $name)' >/dev/null ||
			continue
		preload_last=$name
		refused 78 "malloc is that of .*$name" shimmed ABSHIM_ALLOC=tlab "$workload" cached 1
		refused 78 "gets its malloc from .*$name" \
			abshim run -s alloc=tlab -s LD_PRELOAD+=$name -- "$workload" cached 1
		forget_records
		shimmed ABSHIM_REPORT=none "$workload" counts 1 4 >/dev/null || fail "$name: exit status $?"
		find_record alloc
		expect_figure .allocation.is_libc false
		expect_figure ".allocation.path | contains(\"$name\")" true
		expect_figure .allocation.choice libc
		preload_last=
	done
}

check_other_programs() {
	printf 'int main(void) { return 0; }\n' >"$scratch/empty.c"
	gcc -static -o "$scratch/static" "$scratch/empty.c" 2>/dev/null &&
		refused 126 "statically linked" abshim run -s alloc=tlab -- "$scratch/static"
	command -v musl-gcc >/dev/null || return 0
	musl-gcc -o "$scratch/musl" "$scratch/empty.c" || fail musl-gcc
	refused 126 "linked with musl" abshim run -s alloc=tlab -- "$scratch/musl"
}

# A value of the user's that is the arm's own is no conflict, however it is written; others stay.
check_same_values() {
	same=GLIBC_TUNABLES=glibc.malloc.arena_max=0x1:glibc.malloc.mmap_max=7
	[ $executes = yes ] || same=$same:glibc.malloc.tcache_count=0
	expect "same values" 1 "$(shimmed ABSHIM_ALLOC=shared ABSHIM_REPORT=none $same "$workload" arenas $threads)"
}

if [ -n "$EMULATOR" ]; then
	executes=no
fi
check_arm shared 1 0
check_arm tlab $((threads + 1)) $blocks
expect "libc: blocks in the cache" 7 "$(under libc "$workload" cached $blocks)"
check_read_back libc '[null,null,null,null]'
check_read_back shared '[1,null,0,null]'
check_read_back tlab '[65536,65536,65535,1032]'
check_same_values
# The rest needs programs that are executed by the kernel.
if [ $executes = no ]; then
	case $(shimmed ABSHIM_ALLOC=tlab ABSHIM_REPORT=none "$workload" cached $blocks 2>"$scratch/refusal") in
	"$blocks") ;; # the kernel knows the emulator
	*) grep -q "it runs under an emulator" "$scratch/refusal" || fail "under an emulator" "$scratch/refusal" ;;
	esac
	exit 0
fi
check_refusals
check_other_allocators
check_other_programs
refused 78 "brings its own malloc" abshim ab -a alloc=shared -b alloc=tlab -n 2 -o "$scratch/ab" \
	-- "$BUILD/workloads/own_malloc"
for arm in shared tlab; do
	expect "run, $arm: blocks in the cache" "$(under $arm "$workload" cached $blocks)" \
		"$(abshim run -s alloc=$arm -s report=none -- "$workload" cached $blocks)"
done
