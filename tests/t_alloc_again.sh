#!/bin/sh
# A program that is executed again for its tunables is the same one: arguments, environment,
# descriptors, directory, signals, limits, name; scripts and programs started through the loader too.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq strace
[ -z "$EMULATOR" ] || skip "the kernel cannot execute programs of the other machine"
workload=$BUILD/workloads/alloc

# compare WHAT COMMAND...: says of itself what it says without the library.
compare() {
	about=$1
	shift
	"$@" >"$scratch/plain" 2>&1
	wanted=$?
	env LD_PRELOAD="$library" ABSHIM_ALLOC=tlab ABSHIM_REPORT=none "$@" >"$scratch/shim" 2>&1
	expect "$about: exit status" $wanted $?
	expect_same "$about" "$scratch/plain" "$scratch/shim"
	grep -aq '^executed as' "$scratch/plain" || fail "$about: nothing was shown" "$scratch/plain"
}

# count_execs COMMAND...: how often programs were executed.
count_execs() {
	strace -f -qq -e trace=execve -e signal=none -o "$scratch/trace" "$@" >/dev/null 2>&1 ||
		fail "strace $*: exit status $?" "$scratch/trace"
	grep -c 'execve(.* = 0$' "$scratch/trace"
}

script() {
	printf '%s\n' "$2" "\"$workload\" show" >"$scratch/$1"
	chmod +x "$scratch/$1"
}

compare "arguments" "$workload" show "" "a b" 'c"d' "$(printf 'line\nline')" "$(printf '\001\377')" -- "" ""
compare "a long argument" "$workload" show "$(head -c 100000 /dev/zero | tr '\0' x)"
# shellcheck disable=SC2046
compare "many arguments" "$workload" show $(seq 20000)
compare "another argv[0]" bash -c "exec -a 'another name' '$workload' show x"
compare "a link" sh -c "ln -sf '$workload' '$scratch/linked' && exec '$scratch/linked' show"
compare "a relative path" sh -c "cd '$BUILD' && exec ./workloads/alloc show"
compare "descriptors" sh -c "exec 3<'$workload' 7<>/dev/null && exec '$workload' show"
compare "closed ones" sh -c "exec '$workload' show <&-"
compare "ignored signals" sh -c "trap '' HUP USR1 PIPE && exec '$workload' show"
compare "limits" sh -c "ulimit -n 77 && umask 027 && exec nice -n 5 '$workload' show"
compare "odd variables" env "A=" "D=x y" "E=$(printf '\001\377')" "GLIBC_TUNABLES=glibc.malloc.perturb=0" "$workload" show
compare "the loader" "$(readelf -l "$workload" | sed -n 's/.*interpreter: \(.*\)]/\1/p')" "$workload" show x
compare "blocked signals" python3 -c "
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGTERM])
os.execv('$workload', ['$workload', 'show'])"

for shell in "#!/bin/sh" "#! /bin/sh -e" "#!/usr/bin/env sh"; do
	script script "$shell"
	compare "a script, $shell" "$scratch/script" x y
done
printf '#!%s show\n' "$workload" >"$scratch/own"
chmod +x "$scratch/own"
compare "a script of the program's" "$scratch/own" "x y" ""
printf '#!%s one\n' "$scratch/own" >"$scratch/nested"
chmod +x "$scratch/nested"
compare "a script of a script's" "$scratch/nested" "" last

# Once, and not at all where the tunables are there.
expect "executions by the variable" 2 \
	"$(count_execs -E LD_PRELOAD="$library" -E ABSHIM_ALLOC=tlab -E ABSHIM_REPORT=none "$workload" show)"
expect "executions of a child of one that has them" 2 "$(count_execs -E LD_PRELOAD="$library" \
	-E ABSHIM_ALLOC=tlab -E ABSHIM_REPORT=none "$workload" arenas 1)"
expect "executions without an arm" 1 \
	"$(count_execs -E LD_PRELOAD="$library" -E ABSHIM_ALLOC=libc -E ABSHIM_REPORT=none "$workload" show)"
expect "executions of a program and its two children" 4 "$(count_execs -E LD_PRELOAD="$library" \
	-E ABSHIM_ALLOC=tlab -E ABSHIM_REPORT=none "$workload" spawn "$workload" arenas 1)"
"$BUILD/abshim" run -s alloc=tlab -s report=none -- "$workload" show >"$scratch/run" || fail "abshim run"
count_execs "$BUILD/abshim" run -s alloc=tlab -s report=none -- "$workload" show >/dev/null
expect "executions under abshim run" 1 "$(grep -c "execve(\"[^\"]*workloads/alloc.* = 0\$" "$scratch/trace")"

# Children have the arm, and what they say is right.
expect "children" "41 41" "$(shimmed ABSHIM_ALLOC=tlab ABSHIM_REPORT=none "$workload" spawn "$workload" arenas 40 | xargs)"

# One record, of the process that ran in the end.
forget_records
shimmed ABSHIM_ALLOC=tlab ABSHIM_REPORT=none "$workload" counts 1 4 >/dev/null || fail "exit status $?"
find_record alloc
expect_figure .process.state ended

# A program that cannot be executed again says so.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016
	unshare -m sh -c 'umount -l /proc && exec env LD_PRELOAD="$1" ABSHIM_ALLOC=tlab "$2" cached 1' sh \
		"$library" "$workload" >"$scratch/out" 2>&1
	expect "without /proc: exit status" 78 $?
	grep -q "no /proc/self/cmdline" "$scratch/out" || fail "without /proc" "$scratch/out"
fi
