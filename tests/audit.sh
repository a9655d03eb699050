# shellcheck shell=sh disable=SC2034
# Sourced by the stories about abshim audit: runs it and reads its rows.

. tests/lib.sh
findings=$scratch/audit.json
objdump_here=objdump readelf_here=readelf
objdump_arm=aarch64-linux-gnu-objdump readelf_arm=aarch64-linux-gnu-readelf
if [ "$(uname -m)" = aarch64 ]; then
	objdump_arm=objdump readelf_arm=readelf
fi
counter=tests/count_atomics.py

# audit ARGUMENTS...: its rows go to $findings, its messages to $scratch/audit.log, its exit status
# is $status. A signal or no end in time fails the story.
audit() {
	abshim audit --json "$@" >"$findings" 2>"$scratch/audit.log"
	status=$?
	case $status in
	0 | 2) ;;
	124) fail "no end: abshim audit $*" "$scratch/audit.log" ;;
	*) fail "exit status $status: abshim audit $*" "$scratch/audit.log" ;;
	esac
}

# row PATH FILTER: what the jq filter finds in the row of that file, which was named to the command.
row() {
	jq -rcS --arg path "$1" ".files[.targets[] | select(.name == \$path) | .files[0]] | $2" "$findings"
}

# expect_row PATH FILTER WANTED
expect_row() {
	found=$(row "$1" "$2")
	[ "$3" = "$found" ] || {
		row "$1" . >"$scratch/row"
		fail "$1: $2: wanted $3, found $found" "$scratch/row" "$scratch/audit.log"
	}
}

# families_of: the counts of a row or of the independent reader's object, in one order.
families_of() {
	jq -cS '.families | map_values(select(.inline + .outline > 0))' "$@"
}
