#!/bin/sh
# Programs in places with strange names have the right ones in their records: a newline in the path,
# a path longer than the record has room for, and no /proc that would tell the path.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

newline='
'
# place FOLDER: copies the workload there; sets $program.
place() {
	mkdir -p "$1" || fail "$about: mkdir"
	cp "$BUILD/workloads/c11" "$1/c11"
	program=$1/c11
	forget_records
}

about="a newline in the path"
place "$scratch/first${newline}second\\012third"
shimmed ABSHIM_REPORT=none "$program" >"$scratch/out" 2>&1 || fail "$about" "$scratch/out"
find_record c11
# The kernel writes both a newline and what looks like its escape in the same way.
path="$scratch/first${newline}second${newline}third/c11"
expect_figure '.process.executable' "$program"
expect_figure '[.sites[].module] | unique | join("|")' "$path"

about="a newline alone"
place "$scratch/first${newline}second"
shimmed ABSHIM_REPORT=none "$program" >"$scratch/out" 2>&1 || fail "$about" "$scratch/out"
find_record c11
expect_figure '[.sites[].module] | unique | join("|")' "$program"
expect_figure 'any(.sites[]; .function == "find_taken")' true

about="a long path"
folder=$scratch
while [ ${#folder} -lt 900 ]; do
	folder=$folder/a-folder-with-a-name-of-some-length
done
place "$folder"
shimmed ABSHIM_MATCH=c11 ABSHIM_REPORT="$scratch/%e.txt" "$program" >"$scratch/out" 2>&1 ||
	fail "$about" "$scratch/out"
find_record c11
expect_figure '.process.name' c11
expect_figure '.process.executable | length == 511 and startswith("...") and endswith("length/c11")' true
# An emulated process cannot run the command.
[ -n "$EMULATOR" ] || grep -q "^abshim: c11, " "$scratch/c11.txt" || fail "$about: report" "$scratch/c11.txt"

about="no /proc"
place "$scratch/plain"
[ -z "$EMULATOR" ] || exit 0
unshare -m true 2>/dev/null || exit 0
cd "$scratch/plain" || fail "$about: cd"
# shellcheck disable=SC2016
unshare -m sh -c 'mount -t tmpfs none /proc && exec env LD_PRELOAD="$1" ABSHIM_REPORT=none ./c11' \
	sh "$library" >"$scratch/out" 2>&1 || fail "$about: exit status $?" "$scratch/out"
cd "$OLDPWD" || exit 1
find_record c11
expect_figure '.process.executable' "$scratch/plain/c11"
