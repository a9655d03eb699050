#!/bin/sh
# An installed abshim finds its library in ../lib, and the library its report in ../bin.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq make kccachetest
[ -z "$EMULATOR" ] || skip "what an emulated abshim starts would not be emulated"

make -s -o all install DESTDIR="$scratch/root" PREFIX=/usr/local ARCH="$ARCH" BUILD="$BUILD" \
	>"$scratch/make" 2>&1 || fail "make install" "$scratch/make"
bin=$scratch/root/usr/local/bin lib=$scratch/root/usr/local/lib
expect "installed" "abshim libabshim.so" "$(cd "$scratch/root" && find . -type f -printf '%f\n' | sort | xargs)"

# check WHAT: of kccachetest's report on standard error.
check() {
	about=$1
	grep -q '^abshim: kccachetest' "$scratch/err" || fail "$about: no report" "$scratch/err"
	grep -q 'acquired *300,128 ' "$scratch/err" || fail "$about: the count" "$scratch/err"
	find_record kccachetest
	expect_figure .process.library "$lib/libabshim.so"
	expect_figure .trust.reported true
	forget_records
}

cd / || exit 1
timeout "$seconds" "$bin/abshim" run -s mutex=yield:30 -- kccachetest order -th 4 25000 \
	>"$scratch/out" 2>"$scratch/err" || fail "abshim run: exit status $?" "$scratch/err"
check "abshim run"
mkdir "$scratch/path"
ln -s "$bin/abshim" "$scratch/path/abshim"
PATH=$scratch/path:$PATH timeout "$seconds" abshim run -- kccachetest order -th 4 25000 \
	>"$scratch/out" 2>"$scratch/err" || fail "abshim run by a link: exit status $?" "$scratch/err"
check "abshim run by a link"
LD_PRELOAD=$lib/libabshim.so timeout "$seconds" kccachetest order -th 4 25000 \
	>"$scratch/out" 2>"$scratch/err" || fail "LD_PRELOAD: exit status $?" "$scratch/err"
check LD_PRELOAD
