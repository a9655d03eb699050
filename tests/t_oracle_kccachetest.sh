#!/bin/sh
# kccachetest takes its mutexes and reader-writer locks a known number of times, kcprototest its
# reader-writer lock: under every strategy exactly that many acquisitions are counted.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program kccachetest

rounds=100000
[ -z "$EMULATOR" ] || rounds=25000

# What they print, without their random seed and the times and memory sizes they measured.
results() {
	grep -vE '^(  seed|time|memory)' "$1"
}

# run_plain: sets $name from $program, and keeps what it prints to compare with.
run_plain() {
	name=${program##*/}
	plain "$program" order -th 4 $rounds >"$scratch/plain" || fail "$name itself" "$scratch/plain"
	results "$scratch/plain" >"$scratch/plain.results"
}

# run_with NAME=VALUE...: with the library, which may change nothing of what is printed.
run_with() {
	forget_records
	about="$name $*"
	shimmed "$@" ABSHIM_REPORT=none "$program" order -th 4 $rounds >"$scratch/shim" 2>&1 ||
		fail "$about: exit status $?" "$scratch/shim"
	results "$scratch/shim" >"$scratch/shim.results"
	expect_same "$about: output" "$scratch/plain.results" "$scratch/shim.results"
	find_record "$name"
	expect_figure '[.process.state, .process.end, .process.exit_status] | join(" ")' \
		"ended exit 0"
}

# expect_rwlock READS WRITES
expect_rwlock() {
	expect_figure '.totals.rwlock | [.read_acquired, .write_acquired] | join(" ")' "$1 $2"
	expect_figure '[.threads[].rwlock | .read_acquired + .write_acquired] | add' $(($1 + $2))
	expect_figure '.totals.rwlock | .read_contended + .write_contended == (.histogram | add)' true
	expect_figure .totals.rwlock.lost 0
}

# expect_mutex STRATEGY
expect_mutex() {
	expect_figure .totals.mutex.acquired $acquired
	expect_figure .totals.mutex.lost 0
	expect_figure '.settings.mutex | sub(":.*"; "")' "$1"
	expect_figure '[.threads[].mutex.acquired] | add' $acquired
	expect_figure '.totals.mutex | .contended == (.histogram | add)' true
	expect_rwlock $((3 * 4 * rounds + 6)) 4
}

run_plain
acquired=$((3 * 4 * rounds + 128))
for strategy in $(strategies); do
	run_with ABSHIM_MUTEX="$strategy"
	expect_mutex "$strategy"
done
for atomics in $(switches); do
	run_with ABSHIM_MUTEX=yield ABSHIM_ATOMICS="$atomics"
	expect_mutex yield
	expect_figure '"\(.atomics.choice) \(.atomics.total.switched >= 4)"' "$atomics true"
done

find_program kcprototest
rounds=$((rounds / 2))
run_plain
for strategy in $(abshim list --json | jq -r '.strategies[] | select(.for | test("rwlock")).name'); do
	run_with ABSHIM_RWLOCK="$strategy"
	expect_figure '.settings.rwlock | sub(":.*"; "")' "$strategy"
	expect_rwlock $((4 * rounds + 6)) $((8 * rounds + 3))
done
