#!/bin/sh
# Servers as a distribution ships them, stripped: under ABSHIM_ATOMICS every flag of outline atomics
# in the process's memory is what was asked for, in the server, libc, the loader and all libraries;
# each file has a line in the record; they serve their load and end well. Where there is no LSE they
# run under llsc, and die at the first helper that is forced to use it.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ "$ARCH" = aarch64 ] || skip "only AArch64 has the switch"
need python3 redis-cli redis-benchmark
. tests/mariadb.sh
mariadbd_program=$program
find_program redis-server
redis_program=$program
shimmed_library=$library
with_lse=$EMULATOR
without_lse=${EMULATOR:+${EMULATOR% -cpu *} -cpu cortex-a72}
export ABSHIM_REPORT=none

# expect_flags VALUE FILE...: in the memory of $server, read without the library's help. At least
# these files have one; and the record says the same of every file. What it left inline are words
# that no function holds.
expect_flags() {
	value=$1
	shift
	tests/read_flags.py "$server" >"$scratch/flags" 2>&1 || fail "$about: flags" "$scratch/flags"
	for file; do
		grep -q "/$file [1-9]" "$scratch/flags" || fail "$about: no flag in $file" "$scratch/flags"
	done
	! awk -v wanted="$value" '$4 != "none" && $4 != wanted' "$scratch/flags" | grep . ||
		fail "$about: flags that are not $value" "$scratch/flags"
	sed 's/ [01]$//; s/ 0 none none$/ 0 null/' "$scratch/flags" | sort >"$scratch/wanted"
	read_report "$server"
	list_record | sort >"$scratch/found"
	cmp -s "$scratch/wanted" "$scratch/found" ||
		fail "$about: files, helpers and flags: in memory, in the record" "$scratch/wanted" "$scratch/found"
	expect_figure '.atomics | .total.lost == 0 and all(.objects[]; .unreadable == null and
		.inline.found - .inline.rewritten == .inline.left.unproved)' true
}

# Prints FILE HELPERS FLAG of each row of the record, by the names of the files behind links.
list_record() {
	figure '.atomics.objects[] | "\(.path) \(.helpers) \(.flag)"' | while read -r file rest; do
		[ ! -e "$root$file" ] || file=$root$file
		echo "$(realpath "$file") $rest"
	done
}

ends_well() {
	end_server TERM
	expect "$about: exit status" 0 "$status"
}

redis() {
	timeout "$seconds" redis-cli -p "$port" "$@"
}

# serve_redis [NAME=VALUE...]
serve_redis() {
	forget_records
	find_port
	start shimmed "$@" "$redis_program" --port "$port" --bind 127.0.0.1 --save "" --dir "$scratch"
	await redis ping
}

load_redis() {
	timeout "$seconds" redis-benchmark -p "$port" -q -c 8 -P 8 -n 4000 -t set,get,incr,lpush \
		>"$scratch/load" 2>&1 || fail "$about: redis-benchmark" "$scratch/load" "$server_log"
	expect "$about: increments" 4000 "$(redis get counter:__rand_int__)"
	expect "$about: length of the list" 4000 "$(redis llen mylist)"
}

# check_redis ATOMICS VALUE
check_redis() {
	about="redis-server, $1"
	serve_redis ABSHIM_ATOMICS="$1"
	load_redis
	expect_flags "$2" "$(basename "$(realpath "$redis_program")")" libc.so.6 \
		ld-linux-aarch64.so.1 libjemalloc.so.2 libabshim.so
	ends_well
}

# check_mariadbd ATOMICS VALUE
check_mariadbd() {
	about="mariadbd, $1"
	program=$mariadbd_program
	serve_copy shimmed ABSHIM_ATOMICS="$1"
	bench oltp_read_write --threads=1 --time=0 --events=20 run >"$scratch/write"
	bench oltp_point_select --threads=4 --time=0 --events=800 run >"$scratch/read"
	expect "$about: queries" "$queries" "$(cat "$scratch/write" "$scratch/read" | paste -sd" ")"
	expect_flags "$2" mariadbd libc.so.6 libstdc++.so.6.0.30 ld-linux-aarch64.so.1 libabshim.so
	ends_well
}

# What one thread with known random numbers asks, and four that read.
queries="read 280 write 80 other 40 total 400 read 800 write 0 other 0 total 800"
prepare_data

check_redis llsc 0
check_mariadbd llsc 0
[ -n "$EMULATOR" ] || exit 0
check_redis lse 1
check_mariadbd lse 1

EMULATOR=$without_lse
check_redis llsc 0
check_mariadbd llsc 0

# The same library, but that it believes what it is told: the switch is a real one.
library=$BUILD/tests/libabshim-forced.so
for program in "$redis_program --version" "$mariadbd_program --no-defaults --version"; do
	for choice in llsc lse; do
		# shellcheck disable=SC2086
		shimmed ABSHIM_ATOMICS=$choice $program >"$scratch/out" 2>&1
		status=$?
		wanted=0
		[ $choice = llsc ] || wanted=132
		expect "$program, $choice by force, without LSE: exit status" $wanted $status
	done
done
EMULATOR=$with_lse library=$shimmed_library
