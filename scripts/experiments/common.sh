# shellcheck shell=sh disable=SC2034,SC2154,SC2120
# Sourced by the experiments, which it takes to the project's folder: options that all have, what is
# missing, processes that must not outlive the script, and the figures at the end.
# The script sets before: $runs (of each arm), $quick_runs; and reads after options_done:
# $abshim the command, $directory what is kept, $work a folder that is removed, $user.

experiment=${0##*/}
caller=$PWD
cd "$(dirname "$0")/../.." || exit 1
project=$PWD
PATH=$PATH:/usr/sbin:/sbin
directory='' quick='' work='' processes=''
user=$(id -un)

fail() {
	echo "$experiment: $*" >&2
	exit 1
}

say() {
	echo "$experiment: $*" >&2
}

# Prints the head of the script, which is its manual.
usage() {
	awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$project/scripts/experiments/$experiment"
}

# take_option "$@": takes one of the options that all experiments have, and says in $taken how
# many arguments it was. The script takes its own before.
take_option() {
	taken=2
	case $1 in
	-n) need_number "$@" && runs=$2 ;;
	-o) need_value "$@" && directory=$2 ;;
	--quick) quick=yes taken=1 ;;
	--help)
		usage
		exit 0
		;;
	*) fail "unknown option '$1': see --help" ;;
	esac
}

need_value() {
	[ -n "${2-}" ] || fail "$1 needs a value: see --help"
}

need_number() {
	need_value "$@"
	case $2 in *[!0-9]* | 0*) fail "$1 needs a number from 1 on, not '$2'" ;; esac
}

# options_done: the directory is chosen, and from now on all that was started ends with the script.
options_done() {
	[ -z "$quick" ] || runs=$quick_runs
	: "${directory:=abshim-$(date +%Y%m%d-%H%M%S)}"
	case $directory in /*) ;; *) directory=$caller/$directory ;; esac
	[ ! -e "$directory" ] || fail "$directory exists: name another one with -o"
	trap 'finish' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	work=$(mktemp -d) || exit 1
	# Nothing of the caller's settings reaches the runs.
	unset LD_PRELOAD GLIBC_TUNABLES JAVA_TOOL_OPTIONS
	for name in $(env | sed -n 's/^\(\(ABSHIM\|LIBPTHREAD\)_[A-Z_]*\)=.*/\1/p'); do
		unset "$name"
	done
}

finish() {
	trap '' INT TERM HUP
	for process in $processes; do
		end_process "$process"
	done
	[ -z "$work" ] || rm -rf "$work"
}

# in_background COMMAND...: starts it as process $started, which end_process and the script's end end.
in_background() {
	"$@" &
	started=$!
	processes="$processes $started"
}

# end_process PID: asks it to end, insists after half a minute, and waits for it.
end_process() {
	tries=300
	kill -TERM "$1" 2>/dev/null
	while is_running "$1" && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	kill -KILL "$1" 2>/dev/null
	await_process "$1"
}

# await_process PID: until it ends by itself; its exit status.
await_process() {
	wait "$1" 2>/dev/null
	process_status=$?
	left=
	for process in $processes; do
		[ "$process" = "$1" ] || left="$left $process"
	done
	processes=$left
	return $process_status
}

is_running() {
	[ -e "/proc/$1" ] && ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null
}

# A command that the script waits for in the foreground would keep a signal from it.
run() {
	in_background "$@"
	await_process "$started"
}

# await PID LOG COMMAND...: until the command succeeds; fails when the process ends, or a minute has passed.
await() {
	awaited=$1 log=$2 tries=600
	shift 2
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		is_running "$awaited" || fail "it ended at once: $(tail -n 1 "$log")"
		[ $tries -gt 0 ] || fail "it is not ready after a minute: $(tail -n 1 "$log")"
		sleep 0.1
	done
}

# find_port: sets $port to one on which nothing listens.
find_port() {
	port=$((20000 + $$ % 10000))
	while cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":$(printf %04X $port) "; do
		port=$((port + 1))
	done
}

# need_commands SET COMMAND...: installs scripts/bootstrap's SET where a command is missing.
need_commands() {
	set=$1
	shift
	for wanted; do
		command -v "$wanted" >/dev/null && continue
		run scripts/bootstrap "$set" || exit
		command -v "$wanted" >/dev/null || fail "$wanted is still missing after scripts/bootstrap $set"
	done
}

# need_abshim: builds what is tried here, or takes what lies in $BUILD.
need_abshim() {
	build=$(realpath -m "${BUILD:-build}")
	abshim=$build/abshim
	[ -n "${BUILD-}" ] || build_abshim
	[ -x "$abshim" ] || fail "$abshim is missing: run make first"
}

build_abshim() {
	run scripts/bootstrap build || exit
	run make -s -j"$(nproc)" >"$work/make.log" 2>&1 ||
		fail "the build failed: $(grep -m 1 -E 'error|Error' "$work/make.log")"
}

# last_run ARM: prints the folder of its last valid run.
last_run() {
	number=$(jq -s -r "map(select(.arm == \"$1\" and .valid)) | last | .run // empty" "$directory/runs.jsonl")
	[ -z "$number" ] || printf '%s/runs/%05d\n' "$directory" "$number"
}

# reports ARM...: where the waits of the last run of each were.
reports() {
	for arm; do
		folder=$(last_run "$arm")
		[ -n "$folder" ] || continue
		echo
		echo "Contention in run $(expr "${folder##*/}" : '0*\(.*\)'), arm $arm:"
		"$abshim" report --top "${top:-3}" "$folder"/*.abshim
	done
}

# evaluate: reads what the experiment says of all its metrics, for `measured` and `means`.
evaluate() {
	"$abshim" compare --json "$directory" >"$work/verdict.json" || fail "$directory cannot be evaluated"
}

# means METRIC UNIT [SCALE]: prints the mean of each arm, "a 6662, b 6872 ops/s". SCALE is what the
# metric is multiplied by.
means() {
	jq -r --arg name "$1" --arg unit "$2" --argjson scale "${3:-1}" '.metrics[] | select(.name == $name) |
		[.arms[] | "\(.name) \(.mean * $scale * 1000 | round / 1000)"] | join(", ") + " " + $unit' \
		"$work/verdict.json"
}

# measured METRIC [ARM]: prints how the arm, b unless another is named, differs in it from the
# first one, as ministat says it and in a line.
measured() {
	jq -r --arg name "$1" --arg arm "${2:-b}" 'def round4: . * 1000000 | round / 10000;
		def signed: if . >= 0 then "+\(.)" else "\(.)" end;
		.metrics[] | select(.name == $name) | .comparisons[] | select(.arm == $arm) | .quote as $quote |
		.student | if .relative == null then $quote elif .relative_error == null
		then "\(.relative | round4 | signed) %: \($quote)"
		else "\(.relative | round4 | signed) % +- \(.relative_error | round4) %: \($quote)" end' \
		"$work/verdict.json"
}
