#!/bin/sh
# abshim audit of damaged, cut, vast, unreadable and other wrong files: the counts of the undamaged file, or a
# refusal with exit status 2 that says what is wrong; within a limit of time; never a false zero.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/audit.sh
need jq python3
seconds=20

data=tests/data/audit
arm=aarch64-linux-gnu-
[ "$(uname -m)" != aarch64 ] || arm=
command -v "${arm}gcc" >/dev/null || skip "${arm}gcc is missing"

# build NAME FLAG...: a program without a libc.
build() {
	name=$1
	shift
	"${arm}gcc" -O2 -DALONE -static -nostdlib -Wl,-z,max-page-size=4096 -o "$scratch/$name" "$@" \
		$data/sites.c -lgcc 2>"$scratch/compiler" || fail "$name" "$scratch/compiler"
}

# Sums that no damage may change where a file is said to be read whole.
sums='"\(.lse.inline + .lse.outline) \(.llsc.inline + .llsc.outline)"'

# judge_rows WANTED: each row read last is right, or refuses and says why.
judge_rows() {
	found=$(jq -r --arg wanted "$1" '.files[] | select(
		(.complete and (.type != "refused") and '"$sums"' == $wanted) or
		((.complete | not) and (.notes | length > 0)) | not) |
		"\(.path): \(.type), complete: \(.complete), " + '"$sums"' + " \(.notes)"' "$findings")
	[ -z "$found" ] || {
		echo "$found" | sed "s|.*/||" >"$scratch/wrong"
		fail "$(echo "$found" | wc -l) wrong answers; right is $1" "$scratch/wrong"
	}
}

# check_damage NAME: all at once, and a part of them each alone, for their exit status.
check_damage() {
	mkdir "$scratch/damaged-$1"
	python3 tests/damage_elf.py "$scratch/$1" "$scratch/damaged-$1" >"$scratch/damages" || fail "damage_elf.py"
	audit "$scratch/$1"
	wanted=$(row "$scratch/$1" "$sums")
	[ "$wanted" != "0 0" ] || fail "$1: nothing to count"
	set --
	while read -r label; do
		set -- "$@" "$scratch/damaged-$name/$label"
	done <"$scratch/damages"
	audit "$@"
	expect "all damaged files: exit status" 2 $status
	expect "rows of $name" "$(wc -l <"$scratch/damages")" "$(jq '.files | length' "$findings")"
	judge_rows "$wanted"
	for file; do
		case $file in
		*outline/ident* | *outline/cut* | *outline/sh_size* | *outline/e_sh*) ;;
		*) continue ;;
		esac
		audit "$file"
		expect "$file: exit status" "$(jq 'if all(.files[]; .complete) then 0 else 2 end' "$findings")" $status
		judge_rows "$wanted"
	done
}

# refuse WHAT: it was refused in words, with no trace of a crash.
refuse() {
	expect "$1: exit status" 2 $status
	[ -s "$scratch/audit.log" ] || [ "$(jq '[.files[].notes[]] | length' "$findings")" != 0 ] ||
		fail "$1: no word of why" "$findings"
}

check_other_files() {
	mkdir "$scratch/empty" "$scratch/mixed"
	mkfifo "$scratch/fifo" "$scratch/mixed/fifo"
	: >"$scratch/nothing"
	printf 'just text\n' >"$scratch/text"
	for file in fifo nothing text missing/file; do
		audit "$scratch/$file"
		refuse "$file"
	done
	audit /dev/zero
	refuse "a device"
	cp "$scratch/inline" "$scratch/mixed/program"
	ln -s . "$scratch/mixed/itself"
	audit "$scratch/mixed"
	expect "programs in a folder" 1 "$(jq '[.files[] | select(.machine == "aarch64")] | length' "$findings")"
	audit "$scratch/empty"
	expect "files in an empty folder" 0 "$(jq '.files | length' "$findings")"
}

check_unreadable() {
	cp "$scratch/inline" "$scratch/unreadable"
	chmod 000 "$scratch/unreadable"
	chmod 711 "$scratch"
	if [ "$(id -u)" = 0 ]; then
		command -v setpriv >/dev/null || return 0
		# shellcheck disable=SC2086
		timeout -k 5 $seconds setpriv --reuid 65534 --regid 65534 --clear-groups $EMULATOR "$BUILD/abshim" \
			audit --json "$scratch/unreadable" >"$findings" 2>"$scratch/audit.log"
		status=$?
		[ $status != 126 ] || return 0 # the build lies where others cannot go
	else
		audit "$scratch/unreadable"
	fi
	refuse "an unreadable file"
	grep -qi 'permission denied' "$scratch/audit.log" "$findings" || fail "no word of permission" "$findings"
}

# Files of more than 2 GiB, which are sparse; and memory that does not grow with the code. Under an
# emulator it is the emulator's.
check_vast() {
	audit "$scratch/outline"
	wanted=$(row "$scratch/outline" '[.families, .lse, .llsc, .helpers, .reach]')
	python3 tests/damage_elf.py far "$scratch/outline" "$scratch/far" || fail "damage_elf.py far"
	audit "$scratch/far"
	expect "3 GiB: exit status" 0 $status
	expect_row "$scratch/far" '[.families, .lse, .llsc, .helpers, .reach]' "$wanted"
	[ -z "$EMULATOR" ] || return 0
	build high -march=armv8.1-a -fno-asynchronous-unwind-tables -fno-unwind-tables \
		-Wl,-z,separate-code,-Tbss=0x500000,-Ttext=0x20000000
	audit "$scratch/high"
	wanted=$(row "$scratch/high" .families)
	python3 tests/damage_elf.py vast "$scratch/high" "$scratch/vast" 1500000000 || fail "damage_elf.py vast"
	timeout -k 5 60 python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=sys.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
		"$BUILD/abshim" audit --json "$scratch/vast" >"$scratch/memory" 2>"$findings" ||
		fail "1.5 GB of code: exit status $?" "$findings"
	expect "1.5 GB of code: families" "$wanted" "$(row "$scratch/vast" .families)"
	[ "$(cat "$scratch/memory")" -lt 200000 ] || fail "1.5 GB of code: $(cat "$scratch/memory") KiB of memory"
}

# Files that would take long if all that they hold were compared with all else, or unpacked without a bound.
check_crowds() {
	audit "$scratch/outline"
	wanted=$(row "$scratch/outline" "$sums")
	for crowd in "256 1000000" "4000 100000" "60000 10"; do
		# shellcheck disable=SC2086
		python3 tests/damage_elf.py crowd "$scratch/outline" "$scratch/crowd" $crowd || fail "damage_elf.py crowd"
		audit "$scratch/crowd"
		judge_rows "$wanted"
	done
	command -v xz >/dev/null || return 0
	head -c 300000000 /dev/zero | xz -1 >"$scratch/zeros.xz"
	"${arm}objcopy" -S --add-section ".gnu_debugdata=$scratch/zeros.xz" "$scratch/outline" "$scratch/packed" ||
		fail "objcopy"
	audit "$scratch/packed"
	judge_rows "$wanted"
}

build inline -march=armv8.1-a
build outline -moutline-atomics
check_other_files
check_unreadable
check_vast
[ -n "$EMULATOR" ] || check_crowds
for name in outline inline; do
	check_damage $name
done
