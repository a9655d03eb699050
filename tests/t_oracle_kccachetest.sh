#!/bin/sh
# kccachetest takes its mutexes a known number of times: under every strategy exactly that many
# acquisitions are counted.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program kccachetest

rounds=100000
[ -z "$EMULATOR" ] || rounds=25000
acquired=$((3 * 4 * rounds + 128))

# What it prints, without its random seed and the times and memory sizes it measured.
results() {
	grep -vE '^(  seed|time|memory)' "$1"
}

plain "$program" order -th 4 $rounds >"$scratch/plain" || fail "kccachetest itself" "$scratch/plain"
results "$scratch/plain" >"$scratch/plain.results"

for strategy in $(strategies); do
	forget_records
	shimmed ABSHIM_MUTEX="$strategy" ABSHIM_REPORT=none "$program" order -th 4 $rounds \
		>"$scratch/shim" 2>&1 || fail "$strategy: exit status $?" "$scratch/shim"
	results "$scratch/shim" >"$scratch/shim.results"
	about=$strategy
	expect_same "$strategy: output" "$scratch/plain.results" "$scratch/shim.results"
	find_record kccachetest
	expect_figure .totals.mutex.acquired $acquired
	expect_figure .totals.mutex.lost 0
	expect_figure '.settings.mutex | sub(":.*"; "")' "$strategy"
	expect_figure '[.threads[].mutex.acquired] | add' $acquired
	expect_figure '.totals.mutex | .contended == (.histogram | add)' true
	expect_figure '[.process.state, .process.end, .process.exit_status] | join(" ")' \
		"ended exit 0"
done
