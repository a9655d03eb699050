#!/bin/sh
# A process ends in every way there is: status and output stay, a record with the exact counts
# exists, and a report comes out wherever the process sees its end.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/ends.sh

settings="ABSHIM_MUTEX=yield:5"
ends() {
	expect_end "$2" "$BUILD/workloads/ends" "$1"
}

ends return "ended exit 3 1000 reported"
ends exit "ended exit 4 1000 reported"
ends _exit "ended _exit 5 1000 reported"
ends _Exit "ended _exit 6 1000 reported"
ends quick_exit "ended quick_exit 7 1000 reported"
ends destructor "ended exit 8 1050 reported"
ends in-handler "ended _exit 9 1000 reported"
ends abort "ended abort - 1000 reported"
ends abort-ignored "ended abort - 1000 reported"
ends abort-survived "ended exit 10 1010 reported"
ends abort-left "ended _exit 11 1000 reported"
ends in-signal "ended _exit 11 1000 reported"
ends crash "unseen none - 1000"
ends kill "unseen none - 1000"
ends last-thread "ended exit 0 1020 reported"
ends other-thread "ended exit 12 1000 reported"
ends while-blocked "ended exit 13 1001 reported"
ends twice "ended _exit 14 1000 reported"
ends exit_group "ended _exit 15 1000 reported"
ends raw-exit "unseen none - 1000"
ends nothing ""

finish
