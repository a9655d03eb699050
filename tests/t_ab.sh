#!/bin/sh
# abshim ab with real programs: both shapes, what is refused, runs that are invalid, ends by signals,
# and experiments that go on where they were ended.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
[ -z "$EMULATOR" ] || skip "the kernel cannot start programs of another machine"
need jq sysbench setsid
dir=$scratch/experiment

# ab STATUS ARGUMENTS...: abshim ab in $dir; leaves $scratch/out and $scratch/err.
ab() {
	wanted=$1
	shift
	rm -rf "$dir"
	again "$wanted" -o "$dir" "$@"
}

# again STATUS ARGUMENTS...: the same, in what is there.
again() {
	wanted=$1
	shift
	timeout -k 5 120 "$BUILD/abshim" ab "$@" >"$scratch/out" 2>"$scratch/err"
	expect "status of abshim ab $*" "$wanted" $?
}

says() {
	grep -qF -- "$1" "$scratch/err" || fail "not said: $1" "$scratch/err"
}

prints() {
	grep -qF -- "$1" "$scratch/out" || fail "not printed: $1" "$scratch/out"
}

# runs FILTER WANTED: of the lines of all runs, as an array.
runs() {
	expect "runs: $1" "$2" "$(jq -s -r "$1" "$dir/runs.jsonl")"
}

# nothing_left WHAT: no directory of records outside of the experiment's.
nothing_left() {
	expect "records after $1" "" "$(ls "$ABSHIM_DIR")"
}

# The command shape, with a tool that is known.
ab 0 -a mutex=glibc -b mutex=yield:7 -n 2 --seed 3 --metric throughput --metric shim.mutex.acquired -- \
	sysbench mutex --threads=2 --mutex-num=1 --mutex-loops=0 --mutex-locks=20000 run
says "order abba, seed 3"
says "arm b: mutex=yield:7"
prints "throughput (1/s)"
prints "shim.mutex.acquired"
prints "CPU seconds for each operation (client.cpu_per_operation"
prints "What it could resolve in throughput, 2 runs of an arm"
prints "2 of 2 runs of each arm; left out: 2 for warming up, 0 invalid"
runs 'map(.arm) | join("")' ababba
runs 'map(.metrics["shim.mutex.acquired"][0]) | unique | join(" ")' 40026
runs 'map(.metrics | has("client.cpu") and has("client.max_rss") and has("machine.swapped_pages")) | all' true
runs 'map(.valid) | all' true
expect "kernel" "$(uname -r)" "$(jq -r '.machine.kernel' "$dir/experiment.json" | cut -d ' ' -f 2)"
expect "build id of the target" true \
	"$(jq '.machine.target.build_id | test("^[0-9a-f]{16,}$")' "$dir/experiment.json")"
for n in 3 4; do
	read_report "$(echo "$dir"/runs/0000$n/sysbench.*.abshim)"
	expect_figure .totals.mutex.acquired 40026
	[ $n = 3 ] && expect_figure .settings.mutex glibc
	[ $n = 4 ] && expect_figure .settings.mutex yield:7
done
again 125 -o "$dir" -- true
says "exists and is left alone"
again 0 --resume "$dir"
runs length 6
nothing_left "an experiment"

# The same numbers for programs, and how many runs would be needed.
again 0 --resume "$dir" --json
expect "JSON" "throughput 2 2 true" "$(jq -r '"\(.metrics[0].name) \(.metrics[0].arms[1].n) " +
	"\(.experiment.warmups) \(.others | length > 5)"' "$scratch/out")"
abshim plan --detect 2% --json "$dir" >"$scratch/out" || fail "abshim plan"
expect "plan" "throughput 4 0.8 true" \
	"$(jq -r '.plan | "\(.metric) \(.n) \(.power) \(.runs >= 2)"' "$scratch/out")"

# For two samples that differ by one standard deviation: 17, as any table of t tests has it.
printf '99\n100\n101\n' >"$scratch/numbers"
abshim plan --detect 1% "$scratch/numbers" >"$scratch/out" || fail "abshim plan FILE"
prints "17 runs of each arm find a difference of 1 %"
abshim plan --detect 1% "$scratch/not-there" 2>/dev/null
expect "status of a plan for nothing" 2 $?
abshim plan --detect 1 "$scratch/numbers" 2>/dev/null
expect "status of a plan without a share" 125 $?

# What a run's programs are told, and that all arms' environments are equally large.
# shellcheck disable=SC2016
ab 0 -a "LIST=a,b c=d" -b LONGER=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx -b "LIST=" -n 1 --warmup 0 --metric bytes -- \
	sh -c 'env >"$AB_DIRECTORY/env"; echo "bytes=$(tr -d -c "\0" </proc/self/environ | wc -c)$(wc -c </proc/self/environ)"'
