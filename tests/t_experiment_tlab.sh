#!/bin/sh
# The experiment with thread-local allocation: on H2 it goes through to its verdict, and threads that
# allocate in one place read much more slowly. The way with the user's Cassandra is tried with
# stand-ins, programs of this test's that take the same arguments and print what cassandra-stress does:
# no Cassandra runs here.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ -z "$EMULATOR" ] || skip "the kernel cannot start programs of another machine"
need jq java javac python3
[ -e /usr/share/java/h2.jar ] || skip "libh2-java is missing"
script=$PWD/scripts/experiments/cassandra-tlab
dir=$scratch/experiment

says() {
	grep -qE -- "$1" "$scratch/out" || fail "not printed: $1" "$scratch/out" "$scratch/err"
}

# try NAME=VALUE... ARGUMENTS...: the experiment, which keeps its files in $dir.
try() {
	rm -rf "$dir"
	BUILD=$BUILD timeout -k 10 280 env TMPDIR="$scratch" "$@" -t 2 -o "$dir" >"$scratch/out" 2>"$scratch/err" ||
		fail "status $?" "$scratch/out" "$scratch/err"
}

# all_runs FILTER: it holds for each of them.
all_runs() {
	jq -s -e "length > 0 and all(.[]; $1)" "$dir/runs.jsonl" >/dev/null || fail "a run without: $1" "$dir/runs.jsonl"
}

refused() {
	expect "status of a refusal" 1 "$status"
	grep -q "^cassandra-tlab: $1" "$scratch/err" || fail "not said: $1" "$scratch/err"
}

both_conclude() {
	says '^threads=2/read\.throughput \(1/s\)'
	says '^ +spread '
	says '^UseTLAB was off in every run of arm a and on in every run of arm b'
	says '^Published .*21918 -> 28352 op/s, \+29\.35 %'
	for kind in read write; do
		says "^Here, ${kind}s, all of a run: +a [0-9.]+, b [0-9.]+ op/s: "
		says "^Here, ${kind}s, middle 80 %: +a [0-9.]+, b [0-9.]+ op/s: "
	done
	says 'are both arms as steady\? +p = [0-9.]+, standard deviation of b [0-9.]+ times'
	all_runs '.valid'
}

on_h2() {
	try "$script" -n 3 -s 1
	both_conclude
	says '^abshim: java, pid '
	all_runs '.metrics["threads=2/read.throughput"][0] > 0 and .metrics["threads=2/write.throughput"][0] > 0'
	# The median of operations leaves out those that other programs interrupted; the middle run of an
	# arm, the run that they disturbed most.
	for kind in read write; do
		jq -s -e --arg name "threads=2/$kind.median" 'def middle(arm): map(select(.arm == arm and .block > 0) |
			.metrics[$name][0]) | sort | .[length / 2 | floor]; middle("a") > 1.5 * middle("b")' \
			"$dir/runs.jsonl" >/dev/null || fail "${kind}s of the arms do not differ by 1.5 times" "$scratch/out"
	done
}

# What a server of Cassandra's is configured by: everything leads out of the machine.
make_configuration() {
	cat >"$home/conf/cassandra.yaml" <<-'STOP'
		cluster_name: 'Test Cluster'
		# data_file_directories:
		#     - /var/lib/cassandra/data
		data_file_directories:
		    - /nonexistent/data
		# hints_directory: /var/lib/cassandra/hints
		commitlog_directory: /nonexistent/commitlog
		seed_provider:
		    - class_name: org.apache.cassandra.locator.SimpleSeedProvider
		      parameters:
		          - seeds: "192.0.2.1:7000"
		listen_address: 192.0.2.1
		rpc_address: 0.0.0.0
		native_transport_port: 9042
		storage_port: 7000
	STOP
	printf '%s\n' -Xms64m -XX:+UseTLAB >"$home/conf/jvm-server.options"
	# shellcheck disable=SC2016
	printf '%s\n' 'JMX_PORT="7199"' 'JVM_OPTS="$JVM_OPTS -XX:+UseTLAB"' >"$home/conf/cassandra-env.sh"
}

