#!/bin/sh
# Every wrong variable ends a process in one line before it has begun; right ones are in force, as
# the record and its counters show.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# refused NAME=VALUE...: exit status 78, one line that names the first variable, nothing else.
refused() {
	find_program echo
	shimmed "$@" "$program" began >"$scratch/out" 2>"$scratch/err"
	expect "$*: exit status" 78 $?
	expect "$*: output" "" "$(cat "$scratch/out")"
	expect "$*: lines" 1 "$(wc -l <"$scratch/err")"
	grep -q "^abshim: ${1%%=*}[=:]" "$scratch/err" || fail "$*: message" "$scratch/err"
	expect "$*: records" "" "$(ls "$ABSHIM_DIR")"
}

long=$(printf '/%0600d' 0)
for value in "" Glibc GLIBC none mutex glibc: glibc:1 park:1 yield: yield:0 yield:-1 yield:+1 \
	yield:0x10 yield:1e3 yield:30x yield:1000001 yield:99999999999999999999 yield:30:30 \
	yield,30 yields spin:abc queue:0 "$long"; do
	refused ABSHIM_MUTEX="$value"
done
for value in "" ON yes 1 0; do
	refused ABSHIM_STATS="$value"
done
for value in "" %x /tmp/report% "/tmp/%p-%s" /dev/stdout /dev/fd/1 /proc/self/fd/1 "$long"; do
	refused ABSHIM_REPORT="$value"
done
mkdir -m 1777 "$scratch/open"
ln -s "$ABSHIM_DIR" "$scratch/link"
for value in "" relative/folder ./here /proc /dev/null "$scratch/missing" "$scratch/open" \
	"$scratch/link" /tmp "$long"; do
	refused ABSHIM_DIR="$value"
done
if [ -z "$EMULATOR" ]; then # it needs descriptors itself
	limit="prlimit --nofile=4"
	refused ABSHIM_DIR="$ABSHIM_DIR" 3<&- 4<&- # make's jobserver has these
	limit=
	grep -q "ulimit -n" "$scratch/err" || fail "no reason: descriptors" "$scratch/err"
fi
for value in "" -1 +1 x 65 1e1 0x10 16: 99999999999999999999; do
	refused ABSHIM_STACKS="$value"
done
refused ABSHIM_STACKS=16 ABSHIM_STATS=off
for value in "" LSE on off lse2 "lse," "$long"; do
	refused ABSHIM_ATOMICS="$value"
done
# A switch that this CPU does not have: x86-64 at all, AArch64 without LSE.
if [ "$ARCH" != aarch64 ]; then
	for value in lse llsc; do
		refused ABSHIM_ATOMICS=$value
		grep -q "which is AArch64's" "$scratch/err" || fail "no reason: $value" "$scratch/err"
	done
elif [ -n "$EMULATOR" ]; then
	emulator=$EMULATOR
	EMULATOR="${EMULATOR% -cpu *} -cpu cortex-a72"
	refused ABSHIM_ATOMICS=lse
	EMULATOR=$emulator
	grep -q "this CPU has no LSE atomics" "$scratch/err" || fail "no reason: lse" "$scratch/err"
fi
for value in "" "[" "ech[o" "[]" "[!]" "[a-" "echo\\"; do
	refused ABSHIM_MATCH="$value"
done
for value in "" -1 x 30x 1000001; do
	refused LIBPTHREAD_YIELDLOOPS="$value"
	refused LIBPTHREAD_SPINLOOPS="$value"
	refused LIBPTHREAD_SPINLOOPS="$value" ABSHIM_MUTEX=park
done
refused LIBPTHREAD_YIELDLOOPS=junk ABSHIM_MUTEX=park
for variable in ABSHIM_ ABSHIM_Mutex ABSHIM_MUTEXES ABSHIM_SPIN; do
	refused $variable=glibc
	refused $variable=
done

# contend [NAME=VALUE...]: threads that yield while they hold a lock. Sets $record.
contend() {
	about=$*
	find_program sysbench
	forget_records
	shimmed "$@" ABSHIM_REPORT=none "$program" threads --threads=4 --thread-yields=100 \
		--thread-locks=1 --events=200 --time=0 run >"$scratch/out" 2>&1 ||
		fail "$about: exit status $?" "$scratch/out"
	find_record sysbench
	expect_figure '.totals.mutex.contended > 0' true
}

# expect_waits MUTEX PRE_SPINS SPUN YIELDED: the settings, and whether there was spinning, yielding.
expect_waits() {
	expect_figure '"\(.settings.mutex) \(.settings.mutex_pre_spins)"' "$1 $2"
	expect_figure '.totals.mutex | "\(.spun > 0) \(.yielded > 0)"' "$3 $4"
}

contend
expect_waits glibc 0 false false
contend LIBPTHREAD_YIELDLOOPS=30
expect_waits yield:30 0 false true
contend LIBPTHREAD_SPINLOOPS=200
expect_waits spin:200 0 "$([ "$(nproc)" = 1 ] && echo false || echo true)" false
contend LIBPTHREAD_YIELDLOOPS=7 LIBPTHREAD_SPINLOOPS=20
expect_waits yield:7 20 "$([ "$(nproc)" = 1 ] && echo false || echo true)" true
contend LIBPTHREAD_YIELDLOOPS=0 LIBPTHREAD_SPINLOOPS=0
expect_waits park 0 false false
expect_figure '.totals.mutex.parked > 0' true
contend LIBPTHREAD_YIELDLOOPS=30 ABSHIM_MUTEX=park
expect_waits park 0 false false
contend ABSHIM_MUTEX=yield:7
expect_waits yield:7 0 false true
expect_figure '.settings.environment.ABSHIM_MUTEX' yield:7

# The executable's name decides; what is left alone is not even told about wrong values.
for pattern in sysbench 'sys*' '?ysbench' '[r-t]ysbench'; do
	contend ABSHIM_MATCH="$pattern"
done
for pattern in bench sysbench? 'x*' '[!s]*'; do
	forget_records
	shimmed ABSHIM_MATCH="$pattern" ABSHIM_MUTEX=wrong "$program" --version >"$scratch/out" 2>&1
	expect "ABSHIM_MATCH=$pattern: exit status" 0 $?
	expect "ABSHIM_MATCH=$pattern: lines" 1 "$(wc -l <"$scratch/out")"
	expect "ABSHIM_MATCH=$pattern: records" "" "$(ls "$ABSHIM_DIR")"
done

forget_records
shimmed ABSHIM_STATS=off "$BUILD/workloads/threads" live 80 >"$scratch/out" 2>&1
expect "ABSHIM_STATS=off: output" "acquired 8001, ended 80" "$(cat "$scratch/out")"
expect "ABSHIM_STATS=off: records" "" "$(ls "$ABSHIM_DIR")"