runs 'map(.metrics.bytes[0]) | unique | length' 1
grep -qx "LIST=a,b c=d" "$dir/runs/00001/env" || fail "a value with blanks" "$dir/runs/00001/env"
grep -qx "LC_ALL=C" "$dir/runs/00001/env" || fail "LC_ALL"
grep -qx "AB_ARM=b" "$dir/runs/00002/env" || fail "AB_ARM"

# A/A, fixed order, further arms, other metrics.
ab 0 -n 2 --warmup 0 --order fixed --metric 'regex:took ([0-9.]+)' -- sh -c 'echo it took 2.5 s'
prints "note: both arms are the same (A/A)"
prints "note: the order was fixed"
runs 'map(.metrics["regex:took ([0-9.]+)"][0]) | unique[0]' 2.5
ab 0 --arm x:A=1 --arm y:A=2 --arm z:A=3 -n 2 --warmup 0 --order random --seed 9 --metric wall -- true
runs 'map(.arm) | .[0:3] | sort | join("")' xyz
prints "client.wall (s)"
again 0 -a mutex=glibc --metric list -- sysbench cpu --time=1 run
prints latency.p95
prints client.max_rss
nothing_left "a list"

# Refused before anything runs.
ab 125 -a mutex=yield -b mutex=yield:30 -- true
says "arm b changes nothing against arm a"
ab 125 -a mutex=nothing -- true
says "unknown strategy"
ab 125 --server "sleep 9" -- true
says "--server needs --ready"
ab 125 --until 1 -- true
says "a share such as 1%"
ab 125 -a "WORD=$(printf '\377')" -- true
says "must be UTF-8"
ab 125 --as nothing -- true
says sysbench
ab 125 --resume "$scratch"
ab 127 -- "$scratch/not-there"
[ ! -e "$dir" ] || fail "a directory was made for nothing"

# Invalid runs are kept and repeated.
# shellcheck disable=SC2016
flaky='n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) >count
	[ $((n % 3)) != 1 ] || { echo broken >&2; exit 9; }; echo throughput=$n'
(cd "$scratch" && ab 0 -n 2 -- sh -c "$flaky") || exit 1
runs '[length, (map(select(.valid)) | length)] | join(" ")' "9 6"
runs 'map(select(.valid | not)) | .[0].why' "the client exited with status 9: broken"
prints "note: run 2 (arm b, warm-up) is invalid"
ab 3 -n 1 --retries 1 -- sh -c 'exit 4'
runs length 2
says "run 2 is invalid, at attempt 2 of 2: the client exited with status 4"
ab 3 -n 1 --retries 0 --run-timeout 0.2 -- sleep 60
says "did not end in 0.2 s"
ab 3 -n 1 --retries 5 --metric missing -- sh -c 'echo throughput=1'
says "no metric missing in this run; there are throughput"
runs length 1
ABSHIM_COLOUR=red ab 78 -n 1 -- true
says "unknown variable"
runs length 1

if [ "$ARCH" != aarch64 ]; then # before anything has begun, behind a server's shell too
	ab 78 -a atomics=llsc -b atomics=lse -n 1 -- true
	says "the switch between LSE and LL/SC is AArch64's"
	ab 78 -b atomics=lse -n 1 --server 'exec sleep 60' --ready true -- true
	says "the switch between LSE and LL/SC is AArch64's"
	[ ! -e "$dir" ] || fail "an experiment has begun"
fi

# A library of an arm that is not there, and a disk that is full.
ab 3 -a LD_PRELOAD=libnope.so -b mutex=glibc -n 1 --metric wall -- sh -c 'echo throughput=1'
says "a library was not preloaded: ERROR: ld.so: object 'libnope.so' from LD_PRELOAD"
runs length 1
rm -rf "$dir"
# shellcheck disable=SC3045
(ulimit -f 40000 && "$BUILD/abshim" ab -o "$dir" -n 1 --retries 5 --metric 'regex:throughput=([0-9]+)' -- \
	sh -c 'yes throughput=1 | head -c 30000000; true') >"$scratch/out" 2>"$scratch/err"
