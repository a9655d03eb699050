#!/bin/sh
# ABSHIM_STATS=alloc counts what each thread allocates, to the last block, on any allocator; other
# runs do without.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
workload=$BUILD/workloads/alloc
counter=$BUILD/libabshim-alloc.so
needed=$(readelf -dW "$counter" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux')
getters=3 blocks=10000

# Executed by the kernel, or, under an emulator, with the library preloaded beforehand.
counted() {
	if [ -z "$EMULATOR" ]; then
		shimmed ABSHIM_STATS=alloc ABSHIM_REPORT=none "$@"
		return
	fi
	run "$library:$counter${preload_last:+:$preload_last}" ABSHIM_STATS=alloc ABSHIM_REPORT=none "$@"
}

# expect_thread NAME CALLS BYTES FREES SAMPLED FOREIGN
expect_thread() {
	expect_figure ".threads[] | select(.name == \"$1\") | .alloc |
		\"\(.calls) \(.bytes) \(.frees) \(.frees_sampled) \(.frees_foreign)\"" "$2 $3 $4 $5 $6"
}

# Every four blocks are five calls (the last one is got with 8 bytes, then grown) of 104 bytes.
check_counts() {
	about=$1
	forget_records
	sampled=$(counted "$workload" counts $getters $blocks) || fail "$about: exit status $?"
	find_record alloc
	all=$((getters * blocks))
	expect_figure .settings.stats alloc
	expect_figure .allocation.frees_sampling 16
	figure '.threads[] | select(.name == "getter") | .alloc.frees_sampled' >"$scratch/getter"
	figure '.threads[] | select(.name == "user") | .alloc.frees_sampled' >"$scratch/user"
	expect_thread getter $((all * 5 / 4)) $((all * 104 / 4)) $((all / 4)) "$(cat "$scratch/getter")" 0
	# glibc grows a block where it is; with others a block that went may have had another's place.
	known=$sampled
	[ "$about" = libc ] || known=$(figure '.threads[] | select(.name == "giver") | .alloc.frees_sampled')
	[ "$known" -le "$sampled" ] || fail "$about: $known frees sampled, more than $sampled"
	[ "$known" -ge $((sampled * 9 / 10)) ] ||
		fail "$about: $known frees sampled, not $sampled"
	expect_thread giver 0 0 $all "$known" "$known"
	expect_thread user $((blocks * 5 / 4)) $((blocks * 104 / 4)) $((blocks * 5 / 4)) "$(cat "$scratch/user")" 0
	[ "$sampled" -gt $((all / 64)) ] || fail "$about: a sample of $sampled of $all blocks"
}

expect "libraries that it needs" libc.so.6 "$needed"
check_counts "libc"
if [ -z "$EMULATOR" ]; then
	for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
		abshim list --json | jq -e --arg name $name '.allocators | any(.preload == $name)' >/dev/null ||
			continue
		preload_last=$name
		check_counts $name
		expect_figure ".allocation.path | contains(\"$name\")" true
	done
	preload_last=
fi

# Without being asked for, nothing is loaded and nothing counted.
forget_records
shimmed ABSHIM_REPORT=none "$workload" counts 1 4 >/dev/null || fail "exit status $?"
find_record alloc
expect_figure '.totals.alloc | [.calls, .bytes, .frees] | add' 0
expect_figure .allocation.frees_sampling null
[ -z "$EMULATOR" ] || exit 0

forget_records
abshim run -s stats=alloc -s alloc=shared -s report=none -- "$workload" counts 1 400 >"$scratch/out" ||
	fail "abshim run: exit status $?" "$scratch/out"
find_record alloc
expect_thread giver 0 0 400 "$(cat "$scratch/out")" "$(cat "$scratch/out")"
expect_figure '.allocation.tunables.arena_max' 1

# Forked children count for themselves, from the fork on.
forget_records
shimmed ABSHIM_STATS=alloc ABSHIM_REPORT=none "$workload" spawn "$workload" counts 1 400 >/dev/null ||
	fail "spawn: exit status $?"
for file in "$ABSHIM_DIR"/*.abshim; do
	read_report "$file"
	figure '.threads[] | select(.name == "giver") | .alloc.frees' >>"$scratch/frees"
done
expect "records of children that count" 2 "$(grep -cx 400 "$scratch/frees")"

for how in "shimmed ABSHIM_STATS=alloc" "abshim run -s stats=alloc --"; do
	$how "$BUILD/workloads/own_malloc" >"$scratch/out" 2>&1
	expect "own malloc, $how: exit status" 78 $?
	grep -q "brings its own malloc" "$scratch/out" || fail "own malloc, $how" "$scratch/out"
done
LD_PRELOAD=$counter "$workload" cached 1 >"$scratch/out" 2>&1
expect "alone: exit status" 78 $?
grep -q "for libabshim.so alone" "$scratch/out" || fail "alone" "$scratch/out"

# Real programs do the same.
for command in "sort $PWD/README.md" "python3 tests/data/locks.py alone" "bash -c 'echo \$((6*7)); (echo child)'"; do
	eval "plain $command" >"$scratch/plain" 2>&1
	wanted=$?
	eval "shimmed ABSHIM_STATS=alloc ABSHIM_REPORT=none $command" >"$scratch/shim" 2>&1
	expect "$command: exit status" $wanted $?
	expect_same "$command: output" "$scratch/plain" "$scratch/shim"
done
