#!/bin/sh
# Programs built with the address and thread sanitizers, by both compilers: what is clean stays clean
# under every way to wait, and what is wrong is found and ends the program as without the library.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ -z "$EMULATOR" ] || skip "the sanitizers' runtimes do not run under the emulator"
# They cannot place their tables where the kernel randomises much.
setarch -R true 2>/dev/null || skip "setarch -R does not work here"

# build COMPILER SANITIZER: fails where the compiler or its runtime is missing.
build() {
	about="$1's $2 sanitizer"
	sanitized=$scratch/sanitized-$1-$2
	command -v "$1" >/dev/null && "$1" -g -O1 -D_GNU_SOURCE -fsanitize="$2" -pthread \
		-o "$sanitized" tests/data/sanitized.c 2>"$scratch/compiler" || return
	tried="$tried $1-$2"
}

# sanitize WHAT [WRAPPER...]: prints the exit status, what the program printed and what was found, once
# however often it was.
sanitize() {
	what=$1
	shift
	timeout "$seconds" setarch -R "$@" "$sanitized" "$what" >"$scratch/out" 2>"$scratch/errors"
	echo "status $?"
	cat "$scratch/out"
	sed -n '/^SUMMARY:/p; /^WARNING:/s/ (pid=.*//p' "$scratch/errors" | sort -u
}

# stays_clean: every acquisition is that of the program.
stays_clean() {
	sanitize clean >"$scratch/plain"
	expect "$about: clean without the library" "status 5 sum 8000, turns 400" \
		"$(paste -s -d ' ' "$scratch/plain")"
	for mutex in $(strategies); do
		forget_records
		sanitize clean "$BUILD/abshim" run -s mutex="$mutex" --report none -- >"$scratch/shim"
		expect_same "$about: clean, mutex=$mutex" "$scratch/plain" "$scratch/shim"
		find_record "sanitized-*"
		expect_figure .totals.mutex.acquired 8400
		expect_figure '.totals.cond | .waits > 0 and .broadcasts == 400' true
		expect_figure '"\(.process.end) \(.process.exit_status)"' "exit 5"
	done
}

# finds STATUS WHAT...: each is wrong.
finds() {
	status=$1
	shift
	for what; do
		sanitize "$what" >"$scratch/plain"
		expect "$about: $what without the library" "status $status" \
			"$(head -n 1 "$scratch/plain")"
		grep -q SUMMARY "$scratch/plain" || fail "$about: $what is not found" "$scratch/errors"
		for mutex in glibc yield:30; do
			sanitize "$what" "$BUILD/abshim" run -s mutex=$mutex --report none -- \
				>"$scratch/shim"
			expect_same "$about: $what, mutex=$mutex" "$scratch/plain" "$scratch/shim"
		done
	done
}

tried=
for compiler in gcc clang; do
	if build $compiler address; then
		stays_clean
		finds 1 freed leak
	fi
	if build $compiler thread; then
		stays_clean
		finds 66 race order
	fi
done
[ -n "$tried" ] || skip "no sanitizer is installed"