expect "status at the limit of file sizes" 3 $?
says "client.out has reached the limit of file sizes"
if unshare -rm true 2>/dev/null; then
	mkdir "$scratch/full"
	# shellcheck disable=SC2016
	unshare -rm sh -c 'mount -t tmpfs -o size=160k none "$1" || exit 77
		"$BUILD/abshim" ab -n 2 --warmup 0 --retries 0 -o "$1/x" --metric "regex:throughput=([0-9]+)" -- \
			sh -c "echo throughput=1; [ \$AB_ARM = a ] || yes throughput=2 | head -c 400000"
		echo $?' sh "$scratch/full" >"$scratch/out" 2>"$scratch/err"
	says "no space left on the file system of $scratch/full/x/runs/00002"
	prints 3
	prints "0 of 2 runs of each arm; left out: 0 for warming up, 1 invalid"
fi

# Names that would be a 0 in every run, signals that are none, and numbers that contradict each other.
ab 125 --metric shim.mutx.waits -- true
says "families: mutex, "
ab 125 --metric shim.mutex.bogus -- true
says "--metric shim.mutex.bogus: mutex has no such counter; it has "
ab 125 -n 3 --until 1% -- true
says "-n and --until: give one of them"
ab 125 --server true --ready true --stop SIGFOO -- true
says "--stop SIGFOO: no such signal"
ab 125 -a AB_RUN=1 -- true
says "arm a: AB_RUN=1: names that begin with AB_ are abshim's own"
[ ! -e "$dir" ] || fail "a directory was made for nothing"

# An end by --max-runs is told, and JSON has all its keys also where there is nothing to evaluate.
ab 0 --until 0.0001% --max-runs 10 --warmup 0 --metric wall --json -- true
grep -q -- "--max-runs 10 ended it before the difference was known to +-0.0001 %" "$scratch/out" ||
	fail "the end by --max-runs is not told" "$scratch/out"
expect "until" "false true" "$(jq -r '"\(.until.reached) \(.until.half_width > 0.000001)"' "$scratch/out")"
ab 3 -n 1 --retries 0 --json -- false
expect "JSON without a valid run" '[] number number null' \
	"$(jq -r '"\(.metrics) \(.version | type) \(.evaluation.level | type) \(.until)"' "$scratch/out")"
"$BUILD/abshim" compare --json "$dir" >"$scratch/out" 2>"$scratch/err"
expect "status of a comparison without a valid run" 2 $?
expect "JSON of it" '[] number true' \
	"$(jq -r '"\(.metrics) \(.version | type) \(.notes | any(test("is invalid")))"' "$scratch/out")"
ab 0 -n 1 --warmup 0 --metric wall -- true
prints "One run an arm: no significance can be claimed."
runs 'map(.metrics | has("machine.other_load")) | any' false

# A shell stands before the server for a while; or it is all there ever is.
ab 0 -n 1 --warmup 0 --metric wall --server "/bin/sleep 0.2; exec sleep 30" --ready true -- true
runs 'map(.valid) | all' true
ab 3 -n 1 --retries 0 --start-timeout 0.3 --server "while :; do :; done" --ready true -- true
says "libabshim.so never started in the server"

# Numbers that are none, and outputs of which a part is not understood.
ab 3 -n 1 --retries 5 --metric 'regex:throughput=([0-9a-z]*)' -- sh -c 'echo throughput=1; echo throughput=5z'
says "matched '5z', no number"
runs length 1
ab 3 -n 1 --metric 'regex:throughput=([0-9]*)' -- sh -c 'echo throughput=1; echo throughput='
says "matched '', no number"
ab 0 -n 1 --metric 'regex:throughput=([0-9a-z]*)' -- sh -c 'echo throughput=5k >&2'
runs '.[0].metrics["regex:throughput=([0-9a-z]*)"][0]' 5000
ab 0 -n 1 -- sh -c 'echo mode=fast; echo throughput=5'
prints "the output has no throughput (client.out:1: mode is 'fast'; a number is needed"
prints "so client.wall is compared"
prints "only a shell ran under libabshim.so"
runs 'map(.only_shell) | all' true
ab 3 -n 1 --metric throughput -- sh -c 'echo mode=fast; echo throughput=5'
says "and others (--metric list); client.out:1: mode is 'fast'; a number is needed"
ab 0 -n 1 -- sh -c 'echo set.throughput=5 get.throughput=6'
prints "the output has more than one throughput, so set.throughput is compared"
prints "set.throughput: 5 -> 5"
ab 0 -n 1 --metric wall -- sh -c 'exec sysbench mutex --threads=1 --mutex-num=1 --mutex-loops=0 --mutex-locks=2 run'
runs 'map(.only_shell) | any' false
ab 3 -n 1 --retries 0 --as sysbench -- true
says "client.out: is empty"

