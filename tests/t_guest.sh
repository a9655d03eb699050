#!/bin/sh
# While a program runs, the library calls neither malloc nor stdio nor any other function of libc
# than the one that it stands for: a preload behind it ends the process that does.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq # for the names of strategies
preload_last=$BUILD/preload/trap.so

# guest STATUS NAME=VALUE... COMMAND...: one run of a program that must end as it does by itself.
guest() {
	wanted=$1
	shift
	shimmed "$@" >"$scratch/out" 2>&1
	status=$?
	[ $status = "$wanted" ] || fail "$*: exit status $status" "$scratch/out"
}

# expect_trap CALLED NAME=VALUE... COMMAND...: one that must not.
expect_trap() {
	called=$1
	shift
	! shimmed "$@" >"$scratch/out" 2>&1 || fail "not trapped: $*" "$scratch/out"
	grep -q "^trap: .* called $called" "$scratch/out" ||
		fail "wanted a trapped call of $called: $*" "$scratch/out"
}

# The trap bites: in programs that do call such functions, in the library where it lets libc wait
# and must not, and where there is nothing to watch.
expect_trap calloc TRAP_GUEST=selectkey ABSHIM_REPORT=none "$BUILD/workloads/selectkey" -n 10
expect_trap usleep TRAP_GUEST=bench_contended ABSHIM_REPORT=none \
	"$BUILD/workloads/bench_contended" 1 10
expect_trap pthread_mutex_lock ABSHIM_MUTEX=glibc ABSHIM_REPORT=none \
	"$BUILD/workloads/bench_contended" 8 500
expect_trap nothing TRAP_GUEST=libnowhere.so ABSHIM_REPORT=none "$BUILD/workloads/kinds"

for strategy in $(strategies); do
	waits=shim
	[ "$strategy" != glibc ] || waits=libc
	for report in none "$scratch/report.txt"; do
		set -- TRAP_WAITS=$waits ABSHIM_MUTEX="$strategy" ABSHIM_REPORT="$report"
		guest 0 "$@" "$BUILD/workloads/selectkey" -t 4 -n 2000
		guest 0 "$@" "$BUILD/workloads/threads" short 800
		guest 6 "$@" "$BUILD/workloads/cxx_locks"
		guest 0 "$@" "$BUILD/workloads/kinds"
		guest 0 "$@" "$BUILD/workloads/bench_contended" 8 100
	done
done

# Locks other than mutexes, in every way to poll for them.
for polling in $(abshim list --json | jq -r '.strategies[] | select(.for | test("rwlock")).name'); do
	set -- TRAP_WAITS=libc ABSHIM_RWLOCK="$polling" ABSHIM_SPINLOCK="$polling" \
		ABSHIM_SEM="$polling" ABSHIM_REPORT=none
	for kind in rwlock-writer spinlock sem barrier once; do
		guest 0 "$@" "$BUILD/workloads/conform" all $kind
	done
done
