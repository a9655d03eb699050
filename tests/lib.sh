# shellcheck shell=sh
# Sourced by stories, from the project's folder: runs programs with and without the library, on
# this machine or under $EMULATOR, and reads what their records hold.
# Private to a story and removed with it: $scratch, and $ABSHIM_DIR, where its records go.

: "${BUILD:=$PWD/build}" "${ARCH:=$(uname -m)}" "${EMULATOR=}"
BUILD=$(realpath -m "$BUILD") # programs may change to another folder
# shellcheck disable=SC2046
unset $(env | sed -n 's/^\(ABSHIM_[A-Z_]*\|LIBPTHREAD_[A-Z]*\)=.*/\1/p')
unset LD_PRELOAD GLIBC_TUNABLES JAVA_TOOL_OPTIONS
library=$BUILD/libabshim.so
root= # of the system that programs come from
[ -z "$EMULATOR" ] || root=$PWD/build/sysroot-$ARCH
seconds=60     # the limit of every command
preload_first= # another library to preload, before ours
preload_last=  # and one after it
servers=       # process ids that must not outlive the story

scratch=$(mktemp -d)
ABSHIM_DIR=$(mktemp -d /dev/shm/abshim-test.XXXXXX)
export ABSHIM_DIR
trap 'clean_up' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

clean_up() {
	for process in $servers; do
		kill -KILL "$process" 2>/dev/null
	done
	rm -rf "$scratch" "$ABSHIM_DIR"
}

# skip REASON: ends the story as skipped.
skip() {
	echo "$1"
	exit 77
}

# fail MESSAGE [FILE...]: ends the story, showing the last lines of the files.
fail() {
	echo "FAIL: $1"
	shift
	for file; do
		[ ! -e "$file" ] || { echo "-- $file" && tail -n 30 "$file"; }
	done
	exit 1
}

# need COMMAND...: skips the story where one is missing on this machine.
need() {
	for wanted; do
		command -v "$wanted" >/dev/null || skip "$wanted is missing"
	done
}

# find_program NAME: sets $program to its path, which under an emulator lies in the other
# machine's system; skips the story where it is missing.
find_program() {
	for folder in usr/bin usr/sbin bin sbin; do
		program=$root/$folder/$1
		[ ! -x "$program" ] || return 0
	done
	skip "$1 is missing${root:+ in $root}"
}

# run LIBRARIES [NAME=VALUE...] COMMAND...: with the libraries preloaded, within $limit. Values
# have no blanks.
run() {
	libraries=$1 variables=
	shift
	while case $1 in [A-Z]*=*) ;; *) false ;; esac do
		variables="$variables $1"
		shift
	done
	# shellcheck disable=SC2086
	${limit:-timeout -k 5 $seconds} env $variables $EMULATOR ${EMULATOR:+-E} \
		LD_PRELOAD="$libraries" "$@"
}

# plain [NAME=VALUE...] COMMAND...: without the library.
plain() {
	run "$preload_first $preload_last" "$@"
}

# shimmed [NAME=VALUE...] COMMAND...: with it.
shimmed() {
	run "${preload_first:+$preload_first:}$library${preload_last:+:$preload_last}" "$@"
}

# start plain|shimmed|exec [NAME=VALUE...] COMMAND...: in the background, as process $server, with
# standard output and error in the file $server_log.
start() {
	server_log=$scratch/server.log
	(limit="exec" && "$@") >"$server_log" 2>&1 &
	server=$!
	servers="$servers $server"
}

# await COMMAND...: until it succeeds; fails the story after half a minute or when $server ends.
await() {
	tries=600
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "waited in vain for: $*" "$server_log"
		is_running "$server" || fail "the server ended while waiting for: $*" "$server_log"
		sleep 0.05
	done
}

is_running() {
	[ -e "/proc/$1" ] && ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null
}

# end_server SIGNAL: sets $status to the exit status of $server.
# shellcheck disable=SC2034
end_server() {
	kill "-$1" "$server" || fail "the server has gone before SIG$1" "$server_log"
	tries=600
	while is_running "$server"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "the server does not end on SIG$1" "$server_log"
		sleep 0.05
	done
	wait "$server"
	status=$?
	servers=
}

# find_port: sets $port to one on which nothing listens.
find_port() {
	port=$((20000 + $$ % 10000))
	while cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":$(printf %04X $port) "; do
		port=$((port + 1))
	done
}

# find_record NAME: sets $record to the only record of a program of that name, which may be a
# pattern, and reads it.
find_record() {
	# shellcheck disable=SC2086
	set -- "$1" "$ABSHIM_DIR"/$1.*.abshim
	if [ $# != 2 ] || [ ! -e "$2" ]; then
		fail "wanted one record of $1, found: $(ls "$ABSHIM_DIR")"
	fi
	record=$2
	read_report "$record"
}

# read_report RECORD|PID: figure and expect_figure are about it from now on.
read_report() {
	abshim report --json "$1" >"$scratch/report.json" 2>"$scratch/report.log" ||
		fail "abshim report $1: exit status $?" "$scratch/report.log"
}

forget_records() {
	rm -f "$ABSHIM_DIR"/*.abshim
}

# abshim ARGUMENTS...
abshim() {
	# shellcheck disable=SC2086
	timeout -k 5 "$seconds" $EMULATOR "$BUILD/abshim" "$@"
}

# figure FILTER: what the jq filter finds in the report read last.
figure() {
	jq -r "$1" "$scratch/report.json"
}

# expect WHAT WANTED FOUND: fails the story where the two differ.
expect() {
	[ "$2" = "$3" ] || fail "$1: wanted $2, found $3"
}

# expect_figure FILTER WANTED: in the report read last.
expect_figure() {
	expect "${about:+$about: }$1" "$2" "$(figure "$1")"
}

# expect_same WHAT FILE FILE: without the library, with it.
expect_same() {
	cmp -s "$2" "$3" || fail "$1 differs with the library" "$2" "$3"
}

# The names of all strategies of mutexes.
strategies() {
	abshim list --json | jq -r '.strategies[] | select(.for == "mutex") | .name'
}

# The values of ABSHIM_ATOMICS that change something on this machine.
switches() {
	[ "$ARCH" = aarch64 ] || return 0
	echo llsc
	if [ -n "$EMULATOR" ] || grep -q '^Features.* atomics' /proc/cpuinfo; then
		echo lse
	fi
}

# children_of PID: prints the process ids of its children that have not been waited for.
children_of() {
	cat "/proc/$1"/task/*/children
}

# user_of PID: prints the user id of a process.
user_of() {
	awk '$1 == "Uid:" { print $2 }' "/proc/$1/status"
}
