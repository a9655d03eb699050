#!/bin/sh
# Every hint that ABSHIM_PAUSE names is the one that waiting threads execute, and no other: seen
# by single steps, or, under an emulator, in the code that it had to translate. What this machine
# or this CPU lacks is refused.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ "$(nproc)" -gt 1 ] || skip "nobody polls on one CPU"

polls=60 # of every wait
least=10 # of them: more than hints that happen to lie elsewhere, though a deadline may end polling
case $ARCH in
x86_64) values="default pause nop" others="isb yield sb" ;;
*) values="default isb yield sb nop" others=pause ;;
esac

# The instruction of a value.
hint_of() {
	case $ARCH-$1 in
	x86_64-default) echo pause ;;
	*-default) echo isb ;;
	*) echo "$1" ;;
	esac
}

# settings_of KIND: the strategies under which a wait for it polls.
settings_of() {
	case $1 in
	mutex) echo "ABSHIM_MUTEX=spin:$polls ABSHIM_MUTEX=backoff:20" ;;
	*) echo "ABSHIM_$(echo "$1" | tr "[:lower:]" "[:upper:]")=spin:$polls" ;;
	esac
}

# Sets $executed to the hints that a wait executes.
step() {
	shimmed "$@" ABSHIM_REPORT=none "$BUILD/workloads/hints" step "$kind" >"$scratch/counts" ||
		fail "$*: exit status $?" "$scratch/counts"
	executed=$(awk -v least=$least '$2 >= least { print $1 }' "$scratch/counts" | xargs)
	# Of the others not one: but nops also fill gaps.
	awk '$1 != "nop" && $2 > 0 { print $1 }' "$scratch/counts" >"$scratch/hints"
}

translate() {
	emulator=$EMULATOR
	EMULATOR="$emulator -d in_asm -D $scratch/log"
	shimmed "$@" ABSHIM_REPORT=none "$BUILD/workloads/hints" "$kind" ||
		fail "$*: exit status $?"
	EMULATOR=$emulator
	awk '/d5033fdf/ { print "isb" } /d503203f/ { print "yield" } /d50330ff/ { print "sb" }' \
		"$scratch/log" | sort -u >"$scratch/hints"
	executed=$(xargs <"$scratch/hints")
}

for value in $values; do
	for kind in mutex rwlock sem futex; do
		for setting in $(settings_of $kind); do
			about="ABSHIM_PAUSE=$value $setting $kind"
			hint=$(hint_of "$value")
			if [ -n "$EMULATOR" ]; then
				translate "$setting" ABSHIM_PAUSE="$value"
				[ "$hint" != nop ] || hint=
			else
				step "$setting" ABSHIM_PAUSE="$value"
				expect "$about: other hints" "$(echo "$hint" | grep -vx nop)" \
					"$(cat "$scratch/hints")"
			fi
			expect "$about" "$hint" "$executed"
		done
	done
done

# refused VALUE WORDS...: by one line with these words.
refused() {
	value=$1
	shift
	shimmed ABSHIM_PAUSE="$value" "$BUILD/workloads/hints" mutex >"$scratch/out" 2>"$scratch/err"
	expect "ABSHIM_PAUSE=$value: exit status" 78 $?
	expect "ABSHIM_PAUSE=$value: lines" 1 "$(wc -l <"$scratch/err")"
	grep -q "^abshim: ABSHIM_PAUSE=$value: .*$*" "$scratch/err" ||
		fail "ABSHIM_PAUSE=$value: message" "$scratch/err"
}

for value in $others; do
	refused "$value" this machine has no such hint
done
refused "" unknown hint
refused Nop unknown hint
if [ -n "$EMULATOR" ]; then
	EMULATOR="$EMULATOR -cpu cortex-a72" # the last one counts
	refused sb this CPU has no speculation barrier
	shimmed ABSHIM_PAUSE=yield ABSHIM_REPORT=none "$BUILD/workloads/hints" mutex ||
		fail "yield on a CPU without sb"
fi
