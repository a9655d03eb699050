#!/bin/sh
# A Varnish cache answers as without the library. Its manager forks a compiler of its configuration,
# a C compiler and the cache itself, some as other users: each process is accounted for by itself.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq curl varnishstat
find_program varnishd

addresses=100 times=3
chmod 711 "$scratch"

# The cache is its own backend: a second request, told by its header, is answered by the
# configuration.
configure() {
	find_port
	cat >"$scratch/cache.vcl" <<END
vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "$port"; }
sub vcl_recv { if (req.http.x-inner) { return (synth(200)); } return (hash); }
sub vcl_backend_fetch { set bereq.http.x-inner = "yes"; }
sub vcl_synth {
	set resp.http.cache-control = "max-age=600";
	set resp.body = "the body of " + req.url;
	return (deliver);
}
END
	chmod 644 "$scratch/cache.vcl"
}

# serve plain|shimmed [NAME=VALUE...]: a busy machine must neither make a connection to itself late
# nor let requests wait in vain for a thread.
serve() {
	rm -rf "$scratch/state"
	configure
	start "$@" "$program" -F -n "$scratch/state" -f "$scratch/cache.vcl" -s malloc,16m \
		-a "127.0.0.1:$port" -p thread_pools=2 -p thread_pool_min=10 -p thread_pool_max=50 \
		-p thread_queue_limit=1000 -p connect_timeout=60
	await curl -sf -m "$seconds" -o /dev/null "http://127.0.0.1:$port/up"
}

# Prints what came for every address, several times at once each, and what the cache counted.
load() {
	for round in $(seq $times); do
		echo "round $round"
		timeout "$seconds" curl -sfS -Z --parallel-max 16 --create-dirs \
			-o "$scratch/got/#1" "http://127.0.0.1:$port/[1-$addresses]" \
			>"$scratch/load" 2>"$scratch/errors" ||
			fail "$about: curl: exit status $?" "$scratch/errors" "$server_log"
		(cd "$scratch/got" && sha256sum -- *)
		rm -r "$scratch/got"
	done
	await has_counted
	counters
}

counters() {
	varnishstat -n "$scratch/state" -1 -f MAIN.cache_hit -f MAIN.cache_miss \
		-f MAIN.threads_failed -f MAIN.sess_dropped | awk '{ print $1, $2 }'
}

# Threads add what they have counted when they next have nothing to do.
has_counted() {
	counters | awk -v all=$((addresses * times + 1)) \
		'/cache_/ { sum += $2 } END { exit sum != all }'
}

# expect_accounted CACHE: every process ended in its own way, and the manager started them all.
expect_accounted() {
	for record in "$ABSHIM_DIR"/*.abshim; do
		read_report "$record"
		about="mutex=$mutex, $record"
		expect_figure '.process.state | IN("ended", "replaced")' true
		expect_figure '.totals.mutex.lost + .trust.threads_lost' 0
		expect_figure .settings.mutex "$mutex"
	done
	about="mutex=$mutex"
	find_record "varnishd.$server"
	expect_figure '"\(.trust.forked) \(.process.end) \(.process.exit_status)"' "false exit 0"
	find_record "varnishd.$1"
	about="mutex=$mutex, the cache"
	expect_figure '"\(.trust.forked) \(.process.end) \(.process.exit_status)"' "true exit 0"
	expect_figure .process.parent_pid "$server"
	expect_figure ".totals.mutex.acquired > $((addresses * times * 5))" true
	expect_figure '.totals.cond.waits > 0 and .totals.cond.signals > 0' true
	expect_figure '.process.threads_created >= 20' true
}

about="without the library"
serve plain
load >"$scratch/plain"
expect "hits" "MAIN.cache_hit $((addresses * (times - 1)))" "$(grep hit "$scratch/plain")"
end_server TERM
expect "$about: exit status" 0 "$status"

# answers_alike [NAME=VALUE...]
answers_alike() {
	about="mutex=$mutex"
	forget_records
	serve shimmed ABSHIM_MUTEX="$mutex" "$@"
	children=$(children_of "$server")
	load >"$scratch/shim"
	expect_same "$about: what came" "$scratch/plain" "$scratch/shim"
	end_server TERM
	expect "$about: exit status" 0 "$status"
	grep -q "^abshim: varnishd, pid $server" "$server_log" ||
		fail "$about: no report" "$server_log"
	expect_accounted "${children% }"
	set -- "$ABSHIM_DIR"/varnishd.*.abshim
	[ $# -gt 2 ] || fail "$about: no record of the compiler of its configuration"
}

# The C compiler runs as a user of its own, for whom $ABSHIM_DIR is not: its records, if any, go
# where that user's are, and it compiles as ever.
for mutex in glibc yield:30; do
	answers_alike
done
mutex=queue:100
answers_alike ABSHIM_MATCH=varnishd
