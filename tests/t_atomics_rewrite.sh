#!/bin/sh
# Programs built for armv8.1-a and armv8.2-a, in C and C++, by gcc and clang, at every level of
# optimisation, die of an illegal instruction on a CPU without LSE, and come to the right results
# there under ABSHIM_ATOMICS=llsc: exact sums of several threads, exceptions, and calls found from a
# handler. Those with inline loops of exclusives come to them under lse. Static ones are out of reach,
# which is said.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ "$ARCH" = aarch64 ] || skip "only AArch64 has the switch"
tools=aarch64-linux-gnu- clang=--target=aarch64-linux-gnu
[ "$(uname -m)" != aarch64 ] || tools='' clang=
need "${tools}gcc" "${tools}g++"
with_lse=$EMULATOR
without_lse=${EMULATOR:+${EMULATOR% -cpu *} -cpu cortex-a72}
export ABSHIM_REPORT=none
built=0

# build COMPILER OPTION...: makes $scratch/c and $scratch/cxx of one compiler.
build() {
	compiler=$1
	shift
	case $compiler in
	gcc)
		cc=${tools}gcc cxx=${tools}g++
		;;
	clang)
		# Its objects for link-time optimisation are read by its own linker.
		cc="clang $clang -fuse-ld=lld" cxx="clang++ $clang -fuse-ld=lld"
		;;
	esac
	# shellcheck disable=SC2086
	{
		$cc ${root:+--sysroot=$root} -std=gnu11 -D_GNU_SOURCE -g "$@" -pthread \
			-o "$scratch/c" tests/workloads/atomics.c &&
			$cxx ${root:+--sysroot=$root} -std=gnu++17 -g "$@" -pthread \
				-o "$scratch/cxx" tests/workloads/atomics_cxx.cc
	} >"$scratch/log" 2>&1 || fail "$compiler $*" "$scratch/log"
	about="$compiler $*"
	built=$((built + 1))
}

# right ATOMICS PROGRAM [WHAT]: it says that its results are right.
right() {
	choice=$1
	shift
	forget_records
	shimmed ABSHIM_ATOMICS="$choice" "$@" >"$scratch/out" 2>&1
	status=$?
	[ "$status $(cat "$scratch/out")" = "0 right" ] ||
		fail "$about: $choice, $*: exit status $status" "$scratch/out"
}

# rewritten PROGRAM: the only record says of it that all that was found was rewritten.
rewritten() {
	find_record "$1"
	expect_figure ".atomics.objects[] | select(.path | endswith(\"/$1\")).inline |
		.found > 0 and .rewritten == .found" true
}

# For LSE: the programs need it, and do without it under the switch.
check_lse() {
	build "$@"
	for program in c cxx; do
		if [ -n "$EMULATOR" ]; then
			EMULATOR=$without_lse
			plain "$scratch/$program" >"$scratch/out" 2>&1
			expect "$about: $program without the switch: exit status" 132 $?
		fi
		right llsc "$scratch/$program"
		rewritten $program
	done
	right llsc "$scratch/c" fault
	EMULATOR=$with_lse
}

compilers=gcc
! command -v clang >/dev/null || ! command -v ld.lld >/dev/null || compilers="gcc clang"
for compiler in $compilers; do
	check_lse "$compiler" -march=armv8.1-a -O0
	check_lse "$compiler" -march=armv8.2-a -O1
	check_lse "$compiler" -march=armv8.1-a -O2
	check_lse "$compiler" -march=armv8.2-a -O3
	check_lse "$compiler" -march=armv8.1-a -O3 -flto
	check_lse "$compiler" -march=armv8.2-a -O2 -fno-pie -no-pie -mbranch-protection=standard
	[ -n "$EMULATOR" ] || continue
	for level in -O1 -O3; do
		build "$compiler" -march=armv8-a -mno-outline-atomics $level
		for program in c cxx; do
			right lse "$scratch/$program"
			rewritten $program
		done
		right lse "$scratch/c" fault
	done
done
[ $built -ge 8 ] || fail "$built builds"

# Nothing preloads a library into a static program: `abshim run` says so, by status 126.
for way in -static -static-pie; do
	"${tools}gcc" ${root:+--sysroot=$root} -std=gnu11 -D_GNU_SOURCE -march=armv8.1-a -O2 $way -pthread \
		-o "$scratch/static" tests/workloads/hints.c >"$scratch/log" 2>&1 ||
		fail "gcc $way" "$scratch/log"
	abshim run -s atomics=llsc -- "$scratch/static" >"$scratch/out" 2>&1
	expect "$way: exit status" 126 $?
	grep -q '^abshim: .*static' "$scratch/out" || fail "$way: what is said" "$scratch/out"
done