# A variable of one arm that no other could be filled up to in one piece; the run's number as it is.
# shellcheck disable=SC2016
ab 0 -a "LONG=$(head -c 130000 /dev/zero | tr '\0' x)" -b LONG= -n 5 --warmup 0 --metric bytes --metric run -- \
	sh -c 'echo "bytes=$(tr -d -c "\0" </proc/self/environ | wc -c)$(wc -c </proc/self/environ)" "run=$AB_RUN"'
runs 'map(.metrics.bytes[0]) | unique | length' 1
runs 'map(.metrics.run[0]) | add' 55
# shellcheck disable=SC2016
ab 0 -n 1 --warmup 0 --metric wall -- sh -c 'echo "$AB_RUN" >"$AB_DIRECTORY/number"'
expect "AB_RUN" 2 "$(cat "$dir/runs/00002/number")"

# A reader that goes away: nothing is left behind, and programs are not told.
rm -rf "$dir"
# shellcheck disable=SC2016
{
	"$BUILD/abshim" ab -o "$dir" -n 1 --warmup 0 --metric wall -- \
		sh -c 'while [ ! -e "$1" ]; do sleep 0.01; done; sh -c "kill -PIPE \$\$; :"
			echo $? >"$AB_DIRECTORY/status"' sh "$scratch/gone" 2>&1
	echo $? >"$scratch/status"
} | {
	exec </dev/null
	: >"$scratch/gone"
}
expect "status without a reader" 125 "$(cat "$scratch/status")"
expect "SIGPIPE in the target" 141 "$(cat "$dir/runs/00001/status")"
nothing_left "a reader that goes away"

# A signal ends the client, and what is there is reported.
# shellcheck disable=SC2016
slow='echo $$ >>pids; echo throughput=5; [ $(wc -l <pids) -lt 4 ] || exec sleep 60'
mkdir "$scratch/slow"
# start_slow: in the background, until the run that does not end has begun.
start_slow() {
	rm -rf "$dir" "$scratch/slow/pids"
	(cd "$scratch/slow" && exec setsid "$BUILD/abshim" ab -o "$dir" -n 3 -- sh -c "$slow") \
		>"$scratch/out" 2>"$scratch/err" &
	server=$! server_log=$scratch/err
	servers="$servers $server"
	await sh -c "[ \$(wc -l <'$scratch/slow/pids') = 4 ]"
	sleeper=$(tail -n 1 "$scratch/slow/pids")
}
await_gone() {
	tries=600
	while is_running "$1"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "the client has outlived abshim"
		sleep 0.05
	done
}
start_slow
end_server INT
expect "status after SIGINT" 130 "$status"
is_running "$sleeper" && fail "the client has outlived abshim"
says "go on with abshim ab --resume"
prints "Not complete: 0 of 3"
runs length 3
nothing_left SIGINT

# kill -9 in the middle of a run: nothing is lost or run twice.
start_slow
end_server KILL
cp "$dir/runs.jsonl" "$scratch/before"
await_gone "$sleeper"
runs length 3
[ -n "$(ls "$ABSHIM_DIR")" ] || fail "no records to clean up"
sed -i 's/exec sleep 60/true/' "$dir/experiment.json"
again 0 --resume "$dir"
head -n 3 "$dir/runs.jsonl" | cmp -s - "$scratch/before" || fail "lines changed"
runs 'map(.run) | join(" ")' "1 2 3 4 5 6 7 8"
runs 'map(.arm) | join("")' ababbaab
expect "times that the client began" 9 "$(wc -l <"$scratch/slow/pids")"
nothing_left --resume
[ -e "$dir/runs/00004.cut1/client.out" ] || fail "the run that was cut off is not kept"

# Not with another program.
cp /bin/sleep "$scratch/target"
ab 3 -n 1 --retries 0 --run-timeout 0.1 -- "$scratch/target" 60
cp /bin/true "$scratch/target"
again 125 --resume "$dir"
says "the target is another one than when the experiment began"

# One at a time.
start_slow
again 125 --resume "$dir"
says "another abshim is at work there"
end_server TERM
expect "status after SIGTERM" 143 "$status"

