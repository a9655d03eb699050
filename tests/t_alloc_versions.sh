#!/bin/sh
# The arms of ABSHIM_ALLOC on the oldest supported glibc (2.31) and a newer one (2.41), through
# their own loaders: set, read back, and by what malloc_info says.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ "$ARCH" = x86_64 ] || skip "other versions of glibc are at hand for x86_64 only"

# Calls malloc_info once 20 threads have their blocks, in C's words through ctypes, where that is.
cat >"$scratch/arenas.py" <<'END'
try:
    import ctypes, threading
except ImportError:
    raise SystemExit(0)
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.fopen.restype = libc.open_memstream.restype = ctypes.c_void_p
barrier = threading.Barrier(21)
def stay():
    libc.malloc(100)
    barrier.wait()
    barrier.wait()
threads = [threading.Thread(target=stay) for i in range(20)]
for thread in threads: thread.start()
barrier.wait()
text, size = ctypes.c_void_p(), ctypes.c_size_t()
stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
libc.malloc_info(0, stream)
libc.fclose(stream)
print(ctypes.string_at(text).count(b"<heap nr="))
barrier.wait()
for thread in threads: thread.join()
END

# on ARM: what the program prints.
on() {
	shimmed ABSHIM_ALLOC="$1" ABSHIM_REPORT=none "$system/lib64/ld-linux-x86-64.so.2" \
		--library-path "$system/lib/x86_64-linux-gnu:$system/usr/lib/x86_64-linux-gnu" \
		"$system/usr/bin/python3" "$scratch/arenas.py" 2>"$scratch/err" ||
		fail "$suite, $1: exit status $?" "$scratch/err"
}

tried=
for suite in bullseye trixie; do
	system=$PWD/build/sysroot-$suite
	[ -e "$system/.complete" ] || continue
	tried="$tried $suite"
	case $suite in
	bullseye) version=2.31 ;;
	trixie) version=2.41 ;;
	esac
	for arm in libc shared tlab; do
		about="$suite, $arm"
		forget_records
		arenas=$(on $arm) || fail "$arenas"
		find_record 'ld*'
		expect_figure '"\(.allocation.libc_version) \(.allocation.is_libc) \(.allocation.readable)"' "$version true true"
		case $arm in
		libc) wanted='[null,null,null,null]' ;;
		shared) wanted='[1,null,0,null]' ;;
		tlab) wanted='[65536,65536,65535,1032]' ;;
		esac
		expect_figure '.allocation.tunables | [.arena_max, .arena_test, .tcache_count, .tcache_max] | tostring' "$wanted"
		case $arm,$arenas in
		*, | libc,*) ;;
		shared,*) expect "$about: arenas" 1 "$arenas" ;;
		tlab,*) expect "$about: arenas" 21 "$arenas" ;;
		esac
	done
done
[ -n "$tried" ] || skip "build/sysroot-bullseye and build/sysroot-trixie are missing"
