#!/bin/sh
# abshim audit gives the right answer, or says plainly that it gives none, for files of unusual shape: veneers
# before helpers, data that looks like instructions, archives, companions of debuggers, big-endian and 32-bit
# files, Go's programs, helpers without LSE, and programs that libabshim.so cannot enter.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/audit.sh
need jq python3 xz

data=tests/data/audit
arm=aarch64-linux-gnu-
[ "$(uname -m)" != aarch64 ] || arm=
command -v "${arm}gcc" >/dev/null || skip "${arm}gcc is missing"

# compile COMPILER... -o NAME...: must succeed.
compile() {
	"$@" 2>"$scratch/compiler" || fail "$*" "$scratch/compiler"
}

# expect_read NAME FILTER WANTED...: of a file that is read whole.
expect_read() {
	audit "$scratch/$1"
	expect "$1: exit status" 0 $status
	expect_row "$scratch/$1" .complete true
	expect_rows "$@"
}

# expect_rows NAME FILTER WANTED...: of the file read last.
expect_rows() {
	about=$scratch/$1
	shift
	while [ $# -gt 0 ]; do
		expect_row "$about" "$1" "$2"
		shift 2
	done
}

# expect_refusal NAME: in one row that counts nothing and says why.
expect_refusal() {
	audit "$scratch/$1"
	expect "$1: exit status" 2 $status
	expect_rows "$1" .complete false '.notes | length > 0' true '.lse.inline + .lse.outline' 0
}

# Two calls close to the helpers and three far away, by each linker's own veneers.
check_veneers() {
	far="$data/far.c -O2 -moutline-atomics -nostdlib -fno-asynchronous-unwind-tables -fno-unwind-tables"
	apart=-Wl,--section-start=.far=0x40000000
	# shellcheck disable=SC2086
	{
		compile ${arm}gcc $far -static $apart -o "$scratch/far-static" -lgcc
		compile ${arm}gcc $far -shared -fPIC $apart -o "$scratch/far-shared" -lgcc
		compile ${arm}gcc $far -static -Wl,--section-start=.far=0x200000000 -o "$scratch/far-farther" -lgcc
	}
	names="far-static far-shared far-farther"
	if command -v clang >/dev/null && command -v ld.lld >/dev/null && [ -n "$arm" ]; then
		apart="-fuse-ld=lld --sysroot=build/sysroot-aarch64 $apart -Wl,--section-start=.text=0x400000"
		# shellcheck disable=SC2086
		{
			compile clang --target=aarch64-linux-gnu $far -static $apart -o "$scratch/lld-static" -lgcc
			compile clang --target=aarch64-linux-gnu $far -shared -fPIC $apart -o "$scratch/lld-shared" -lgcc
		}
		names="$names lld-static lld-shared"
	fi
	for name in $names; do
		expect_read "$name" .helpers 3 '.reach | add' 5
		${arm}strip "$scratch/$name"
		expect_read "$name" .helpers 3 '.reach | add' 5
	done
	expect_read far-shared .reach.switchable 5
}

check_words() {
	compile ${arm}gcc -c -o "$scratch/words.o" $data/words.S
	compile ${arm}ld --eh-frame-hdr -o "$scratch/words" "$scratch/words.o"
	compile ${arm}strip -o "$scratch/words-stripped" "$scratch/words"
	for name in words.o words words-stripped; do
		expect_read $name '.families' '{"ldaddal":{"inline":1,"outline":0}}' .lse.inline 1 \
			.llsc.inline 0 .helpers 0
	done
}

check_helper_without_lse() {
	compile ${arm}gcc -static -nostdlib -o "$scratch/no-lse" $data/no_lse.S
	expect_read no-lse '.lse.inline + .lse.outline' 0 .reach.switchable 0 '.llsc.inline + .llsc.outline' 2
}

check_archives() {
	sites="${arm}gcc -O2 -c $data/sites.c"
	# shellcheck disable=SC2086
	{
		compile $sites -march=armv8.1-a -o "$scratch/inline.o"
		compile $sites -mno-outline-atomics -o "$scratch/a-member-with-quite-a-long-name.o"
	}
	printf 'some text\n' >"$scratch/text"
	audit "$scratch/inline.o"
	inline=$(row "$scratch/inline.o" .lse.inline)
	[ "$inline" -gt 20 ] || fail "inline.o: $inline"
	for letters in rc rcT; do
		compile ${arm}ar $letters "$scratch/$letters.a" "$scratch/inline.o" \
			"$scratch/a-member-with-quite-a-long-name.o" "$scratch/text"
		audit "$scratch/$letters.a"
		expect "$letters: inline LSE" "0 $inline" \
			"$(jq -r '[.files[] | select(.type == "relocatable") | .lse.inline] | sort | join(" ")' "$findings")"
		jq -r '.files[].path' "$findings" | grep -q "a-member-with-quite-a-long-name.o" ||
			fail "$letters: names of members" "$findings"
	done
	${arm}ar rc "$scratch/nothing.a"
	audit "$scratch/nothing.a"
	expect "an empty archive: exit status" 0 $status
	head -c 600 "$scratch/rc.a" >"$scratch/cut.a"
	audit "$scratch/cut.a"
	expect "a cut archive: exit status" 2 $status
	rm "$scratch/inline.o"
	audit "$scratch/rcT.a"
	expect "a thin archive without its member: exit status" 2 $status
}

# A stripped library with what debuggers add to it, and with what they take away.
check_companions() {
	compile ${arm}gcc -O2 -g -moutline-atomics -gsplit-dwarf -shared -fPIC -o "$scratch/whole.so" $data/sites.c \
		-dumpdir "$scratch/"
	compile ${arm}objcopy --only-keep-debug "$scratch/whole.so" "$scratch/whole.debug"
	compile ${arm}strip -o "$scratch/stripped.so" "$scratch/whole.so"
	compile ${arm}objcopy --compress-debug-sections=zlib-gabi "$scratch/whole.so" "$scratch/compressed.so"
	${arm}nm -f posix "$scratch/whole.so" | awk '$2 ~ /^[tT]$/ { print $1 }' >"$scratch/keep"
	compile ${arm}objcopy -S "--keep-symbols=$scratch/keep" "$scratch/whole.debug" "$scratch/mini"
	xz "$scratch/mini"
	compile ${arm}objcopy --add-section ".gnu_debugdata=$scratch/mini.xz" "$scratch/stripped.so" "$scratch/mini.so"
	expect_refusal whole.debug
	# Met in a directory, they are missed by nobody.
	mkdir "$scratch/debug"
	cp "$scratch/whole.debug" "$scratch/stripped.so" "$scratch/debug"
	audit "$scratch/debug"
	expect "exit status for a directory with debug information" 0 $status
	abshim audit "$scratch/debug" >"$scratch/out" 2>&1
	grep -q '^  1 file without code (debug information, core dumps) left out$' "$scratch/out" ||
		fail "what is said of debug information" "$scratch/out"
	audit "$scratch/stripped.so"
	wanted=$(row "$scratch/stripped.so" '[.families, .lse, .llsc, .helpers, .reach]')
	expect_row "$scratch/stripped.so" '.helpers > 20 and .lse.inline == 0' true
	for name in whole.so compressed.so mini.so; do
		expect_read $name '[.families, .lse, .llsc, .helpers, .reach]' "$wanted"
	done
	for name in "$scratch"/*.dwo; do
		audit "$name"
		expect_row "$name" '.notes | length > 0' true
		expect_row "$name" '.lse.inline' 0
	done
}

# An AArch64 processor's instructions are little-endian in big-endian files too.
check_orders() {
	compile ${arm}gcc -O2 -ffreestanding -mbig-endian -march=armv8.1-a -DALONE -S -o "$scratch/big.s" $data/sites.c
	compile ${arm}gcc -O2 -ffreestanding -mbig-endian -march=armv8.1-a -DALONE -c -o "$scratch/big.o" $data/sites.c
	compile ${arm}ld -EB -m aarch64linuxb -o "$scratch/big" "$scratch/big.o"
	compile ${arm}strip -o "$scratch/big-stripped" "$scratch/big"
	compile ${arm}gcc -O2 -ffreestanding -mabi=ilp32 -march=armv8.1-a -DALONE -S -o "$scratch/half.s" $data/sites.c
	compile ${arm}gcc -O2 -ffreestanding -mabi=ilp32 -march=armv8.1-a -DALONE -c -o "$scratch/half.o" $data/sites.c
	compile ${arm}ld -m aarch64linux32 -o "$scratch/half" "$scratch/half.o"
	compile ${arm}strip -o "$scratch/half-stripped" "$scratch/half"
	for name in big half; do
		families='.families | map_values(.inline | select(. > 0))'
		wanted=$(python3 $counter assembly "$scratch/$name.s" | jq -rcS "$families")
		for kind in .o '' -stripped; do
			expect_read $name$kind "$families" "$wanted" .machine aarch64
		done
	done
	expect_read half .class ELF32 .interposable.yes false
}

check_other_machines() {
	if command -v clang >/dev/null && clang --print-targets | grep -q '^ *arm '; then
		compile clang --target=armv7-linux-gnueabihf -O2 -c -o "$scratch/arm.o" $data/far.c
		expect_refusal arm.o
		expect_rows arm.o .machine arm
	fi
	[ "$(uname -m)" = x86_64 ] || return 0
	compile gcc -m32 -O2 -c -o "$scratch/i386.o" $data/far.c
	audit "$scratch/i386.o"
	if [ $status = 0 ]; then
		expect_row "$scratch/i386.o" '[.families[] | .inline] | add' 5
	else
		expect_refusal i386.o
	fi
}

check_go() {
	command -v go >/dev/null || return 0
	compile env -u GOPATH -u GOROOT GOCACHE="$BUILD/go/cache" HOME="$scratch" GO111MODULE=off GOARCH=arm64 \
		GOTOOLCHAIN=local GOFLAGS=-buildvcs=false CGO_ENABLED=0 timeout 200 \
		go build -o "$scratch/go" $data/counter.go
	python3 $counter $objdump_arm $readelf_arm "$scratch/go" >"$scratch/counted"
	expect_read go .static true .helpers 0 .reach.switchable 0 .reach.rewritable 0 .interposable.yes false
	expect_row "$scratch/go" '[.notes[] | select(test("by its segments"))] | length' 0
	expect "Go's families" "$(families_of "$scratch/counted")" "$(row "$scratch/go" . | families_of)"
}

# What libabshim.so cannot enter is said.
check_programs() {
	[ "$ARCH" = x86_64 ] || return 0
	compile gcc -O2 -o "$scratch/program" $data/sites.c
	expect_read program .libc glibc .static false
	cp "$scratch/program" "$scratch/set-user" && chmod u+s "$scratch/set-user"
	expect_read set-user .interposable.yes false '.interposable.why | test("setuid|set-user")' true
	compile gcc -O2 -static -o "$scratch/static" $data/sites.c
	expect_read static .static true .interposable.yes false '.interposable.why | test("static")' true
	command -v musl-gcc >/dev/null || return 0
	compile musl-gcc -O2 -o "$scratch/musl" $data/sites.c
	expect_read musl .libc musl .interposable.yes false '.interposable.why | test("musl")' true
	compile musl-gcc -O2 -static -o "$scratch/musl-static" $data/sites.c
	expect_read musl-static .static true .interposable.yes false
}

check_words
check_veneers
check_helper_without_lse
check_archives
check_companions
check_orders
check_other_machines
check_go
check_programs
