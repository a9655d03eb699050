#!/bin/sh
# Where the exit report goes, and what happens where it cannot go there: files, full disks, an
# abshim command that is missing or may not be executed.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/ends.sh

ends=$BUILD/workloads/ends
hostile=$BUILD/workloads/ends_hostile
ended="ended exit 4 1000"
reports=$scratch/reports
mkdir "$reports"

# expect_stderr empty|place CASE
expect_stderr() {
	case $1 in
	empty) [ ! -s "$scratch/shimmed.err" ] ;;
	place) grep -q "the record is in $ABSHIM_DIR/" "$scratch/shimmed.err" ;;
	esac || complain "$2: wanted on stderr: $1"
}

settings=ABSHIM_REPORT=none
expect_end "$ended" "$ends" exit
expect_stderr empty none

settings="ABSHIM_STATS=off ABSHIM_MUTEX=park"
expect_end "$ended" "$ends" exit
expect_stderr empty "statistics off"
settings="ABSHIM_STATS=off"
expect_end "" "$ends" exit
expect_stderr empty "library off"

# expect_file PATTERN: exactly one report file, and it matches.
expect_file() {
	# shellcheck disable=SC2086
	set -- "$1" $reports/$1
	if [ $# != 2 ] || [ ! -s "$2" ]; then
		complain "no report file $1; there is: $(ls "$reports")"
	fi
	rm -f "$reports"/*
}

# The text in a file is not on stderr, so ends without one cannot be compared by "reported".
if [ -z "$EMULATOR" ]; then
	to_file="ended exit 4 1000 reported"
	compare_printed=no
	settings=ABSHIM_REPORT=$reports/%e-%%-%p.json
	expect_end "$to_file" "$ends" exit
	expect_stderr empty "file"
	jq -e '.totals.mutex.acquired == 1000' "$reports"/*.json >"$scratch/jq" ||
		complain "the JSON report does not hold the count"
	expect_file 'ends-%-[0-9]*.json'

	settings=ABSHIM_REPORT=$reports/text
	expect_end "$to_file" "$ends" exit
	grep -q 'acquired  *1,000 ' "$reports/text" || complain "no count in the text report"
	expect_end "$to_file" "$ends" exit
	expect_file 'text.1'

	# Relative to where the process began, not to where it ended.
	settings=ABSHIM_REPORT=out.txt
	here=$PWD
	cd "$reports" || exit 1
	expect_end "ended exit 28 1000 reported" "$hostile" change-directory
	cd "$here" || exit 1
	expect_file 'out.txt'

	# With a stderr of its own, too, and no line there.
	settings=ABSHIM_REPORT=$reports/text
	expect_end "ended exit 21 1000 reported" "$hostile" close-stderr
	expect_file 'text'
	compare_printed=
fi

settings=ABSHIM_REPORT=$scratch/nowhere/report
expect_end "$ended" "$ends" exit
expect_stderr place "no such directory"

# The command beside the library may not be executed, or is not there.
settings=
mkdir -p "$scratch/other/lib" "$scratch/other/bin"
cp "$library" "$scratch/other/lib/libabshim.so"
cp "$BUILD/abshim" "$scratch/other/lib/abshim"
chmod 000 "$scratch/other/lib/abshim"
library=$scratch/other/lib/libabshim.so
expect_end "$ended $by_itself" "$ends" exit
expect_stderr place "no permission"
rm "$scratch/other/lib/abshim"
expect_end "$ended $by_itself" "$ends" exit
expect_stderr place "no command"
printf '#!/bin/sh\nexit 3\n' >"$scratch/other/lib/abshim"
chmod 755 "$scratch/other/lib/abshim"
expect_end "$ended $by_itself" "$ends" exit
expect_stderr place "failing command"
rm "$scratch/other/lib/abshim"
cp "$BUILD/abshim" "$scratch/other/bin/abshim"
expect_end "$ended reported" "$ends" exit
library=$BUILD/libabshim.so

# Full disks.
mkdir "$scratch/disk"
if mount -t tmpfs -o size=16m,mode=700 tmpfs "$scratch/disk" 2>"$scratch/mount"; then
	settings=ABSHIM_REPORT=$scratch/disk/report
	dd if=/dev/zero of="$scratch/disk/fill" bs=4096 2>"$scratch/dd"
	expect_end "$ended" "$ends" exit
	expect_stderr place "full disk for the report"
	[ ! -e "$scratch/disk/report" ] || complain "full disk: a part of a report was left there"
	rm -f "$scratch/disk/fill"

	settings=
	records=$ABSHIM_DIR
	ABSHIM_DIR=$scratch/disk
	until_closed shimmed shimmed "$hostile" fill-disk "$scratch/disk/fill"
	[ "$status" = 39 ] || complain "fill-disk: exit status $status"
	read_report "$scratch"/disk/*.abshim
	total=$(figure '.totals.mutex.acquired + .trust.threads_lost * 700')
	[ "$total" = 71000 ] || complain "fill-disk: $total acquisitions counted or lost, wanted 71000"
	ABSHIM_DIR=$records
fi

finish
