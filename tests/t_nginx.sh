#!/bin/sh
# nginx, which reads files in a pool of threads, sends the same bytes as without the library; each of
# the workers that its master forks, and that become another user, leaves a record of its own.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq curl
find_program nginx

files=100 workers=2
open=$scratch/open # a folder for all to write in
mkdir "$open"
chmod 711 "$scratch"
chmod 1777 "$open"
mkdir "$scratch/www"
for file in $(seq $files); do
	seq "$file" 1 20000 >"$scratch/www/$file"
done
chmod -R a+rX "$scratch/www"

configure() {
	find_port
	cat >"$scratch/nginx.conf" <<END
daemon off;
worker_processes $workers;
pid $scratch/pid;
error_log stderr;
$([ "$(id -u)" != 0 ] || echo "user nobody $(id -gn nobody);")
thread_pool default threads=4;
events { worker_connections 64; multi_accept off; }
http {
	access_log off;
	sendfile off;
	aio threads;
	output_buffers 2 8k;
	client_body_temp_path $scratch/body;
	proxy_temp_path $scratch/proxy;
	fastcgi_temp_path $scratch/fastcgi;
	uwsgi_temp_path $scratch/uwsgi;
	scgi_temp_path $scratch/scgi;
	server { listen 127.0.0.1:$port reuseport; root $scratch/www; }
}
END
}

# serve plain|shimmed [NAME=VALUE...]
serve() {
	configure
	start "$@" "$program" -c "$scratch/nginx.conf" -e stderr
	await curl -sf -o /dev/null "http://127.0.0.1:$port/1"
}

# Prints the digests of all files as they came over 16 connections at a time.
load() {
	rm -rf "$scratch/got"
	timeout "$seconds" curl -sfS -Z --parallel-max 16 --create-dirs -o "$scratch/got/#1" \
		"http://127.0.0.1:$port/[1-$files]" 2>"$scratch/errors" >"$scratch/load" ||
		fail "$about: curl: exit status $?" "$scratch/errors" "$server_log"
	(cd "$scratch/got" && sha256sum -- *)
}

# expect_accounted WORKERS: a record each; together they took mutexes for every file.
expect_accounted() {
	sum=0
	for worker in $1; do
		about="mutex=$mutex, worker $worker"
		find_record "nginx.$worker"
		expect_figure '"\(.process.end) \(.process.exit_status)"' "exit 0"
		expect_figure '"\(.process.parent_pid) \(.trust.forked)"' "$server true"
		expect_figure '.totals.mutex.lost + .trust.threads_lost' 0
		expect_figure '[.threads[] | .ended + .running] | add >= 4' true
		expect_figure .settings.mutex "$mutex"
		sum=$((sum + $(figure .totals.mutex.acquired)))
		grep -q "^abshim: nginx.*$worker" "$open/$worker" || fail "$about: no report"
	done
	[ $sum -ge $((2 * files)) ] || fail "$about: $sum mutexes acquired for $files files"
}

about="without the library"
serve plain
load >"$scratch/plain"
(cd "$scratch/www" && sha256sum -- *) >"$scratch/shim"
expect_same "what was sent" "$scratch/plain" "$scratch/shim"
end_server QUIT
expect "$about: exit status" 0 "$status"

for mutex in glibc yield:30 queue:100; do
	about="mutex=$mutex"
	forget_records
	serve shimmed ABSHIM_MUTEX=$mutex ABSHIM_REPORT="$open/%p"
	children=$(children_of "$server")
	load >"$scratch/shim"
	expect_same "$about: what was sent" "$scratch/plain" "$scratch/shim"
	expect "$about: workers" $workers "$(echo "$children" | wc -w)"
	[ "$(id -u)" != 0 ] ||
		expect "$about: a worker's user" "$(id -u nobody)" "$(user_of "${children%% *}")"
	end_server QUIT
	expect "$about: exit status" 0 "$status"
	expect_accounted "$children"
done
