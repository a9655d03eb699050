#!/bin/sh
# abshim audit takes files, directories, processes and commands, finds the libraries that the loader
# would map, never waits, and says by its exit status whether all was read. What it counts is the
# subject of other tests.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# audit ARGUMENTS...: in the other machine's system, where there is one.
audit() {
	abshim audit ${root:+--root "$root"} "$@"
}

# audited STATUS ARGUMENTS...: audits as JSON, which figure then reads.
audited() {
	wanted=$1
	shift
	audit --json "$@" >"$scratch/report.json" 2>"$scratch/err"
	expect "audit $*: exit status" "$wanted" $?
	expect "audit $*: message" "" "$(cat "$scratch/err")"
}

# refused MESSAGE ARGUMENTS...: ends with 125 and one line that has the message.
refused() {
	message=$1
	shift
	audit "$@" >"$scratch/out" 2>"$scratch/err"
	expect "audit $*: exit status" 125 $?
	expect "audit $*: output" "" "$(cat "$scratch/out")"
	expect "audit $*: lines of the message" 1 "$(wc -l <"$scratch/err")"
	grep -qF -- "$message" "$scratch/err" || fail "audit $*: the message" "$scratch/err"
}

check_usage() {
	refused "give files" --json
	refused "unknown option" --wrong /bin/true
	refused "must be a number" --top 0 /bin/true
	refused "needs a value" --top
	refused "no such directory" --root "$scratch/none" true
	audit --help | grep -q '^Usage: abshim audit' || fail "audit --help"
	audit "$library" >/dev/full 2>"$scratch/err"
	expect "a full disk: exit status" 125 $?
	grep -q 'No space left' "$scratch/err" || fail "a full disk" "$scratch/err"
}

# Every key has the type that it should have.
check_shape() {
	audited 0 "$library" "$BUILD/workloads/families"
	figure 'def counts: (.inline | type == "number") and (.outline | type == "number");
		.version == 1 and (.files | length > 2) and (.targets | length == 2) and
		([.files[] | (.path | type == "string") and (.machine | type == "string") and
			(.class == "ELF64") and (.static == false) and (.libc | type == "string") and
			(.stripped | type == "boolean") and (.lse | counts) and (.llsc | counts) and
			(.type | IN("exec", "pie", "shared")) and (.helpers | type == "number") and
			(.flag | . == null or . == "disagree" or startswith("0x")) and
			([.families[] | counts] | all) and
			([.reach | .switchable, .rewritable, .fixed | type == "number"] | all) and
			(.interposable.yes | type == "boolean") and (.interposable.why | type == "string") and
			(.method | IN("symbols", "shape", "segments")) and .complete == true and
			(.notes | type == "array")] | all)' >"$scratch/out"
	expect "the shape of the JSON" true "$(cat "$scratch/out")"
	expect_figure '.targets[0].kind' file
	expect_figure '.targets[1].kind' program
	expect_figure '.files[.targets[1].files[0]].path' "$BUILD/workloads/families"
	expect_figure '.files[.targets[1].files[0]].type' pie
	expect_figure '.files[1].interposable.imports | index("pthread_mutex_lock") != null' true
	expect_figure '[.targets[1] | .reach[], .locked] | add > 0' true
	# The sums are those of the rows.
	# shellcheck disable=SC2016
	expect_figure '. as $all | .targets[1] | .locked == ([.files[] | $all.files[.].locked] | add)' true
	# shellcheck disable=SC2016
	expect_figure '. as $all | .targets[1] | .reach.switchable ==
		([.files[] | $all.files[.].reach.switchable] | add)' true
}

# check_order: the table has the file with the most atomics first, and no more rows than asked for.
check_text() {
	audit --top 2 --families "$BUILD/workloads/families" >"$scratch/out" || fail "audit --top"
	expect "rows of the table" 2 "$(sed -n '/ kind  file$/,/^$/p' "$scratch/out" | tail -n +2 | grep -c .)"
	grep -q 'instruction$' "$scratch/out" || fail "no table of instructions" "$scratch/out"
	case $ARCH in
	aarch64) grep -q '^  LSE switch reaches .* % of .* atomic sites in .* for AArch64 (switchable ' "$scratch/out" ;;
	*) grep -q '^  x86-64 has no LSE switch: ' "$scratch/out" ;;
	esac || fail "no verdict" "$scratch/out"
	grep -q 'dlopen' "$scratch/out" || fail "nothing about plug-ins" "$scratch/out"
	audit --top 1000 "$BUILD/workloads/families" | sed -n '/ kind  file$/,/^$/p' |
		awk 'NR > 1 && NF { gsub(/,/, ""); print $1 }' >"$scratch/counts"
	expect "the order of the table" "$(sort -nr "$scratch/counts")" "$(cat "$scratch/counts")"
}

