#!/bin/sh
# A memcached server under load answers as without the library, in the foreground and as a daemon;
# the report comes out although the server, started by root, has become nobody by then.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq memcaslap memcstat
find_program memcached

operations=20000
[ -z "$EMULATOR" ] || operations=5000
open=$scratch/open # a folder for all to write in
mkdir "$open"
chmod 711 "$scratch"
chmod 1777 "$open"

# serve plain|shimmed [NAME=VALUE...] memcached [OPTION...]
serve() {
	find_port
	start "$@" -u nobody -l 127.0.0.1 -p "$port" -t 4 -m 64 -U 0
}

# Prints what the client counted, every answer verified, and what the server did.
load() {
	timeout "$seconds" memcaslap -s "127.0.0.1:$port" -T 2 -c 16 -x $operations -v 1.0 \
		>"$scratch/load" 2>&1 || fail "memcaslap" "$scratch/load" "$server_log"
	grep -E '^(cmd|get|verify)_' "$scratch/load"
	memcstat --servers="127.0.0.1:$port" | grep -E '(cmd|get)_(get|set|hits|misses):'
}

is_up() {
	memcstat --servers="127.0.0.1:$port" | grep uptime
}

user_of() {
	awk '$1 == "Uid:" { print $2 }' "/proc/$1/status"
}

# expect_counted NAME: each operation takes several mutexes.
expect_counted() {
	find_record "$1"
	expect_figure ".totals.mutex.acquired > $((operations * 5))" true
	expect_figure '"\(.process.end) \(.process.exit_status)"' "exit 0"
	expect_figure "[.threads[] | select(.name == \"mc-worker\") | .ended + .running] | add" 4
}

serve plain "$program"
await is_up
load >"$scratch/plain"
end_server TERM
expect "without the library: exit status" 0 "$status"

for mutex in glibc yield:30; do
	about="mutex=$mutex"
	forget_records
	serve shimmed ABSHIM_MUTEX=$mutex "$program"
	await is_up
	load >"$scratch/shim"
	expect_same "$about: what client and server counted" "$scratch/plain" "$scratch/shim"
	[ "$(id -u)" != 0 ] ||
		expect "$about: the server's user" "$(id -u nobody)" "$(user_of "$server")"
	end_server TERM
	expect "$about: exit status" 0 "$status"
	grep -q '^abshim: .*memcached' "$server_log" || fail "$about: no report" "$server_log"
	expect_counted memcached
done

# daemon MODE: the daemon is forked by nobody, who may not make a record in a folder of mode 700.
daemon() {
	forget_records
	rm -f "$open/pid"
	chmod "$1" "$ABSHIM_DIR"
	serve shimmed ABSHIM_REPORT="$open/%p.json" "$program" -d -P "$open/pid"
	wait "$server" || fail "$about: exit status $?" "$server_log"
	expect "$about: what the parent printed" "" "$(cat "$server_log")"
	server=$$ # until the daemon says who it is
	await test -s "$open/pid"
	server=$(cat "$open/pid")
	servers=$server
	await is_up
	load >"$scratch/shim"
	expect_same "$about: what client and server counted" "$scratch/plain" "$scratch/shim"
	end_server TERM
}

about="as a daemon"
daemon 1777
expect_counted "memcached.$server"
expect_figure .trust.forked true
[ -n "$EMULATOR" ] || [ -s "$open/$server.json" ] || fail "$about: no report"

[ "$(id -u)" = 0 ] && [ -z "$EMULATOR" ] || exit 0
about="as a daemon that may not make a record"
daemon 700
[ ! -e "$ABSHIM_DIR/memcached.$server.0.abshim" ] || fail "$about: it made one"
expect "$about: totals" true \
	"$(jq ".trust.in_memory and .totals.mutex.acquired > $operations" "$open/$server.json")"