# The server shape.
need memcached memcaslap
find_port
serve="exec memcached -u $(id -un) -l 127.0.0.1 -p $port -t 4 -m 64 -U 0"
load() {
	wanted=$1
	shift
	# shellcheck disable=SC2016
	ab "$wanted" -a mutex=glibc -b mutex=yield:30 -n 2 --warmup 0 --metric 'regex:TPS: ([0-9]+)' \
		--metric server.cpu --metric shim.mutex.acquired --reset 'echo "$AB_ARM" >"$AB_DIRECTORY/reset"' \
		"$@" -- memcaslap -s "127.0.0.1:$port" -T 2 -c 16 -x 5000
}
load 0 --server "$serve" --ready "tcp:$port"
prints "server.cpu (s)"
runs 'map(.metrics["shim.mutex.acquired"][0] > 10000) | all' true
runs 'map(.server_status != null and .client_status == 0) | all' true
expect "reset" b "$(cat "$dir/runs/00002/reset")"
expect "records of the client" "" "$(find "$dir/runs" -name 'memcaslap.*')"
read_report "$(echo "$dir"/runs/00002/memcached.*.abshim)"
expect_figure .settings.mutex yield:30

# Ready by a command, ended by one.
need memcstat
# shellcheck disable=SC2016
load 0 --server "$serve" --ready "memcstat --servers=127.0.0.1:$port | grep uptime" \
	--stop 'kill -TERM "$AB_SERVER_PID"'
runs 'map(.valid) | all' true

# Servers that go wrong.
load 3 --server "echo cannot bind; exit 1" --ready "tcp:$port" --retries 0
says "the server exited with status 1 before it was ready: cannot bind"
rm -rf "$dir"
# shellcheck disable=SC2016
again 3 -o "$dir" -n 1 --retries 0 --server "$serve" --ready "tcp:$port" -- \
	sh -c 'kill -KILL "$AB_SERVER_PID"; exec sleep 60'
says "the server was killed by signal 9 (Killed) before the client did"
load 3 --server "exec sleep 60" --ready "tcp:$port" --retries 0 --ready-timeout 0.3
says "the server was not ready in 0.3 s"
load 3 --server "trap '' USR2; $serve" --ready "tcp:$port" --retries 0 --stop USR2 --stop-timeout 0.2
says "the server did not end in 0.2 s, and was killed"
load 3 --server "$serve" --ready "tcp:$port" --retries 0 --stop true --stop-timeout 0.2
says "the server did not end in 0.2 s of --stop"
load 3 --server "(sleep 1) & exit 0" --ready "tcp:$port" --retries 0
says "it must stay in the foreground"
load 3 --server "exec sleep 60" --ready 'log:never' --reset false --retries 0
says "--reset false: exited with status 1"
ABSHIM_COLOUR=red load 78 --server "$serve" --ready "tcp:$port"

# A server that a killed abshim has left behind is ended before the next one starts.
rm -rf "$dir"
setsid "$BUILD/abshim" ab -o "$dir" -n 1 --warmup 0 --server "$serve; :" --ready "tcp:$port" -- sleep 2 \
	>"$scratch/out" 2>"$scratch/err" &
server=$! server_log=$scratch/err
servers="$servers $server"
await sh -c "[ -e '$dir/runs/00001/client.out' ]"
end_server KILL
again 0 --resume "$dir"
runs 'map(.valid) | all' true

# A signal ends the server as it should be ended.
rm -rf "$dir"
# shellcheck disable=SC2016
setsid "$BUILD/abshim" ab -o "$dir" -n 1 --server "$serve" --ready "tcp:$port" \
	--stop 'echo >"$AB_DIRECTORY/stopped"; kill -TERM "$AB_SERVER_PID"' -- sleep 60 \
	>"$scratch/out" 2>"$scratch/err" &
server=$! server_log=$scratch/err
servers="$servers $server"
await sh -c "[ -e '$dir/runs/00001/client.out' ]"
end_server INT
expect "status after SIGINT with a server" 130 "$status"
[ -e "$dir/runs/00001/stopped" ] || fail "the server was not stopped by its command"
! memcstat --servers="127.0.0.1:$port" 2>&1 | grep uptime || fail "the server has outlived abshim"

# Hang-ups are ignored where nohup says so; the terminal's are not.
rm -rf "$dir"
setsid sh -c 'trap "" HUP; exec "$@"' sh "$BUILD/abshim" ab -o "$dir" -n 1 --warmup 0 -- sleep 1 \
	>"$scratch/out" 2>"$scratch/err" &
server=$! server_log=$scratch/err
servers="$servers $server"
await sh -c "[ -e '$dir/runs/00001/client.out' ]"
kill -HUP "$server"
wait "$server"
expect "status after nohup" 0 $?
runs length 2

# Another server at the port would be measured instead.
start exec memcached -u "$(id -un)" -l 127.0.0.1 -p "$port"
await sh -c "memcstat --servers=127.0.0.1:$port | grep uptime"
load 3 --server "$serve" --ready "tcp:$port"
says "something answers at tcp:$port already"
end_server TERM
