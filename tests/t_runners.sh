#!/bin/sh
# The runner of test programs says at its end what failed and why, so that who reads the last lines
# alone knows; a program that hangs is ended, and the last test that it had done is named.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh

mkdir -p "$scratch/build/tests"

# program NAME: a test program, from standard input.
program() {
	{
		echo "#!/bin/sh"
		cat
	} >"$scratch/build/tests/$1"
	chmod +x "$scratch/build/tests/$1"
}

# run_programs STATUS: the programs that have been made.
run_programs() {
	TESTS=$(ls "$scratch/build/tests") BUILD=$scratch/build EMULATOR='' SAN='' PROGRAM_SECONDS=${program_seconds-60} \
		scripts/run-programs >"$scratch/out" 2>&1
	expect "exit status" "$1" $?
}

# ends LINES: the output's last lines are these.
ends() {
	tail -n "$(echo "$1" | wc -l)" "$scratch/out" >"$scratch/end"
	echo "$1" | cmp -s - "$scratch/end" || fail "wanted at the end: $1" "$scratch/end"
}

echo 'echo fine' | program check_hold
run_programs 0
grep -qx fine "$scratch/out" || fail "the output is not shown" "$scratch/out"

program check_conds <<'END'
echo "50%: Checks: 2, Failures: 1, Errors: 0"
echo "tests/check_conds.c:10:F:case:first:0: 1 is not 2"
exit 1
END
program check_entry <<'END'
seq 100
exit 3
END
echo 'echo no such kernel; exit 77' | program check_created
run_programs 1
grep -qx "skip check_created: it says why above" "$scratch/out" || fail "no skip" "$scratch/out"
ends "FAIL check_conds (exit status 1)
     | tests/check_conds.c:10:F:case:first:0: 1 is not 2
FAIL check_entry (exit status 3)
$(seq 81 100 | sed 's/^/     | /')
failed test programs (exit status): check_conds(1) check_entry(3)"

rm "$scratch/build/tests"/*
program check_once <<'END'
echo "tests/check_once.c:4:P:case:first:0: Passed" >"$CK_LOG_FILE_NAME"
exec sleep 60
END
program_seconds=1
run_programs 1
ends "FAIL check_once (exit status 124)
     | (ended after 1 s; the last tests that had ended:)
     | tests/check_once.c:4:P:case:first:0: Passed
failed test programs (exit status): check_once(124)"
