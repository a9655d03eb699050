# shellcheck shell=sh
# Sourced by the stories about ends of processes: runs a workload without and with the library,
# and compares what it printed and returned, and the records it left behind.

: "${BUILD:=$PWD/build}" "${ARCH:=$(uname -m)}" "${EMULATOR=}"
scratch=$(mktemp -d /dev/shm/ends-XXXXXX)
trap 'umount "$scratch"/disk* 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP
failures=0
library=$BUILD/libabshim.so
settings= # NAME=VALUE ... for the library

# run_bare COMMAND...: under the emulator where there is one.
run_bare() {
	# shellcheck disable=SC2086
	timeout 60 $EMULATOR "$@"
}

# run_shimmed COMMAND...: with $library and $settings.
run_shimmed() {
	if [ -n "$EMULATOR" ]; then
		environment=
		for setting in LD_PRELOAD="$library" ABSHIM_DIR="$records" $settings; do
			environment="$environment -E $setting"
		done
		# shellcheck disable=SC2086
		timeout 60 $EMULATOR $environment "$@"
	else
		# shellcheck disable=SC2086
		timeout 60 env LD_PRELOAD="$library" ABSHIM_DIR="$records" $settings "$@"
	fi
}

# field NAME TEXT: the last value of that name in a JSON text; - for null.
field() {
	echo "$2" | sed -e "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/" -e "s/^null$/-/"
}

# describe FILE: one line: state, end, exit status, acquisitions, "forked", "reported".
describe() {
	# shellcheck disable=SC2086
	json=$($EMULATOR "$BUILD/abshim" report --json "$1") || {
		echo "unreadable $1"
		return
	}
	trust=${json#*\"trust\":}
	process=${json%%\"settings\":*}
	line="$(field state "$process") $(field end "$process") $(field exit_status "$process")"
	totals=${json#*\"totals\":}
	totals=${totals%%\"contended\"*}
	line="$line $(field acquired "$totals")"
	case $trust in *'"forked":true'*) line="$line forked" ;; esac
	case $trust in
	*'"reported":true'*) line="$line reported" ;;
	*'"summarised":true'*) line="$line $emulated_report" ;;
	esac
	echo "$line"
}

# Under an emulator the kernel cannot execute abshim: the library's own summary is what comes.
emulated_report=summarised
[ -z "$EMULATOR" ] || emulated_report=reported

describe_all() {
	for record in "$records"/*.abshim; do
		[ ! -e "$record" ] || describe "$record"
	done | sort
}

complain() {
	failures=$((failures + 1))
	echo "FAIL $*"
	for file in bare.out shim.out bare.err shim.err; do
		[ ! -s "$scratch/$file" ] || head -n 20 "$scratch/$file" | sed "s/^/     $file | /"
	done
}

# until_closed NAME COMMAND...: runs the command, with what it prints in $scratch/NAME.out and .err
# and its exit status in $status, and waits until whatever it left behind has gone as well.
until_closed() {
	name=$1
	shift
	{
		"$@" 2>"$scratch/$name.err"
		echo $? >"$scratch/status"
	} | cat >"$scratch/$name.out"
	status=$(cat "$scratch/status")
}

# expect LINES COMMAND...: the records must be LINES (sorted), the rest as without the library.
expect() {
	wanted_records=$1
	shift
	records=$scratch/records
	rm -rf "$records"
	mkdir -m 777 "$records"
	until_closed bare run_bare "$@"
	bare_status=$status
	until_closed shim run_shimmed "$@"
	shim_status=$status
	what=$(basename "$1")\ $2
	[ $bare_status != 99 ] || complain "$what: the workload itself failed"
	[ $bare_status = $shim_status ] ||
		complain "$what: exit status $shim_status, without the library $bare_status"
	cmp -s "$scratch/bare.out" "$scratch/shim.out" || complain "$what: output differs"
	expect_records "$what" "$wanted_records"
	expect_reports "$what"
}

expect_records() {
	found=$(describe_all)
	[ "$found" = "$2" ] || {
		complain "$1: records differ; wanted, then found:"
		printf '%s\n--\n%s\n' "$2" "$found"
	}
}

# Each record that calls itself reported was.
expect_reports() {
	echo "$found" | sed -n 's/^[^ ]* [^ ]* [^ ]* \([0-9]*\) .*reported.*/\1/p' | sort | uniq -c |
		while read -r times count; do
			printed=$(grep -Eac "^  acquired +$(grouped "$count") |: $count acquired," "$scratch/shim.err")
			[ "$printed" = "$times" ] || echo "$1: $printed reports of $count, wanted $times"
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
