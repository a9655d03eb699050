#!/bin/sh
# An experiment that is interrupted at any time leaves no process and no file in the temporary folder
# behind, and what has been measured can be gone on with.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ -z "$EMULATOR" ] || skip "the kernel cannot start programs of another machine"
need jq setsid

# mine: the processes whose environment has this story's mark.
mine() {
	for folder in /proc/[0-9]*; do
		grep -qz "^EXPERIMENT_MARK=$scratch\$" "$folder/environ" 2>/dev/null || continue
		! is_running "${folder#/proc/}" || tr '\0' ' ' <"$folder/cmdline"
	done
}

# interrupt SIGNAL WAIT-FOR COMMAND...: sends the signal once the pattern is printed, or the file is there.
interrupt() {
	signal=$1 event=$2
	shift 2
	mkdir "$scratch/tmp"
	EXPERIMENT_MARK=$scratch TMPDIR=$scratch/tmp start exec setsid env --default-signal=INT "$@" -o "$scratch/dir"
	await happened
	end_server "$signal"
	case $signal in INT) wanted=130 ;; *) wanted=143 ;; esac
	expect "$*: status after SIG$signal" $wanted "$status"
	[ -z "$(mine)" ] || fail "$* left a process behind: $(mine)" "$server_log"
	expect "files left behind" "" "$(ls "$scratch/tmp")"
	rm -rf "$scratch/tmp" "$scratch/dir"
}

happened() {
	grep -qE "$event" "$server_log"
}

for script in mysql-yieldloops mongodb-lse; do
	case $script in
	mysql-yieldloops) command -v mariadbd mariadb-install-db sysbench >/dev/null || continue ;;
	mongodb-lse) [ -x "$BUILD/ycsb" ] || continue ;;
	esac
	# While runs go on.
	interrupt INT '^run 1, ' "scripts/experiments/$script" --quick
	interrupt TERM '^experiment ' "scripts/experiments/$script" --quick
done
