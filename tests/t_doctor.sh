#!/bin/sh
# abshim doctor on this machine: it says something of every check, in text and JSON alike; a library
# that cannot be had is a failure with its exit status; nothing stays behind.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# examine STATUS ARGUMENTS...
examine() {
	wanted_status=$1
	shift
	abshim doctor "$@" >"$scratch/out" 2>"$scratch/err"
	expect "doctor $*: exit status" "$wanted_status" $?
}

names="libc library records libunwind atomics load governor turbo smt affinity quota huge_pages swap \
perf core_dumps lost_time"
examine 0 --seconds 0 --json
expect "names" "$names" "$(jq -r '[.checks[].name] | join(" ")' "$scratch/out")"
expect "states" true "$(jq '.checks | map(.state | IN("ok", "warn", "fail", "unknown")) | all' "$scratch/out")"
expect "remedies of warnings, and of nothing else" true \
	"$(jq '.checks | map((.remedy != null) == (.state | IN("warn", "fail"))) | all' "$scratch/out")"
expect "nothing measured" null "$(jq .lost_time "$scratch/out")"
jq -r '.checks[] | select(.name != "load") | "\(.state) \(.name)"' "$scratch/out" >"$scratch/json"
examine 0 --seconds 0
sed -n 's/^\(ok\|warn\|fail\|unknown\) *\([a-z_]*\) .*/\1 \2/p' "$scratch/out" | grep -v ' load$' >"$scratch/text"
expect_same "what the text says of each check" "$scratch/json" "$scratch/text"
expect "the last line" 1 "$(tail -n 1 "$scratch/out" | grep -c '^[0-9]* ok, [0-9]* to be warned of, 0 failed')"

# What was tried leaves nothing, and is not led astray by settings for other runs.
ABSHIM_MATCH=other ABSHIM_STATS=off ABSHIM_MUTEX=nonsense examine 0 --seconds 0
expect "records left" "" "$(ls "$ABSHIM_DIR")"

examine 0 --seconds 0.05 --json
expect "CPUs" "$(nproc)" "$(jq '.lost_time.cpus | length' "$scratch/out")"
expect "the clock went on" true "$(jq '.lost_time.cpus | map(.wall_ns > 0) | all' "$scratch/out")"
expect "steal" 1 "$(jq '[.checks[] | select(.name == "steal")] | length' "$scratch/out")"

# An emulated command cannot start this machine's programs, and says so.
found() { jq -r --arg name "$1" '.checks[] | select(.name == $name) | .'"$2" "$scratch/out"; }
if [ -n "$EMULATOR" ]; then
	expect "the library" unknown "$(found library state)"
else
	expect "the library" ok "$(found library state)"
	expect "records" "in $ABSHIM_DIR, in memory" "$(found records found | grep -oE "^in $ABSHIM_DIR, in memory")"
	# One CPU.
	if command -v taskset >/dev/null; then
		taskset -c "$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')" \
			"$BUILD/abshim" doctor --seconds 0 --json >"$scratch/out"
		expect "one CPU" warn "$(found affinity state)"
	fi
	# Without the library.
	mkdir "$scratch/alone"
	cp "$BUILD/abshim" "$scratch/alone/abshim"
	"$scratch/alone/abshim" doctor --seconds 0 --json >"$scratch/out" 2>"$scratch/err"
	expect "without the library: exit status" 1 $?
	expect "without the library" fail "$(found library state)"
	expect "without it" unknown "$(found libunwind state)"
fi

for wrong in "--seconds -1" "--seconds x" "--seconds 61" "--seconds" "--nonsense" "extra"; do
	# shellcheck disable=SC2086
	examine 125 $wrong
	expect "one line on $wrong" 1 "$(wc -l <"$scratch/err")"
done
abshim doctor --seconds 0 >/dev/full 2>"$scratch/err"
expect "a full disk" 125 $?
