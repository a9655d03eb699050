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

# expected_kind: what the name says of class, type, static, stripped and complete; and, of linked files, of the
# libc and the method.
expected_kind() {
	case $name in
	*-object) echo "ELF64 relocatable false false true" && return ;;
	*-pie*) type=pie ;;
	*-shared*) type=shared ;;
	*) type="exec" ;;
	esac
	static=false stripped=false libc=none method=symbols
	! readelf -d "$scratch/$name" 2>/dev/null | grep -q 'NEEDED.*libc\.so\.6' || libc=glibc
	case $name in *-static*) static=true libc=unknown ;; esac
	case $name in *-stripped) stripped=true method=shape ;; esac
	echo "ELF64 $type $static $stripped true $libc $method"
}

kind_of='"\(.class) \(.type) \(.static) \(.stripped) \(.complete)" +
	if .type == "relocatable" then "" else " \(.libc) \(.method)" end'
inline_of='.families | map_values(.inline | select(. > 0))'

# The families outside of helpers are the compiler's; a helper holds one LSE instruction and two exclusives.
check_arm() {
	file=$scratch/$name
	jq -r '([.families | to_entries[] | select(.key | test("x[rp]$") | not) | .value.inline] | add // 0) as $lse |
		"\(.helpers) \(.calls) \(.loops) \($lse)"' "$file.json" >"$scratch/truth"
	read -r helpers calls loops lse <"$scratch/truth"
	switchable=$calls rewritable=$lse
	case $name in *-static*) switchable=0 rewritable=0 ;; esac
	case $name in *-object) helpers=0 ;; esac
	expect_row "$file" "$kind_of" "$(expected_kind)"
	expect_row "$file" "$inline_of" "$(jq -cS "$inline_of" "$file.json")"
	expect_row "$file" '"\(.machine) \(.lse.inline) \(.lse.outline) \(.llsc.outline) " +
		"\([.families[].outline] | add // 0) \(.reach | add) \(.reach.switchable)"' \
		"aarch64 $lse $helpers $((2 * helpers)) $((3 * helpers)) $((lse + calls + loops)) $switchable"
	expect_row "$file" ".reach.rewritable >= $rewritable" true
	case $name in
	*-object) ;;
	*) expect_row "$file" '"\(.helpers) \(.flag != null)"' "$helpers $([ "$helpers" = 0 ] && echo false || echo true)" ;;
	esac
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
	expect_row "$file" "$kind_of" "$(expected_kind)"
	expect_row "$file" .machine x86-64
	expect_row "$file" "$inline_of" "$(jq -cS "$inline_of" "$file.json")"
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