# A server that listens where the configuration says, from a script that looks for jemalloc.
make_stand_ins() {
	home=$scratch/cassandra
	mkdir -p "$home/bin" "$home/tools/bin" "$home/conf"
	make_configuration
	cat >"$scratch/Listen.java" <<-'STOP'
		public class Listen {
			public static void main(String[] arguments) throws Exception {
				java.net.ServerSocket socket = new java.net.ServerSocket(Integer.parseInt(arguments[0]), 5,
						java.net.InetAddress.getByName("127.0.0.1"));
				while (true)
					socket.accept().close();
			}
		}
	STOP
	javac -d "$scratch" "$scratch/Listen.java" || fail javac
	cat >"$home/bin/cassandra" <<-STOP
		#!/bin/sh
		# -R)
		[ "\$CASSANDRA_HOME" = "$home" ] || exit 3
		case \$1 in -f) ;; *) exit 4 ;; esac
		[ "\$CASSANDRA_LIBJEMALLOC" = - ] || export LD_PRELOAD=libjemalloc.so.2
		. "\$CASSANDRA_CONF/cassandra-env.sh"
		options=\$(grep '^-' "\$CASSANDRA_CONF/jvm-server.options")
		port=\$(sed -n 's/^native_transport_port: //p' "\$CASSANDRA_CONF/cassandra.yaml")
		cp -r "\$CASSANDRA_CONF" "$scratch/seen"
		exec java \$options \$JVM_OPTS -cp "$scratch" Listen "\$port"
	STOP
	cat >"$home/tools/bin/cassandra-stress" <<-'STOP'
		#!/bin/sh
		kind=$(echo "$1" | tr a-z A-Z)
		case "$*" in *" n=10000 -rate threads=2 -node 127.0.0.1 -port native="*" jmx="*) ;; *) exit 5 ;; esac
		rate=$((1000 + $$ % 97))
		echo "Running $kind with 2 threads for 10000 iteration"
		echo "type       total ops,    op/s,   time"
		echo "total,          5000,   $rate,    5.0"
		echo "total,         10000,       1,   10.0"
		echo "Results:"
		echo "Op rate                   :    $rate op/s  [$kind: $rate op/s]"
		echo "Latency median            :    0.9 ms [$kind: 0.9 ms]"
		echo "Total operation time      : 00:00:10"
	STOP
	chmod +x "$home/bin/cassandra" "$home/tools/bin/cassandra-stress"
}

on_stand_ins() {
	make_stand_ins
	try CASSANDRA_HOME="$home" "$script" -n 3 -s 1
	both_conclude
	says '^abshim: java, pid '
	all_runs '.metrics["threads=2/read.middle80.throughput"] == .metrics["threads=2/read.throughput"]'
	grep -rn -e UseTLAB -e nonexistent -e 192.0.2.1 -e 0.0.0.0 -e 7199 -e 9042 -e 7000 "$scratch/seen" &&
		fail "the server's configuration leads out of the experiment"
	for line in 'listen_address: 127.0.0.1' 'rpc_address: 127.0.0.1' '          - seeds: "127.0.0.1"'; do
		grep -qxF -- "$line" "$scratch/seen/cassandra.yaml" || fail "no $line" "$scratch/seen/cassandra.yaml"
	done
	rm "$home/tools/bin/cassandra-stress"
	CASSANDRA_HOME=$home "$script" -o "$dir.none" 2>"$scratch/err"
	status=$?
	refused "CASSANDRA_HOME: .* has no tools/bin/cassandra-stress"
}

# A signal in the middle of a run: nothing of the experiment's runs on, and its folder has gone. What a
# shell starts in the background ignores SIGINT.
on_signal() {
	mkdir "$scratch/$1"
	TMPDIR="$scratch/$1" BUILD=$BUILD setsid python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
		"$script" -n 3 -s 2 -o "$scratch/$1/kept" >"$scratch/out" 2>"$scratch/err" &
	server=$! server_log=$scratch/err
	servers=$server
	await sh -c "grep -lz '^H2Bench' /proc/[0-9]*/cmdline | xargs grep -laF '$scratch/$1/'"
	kill "-$1" "$server"
	wait "$server"
	expect "status after SIG$1" "$2" $?
	servers=
	# grep finds itself, too, and has gone when its answer is there.
	left=$(grep -laF "$scratch/$1/" /proc/[0-9]*/cmdline 2>/dev/null)
	for found in $left; do
		[ ! -e "$found" ] || fail "SIG$1 leaves a process: $(tr '\0' ' ' <"$found")"
	done
	expect "SIG$1 leaves" kept "$(ls "$scratch/$1")"
}

on_h2
on_stand_ins
on_signal INT 130
on_signal TERM 143
