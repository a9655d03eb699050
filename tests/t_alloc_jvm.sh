#!/bin/sh
# In a Java virtual machine the arms of ABSHIM_ALLOC are UseTLAB: by its own account, in whatever
# way it was started; its children do not find the option in their environment.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
[ -z "$EMULATOR" ] || skip "the kernel cannot execute programs of the other machine"
find_program java
java=$program

# use_tlab: from what -XX:+PrintFlagsFinal prints.
use_tlab() {
	sed -n 's/^ *bool UseTLAB *= \([a-z]*\).*/\1/p'
}

check_arm() {
	arm=$1 wanted=$2 state=$3
	shift 3
	about="alloc=$arm, $*"
	forget_records
	"$@" -XX:+PrintFlagsFinal -version >"$scratch/flags" 2>"$scratch/log" || fail "$about: exit status $?" "$scratch/log"
	expect "$about: UseTLAB" "$wanted" "$(use_tlab <"$scratch/flags")"
	find_record java
	expect_figure '"\(.allocation.choice) \(.allocation.tlab)"' "$arm $state"
	expect_figure '[.allocation.tunables[]] | all(. == null)' true
}

for arm in libc shared tlab; do
	case $arm in
	shared) wanted=false state=off ;;
	*) wanted=true state=on ;;
	esac
	check_arm "$arm" "$wanted" "$state" shimmed ABSHIM_ALLOC="$arm" ABSHIM_REPORT=none "$java"
	check_arm "$arm" "$wanted" "$state" abshim run -s alloc="$arm" -s report=none -- "$java"
	# A shell has the tunables, and its child gives them away again.
	# shellcheck disable=SC2016
	check_arm "$arm" "$wanted" "$state" abshim run -s alloc="$arm" -s report=none -- sh -c '"$0" "$@"; exit $?' "$java"
done

# What the user asks for stays, and stands before the arm's option.
shimmed ABSHIM_ALLOC=shared ABSHIM_REPORT=none JAVA_TOOL_OPTIONS=-Dsome=thing "$java" -version >"$scratch/log" 2>&1 ||
	fail "options: exit status $?" "$scratch/log"
grep -qx 'Picked up JAVA_TOOL_OPTIONS: -Dsome=thing -XX:-UseTLAB' "$scratch/log" || fail "options" "$scratch/log"

# An option that comes later wins: then the arm is not in force.
for how in "$java -XX:+UseTLAB" "env _JAVA_OPTIONS=-XX:+UseTLAB $java" "env JDK_JAVA_OPTIONS=-XX:+UseTLAB $java"; do
	# shellcheck disable=SC2086
	shimmed ABSHIM_ALLOC=shared ABSHIM_REPORT=none $how -version >"$scratch/log" 2>&1
	expect "$how: exit status" 78 $?
	grep -q "UseTLAB the other way" "$scratch/log" || fail "$how" "$scratch/log"
	grep -q "Runtime Environment" "$scratch/log" && fail "$how: it ran" "$scratch/log"
done

# Children: of the environment itself, and of a virtual machine that is left alone.
need javac
cat >"$scratch/Child.java" <<'END'
public class Child {
	public static void main(String[] command) throws Exception {
		System.out.println("own " + System.getenv("JAVA_TOOL_OPTIONS") + " " + System.getenv("GLIBC_TUNABLES"));
		System.out.flush();
		System.exit(new ProcessBuilder(command).inheritIO().start().waitFor());
	}
}
END
javac -d "$scratch" "$scratch/Child.java" || fail javac
shimmed ABSHIM_ALLOC=shared ABSHIM_REPORT=none "$java" -cp "$scratch" Child env >"$scratch/out" 2>"$scratch/log" ||
	fail "child: exit status $?" "$scratch/log"
expect "own environment" "own null null" "$(grep '^own ' "$scratch/out")"
expect "child's environment" "" "$(grep '^JAVA_TOOL_OPTIONS=' "$scratch/out")"
shimmed ABSHIM_ALLOC=shared ABSHIM_REPORT=none "$java" -cp "$scratch" Child \
	env -u ABSHIM_ALLOC "$java" -XX:+PrintFlagsFinal -version >"$scratch/out" 2>"$scratch/log" ||
	fail "child without an arm: exit status $?" "$scratch/log"
expect "child without an arm: UseTLAB" true "$(use_tlab <"$scratch/out")"
shimmed ABSHIM_ALLOC=shared ABSHIM_REPORT=none "$java" -cp "$scratch" Child \
	env ABSHIM_ALLOC=tlab "$java" -XX:+PrintFlagsFinal -version >"$scratch/out" 2>"$scratch/log" ||
	fail "child with another arm: exit status $?" "$scratch/log"
expect "child with another arm: UseTLAB" true "$(use_tlab <"$scratch/out")"
