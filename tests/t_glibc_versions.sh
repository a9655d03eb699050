#!/bin/sh
# The one library runs with the oldest supported glibc (2.31, of Debian bullseye) and a newer one
# (2.41, trixie): real programs of those systems behave as without it, with exact counts.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ "$ARCH" = x86_64 ] || skip "other versions of glibc are at hand for x86_64 only"

# in_root plain|shimmed [NAME=VALUE...] PROGRAM...: through the root's own loader.
in_root() {
	how=$1 variables=
	shift
	while case $1 in [A-Z]*=*) ;; *) false ;; esac do
		variables="$variables $1"
		shift
	done
	# shellcheck disable=SC2086
	"$how" $variables "$system/lib64/ld-linux-x86-64.so.2" \
		--library-path "$system/lib/x86_64-linux-gnu:$system/usr/lib/x86_64-linux-gnu" "$@"
}

# compare WHAT STATUS PROGRAM...: output and exit status are the same; leaves the records.
compare() {
	about="$suite, $1" wanted=$2
	shift 2
	forget_records
	in_root plain "$@" >"$scratch/plain" 2>&1
	expect "$about: exit status without the library" "$wanted" $?
	in_root shimmed ABSHIM_MUTEX="$mutex" ABSHIM_REPORT=none "$@" >"$scratch/shim" 2>&1
	expect "$about: exit status" "$wanted" $?
	for file in plain shim; do
		grep -vE '^(  seed|time|memory)' "$scratch/$file" >"$scratch/$file.results"
	done
	expect_same "$about: output" "$scratch/plain.results" "$scratch/shim.results"
}

# The loader's own file is what the process executes.
find_loader_record() {
	find_record 'ld*'
	expect_figure .totals.mutex.lost 0
}

check_programs() {
	compare kccachetest 0 "$system/usr/bin/kccachetest" order -th 4 25000
	find_loader_record
	expect_figure .totals.mutex.acquired $((3 * 4 * 25000 + 128))
	expect_figure .totals.rwlock.read_acquired $((3 * 4 * 25000 + 6))
	expect_figure .totals.rwlock.write_acquired 4
	compare python 5 "$system/usr/bin/python3" tests/data/locks.py alone
	[ "$(find "$ABSHIM_DIR" -name '*.abshim' | wc -l)" -ge 4 ] ||
		fail "$about: a forked child has no record"
	for tool in sha256sum "wc -l" "stat -c %s"; do
		# shellcheck disable=SC2086
		compare "$tool" 0 "$system"/usr/bin/$tool tests/lib.sh
		expect "$about: records" "" "$(ls "$ABSHIM_DIR")"
	done
	# shellcheck disable=SC2016
	[ ! -e "$system/bin/dash" ] ||
		compare dash 3 "$system/bin/dash" -c 'for i in 1 2; do (echo $i); done; exit 3'
}

# A program that brings libpthread in by dlopen, where that is a library of its own.
check_plugin() {
	libraries=$system/lib/x86_64-linux-gnu
	gcc -fno-stack-protector -nodefaultlibs -Wl,--allow-shlib-undefined -o "$scratch/host" tests/data/plugin_host.c \
		"$libraries/libdl.so.2" "$libraries/libc.so.6" || fail "gcc"
	gcc -shared -fPIC -nodefaultlibs -o "$scratch/plugin.so" tests/data/plugin.c \
		"$libraries/libpthread.so.0" "$libraries/libc.so.6" || fail "gcc"
	compare "a plugin with threads" 4 "$scratch/host" "$scratch/plugin.so"
	expect "$about: output" "acquired 10001" "$(cat "$scratch/shim")"
	find_loader_record
	expect_figure .totals.mutex.acquired 10001
	expect_figure .totals.cond.signals 10000
	expect_figure .process.threads_created 4
}

# A program that does without threads unless somebody brings them in, as the library seems to.
check_weak_references() {
	libraries=$system/lib/x86_64-linux-gnu
	gcc -fno-stack-protector -nodefaultlibs -Wl,--allow-shlib-undefined -o "$scratch/weak" \
		tests/data/weak.c "$libraries/libc.so.6" || fail "gcc"
	for rwlock in glibc spin; do
		ABSHIM_RWLOCK=$rwlock ABSHIM_SPINLOCK=$rwlock ABSHIM_SEM=$rwlock
		export ABSHIM_RWLOCK ABSHIM_SPINLOCK ABSHIM_SEM
		compare "weak references, $rwlock" 0 "$scratch/weak"
	done
	unset ABSHIM_RWLOCK ABSHIM_SPINLOCK ABSHIM_SEM
}

# What calls on locks answer, where this machine's program runs with that system's libc.
check_locks() {
	in_root plain "$BUILD/workloads/conform" --list >/dev/null 2>&1 || return 0
	for kind in rwlock-writer rwlock-nonrecursive-shared spinlock sem-shared barrier once; do
		compare "conform all $kind" 0 "$BUILD/workloads/conform" all $kind
	done
}

# With that system's own libunwind.
check_stacks() {
	about="$suite, stacks"
	forget_records
	in_root shimmed ABSHIM_MUTEX=park ABSHIM_STACKS=16 ABSHIM_REPORT=none \
		"$system/usr/bin/kccachetest" order -th 4 25000 >"$scratch/shim" 2>&1 ||
		fail "$about: exit status $?" "$scratch/shim"
	find_loader_record
	expect_figure '.sampling.taken > 0' true
	expect_figure 'any(.stacks[]; .end == "complete" and (.frames | length) > 3)' true
}

tried=
for suite in bullseye trixie; do
	system=$PWD/build/sysroot-$suite
	[ -e "$system/.complete" ] || continue
	tried="$tried $suite"
	for mutex in glibc yield:30; do
		check_programs
		check_plugin
		check_weak_references
	done
	check_locks
	check_stacks
done
[ -n "$tried" ] || skip "build/sysroot-bullseye and build/sysroot-trixie are missing"
