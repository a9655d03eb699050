#!/bin/sh
# abshim audit finds in what gcc and clang built exactly what their assembly holds: on AArch64 with outline
# atomics, with LSE inline, with exclusives alone; as an object, a static program, a position-independent
# one or not, a library; stripped or not. And on x86-64, with glibc and musl.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/audit.sh
need jq python3 readelf

source=tests/data/audit/sites.c
built= # names of files in $scratch, NAME.json beside each is the truth

# expected KEY: of the case $name.
expected() {
	jq -r "$1" "$scratch/$name.json"
}

# build_one NAME COMPILER-COMMAND...: with the case's flags, to an assembly file and to the file.
# shellcheck disable=SC2086
build_one() {
	name=$1
	shift
	"$@" -O2 -g0 $mode $position $alone -S -o "$scratch/$name.s" $source || fail "$name.s: $*"
	"$@" -O2 -g0 $mode $position $alone $link -o "$scratch/$name" $source $libraries ||
		fail "$name: $*"
	python3 $counter assembly "$scratch/$name.s" >"$scratch/$name.json" || fail "$name.s"
	built="$built $name"
}

# link_of KIND: sets the flags of that kind of file.
link_of() {
	position='' alone='' libraries=''
	case $1 in
	object) link=-c ;;
	static) link="-static -nostdlib" alone=-DALONE libraries=-lgcc ;;
	pie) link=-pie position=-fPIE ;;
	fixed) link=-no-pie position=-fno-pie ;;
	shared) link=-shared position=-fPIC ;;
	esac
}

# build_arm LABEL COMPILER-COMMAND...
build_arm() {
	label=$1
	shift
	for kind in object static pie fixed shared; do
		link_of $kind
		mode=-moutline-atomics build_one "$label-outline-$kind" "$@"
		mode=-march=armv8.1-a build_one "$label-inline-$kind" "$@"
		mode=-mno-outline-atomics build_one "$label-none-$kind" "$@"
	done
}

# strip_all STRIP: adds a stripped copy of each linked file.
strip_all() {
	for name in $built; do
		case $name in *-object) continue ;; esac
		"$1" -o "$scratch/$name-stripped" "$scratch/$name" || fail "strip $name"
		cp "$scratch/$name.json" "$scratch/$name-stripped.json"
		built="$built $name-stripped"
	done
}

audit_built() {
	set --
	for name in $built; do
		set -- "$@" "$scratch/$name"
	done
	audit "$@"
}

# What the name says.
check_kind() {
	case $name in
	*-object) expect_row "$file" .type relocatable ;;
	*-pie*) expect_row "$file" .type pie ;;
	*-shared*) expect_row "$file" .type shared ;;
	*) expect_row "$file" .type exec ;;
	esac
	static=false stripped=false libc=none
	! readelf -d "$file" 2>/dev/null | grep -q 'NEEDED.*libc\.so\.6' || libc=glibc
	case $name in *-static*) static=true libc=unknown ;; esac
	case $name in *-stripped) stripped=true ;; esac
	expect_row "$file" '"\(.class) \(.static) \(.stripped) \(.complete)"' "ELF64 $static $stripped true"
	case $name in *-object) return ;; esac
	expect_row "$file" .libc $libc
	expect_row "$file" .method "$([ $stripped = true ] && echo shape || echo symbols)"
}

# The families outside of helpers are the compiler's; a helper holds one LSE instruction and two exclusives.
check_arm() {
	file=$scratch/$name
	linked=$(expected .helpers)
	check_kind
	case $name in *-object) linked=0 ;; esac
	expect_row "$file" .machine aarch64
	expect_row "$file" .lse.outline "$linked"
	expect_row "$file" .llsc.outline $((2 * linked))
	expect_row "$file" '[.families[].outline] | add // 0' $((3 * linked))
	[ "$linked" = 0 ] || expect_row "$file" .helpers "$linked"
	[ "$(expected .calls)" != 0 ] || expect_row "$file" .helpers 0
	inline='.families | map_values(.inline | select(. > 0))'
	expect_row "$file" "$inline" "$(jq -rcS "$inline" "$scratch/$name.json")"
	lse=$(expected '[.families | to_entries[] | select(.key | test("x[rp]$") | not) | .value.inline] | add // 0')
	expect_row "$file" .lse.inline "$lse"
	expect_row "$file" '.reach | add' $((lse + $(expected '.calls + .loops')))
	switchable=$(expected .calls) rewritable=$lse
	case $name in *-static*) switchable=0 rewritable=0 ;; esac
	expect_row "$file" .reach.switchable "$switchable"
	expect_row "$file" ".reach.rewritable >= $rewritable" true
}

check_all_arm() {
	arm_gcc=gcc arm_strip=strip clang_target=
	if [ "$(uname -m)" != aarch64 ]; then
		arm_gcc=aarch64-linux-gnu-gcc arm_strip=aarch64-linux-gnu-strip
		clang_target="--target=aarch64-linux-gnu --sysroot=$PWD/build/sysroot-aarch64"
	fi
	command -v $arm_gcc >/dev/null || return 0
	built=
	build_arm gcc $arm_gcc
	if [ -z "$EMULATOR" ] && command -v clang >/dev/null; then
		# shellcheck disable=SC2086
		build_arm clang clang $clang_target
	fi
	strip_all $arm_strip
	audit_built
	for name in $built; do
		check_arm
	done
	echo "AArch64: $(echo "$built" | wc -w) files"
}

# build_x86 LABEL COMPILER-COMMAND...
build_x86() {
	label=$1 mode=-masm=intel
	shift
	for kind in object static pie fixed shared; do
		link_of $kind
		build_one "$label-$kind" "$@"
	done
}

check_x86() {
	file=$scratch/$name
	check_kind
	expect_row "$file" .machine x86-64
	families='.families | map_values(.inline + .outline | select(. > 0))'
	expect_row "$file" "$families" "$(jq -rcS "$families" "$scratch/$name.json")"
}

check_all_x86() {
	[ "$ARCH" = x86_64 ] || return 0
	built=
	build_x86 gcc gcc
	command -v clang >/dev/null && build_x86 clang clang
	strip_all strip
	audit_built
	expect "exit status" 0 $status
	for name in $built; do
		check_x86
	done
	echo "x86-64: $(echo "$built" | wc -w) files"
}

check_all_x86
check_all_arm
