# shellcheck shell=sh
# Sourced by the runners of tests.

# Whether TESTS, names or patterns, asks for the test named $1; all are asked for when it is empty.
wanted() {
	[ -n "${TESTS-}" ] || return 0
	for pattern in $TESTS; do
		# shellcheck disable=SC2254
		case $1 in $pattern) return 0 ;; esac
	done
	return 1
}

# The emulator's own allocator can hang in the forked child of a program with threads.
[ -z "${EMULATOR-}" ] || export G_SLICE=always-malloc