# What cannot be read is a row and exit status 2, at once, and the others are there.
check_unreadable() {
	mkfifo "$scratch/fifo"
	: >"$scratch/empty"
	printf 'words' >"$scratch/words"
	audited 2 "$scratch/fifo" /dev/null "$scratch/empty" "$scratch/words" "$scratch/gone/file" \
		no-such-command "$library"
	expect_figure '[.files[] | select(.type == "refused" and (.complete | not))] | length' 6
	expect_figure '[.files[] | select(.type == "refused") | .notes | length > 0] | all' true
	expect_figure '.files[0].notes[0]' "a FIFO"
	expect_figure '.files[1].notes[0]' "a device"
	expect_figure '.files[4].notes[0]' "No such file or directory"
	expect_figure '.files[5].notes[0]' "neither a file nor a command on PATH"
	expect_figure '.files[6].type' shared
	expect_figure '[.targets[].complete]|tostring' "[false,false,false,false,false,false,true]"
	head -c 3000 "$library" >"$scratch/cut.so"
	audited 2 "$scratch/cut.so"
}

check_directory() {
	mkdir -p "$scratch/tree/below/deep"
	cp "$library" "$scratch/tree/below/deep/a.so"
	cp "$BUILD/workloads/families" "$scratch/tree/program"
	ln -s ../program "$scratch/tree/below/link"
	ln -s . "$scratch/tree/loop"
	mkfifo "$scratch/tree/fifo"
	echo text >"$scratch/tree/text"
	audited 0 "$scratch/tree"
	expect_figure '[.files[].path | sub(".*/tree/"; "")] | sort | join(" ")' "below/deep/a.so program"
	expect_figure '.targets[0].kind' directory
	expect_figure '.targets[0].notes[0] | startswith("left out: 4 other files")' true
	mkdir "$scratch/nothing"
	audited 0 "$scratch/nothing"
	expect_figure '.targets[0].notes[0]' "there is no ELF file or archive in it"
	[ "$(id -u)" != 0 ] || return 0
	chmod 0 "$scratch/tree/below"
	audited 2 "$scratch/tree"
	chmod 700 "$scratch/tree/below"
}

# Names steer no terminal, and are whole in JSON.
check_names() {
	hostile=$scratch/$(printf 'a\033[31m\nb\200\302\205')
	cp "$library" "$hostile"
	audit "$hostile" >"$scratch/out" || fail "a hostile name"
	! LC_ALL=C grep -q "$(printf '[\033\200\302]')" "$scratch/out" || fail "bytes of a name" "$scratch/out"
	grep -qF '\x1b[31m\x0ab\x80\xc2\x85' "$scratch/out" || fail "a name escaped" "$scratch/out"
	audited 0 "$hostile"
	expect_figure '.files[0].path | contains("\u001b[31m\nb\ufffd\u0085")' true
	rm "$hostile"
	long=$scratch/$(printf '%0200d' 0)/$(printf '%0200d' 0)
	mkdir -p "$long"
	cp "$library" "$long/libend.so"
	audit "$long" >"$scratch/out"
	expect "the width of a table" 0 "$(grep '[.][.]0*/libend.so$' "$scratch/out" | grep -c '.\{101\}')"
	grep -q '[.][.]0*/libend.so$' "$scratch/out" || fail "a long name cut at its front" "$scratch/out"
}

check_scripts() {
	[ -e "$root/bin/sh" ] || return 0
	printf '#!/bin/sh\n' >"$scratch/script"
	printf '#!/usr/bin/env -S A=b sh -e\n' >"$scratch/by_env"
	printf '#!%s\n' "$scratch/script" >"$scratch/nested"
	printf '#!%s/none\n' "$scratch" >"$scratch/broken"
	chmod +x "$scratch/script" "$scratch/by_env" "$scratch/nested"
	for script in script by_env nested; do
		audit --json "$scratch/$script" >"$scratch/report.json"
		expect "$script: exit status" 0 $?
		expect_figure '.targets[0].kind' program
		expect_figure '.files[0].path | endswith("/sh") or endswith("bash")' true
		expect_figure '.targets[0].notes[0] | contains("is a script")' true
	done
	audited 2 "$scratch/broken"
	expect_figure '.targets[0].notes[0] | endswith("which is not there")' true
}

# interposition FILE: of its row, as YES WHY.
interposition() {
	audit --json "$1" | jq -r '.files[0].interposable | "\(.yes) \(.why)"'
}

# expect_barred WHAT FILE WHY: no preload gets in.
expect_barred() {
	interposition "$2" | grep -q "^false $3" || fail "$1: $(interposition "$2")"
	audit "$2" | grep -q '^  libabshim.so cannot get in: ' || fail "$1: no verdict"
}

