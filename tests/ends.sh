# shellcheck shell=sh
# Sourced by the stories about ends of processes: runs a workload without and with the library,
# and compares what it printed and returned, and the records it left behind.

. tests/lib.sh
trap 'umount "$scratch"/disk* 2>/dev/null; clean_up' EXIT
failures=0
settings=  # NAME=VALUE ... for the library
stderr_to= # a pipe that stderr goes to instead of a file of its own,
reader=    # and the command that has it as its input
compare_printed= # "no": reports do not go to stderr

# Under an emulator the kernel cannot execute abshim: the library's own summary is what comes, and
# takes the report's place in what is expected.
by_itself=summarised
[ -z "$EMULATOR" ] || by_itself=reported

# until_closed NAME COMMAND...: runs the command, with what it prints in $scratch/NAME.out and .err
# and its exit status in $status, and waits until whatever it left behind has gone as well.
until_closed() {
	name=$1
	shift
	if [ -n "$stderr_to" ]; then
		$reader <"$stderr_to" >/dev/null &
	fi
	{
		"$@" 2>"${stderr_to:-$scratch/$name.err}"
		echo $? >"$scratch/status"
	} | cat >"$scratch/$name.out"
	status=$(cat "$scratch/status")
	[ -z "$stderr_to" ] || kill $! 2>/dev/null
}

# describe_all: for each record a line: state, end, exit status, acquisitions, and "forked",
# "reported" or "summarised" where it is so.
describe_all() {
	for record in "$ABSHIM_DIR"/*.abshim; do
		[ -e "$record" ] || continue
		read_report "$record"
		figure '[.process.state, .process.end, .process.exit_status // "-",
			.totals.mutex.acquired, if .trust.forked then "forked" else empty end,
			if .trust.reported then "reported" else empty end,
			if .trust.summarised then "'$by_itself'" else empty end]
			| map(tostring) | join(" ")'
	done | sort
}

complain() {
	failures=$((failures + 1))
	echo "FAIL $*"
	for file in plain.out shimmed.out plain.err shimmed.err; do
		[ ! -s "$scratch/$file" ] || head -n 20 "$scratch/$file" | sed "s/^/     $file | /"
	done
}

# expect_end LINES COMMAND...: the records must be LINES (sorted), the rest as without the library.
expect_end() {
	wanted_records=$1
	shift
	what=$(basename "$1")\ $2
	until_closed plain plain "$@"
	plain_status=$status
	forget_records
	# shellcheck disable=SC2086
	until_closed shimmed shimmed $settings "$@"
	compare_run
	compare_records
}

# Against the same run without the library.
compare_run() {
	case $plain_status in
	99 | 12[4-7]) complain "$what: the workload itself failed" ;;
	esac
	[ "$plain_status" = "$status" ] ||
		complain "$what: exit status $status, without the library $plain_status"
	cmp -s "$scratch/plain.out" "$scratch/shimmed.out" || complain "$what: output differs"
}

# The records, and a printed report for each one that calls itself reported.
compare_records() {
	found=$(describe_all)
	[ "$found" = "$wanted_records" ] || {
		complain "$what: records differ; wanted, then found:"
		printf '%s\n--\n%s\n' "$wanted_records" "$found"
	}
	[ -z "$compare_printed" ] || return 0
	echo "$found" | sed -n 's/^[^ ]* [^ ]* [^ ]* \([0-9]*\) .*\(reported\|summarised\).*/\1/p' |
		sort | uniq -c | while read -r times count; do
		printed=$(grep -Eac "^  acquired +$(grouped "$count") |: $count acquired," "$scratch/shimmed.err")
		[ "$printed" = "$times" ] || echo "$what: $printed reports of $count, wanted $times"
	done >"$scratch/unprinted"
	[ ! -s "$scratch/unprinted" ] || complain "$(cat "$scratch/unprinted")"
}

# A number as a report prints it.
grouped() {
	echo "$1" | sed -e ':again' -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/' -e 't again'
}

finish() {
	if [ $failures != 0 ]; then
		echo "$failures cases failed"
		exit 1
	fi
	exit 0
}
