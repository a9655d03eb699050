#!/bin/sh
# A hundred thousand short threads, ended in every way, leave exact totals in a record of bounded
# size; and so do two thousand that live at the same time.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

short=100000 live=2000
[ -z "$EMULATOR" ] || short=1992 live=400
rows=300 # of threads in a report: a few running ones, 256 names
size=1024 # kB that a record may take after short threads
[ -z "$EMULATOR" ] || size=8192 # under an emulator it is not sparse

# check short|live NUMBER [NAME=VALUE...]: the counts of the record are the workload's own.
check() {
	about=$*
	kind=$1 number=$2
	shift 2
	forget_records
	shimmed "$@" ABSHIM_REPORT=none "$BUILD/workloads/threads" "$kind" "$number" \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	grep -q ", ended $number\$" "$scratch/shim" || fail "$about: output" "$scratch/shim"
	find_record threads
	expect_figure .totals.mutex.acquired "$(sed 's/acquired \([0-9]*\),.*/\1/' "$scratch/shim")"
	expect_figure .process.threads_created "$number"
	expect_figure '[.threads[] | .ended + .running] | add' $((number + 1))
	expect_figure .trust.threads_lost 0
	expect_figure ".threads | length < $rows" true
}

for mutex in glibc yield queue; do
	check short $short ABSHIM_MUTEX=$mutex
	expect_figure 'any(.threads[]; .name == "name-1")' true
	expect_figure '.trust.names_merged and any(.threads[]; .name == "(others)")' true
	used=$(du -k "$record" | cut -f 1)
	[ "$used" -lt $size ] || fail "$about: the record takes $used kB"
	check live $live ABSHIM_MUTEX=$mutex
done
