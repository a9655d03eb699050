#!/bin/sh
# Children of every kind have a record of their own with exact counts, and leave their parent's
# alone; a program that is replaced leaves its record behind.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/ends.sh

children() {
	lines=$1
	shift
	expect_end "$lines" "$BUILD/workloads/ends_children" "$@"
}

parent="ended exit 3 1000 reported"
longer_parent="ended exit 3 1007 reported"
forked="ended exit 5 50 forked reported"
program="ended exit 5 50 reported"

children "$longer_parent
$forked" fork
children "$longer_parent
$forked" _Fork
children "$longer_parent
$forked" clone-call
children "$longer_parent
$forked" fork-in-thread
children "$parent" idle-fork
children "$parent
unseen none - 50 forked" killed-fork
children "ended _exit 0 50 forked reported
$parent
ended exit 4 60 forked reported" two-forks
children "$longer_parent" vfork-exit
children "$longer_parent" vfork-failing-exec
children "ended daemon 0 1000 reported
ended exit 4 50 forked reported" daemon
children "ended daemon 0 1000 reported
ended exit 4 50 forked" detached-daemon

forms="execve execv execvp execvpe execl execle execlp fexecve execveat syscall"
for form in $forms; do
	children "ended exit 8 1007 reported" exec-failing "$form"
	children "ended exit 8 7 reported" exec-idle-failing "$form"
done

# The kernel executes programs for another machine only where it has been taught an emulator.
if [ -z "$EMULATOR" ]; then
	children "$longer_parent
$program" vfork-exec
	children "$parent
$program" spawn
	children "$parent
$program" system
	children "$parent
$program" popen
	for form in $forms; do
		children "$program
replaced exec - 1000" exec "$form"
		children "$program" exec-idle "$form"
	done
fi

finish
