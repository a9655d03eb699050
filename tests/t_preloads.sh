#!/bin/sh
# Other preloaded libraries get along: jemalloc and tcmalloc before and after the library, in
# programs that allocate in many threads; and the runtimes of the address and thread sanitizers.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program kccachetest

number=4000
[ -z "$EMULATOR" ] || number=400

# expect_acquired COUNT: exactly so often where the allocator takes no mutex of its own.
expect_acquired() {
	case $about in
	*jemalloc*) expect_figure ".totals.mutex.acquired >= $1" true ;;
	*) expect_figure .totals.mutex.acquired "$1" ;;
	esac
	expect_figure .totals.mutex.lost 0
}

# What the workload says that it acquired.
acquired() {
	sed -n 's/^acquired \([0-9]*\), ended .*/\1/p' "$scratch/shim"
}

with_allocator() {
	forget_records
	shimmed ABSHIM_MUTEX=yield ABSHIM_REPORT=none "$BUILD/workloads/threads" short $number \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	find_record threads
	expect_acquired "$(acquired)"
	shimmed ABSHIM_MUTEX=yield ABSHIM_REPORT=none "$program" order -th 4 10000 \
		>"$scratch/shim" 2>&1 || fail "$about: exit status $?" "$scratch/shim"
	find_record kccachetest
	expect_acquired $((3 * 4 * 10000 + 128))
}

# with_sanitizer COMPILER SANITIZER: through the command, which puts the runtime first.
with_sanitizer() {
	about="$1's $2 sanitizer"
	forget_records
	"$1" -g -O1 -D_GNU_SOURCE -fsanitize="$2" -pthread -o "$scratch/sanitized" \
		tests/workloads/threads.c 2>"$scratch/compiler" || return
	# The runtimes cannot place their tables where the kernel randomises much.
	timeout "$seconds" setarch -R "$BUILD/abshim" run -s mutex=yield --report none -- \
		"$scratch/sanitized" live 80 >"$scratch/shim" 2>&1 ||
		fail "$about: exit status $?" "$scratch/shim"
	expect "$about: output" "acquired 8001, ended 80" "$(cat "$scratch/shim")"
	find_record sanitized
	expect_acquired 8001
	tried="$tried $1-$2"
}

tried=
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	path=$root/usr/lib/$ARCH-linux-gnu/$allocator
	[ -e "$path" ] || continue
	tried="$tried $allocator"
	about="$allocator before" preload_first=$path preload_last=""
	with_allocator
	about="$allocator after" preload_first="" preload_last=$path
	with_allocator
done
preload_last=

if [ -z "$EMULATOR" ] && setarch -R true 2>/dev/null; then
	with_sanitizer gcc address
	with_sanitizer gcc thread
	! command -v clang >/dev/null || with_sanitizer clang address
fi
[ -n "$tried" ] || skip "neither jemalloc, tcmalloc nor a sanitizer is installed"
