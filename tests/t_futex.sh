#!/bin/sh
# Futexes by syscall(): every call answers under every polling what the kernel answers without the
# library, and is counted. Rust's standard library waits this way and no other: ripgrep and fd-find
# print the same, and their waits are in the record.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# Counters of the workload's own calls, in the words of the record.
count_filter='.totals.futex | "waits \(.waits) wakes \(.wakes) woken \(.woken) passed " +
	"\(.passed_through) timed_out \(.timed_out) interrupted \(.interrupted)"'

check_calls() {
	plain "$BUILD/workloads/futex" >"$scratch/plain" || fail "the workload itself" "$scratch/plain"
	for polling in kernel spin:1 spin:100 spin:20000 yield:1 yield:30; do
		about="futex=$polling"
		forget_records
		shimmed ABSHIM_FUTEX=$polling ABSHIM_REPORT=none "$BUILD/workloads/futex" \
			>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
		grep -v '^waits' "$scratch/plain" >"$scratch/wanted"
		grep -v '^waits' "$scratch/shim" >"$scratch/found"
		expect_same "$about: answers" "$scratch/wanted" "$scratch/found"
		find_record futex
		expect_figure "$count_filter" "$(grep '^waits' "$scratch/shim")"
		expect_rows_complete
		expect_figure 'any(.locks[]; .type == "futex" and .symbol == "word")' true
		expect_figure 'all(.sites[]; .function == "futex")' true
		# Polling is counted as such, and where there is none nothing is.
		case $polling in
		kernel) expect_figure '.totals.futex | .spun + .yielded + .spun_useful + .spun_vain' 0 ;;
		spin*) expect_figure '.totals.futex.yielded' 0 ;;
		yield*) expect_figure '.totals.futex | .spun == 0 and .yielded > 0' true ;;
		esac
	done
	about="ABSHIM_STATS=off"
	for polling in kernel yield:30; do
		shimmed ABSHIM_STATS=off ABSHIM_FUTEX=$polling ABSHIM_REPORT=none \
			"$BUILD/workloads/futex" >"$scratch/shim" 2>&1 || fail "$about" "$scratch/shim"
		grep -v '^waits' "$scratch/shim" >"$scratch/found"
		expect_same "$about: answers" "$scratch/wanted" "$scratch/found"
	done
}

# All waits are in the tables of locks and of call sites.
expect_rows_complete() {
	expect_figure '[.totals.futex.waits - .totals.futex.lost == ([.locks[] |
		select(.type == "futex").waits] | add // 0), .totals.futex.lost] | join(" ")' "true 0"
}

# Under a filter the process makes no system calls but the program's own.
check_filtered() {
	about="under a filter"
	forget_records
	shimmed ABSHIM_FUTEX=yield:30 ABSHIM_REPORT=none "$BUILD/workloads/futex" filtered \
		>"$scratch/shim" 2>&1
	status=$?
	[ $status != 77 ] || return 0 # the emulator has none
	expect "$about: exit status" 0 $status
	plain "$BUILD/workloads/futex" filtered >"$scratch/plain" || fail "$about: the workload itself"
	expect_same "$about: answers" "$scratch/plain" "$scratch/shim"
	[ -z "$EMULATOR" ] || return 0
	need strace
	ABSHIM_FUTEX=yield:30 ABSHIM_REPORT=none strace -o "$scratch/trace" -E LD_PRELOAD="$library" \
		"$BUILD/workloads/futex" filtered >"$scratch/shim" || fail "$about: strace"
	strace -o "$scratch/wanted" "$BUILD/workloads/futex" filtered >"$scratch/plain" ||
		fail "$about: strace"
	for trace in trace wanted; do
		sed -n '/PR_SET_SECCOMP/,$s/(.*//p' "$scratch/$trace" | grep -vx 'newfstatat\|brk' \
			>"$scratch/$trace.calls"
	done
	expect_same "$about: system calls" "$scratch/wanted.calls" "$scratch/trace.calls"
}

# check_rust POLLING PROGRAM ARGUMENTS...: its threads wait for each other when they happen to, so the
# search may have to be repeated.
check_rust() {
	about="futex=$1, $(basename "$2")"
	polling=$1 waits=0
	shift
	plain "$@" | sort >"$scratch/plain"
	[ -s "$scratch/plain" ] || fail "$about: finds nothing without the library"
	for _ in 1 2 3 4 5 6 7 8; do
		forget_records
		shimmed ABSHIM_FUTEX="$polling" ABSHIM_REPORT=none "$@" >"$scratch/found" ||
			fail "$about: exit status $?"
		sort "$scratch/found" >"$scratch/shim"
		expect_same "$about: what it finds" "$scratch/plain" "$scratch/shim"
		find_record "$(basename "$1")"
		expect_rows_complete
		waits=$((waits + $(figure .totals.futex.waits)))
		[ $waits -eq 0 ] || break
	done
	[ $waits -gt 0 ] || fail "$about: never waited"
	expect_figure 'all(.sites[]; .module | endswith("/'"$(basename "$1")"'"))' true
	expect_figure '.process.threads_created > 3' true
	expect_figure '.totals.mutex.acquired' 0
}

check_calls
check_filtered
if [ -z "$EMULATOR" ]; then
	need rg fdfind
	mkdir "$scratch/tree"
	for folder in 1 2 3 4 5 6 7 8 9; do
		mkdir "$scratch/tree/$folder"
		cp -r tests loader shim "$scratch/tree/$folder"
	done
	for polling in kernel yield:30 spin:100; do
		check_rust "$polling" "$(realpath "$(command -v rg)")" -j 4 -c static "$scratch/tree"
		check_rust "$polling" "$(realpath "$(command -v fdfind)")" -j 4 . "$scratch/tree"
	done
fi
