#!/bin/sh
# Futexes by syscall(): every call answers under every polling what the kernel answers without the
# library, and is counted; a MariaDB server shows InnoDB's own waits, which no pthread function sees,
# and leaves the same tables; a Rust program prints the same.
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

check_calls
