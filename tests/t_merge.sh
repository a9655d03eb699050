#!/bin/sh
# The records of all processes of one server make one report: its totals are the sums of the single
# reports, in every grouping; a lock in the memory of every process is one row by its creation.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

children=3 turns=40
shimmed ABSHIM_REPORT=none ABSHIM_STATS=hold "$BUILD/workloads/forking" $children $turns ||
	fail "the workload: exit status $?"
records=$(find "$ABSHIM_DIR" -name 'forking.*.abshim' | wc -l)
expect "records" $children "$records"

# sum_of FILTER: the sum of what it finds in the report of each record by itself.
sum_of() {
	for record in "$ABSHIM_DIR"/*.abshim; do
		abshim report --json "$record" || fail "abshim report $record: exit status $?"
	done | jq "$1" | jq -s add
}

read_report "$ABSHIM_DIR"
about="all processes"
expect_figure '.totals.mutex.acquired' $((2 * children * turns))
for filter in .totals.mutex.acquired .totals.mutex.contended .totals.mutex.wait_ns_total \
	.totals.mutex.hold_ns_total '[.sites[].waits]|add' '[.locks[].wait_ns_total]|add'; do
	expect_figure "$filter" "$(sum_of "$filter")"
done
[ "$(figure .totals.mutex.contended)" -gt 0 ] || fail "nothing was contended"

# group BY FILTER: what it finds in the report of all records by a grouping.
group() {
	abshim report --json --by "$1" "$ABSHIM_DIR" | jq -r "$2"
}

for by in lock site creation thread type; do
	for number in waits wait_ns_total; do
		expect "$number by $by" "$(group $by ".total.$number")" \
			"$(group $by "[.rows[], .rest | .$number] | add")"
		expect "$number by $by and by thread" "$(group thread ".total.$number")" \
			"$(group $by ".total.$number")"
	done
done
expect "locks by lock" $children "$(group lock '.rows|length')"
expect "locks by creation" "1 $children" "$(group creation '"\(.rows|length) \(.rows[0].members)"')"
expect "their name" "turns_mutex in forking" "$(group creation '.rows[0].key')"

# Named one by one they are the same; people see who they are.
abshim report "$ABSHIM_DIR"/*.abshim >"$scratch/one_by_one" || fail "exit status $?"
abshim report "$ABSHIM_DIR" >"$scratch/text" || fail "exit status $?"
expect_same "the report of a directory" "$scratch/one_by_one" "$scratch/text"
grep -q "^abshim: $children processes of forking within " "$scratch/text" ||
	fail "the title of the report" "$scratch/text"
expect "processes in the text" $children "$(grep -c '^  forking .* exit(0) ' "$scratch/text")"

# What is no record is named and the rest is reported; only what was asked for is a failure.
head -c 100 "$0" >"$ABSHIM_DIR/forking.1.0.abshim"
abshim report "$ABSHIM_DIR" >"$scratch/text" 2>"$scratch/errors" || fail "exit status $?"
expect_same "the report beside a foreign file" "$scratch/one_by_one" "$scratch/text"
expect "lines on stderr" "abshim: $ABSHIM_DIR/forking.1.0.abshim: not a record of abshim" \
	"$(cat "$scratch/errors")"
abshim report "$ABSHIM_DIR" "$scratch/nothing" >"$scratch/text" 2>"$scratch/errors"
expect "exit status with a missing record" 2 $?
expect_same "the report beside a missing one" "$scratch/one_by_one" "$scratch/text"

# Every kind of lock: what the threads waited is what the tables hold.
forget_records
shimmed ABSHIM_REPORT=none "$BUILD/workloads/families" >"$scratch/out" || fail "families: exit status $?"
expect "families by type" "barrier futex mutex once rwlock sem spinlock" \
	"$(group type '[.rows[].family] | unique | join(" ")')"
expect "waits that no row holds" "0 0" "$(group type '"\(.rest.waits) \(.rest.wait_ns_total)"')"
