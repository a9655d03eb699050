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

# The daemon is forked by nobody, for whom $ABSHIM_DIR is not: its record is where nobody's are.
about="as a daemon"
forget_records
rm -f "$open/pid"
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
if [ "$(id -u)" = 0 ]; then
	own=$ABSHIM_DIR
	ABSHIM_DIR=/dev/shm/abshim-$(id -u nobody)
	expect_counted "memcached.$server"
	expect_figure .trust.elsewhere true
	rm "$ABSHIM_DIR/memcached.$server".*
	ABSHIM_DIR=$own
else
	expect_counted "memcached.$server"
fi
expect_figure .trust.forked true
[ -n "$EMULATOR" ] || [ -s "$open/$server.json" ] || fail "$about: no report"
