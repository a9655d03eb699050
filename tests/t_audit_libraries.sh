#!/bin/sh
# The libraries that abshim audit finds for a program are those that ld.so itself would map, for
# programs of the system and for cases made of each rule. ld.so lists them without running anything.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

case $ARCH in
aarch64) loader=$root/lib/ld-linux-aarch64.so.1 ;;
*) loader=/lib64/ld-linux-x86-64.so.2 ;;
esac
[ -x "$loader" ] || skip "$loader is missing"

# listed PROGRAM: what ld.so would map, one real path a line.
listed() {
	if [ -n "$EMULATOR" ]; then
		$EMULATOR "$loader" --list "$1"
	else
		LD_TRACE_LOADED_OBJECTS=1 "$loader" "$1" # unlike --list it goes on when one is missing
	fi 2>"$scratch/err" | sed -n 's/.*=> \(.*\) (0x.*/\1/p; s/^\t\(\/.*\) (0x.*/\1/p' |
		while read -r path; do
			case $path in
			"$root"/*) realpath "$path" ;;
			*) realpath "$root$path" ;;
			esac
		done | sort -u
}

# found PROGRAM: the same by the audit.
found() {
	abshim audit --json ${root:+--root "$root"} "$1" >"$scratch/report.json" 2>"$scratch/err"
	status=$?
	jq -r '. as $all | .targets[0].files[1:][] | $all.files[.].path' "$scratch/report.json" |
		while read -r path; do realpath "$path"; done | sort -u
}

# compare WHAT PROGRAM
compare() {
	listed "$2" >"$scratch/listed"
	found "$2" >"$scratch/found"
	[ -s "$scratch/listed" ] || fail "$1: ld.so lists nothing" "$scratch/err"
	cmp -s "$scratch/listed" "$scratch/found" || fail "$1" "$scratch/listed" "$scratch/found"
}

check_system() {
	checked=0
	for name in mariadbd nginx redis-server memcached node postgres python3 perl git gdb curl openssl \
		bash sh ls sysbench qemu-aarch64 clang gcc tar jq make; do
		for folder in usr/sbin usr/bin bin usr/local/bin usr/lib/jvm/default-java/bin; do
			program=$(realpath -q "$root/$folder/$name") || continue
			[ "$(head -c 4 "$program" 2>/dev/null | tr -d '\177')" = ELF ] || continue
			compare "$program" "$program"
			expect "$program: exit status" 0 $status
			checked=$((checked + 1))
			break
		done
	done
	[ $checked -ge 4 ] || fail "only $checked programs to look at"
}

# make_library NAME VERSION [LINK-OPTION...]: in $scratch/case, with a soname.
make_library() {
	name=$1
	shift
	mkdir -p "$(dirname "$case/$name")"
	echo "int in_$(basename "$name" .so | tr -d -c '[:lower:]')(void) { return 0; }" >"$scratch/part.c"
	gcc -shared -fPIC -Wl,--no-as-needed -Wl,-soname,"$(basename "$name")" -o "$case/$name" \
		"$scratch/part.c" "$@" || fail "gcc $name"
}

make_program() {
	echo 'int main(void) { return 0; }' >"$scratch/main.c"
	gcc -Wl,--no-as-needed -o "$case/program" "$scratch/main.c" "$@" || fail "gcc program"
}

# RPATH is for the libraries of libraries too, RUNPATH is not.
check_paths() {
	case=$scratch/case
	make_library deep/libinner.so
	make_library lib/libouter.so -L"$case/deep" -linner
	# shellcheck disable=SC2016
	make_program -L"$case/lib" -louter -Wl,--disable-new-dtags \
		-Wl,-rpath,'$ORIGIN/lib:${ORIGIN}/deep' -Wl,-rpath-link,"$case/deep"
	compare "RPATH" "$case/program"
	expect "RPATH: exit status" 0 $status
	grep -q 'deep/libinner.so' "$scratch/found" || fail "RPATH is not passed on" "$scratch/found"
	# shellcheck disable=SC2016
	make_program -L"$case/lib" -louter -Wl,--enable-new-dtags \
		-Wl,-rpath,'$ORIGIN/lib:${ORIGIN}/deep' -Wl,-rpath-link,"$case/deep"
	compare "RUNPATH" "$case/program"
	expect "RUNPATH: exit status" 2 $status
	expect_figure '.targets[0].notes[0] | startswith("not found: libinner.so, needed by")' true
	expect_figure '.targets[0].complete' false
	ln -sf "$case/program" "$scratch/link"
	abshim audit --json "$scratch/link" | jq -r '.files[].path' >"$scratch/out"
	grep -q 'lib/libouter.so' "$scratch/out" || fail "ORIGIN of a link" "$scratch/out"
	LD_LIBRARY_PATH="/none;$case/deep" compare "LD_LIBRARY_PATH" "$case/program"
	expect "LD_LIBRARY_PATH: exit status" 0 $status
	(cd "$case/deep" && LD_LIBRARY_PATH=: "$loader" --list ../program >/dev/null) ||
		fail "ld.so and the working directory"
	(cd "$case/deep" && LD_LIBRARY_PATH=: timeout 60 "$BUILD/abshim" audit ../program >"$scratch/out") ||
		fail "the working directory" "$scratch/out"
}

# A library of another machine, or one that is none, is passed over, or not at all.
check_wrong_files() {
	case=$scratch/wrong
	make_library right/libpart.so
	make_program -L"$case/right" -lpart
	mkdir -p "$case/left"
	# The machine of the header: one that nobody has.
	{
		head -c 18 "$case/right/libpart.so"
		printf '\377\376'
		tail -c +21 "$case/right/libpart.so"
	} >"$case/left/libpart.so"
	LD_LIBRARY_PATH=$case/left:$case/right compare "another machine" "$case/program"
	expect "another machine: exit status" 0 $status
	rm -r "$case/left" "$case/right"
	found "$case/program" >/dev/null
	expect "a library that is gone: exit status" 2 $status
	abshim audit "$case/program" | grep -q 'of what could be read' || fail "no word of what is missing"
}

# Subdirectories for better CPUs come before their directory.
check_subdirectories() {
	case=$scratch/hwcaps
	make_library lib/libpart.so
	make_program -L"$case/lib" -lpart
	for part in glibc-hwcaps/x86-64-v2 glibc-hwcaps/x86-64-v3 glibc-hwcaps/x86-64-v4 tls x86_64 haswell \
		tls/haswell/x86_64 avx512_1 atomics; do
		make_library "lib/$part/libpart.so"
		LD_LIBRARY_PATH=$case/lib compare "$part" "$case/program"
		expect "$part: exit status" 0 $status
	done
	LD_LIBRARY_PATH=$case/lib compare "all subdirectories" "$case/program"
}

check_preload() {
	case=$scratch/preload
	make_library libfirst.so
	make_program
	LD_PRELOAD="$case/libfirst.so none.so" timeout 60 "$BUILD/abshim" audit --json "$case/program" \
		>"$scratch/report.json" 2>/dev/null
	expect "LD_PRELOAD: exit status" 0 $?
	expect_figure '[.files[].path | endswith("/libfirst.so")] | any' true
	expect_figure '.targets[0].notes[0]' "none.so cannot be preloaded"
	chmod u+s "$case/program"
	LD_PRELOAD=$case/libfirst.so LD_LIBRARY_PATH=$case timeout 60 "$BUILD/abshim" audit --json \
		"$case/program" >"$scratch/report.json" 2>/dev/null
	expect_figure '[.files[].path | endswith("/libfirst.so")] | any' false
}

# A program of one system in the libraries of another, of links that lead out of it.
check_root() {
	case=$scratch/elsewhere
	make_library part/libpart.so
	# shellcheck disable=SC2016
	make_program -L"$case/part" -lpart -Wl,-rpath,'$ORIGIN/part'
	system=$scratch/system
	mkdir -p "$system/lib64" "$system/etc/ld.so.conf.d" "$system/opt/own" "$system/usr/bin"
	cp "$(realpath "$loader")" "$system/opt/loader"
	ln -s /opt/loader "$system/lib64/${loader##*/}"
	ln -s ../../../../../../../../opt "$system/up"
	cp "$(gcc -print-file-name=libc.so.6)" "$system/opt/own/libc.so.6"
	echo 'include ld.so.conf.d/*.conf' >"$system/etc/ld.so.conf"
	echo '/up/own # here' >"$system/etc/ld.so.conf.d/own.conf"
	cp "$case/program" "$system/usr/bin/inside"
	abshim audit --json --root "$system" "$case/program" >"$scratch/report.json" ||
		fail "a program from elsewhere" "$scratch/report.json"
	expect_figure '[.files[].path] | sort | join(" ")' \
		"$case/part/libpart.so $case/program $system/opt/loader $system/opt/own/libc.so.6"
	abshim audit --json --root "$system" inside >"$scratch/report.json"
	expect "a program without its library: exit status" 2 $?
	expect_figure '.files[0].path' "$system/usr/bin/inside"
	expect_figure '.targets[0].notes[0]' "not found: libpart.so, needed by /usr/bin/inside"
	abshim audit --json --root "$system" /usr/bin/inside "$system/usr/bin/inside" >"$scratch/report.json"
	expect_figure '.targets[0].files == .targets[1].files' true
	abshim audit --root "$system" /usr/bin/inside | grep -q ' /opt/own/libc.so.6$' ||
		fail "a path below the root"
	cp "$case/part/libpart.so" "$system/opt/libfirst.so"
	printf '# none.so\n/up/libfirst.so # and no more\n' >"$system/etc/ld.so.preload"
	abshim audit --json --root "$system" inside >"$scratch/report.json"
	expect_figure '.files[2].path' "$system/opt/libfirst.so"
	expect_figure '.targets[0].complete' true # it is a libpart.so by its soname
}

check_system
if [ -z "$EMULATOR" ] && command -v gcc >/dev/null; then
	check_paths
	check_wrong_files
	[ "$ARCH" != x86_64 ] || check_subdirectories
	check_preload
	check_root
fi
