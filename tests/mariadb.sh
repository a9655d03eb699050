# shellcheck shell=sh disable=SC2154
# A MariaDB server for the stories that source this after tests/lib.sh, and its load.

need jq sysbench mariadb mariadb-admin mariadb-install-db
find_program mariadbd
user=$(id -un)
socket=$scratch/socket

# serve MARIADBD DATA exec|plain|shimmed [NAME=VALUE...]. What is said about memory and files keeps an
# emulated server within bounds.
serve() {
	mariadbd=$1 data=$2
	shift 2
	find_port
	start "$@" "$mariadbd" --no-defaults --user="$user" --datadir="$data" --socket="$socket" \
		--pid-file="$scratch/pid" --port="$port" --bind-address=127.0.0.1 --skip-log-bin \
		--innodb-buffer-pool-size=32M --innodb-buffer-pool-size-max=64M \
		--innodb-use-native-aio=0 --innodb-flush-log-at-trx-commit=0
	await mariadb-admin --no-defaults -uroot -S "$socket" ping
}

sql() {
	timeout "$seconds" mariadb --no-defaults -uroot -S "$socket" -N -e "$1" ||
		fail "SQL: $1" "$server_log"
}

# bench SCRIPT ARGUMENTS...: prints how many queries were answered.
bench() {
	timeout "$seconds" sysbench "$@" --db-driver=mysql --mysql-socket="$socket" --rand-seed=7 \
		--mysql-user=root --mysql-db=sbtest --tables=1 --table-size=2000 \
		>"$scratch/bench" 2>&1 || fail "sysbench $1" "$scratch/bench" "$server_log"
	sed -n 's/^ *\(read\|write\|other\|total\): */\1 /p' "$scratch/bench"
}

# prepare_data [SQL...]: made once, with sysbench's table and what the statements make besides; every
# server gets a copy.
prepare_data() {
	mariadb-install-db --no-defaults --user="$user" --datadir="$scratch/first" --skip-test-db \
		--auth-root-authentication-method=normal >"$scratch/install" 2>&1 ||
		fail "mariadb-install-db" "$scratch/install"
	serve "$(command -v mariadbd)" "$scratch/first" exec
	sql "create database sbtest"
	for statement; do
		sql "$statement"
	done
	bench oltp_read_write prepare
	end_server TERM
}

# serve_copy plain|shimmed [NAME=VALUE...]
serve_copy() {
	rm -rf "$scratch/data"
	cp -r "$scratch/first" "$scratch/data"
	forget_records
	serve "$program" "$scratch/data" "$@"
}
