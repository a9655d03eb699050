#!/bin/sh
# abshim audit counts what an independent reader of objdump's text counts, on distributions' libraries and
# programs of both machines: each mnemonic, inside and outside of outline helpers, and the helpers.
# Data that objdump takes for code is told by rules: a literal that an instruction loads, and, where there
# are unwind tables, words that no function holds.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/audit.sh
need jq python3

system=$PWD/build/sysroot-aarch64
compared=0

# of SYSTEM FOLDER/NAME...: the real paths of those files that are there.
of() {
	where=$1
	shift
	for name; do
		for file in "$where"/lib/"$name" "$where"/usr/"$name"; do
			[ ! -f "$file" ] || realpath "$file"
		done
	done | sort -u
}

# compare OBJDUMP READELF FILE: the rows of all files have been read.
compare() {
	python3 $counter "$@" >"$scratch/counted" || fail "cannot count in $3"
	row "$3" . | families_of >"$scratch/audited"
	families_of "$scratch/counted" >"$scratch/wanted"
	cmp -s "$scratch/wanted" "$scratch/audited" ||
		fail "$3: families differ: wanted, found" "$scratch/wanted" "$scratch/audited"
	expect_row "$3" .helpers "$(jq .helpers "$scratch/counted")"
	expect_row "$3" .complete true
	compared=$((compared + 1))
}

# compare_all AT-LEAST OBJDUMP READELF FILE...
compare_all() {
	least=$1 objdump=$2 readelf=$3
	shift 3
	compared=0
	audit "$@"
	for file; do
		compare "$objdump" "$readelf" "$file"
	done
	[ $compared -ge "$least" ] || fail "only $compared files to compare"
}

# Each sum of a row is that of its parts.
expect_sums() {
	found=$(jq -r '.files[] | select(.machine == "aarch64") | . as $row |
		([.families | to_entries[] | select(.key | test("^(cas|swp|ld(add|clr|eor|set|[su]m))"))]) as $lse |
		([.families | to_entries[] | select(.key | test("^(lda?x|stl?x)"))]) as $llsc |
		select(([$lse[].value.inline] | add // 0) != $row.lse.inline or
			([$lse[].value.outline] | add // 0) != $row.lse.outline or
			([$llsc[].value.inline] | add // 0) != $row.llsc.inline or
			([$llsc[].value.outline] | add // 0) != $row.llsc.outline) | .path' "$findings")
	expect "rows whose sums are not those of their families" "" "$found"
}

check_arm() {
	command -v $objdump_arm >/dev/null || return 0
	[ "$(uname -m)" = aarch64 ] && system=
	library=lib/aarch64-linux-gnu
	# shellcheck disable=SC2046
	set -- $(of "$system" aarch64-linux-gnu/libc.so.6 aarch64-linux-gnu/ld-linux-aarch64.so.1 \
		aarch64-linux-gnu/libm.so.6 aarch64-linux-gnu/libnsl.so.1 aarch64-linux-gnu/libcap.so.2 \
		aarch64-linux-gnu/libnss_compat.so.2 aarch64-linux-gnu/libc_malloc_debug.so.0 \
		aarch64-linux-gnu/libmemusage.so aarch64-linux-gnu/liblzma.so.5 $library/libstdc++.so.6 \
		$library/libcrypto.so.3 $library/libssl.so.3 $library/libgnutls.so.30 $library/libgcrypt.so.20 \
		$library/libatomic.so.1 $library/libjemalloc.so.2 $library/libjansson.so.4 $library/libdw.so.1 \
		$library/libunwind.so.8 $library/libkyotocabinet.so.16 $library/libsystemd.so.0 \
		$library/libnuma.so.1 $library/libzstd.so.1 $library/libgmp.so.10 $library/libluajit-5.1.so.2 \
		bin/redis-check-rdb bin/redis-benchmark bin/memcached bin/sysbench bin/python3.11 bin/mariadb-upgrade)
	[ $# -gt 0 ] || return 0
	if [ -z "$EMULATOR" ]; then
		# shellcheck disable=SC2046
		set -- "$@" $(of "$system" sbin/mariadbd)
	fi
	compare_all 20 $objdump_arm $readelf_arm "$@"
	expect_sums
	echo "AArch64: $compared files"
	arm=$compared
}

check_here() {
	[ "$ARCH" = x86_64 ] || return 0
	library=lib/x86_64-linux-gnu
	# shellcheck disable=SC2046
	set -- $(of "" $library/libc.so.6 $library/ld-linux-x86-64.so.2 $library/libm.so.6 $library/libstdc++.so.6 \
		$library/libgcc_s.so.1 $library/libz.so.1 $library/liblzma.so.5 $library/libzstd.so.1 \
		$library/libelf.so.1 $library/libdw.so.1 $library/libjansson.so.4 $library/libjemalloc.so.2 \
		$library/libgsl.so.27 $library/libssl.so.3 $library/libcrypto.so.3 $library/libseccomp.so.2 \
		$library/libmimalloc.so.2.0 bin/dash bin/jq bin/memcached bin/redis-server bin/redis-check-rdb sbin/nginx)
	compare_all 10 $objdump_here $readelf_here "$@"
	echo "x86-64: $compared files"
}

arm=0
check_arm
check_here
[ "$arm$ARCH" != 0aarch64 ] || skip "there is no foreign system to read"
