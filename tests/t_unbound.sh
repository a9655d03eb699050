#!/bin/sh
# The name server unbound, whose threads meet at read-write locks, gives the answers that it gives
# without the library and counts as many.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq dnsperf python3
find_program unbound

names=1000 unknown=100 times=5
wanted=$((times * (names + unknown)))
seq -f 'host%g.test A' $((names + unknown)) >"$scratch/names"

configure() {
	find_port
	cat <<END
server:
	interface: 127.0.0.1@$port
	do-ip6: no
	num-threads: 4
	username: ""
	chroot: ""
	directory: "$scratch"
	pidfile: ""
	use-syslog: no
	logfile: ""
	module-config: "iterator"
	local-zone: "test." static
remote-control:
	control-enable: no
server:
END
	seq $names | awk '{ printf "\tlocal-data: \"host%d.test. A 10.1.%d.%d\"\n", $1, $1 / 256, $1 % 256 }'
}

# serve plain|shimmed [NAME=VALUE...]
serve() {
	configure >"$scratch/unbound.conf"
	start "$@" "$program" -d -c "$scratch/unbound.conf"
	await ask 1
}

# ask LAST: prints the answers for the names up to that one.
ask() {
	head -n "$1" "$scratch/names" | timeout "$seconds" python3 tests/data/dns.py "$port"
}

# Prints all answers, and what a client with many questions at once counted.
load() {
	ask $((names + unknown)) || fail "$about: no answer" "$server_log"
	timeout "$seconds" dnsperf -s 127.0.0.1 -p "$port" -d "$scratch/names" -n $times -c 8 -T 2 -q 100 -t 30 \
		>"$scratch/load" 2>&1 || fail "$about: dnsperf" "$scratch/load" "$server_log"
	grep -E 'Queries (completed|lost)|Response codes' "$scratch/load"
}

stop() {
	end_server TERM
	expect "$about: exit status" 0 "$status"
}

about="without the library"
serve plain
load >"$scratch/plain"
expect "answers" "$wanted" "$(awk '/completed/ { print $3 }' "$scratch/plain")"
stop

# Each question reads the trees of local names and of who may ask.
for way in glibc spin:50 yield:30; do
	about="mutex, rwlock and spinlock $way"
	forget_records
	serve shimmed ABSHIM_MUTEX=$way ABSHIM_RWLOCK=$way ABSHIM_SPINLOCK=$way
	load >"$scratch/shim"
	expect_same "$about: the answers" "$scratch/plain" "$scratch/shim"
	stop
	grep -q "^abshim: unbound, pid $server" "$server_log" || fail "$about: no report" "$server_log"
	find_record unbound
	expect_figure '"\(.process.end) \(.trust.forked)"' "exit false"
	expect_figure ".totals.rwlock.read_acquired >= $((2 * wanted))" true
	expect_figure '.totals.rwlock | .write_acquired > 0 and .lost == 0' true
	expect_figure '.totals.mutex.acquired > 0 and .totals.spinlock.acquired > 0' true
	expect_figure .process.threads_created 3
	expect_figure .settings.rwlock $way
done
