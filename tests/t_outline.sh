#!/bin/sh
# Outline helpers are known by their code alone: all that compilers link in, none else, with and
# without a symbol table, by any linker; those of a distribution's stripped libraries are as many as
# objdump's text shows, and in each file all agree on one flag.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
tools=aarch64-linux-gnu- sysroot=$PWD/build/sysroot-aarch64
if [ "$(uname -m)" = aarch64 ]; then
	tools='' sysroot=''
elif [ ! -e "$sysroot/.complete" ]; then
	skip "build/sysroot-aarch64 is missing"
fi
need "${tools}gcc" "${tools}nm" "${tools}strip" "${tools}objdump"

# known FILE...: prints FILE HELPER ADDRESS FLAG of each helper.
known() {
	# shellcheck disable=SC2086
	ABSHIM_REPORT=none timeout -k 5 $seconds $EMULATOR "$BUILD/tests/check_outline" "$@"
}

# All operations of all sizes in all orderings that C has, each in a function.
write_source() {
	set -- char short int long
	for size in 1 2 4 8; do
		for order in RELAXED ACQUIRE RELEASE ACQ_REL; do
			for call in fetch_add fetch_or fetch_and fetch_xor exchange_n; do
				echo "$1 $call${size}_$order($1 *p, $1 v)" \
					"{ return __atomic_$call(p, v, __ATOMIC_$order); }"
			done
			echo "_Bool cas${size}_$order($1 *p, $1 e, $1 v) { return" \
				"__atomic_compare_exchange_n(p, &e, v, 0, __ATOMIC_$order, __ATOMIC_RELAXED); }"
		done
		for call in fetch_and_add fetch_and_or fetch_and_and fetch_and_xor lock_test_and_set; do
			echo "$1 sync_$call$size($1 *p, $1 v) { return __sync_$call(p, v); }"
		done
		echo "$1 sync_cas$size($1 *p, $1 e, $1 v) { return __sync_val_compare_and_swap(p, e, v); }"
		shift
	done
}

# check_build LEAST COMPILER...: what the compiler's library has of helpers is known. LEAST: as many
# there must be.
check_build() {
	least=$1
	shift
	built=$scratch/built.so
	"$@" ${sysroot:+--sysroot=$sysroot} -O2 -fPIC -shared -moutline-atomics -o "$built" \
		"$scratch/all.c" >"$scratch/log" 2>&1 || fail "$*" "$scratch/log"
	"${tools}nm" "$built" >"$scratch/symbols"
	flag=$(sed -n 's/^0*\([0-9a-f]*\) [a-zA-Z] __aarch64_have_lse_atomics$/\1/p' "$scratch/symbols")
	sed -n "s/^0*\([0-9a-f]*\) [tT] \(__aarch64_[a-z_]*[0-9]*_[a-z_]*\)\$/\2 \1 $flag/p" \
		"$scratch/symbols" | sort >"$scratch/wanted"
	[ "$(wc -l <"$scratch/wanted")" -ge "$least" ] ||
		fail "$*: $(wc -l <"$scratch/wanted") helpers, wanted $least" "$scratch/wanted"
	known "$built" | cut -d ' ' -f 2- | sort >"$scratch/found"
	cmp -s "$scratch/wanted" "$scratch/found" || fail "$*" "$scratch/wanted" "$scratch/found"
	"${tools}strip" "$built"
	known "$built" | cut -d ' ' -f 2- | sort | cmp -s - "$scratch/wanted" || fail "$*: stripped"
	builds=$((builds + 1))
}

# Prints how many helpers objdump's text shows: a byte tested just before an LSE instruction.
count_shown() {
	"${tools}objdump" -d --no-show-raw-insn "$1" | awk -F '\t' '
		three == "ldrb" && two == "cbz" && one ~ /^(cas|swp|ldadd|ldclr|ldeor|ldset)/ && $2 == "ret" {
			count++
		}
		{ three = two; two = one; one = $2; sub(/ .*/, "", one) }
		END { print count + 0 }'
}

# check_file WANTED FILE: it has so many helpers, which read the same flag.
check_file() {
	known "$2" >"$scratch/found"
	expect "helpers of $2" "$1" "$(wc -l <"$scratch/found")"
	[ "$1" = 0 ] ||
		expect "flags of $2" 1 "$(cut -d ' ' -f 4 "$scratch/found" | sort -u | wc -l)"
}

builds=0
write_source >"$scratch/all.c"
cas16=
for order in relax acq rel acq_rel sync; do
	cas16="$cas16 -Wl,-u,__aarch64_cas16_$order"
done
# shellcheck disable=SC2086
check_build 125 "${tools}gcc" $cas16
check_build 120 "${tools}gcc" -mbranch-protection=standard -Wl,-z,force-bti
! command -v "${tools}ld.gold" >/dev/null || check_build 120 "${tools}gcc" -fuse-ld=gold
if command -v clang >/dev/null; then
	check_build 96 clang --target=aarch64-linux-gnu
	! command -v ld.lld >/dev/null || check_build 96 clang --target=aarch64-linux-gnu -fuse-ld=lld
fi

"${tools}gcc" ${sysroot:+--sysroot=$sysroot} -O2 -fPIC -shared -march=armv8.1-a -o "$scratch/inline.so" \
	"$scratch/all.c" || fail "gcc -march=armv8.1-a"
check_file 0 "$scratch/inline.so"
"${tools}gcc" ${sysroot:+--sysroot=$sysroot} -O2 -fPIC -shared -mno-outline-atomics \
	-o "$scratch/exclusive.so" "$scratch/all.c" || fail "gcc -mno-outline-atomics"
check_file 0 "$scratch/exclusive.so"

files=0 helpers=0
for name in libc.so.6 ld-linux-aarch64.so.1 libstdc++.so.6 libatomic.so.1 libjemalloc.so.2 \
	libkyotocabinet.so.16 libsystemd.so.0 libjansson.so.4 libz.so.1; do
	for folder in lib/aarch64-linux-gnu usr/lib/aarch64-linux-gnu; do
		file=$sysroot/$folder/$name
		[ -e "$file" ] || continue
		shown=$(count_shown "$file")
		check_file "$shown" "$file"
		files=$((files + 1)) helpers=$((helpers + shown))
		break
	done
done
if [ -n "$sysroot" ] && { [ $files -lt 5 ] || [ $helpers -lt 50 ]; }; then
	fail "$helpers helpers in $files files of $sysroot"
fi
program=$sysroot/usr/sbin/mariadbd
[ ! -e "$program" ] || check_file "$(known "$program" | wc -l)" "$program"
