#!/bin/sh
# A process that may run on one CPU only never spins, whatever the machine has: the owner could not
# run meanwhile.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq taskset
find_program sysbench

# contend [NAME=VALUE...]: four threads that yield while they hold a lock. Sets $record.
contend() {
	forget_records
	shimmed "$@" ABSHIM_REPORT=none "$program" threads --threads=4 --thread-yields=100 \
		--thread-locks=1 --events=200 --time=0 run >"$scratch/out" 2>&1 ||
		fail "$about: exit status $?" "$scratch/out"
	find_record sysbench
	expect_figure '.totals.mutex.contended > 0' true
}

cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
for strategy in $(strategies); do
	limit="taskset -c $cpu timeout -k 5 $seconds"
	about="$strategy on one CPU"
	contend ABSHIM_MUTEX="$strategy"
	expect_figure .process.cpus 1
	expect_figure .totals.mutex.spun 0
	[ "$(nproc)" != 1 ] || continue
	case $strategy in spin | backoff | adaptive | queue) ;; *) continue ;; esac
	limit=""
	about="$strategy on all CPUs"
	contend ABSHIM_MUTEX="$strategy"
	expect_figure '.totals.mutex.spun > 0' true
done
