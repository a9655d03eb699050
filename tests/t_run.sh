#!/bin/sh
# abshim run: the program's own status and output, proof that the library was there, one report
# after every end, and reasons for what it will not start.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ -z "$EMULATOR" ] || skip "the kernel cannot start programs of another machine"
need cc jq
ends=$BUILD/workloads/ends

# try STATUS ARGUMENTS...: abshim with these; leaves $scratch/out and $scratch/err.
try() {
	wanted=$1
	shift
	timeout -k 5 "$seconds" "$BUILD/abshim" "$@" >"$scratch/out" 2>"$scratch/err"
	expect "status of abshim $*" "$wanted" $?
}

says() {
	grep -q -- "$1" "$scratch/err" || fail "not said: $1" "$scratch/err"
}

says_one_line() {
	says "$1"
	[ "$(grep -c "^abshim: " "$scratch/err")" = 1 ] || fail "more than one line" "$scratch/err"
}

# ended STATUS WAY TITLE: ends that way and is reported on once.
ended() {
	forget_records
	try "$1" run -s mutex=yield:5 "$ends" "$2"
	says "^abshim: ends, pid [0-9]*, $3 after .* wait by yield:5"
	expect "reports after $2" 1 "$(grep -c '^abshim: ends, pid' "$scratch/err")"
	find_record ends
	expect_figure .settings.mutex yield:5
	expect_figure '.totals.mutex.acquired >= 1000' true
}

ended 3 return "exit(3)"
ended 5 _exit "_exit(5)"
ended 7 quick_exit "quick_exit(7)"
# timeout(1) gives the signal that abshim died by as 128 + its number.
ended 134 abort "abort()"
ended 139 crash "killed by signal 11 (Segmentation fault)"
ended 137 kill "killed by signal 9 (Killed)"

# Streams and arguments go through; a program without locks leaves nothing behind.
forget_records
echo "some input" | "$BUILD/abshim" run -- cat - >"$scratch/out" 2>"$scratch/err"
expect "output of cat" "some input" "$(cat "$scratch/out" "$scratch/err")"
# shellcheck disable=SC2016
try 5 run -- sh -c 'test "$1" = "a b" && exit 5' sh "a b"
try 0 run true
expect "records of programs without locks" "" "$(ls "$ABSHIM_DIR")"

# Settings.
try 125 run -s mutex=nothing true
says_one_line "unknown strategy"
try 125 run -s colour=red true
says_one_line "unknown key"
ABSHIM_COLOUR=red try 78 run true
says_one_line "unknown variable"
# shellcheck disable=SC2016
try 0 run -s A=1 -s A+=2 -s LD_PRELOAD+=libjemalloc.so.2 sh -c 'echo "$A ${LD_PRELOAD##*/}"'
expect "variables" "1:2 libabshim.so:libjemalloc.so.2" "$(cat "$scratch/out")"

if [ "$ARCH" != aarch64 ]; then
	try 78 run -s atomics=llsc true
	says_one_line "the switch between LSE and LL/SC is AArch64's, this abshim is for"
fi

# A path gets the report, and never over another one.
try 3 run --report "$scratch/r.json" "$ends" return
try 137 run --report "$scratch/r.json" "$ends" kill
says_one_line "r.json exists: the report of ends (pid [0-9]*) is in .*r.1.json"
expect "ends in reports" "exit none" \
	"$(jq -r .process.end "$scratch/r.json" "$scratch/r.1.json" | xargs)"
try 3 run --report none "$ends" return
expect "what report=none says" "" "$(cat "$scratch/err")"
try 3 run --report /dev/full "$ends" return
try 78 run --report /dev/stdout "$ends" return
says_one_line "right are stderr, none, or the path of a file"

# What cannot be run, or not with a library preloaded.
echo 'int main(void) { return 0; }' >"$scratch/nothing.c"
cc -static -o "$scratch/static" "$scratch/nothing.c" || fail "cc -static"
try 126 run "$scratch/static"
says_one_line "statically linked"
printf '#!/usr/bin/env static\n' >"$scratch/script"
chmod +x "$scratch/script"
PATH=$scratch:$PATH try 126 run script
says_one_line "statically linked"
try 125 run env "$scratch/static"
says_one_line "libabshim.so never started in the program"
try 127 run "$scratch/not-there"
says_one_line "no such program"
try 126 run "$scratch/nothing.c"
says_one_line "Permission denied"
try 125 run -s match=other "$ends" return
says_one_line "ABSHIM_MATCH=other leaves it alone"
if command -v musl-gcc >/dev/null; then
	musl-gcc -o "$scratch/musl" "$scratch/nothing.c"
	try 126 run "$scratch/musl"
	says_one_line "linked with musl"
	shimmed "$scratch/musl" >"$scratch/out" 2>"$scratch/err"
	expect "status of a musl program with the library preloaded" 78 $?
	says_one_line "this program does not run on glibc: unset LD_PRELOAD for it"
fi

# A file system with room for some threads only, and one without room for any.
# in_small SIZE STATUS: 104 threads at once, with records in a tmpfs of that size.
in_small() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" && shift 2 && exec "$@"' \
		sh "$1" "$scratch/small" timeout -k 5 "$seconds" "$BUILD/abshim" run -s mutex=park \
		-s "dir=$scratch/small" --report "$scratch/small.json" "$BUILD/workloads/threads" \
		live 104 >"$scratch/out" 2>"$scratch/err"
	expect "status in a file system of $1" "$2" $?
}
mkdir "$scratch/small"
if unshare -m mount -t tmpfs tmpfs "$scratch/small" 2>/dev/null; then
	in_small 32k 78
	says_one_line "no room for a record on this file system"
	in_small 48k 0
	says_one_line "threads that found no room in the record, .*: [1-9]"
	cp "$scratch/small.json" "$scratch/report.json"
	expect_figure .trust.no_room true
	expect_figure '.totals.mutex.acquired + .trust.threads_lost * 100' 10401
	expect_figure '.totals.mutex.contended + .totals.barrier.waits ==
		(.locks | map(.waits) | add // 0) + .trust.lost_waits' true
fi

# A sanitizer's runtime stays first.
if cc -fsanitize=address -o "$scratch/asan" "$scratch/nothing.c" 2>/dev/null; then
	try 0 run "$scratch/asan"
fi

# A signal that is sent to abshim reaches the program.
timeout -s INT 1 "$BUILD/abshim" run sh -c \
	'trap "echo caught; exit 6" INT; while :; do sleep 0.05; done' >"$scratch/out" 2>&1
expect "what the program made of SIGINT" "caught" "$(sort -u "$scratch/out")"

# Records of running processes, through pipes, and what is none.
forget_records
start shimmed sleep 60
await abshim report "$server"
try 0 report "$server"
grep -q "^abshim: sleep, pid $server, running for .*: used no lock, .* that is counted\$" \
	"$scratch/out" || fail "report of a running process" "$scratch/out"
# shellcheck disable=SC2002
cat "$ABSHIM_DIR"/sleep.*.abshim | "$BUILD/abshim" report --json - >"$scratch/report.json"
expect_figure .process.name sleep
head -c 5000 "$ABSHIM_DIR"/sleep.*.abshim >"$scratch/cut"
try 2 report "$scratch/cut"
says_one_line "cut: truncated"
try 2 report "$$"
says_one_line "runs without libabshim.so"
try 2 report /etc/passwd
says_one_line "not a record of abshim"
try 125 report --top 0 "$scratch/cut"
says_one_line "must be a number from 1"
