#!/bin/sh
# The experiment with mongod's storage engine, and with a mongod and a YCSB of the user's, for which there
# are stand-ins here: a server and a client with the same options, which show that they are started, filled,
# proven and ended as they should be, and nothing about MongoDB. Under emulation the arms execute
# different instructions, and nothing is said about time.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# experiment NAME STATUS ARGUMENT...
experiment() {
	dir=$scratch/$1 wanted=$2
	shift 2
	BUILD=$native timeout -k 10 300 scripts/experiments/mongodb-lse -o "$dir" "$@" >"$scratch/out" 2>"$scratch/err"
	expect "$*: status ($(cat "$scratch/err"))" "$wanted" $?
}

says() {
	cat "$scratch/out" "$scratch/err" | grep -qE -- "$1" || fail "not printed: $1" "$scratch/out" "$scratch/err"
}

# all_runs COUNT FILTER
all_runs() {
	jq -s -e "length == $1 and all(.[]; .valid and ($2))" "$dir/runs.jsonl" >/dev/null ||
		fail "not true of all runs: $2" "$dir/runs.jsonl"
}

try_emulated() {
	native=$(dirname "$BUILD")
	[ -x "$native/abshim" ] || skip "$native/abshim is missing"
	experiment emulated 0 --emulate --quick
	says '^  llsc  .*/libkyotocabinet\.so.*: outline switched \([0-9]+ helpers\)'
	says '^  lse  .*/libc\.so\.6: outline switched \([0-9]+ helpers\)'
	says '^  llsc  [0-9]{4,} exclusive, [0-9]+ of LSE$'
	says '^  lse   [0-9]+ exclusive, [0-9]{4,} of LSE$'
	says 'No verdict on time'
	! grep -q faster "$scratch/out" || fail "a verdict" "$scratch/out"
	all_runs 4 '.metrics["shim.atomics.switched"][0] >= 5 and .metrics["read.operations"][0] > 0'
}

try_store() {
	experiment store 0 --quick --arms mutex
	says '^throughput \(1/s\)'
	says '^Contention in run 3, arm b:'
	says 'ycsb, pid .*wait by yield:30'
	says '^Published .*6662\.13 -> 6871\.61 operations/s \(\+3\.14 %\)'
	says '^  throughput: a [0-9.]+, b [0-9.]+ operations/s, [-+][0-9.]+ % \+- [0-9.]+ %: .*n = 2\+2'
	says '^  reads: a [0-9.]+, b [0-9.]+ us'
	all_runs 4 '.metrics["shim.mutex.acquired"][0] > 0 and .metrics["scan.operations"][0] > 5000 and .metrics.errors[0] == 0'
}

refuse_nonsense() {
	MONGOD=/bin/true YCSB='' experiment refused 1 --quick
	says '^mongodb-lse: MONGOD needs a YCSB$'
	experiment refused 1 --arms spin
	says '^mongodb-lse: --arms spin: atomics or mutex is needed$'
	experiment refused 1 --threads 0
	says '^mongodb-lse: --threads needs a number from 1 on'
	experiment refused 1 --emulate --arms mutex
	says '^mongodb-lse: --emulate is about atomics$'
	[ "$ARCH" != x86_64 ] || {
		experiment refused 1 --arms atomics
		says '^mongodb-lse: x86_64 has no two families of atomics'
	}
	[ ! -e "$scratch/refused" ] || fail "a directory of what was refused"
}

# The stand-in for bin/ycsb.sh: its options are checked, each use is written down, and the server must answer.
make_ycsb() {
	mkdir -p "$scratch/ycsb/bin" "$scratch/ycsb/lib"
	touch "$scratch/ycsb/lib/core-0.17.0.jar"
	cat >"$scratch/ycsb/bin/ycsb.sh" <<END
#!/bin/sh
echo "\$@" >>"$scratch/uses"
port=\$(echo "\$@" | sed -n 's|.* mongodb\.url=mongodb://127\.0\.0\.1:\([0-9]*\)/ycsb .*|\1|p')
env -u LD_PRELOAD "$BUILD/workloads/mongod" --ask "\$port" >&2 || exit 1
echo "[OVERALL], RunTime(ms), 1000"
echo "[OVERALL], Throughput(ops/sec), \$((6000 + \${AB_RUN:-0}))"
name=READ
[ "\$1" = run ] || name=INSERT
for line in Operations, AverageLatency\(us\), MinLatency\(us\), MaxLatency\(us\), \
	95thPercentileLatency\(us\), 99thPercentileLatency\(us\), Return=OK,; do
	echo "[\$name], \$line 30"
done
END
	chmod +x "$scratch/ycsb/bin/ycsb.sh"
}

try_stand_ins() {
	make_ycsb
	echo 'workload=site.ycsb.workloads.CoreWorkload' >"$scratch/properties"
	MONGOD=$BUILD/workloads/mongod YCSB=$scratch/ycsb/bin/ycsb.sh \
		experiment mongod 0 --quick --workload "$scratch/properties" --operations 77
	says '^db version v0\.0\.0, a stand-in, YCSB 0\.17\.0$'
	says '^throughput \(1/s\)'
	says '^Here \(mongod and YCSB, '
	says '^  throughput: a 6002\.5, b 6002\.5 operations/s'
	all_runs 4 '.server_status == 0 and .metrics["shim.mutex.acquired"][0] > 0 and (.metrics["read.mean"][0] * 1e6 | round) == 30'
	options="-p recordcount=2000 -p operationcount=77"
	expect "loads" 1 "$(grep -c "^load mongodb -s .*-threads 8 -P $scratch/properties $options$" "$scratch/uses")"
	expect "runs" 4 "$(grep -c "^run mongodb -s .*-threads 8 -P $scratch/properties $options$" "$scratch/uses")"
	# Each run has what the load left: the load's connection, that of asking whether it is ready, and its own.
	! grep -h connection "$dir"/runs/*/client.err | grep -vE 'connection [12]$' | grep -q . ||
		fail "data of a run before" "$dir"/runs/*/client.err
}

native=$BUILD
if [ -n "$EMULATOR" ]; then
	try_emulated
else
	[ -x "$BUILD/ycsb" ] || skip "$BUILD/ycsb is missing"
	refuse_nonsense
	try_store
	[ "$ARCH" != x86_64 ] || try_stand_ins
fi