check_preloads() {
	cp "$BUILD/workloads/families" "$scratch/program"
	chmod u+s "$scratch/program"
	expect_barred "a set-user-ID program" "$scratch/program" "set-user-ID"
	chmod u-s,g+s "$scratch/program"
	expect_barred "a set-group-ID program" "$scratch/program" "set-group-ID"
	chmod g-s "$scratch/program"
	expect "a plain program" true "$(interposition "$scratch/program" | cut -d ' ' -f 1)"
	if setcap cap_net_raw+ep "$scratch/program" 2>/dev/null; then
		expect_barred "a program with capabilities" "$scratch/program" "has file capabilities"
	fi
	interposition "$BUILD/workloads/own_malloc" | grep -q 'malloc of its own' ||
		fail "a malloc of its own: $(interposition "$BUILD/workloads/own_malloc")"
	interposition "$BUILD/workloads/plugins" | grep -q 'RTLD_DEEPBIND' ||
		fail "a program that opens libraries: $(interposition "$BUILD/workloads/plugins")"
}

# What needs a compiler for this machine.
check_compiled() {
	command -v gcc >/dev/null && [ -z "$EMULATOR" ] || return 0
	echo 'int main(void) { return 0; }' >"$scratch/main.c"
	if gcc -static -o "$scratch/static" "$scratch/main.c" 2>"$scratch/err"; then
		expect_barred "a static program" "$scratch/static" "statically linked"
		audited 0 "$scratch/static"
		expect_figure '.files | length' 1
	fi
	if command -v musl-gcc >/dev/null && musl-gcc -o "$scratch/musl" "$scratch/main.c"; then
		expect_barred "a program of musl" "$scratch/musl" "linked with musl"
		audited 0 "$scratch/musl"
		expect_figure '[.files[].path] | length == 2 and (.[1] | contains("ld-musl"))' true
	fi
	cat >"$scratch/own.c" <<-'END'
		int pthread_mutex_lock(void *mutex) { return mutex != 0; }
		int main(void) { return pthread_mutex_lock(0); }
	END
	gcc -o "$scratch/own" "$scratch/own.c" || fail "gcc"
	case $(interposition "$scratch/own") in
	"false pthread_mutex_lock: its own"*) ;;
	*) fail "a lock of its own: $(interposition "$scratch/own")" ;;
	esac
	gcc -shared -fPIC -o "$scratch/libown.so" "$scratch/own.c" || fail "gcc -shared"
	case $(interposition "$scratch/libown.so") in
	"true pthread_mutex_lock: its own, which a preload comes before"*) ;;
	*) fail "a library's own lock: $(interposition "$scratch/libown.so")" ;;
	esac
	gcc -shared -fPIC -Wl,-Bsymbolic -o "$scratch/libown.so" "$scratch/own.c" || fail "gcc -Bsymbolic"
	case $(interposition "$scratch/libown.so") in
	"false pthread_mutex_lock: its own, to which it is bound"*) ;;
	*) fail "a library bound to its own lock: $(interposition "$scratch/libown.so")" ;;
	esac
	gcc -c -o "$scratch/own.o" "$scratch/own.c" || fail "gcc -c"
	ar rc "$scratch/own.a" "$scratch/own.o" || fail "ar"
	audited 0 "$scratch/own.o" "$scratch/own.a"
	expect_figure '[.files[].type] | tostring' '["relocatable","relocatable"]'
	expect_figure '.files[1].path' "$scratch/own.a(own.o)"
	expect_figure '.files[1].interposable.why' "it is not linked yet"
}

# A program that runs: what it has mapped, libraries that it opened and files that are gone too.
check_process() {
	[ -z "$EMULATOR" ] || return 0
	cp "$BUILD/workloads/plugins" "$scratch/plugins"
	cp "$(command -v sleep)" "$scratch/sleep"
	"$scratch/sleep" 60 &
	process=$!
	servers="$servers $process"
	tries=200
	until readlink "/proc/$process/exe" | grep -q "$scratch/sleep" || [ $((tries -= 1)) = 0 ]; do
		sleep 0.05
	done
	audited 0 $process
	expect_figure '.targets[0].kind' process
	awk '$2 ~ /x/ && $6 ~ /^\// { print $6 }' /proc/$process/maps | sort -u >"$scratch/wanted"
	figure '.files[].path' | sort -u >"$scratch/found"
	cmp -s "$scratch/wanted" "$scratch/found" || fail "what is mapped" "$scratch/wanted" "$scratch/found"
	rm "$scratch/sleep"
	audit --json $process >"$scratch/report.json"
	if ls -lL "/proc/$process/map_files" >/dev/null 2>&1; then
		expect_figure ".files[] | select(.path == \"$scratch/sleep\") | .complete" true
		expect_figure '[.targets[0].notes[] | contains("has been deleted")] | any' true
	else
		expect_figure ".files[] | select(.path == \"$scratch/sleep\") | .type" refused
	fi
	kill -KILL $process
	wait $process 2>/dev/null
	servers=
	audited 2 $process
	expect_figure '.files[0].notes[0]' "no such process"
	audited 2 99999999999999999999
}

check_usage
check_shape
check_text
check_unreadable
check_directory
check_names
check_scripts
check_preloads
check_compiled
check_process
