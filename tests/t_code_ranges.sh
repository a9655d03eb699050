#!/bin/sh
# The functions that the unwind tables name are those that readelf finds in them: of this machine's
# libraries, of AArch64's, and of what the linkers at hand make.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need readelf gcc

# check FILE LEAST: has at least so many functions, all of them found.
check() {
	readelf --debug-dump=frames "$1" 2>/dev/null >"$scratch/frames"
	# Of all that begin at one address the table holds one; a function without a length is none.
	awk '
		/^Contents of the .* section/ { wanted = $4 == ".eh_frame" }
		wanted && $4 == "FDE" {
			split(substr($6, 4), range, "[.][.]")
			if (range[1] "" != range[2] "") # 3e330 is no number
				print range[1] ".." range[2]
		}' "$scratch/frames" | sort -u >"$scratch/theirs"
	# shellcheck disable=SC2086
	ABSHIM_REPORT=none timeout -k 5 $seconds $EMULATOR "$BUILD/tests/check_code_ranges" "$1" \
		>"$scratch/found" || fail "$1: exit status $?"
	sort -u "$scratch/found" >"$scratch/ours"
	[ "$(wc -l <"$scratch/theirs")" -ge "$2" ] || fail "$1: readelf finds $(wc -l <"$scratch/theirs")"
	cmp -s "$scratch/ours" "$scratch/theirs" ||
		fail "$1: $(diff "$scratch/ours" "$scratch/theirs" | head -n 5)"
	cmp -s "$scratch/found" "$scratch/ours" || fail "$1: not in order"
}

checked=0
for name in libc.so.6 libstdc++.so.6 libcrypto.so.3 libsystemd.so.0 libpthread.so.0 libm.so.6; do
	for folder in /lib/x86_64-linux-gnu build/sysroot-aarch64/lib/aarch64-linux-gnu \
		build/sysroot-aarch64/usr/lib/aarch64-linux-gnu /lib/aarch64-linux-gnu; do
		[ -e "$folder/$name" ] || continue
		check "$folder/$name" 2
		checked=$((checked + 1))
	done
done
[ $checked -gt 0 ] || skip "no library is where Debian puts it"

cat >"$scratch/program.cc" <<'END'
#include <stdexcept>
#include <string>
struct guard { std::string text; ~guard() { text.clear(); } };
int thrower(int n) { if (n > 1) throw std::runtime_error("n"); return n; }
int main(int argc, char **argv) {
	guard kept{argv[0]};
	try { return thrower(argc); } catch (const std::exception &) { return 7; }
}
END
for linker in bfd gold lld; do
	command -v ld.$linker >/dev/null || continue
	for kind in -pie -no-pie '-static -Wl,--eh-frame-hdr'; do
		for compiler in g++ clang++; do
			command -v $compiler >/dev/null || continue
			# shellcheck disable=SC2086
			$compiler -fPIE $kind -fuse-ld=$linker -o "$scratch/program" "$scratch/program.cc" \
				2>"$scratch/log" || continue
			check "$scratch/program" 4
			checked=$((checked + 1))
		done
	done
done
[ $checked -ge 10 ] || fail "only $checked files were at hand"
