#!/bin/sh
# Programs that have nothing to do with contention: compressors with threads make the same files,
# and small tools and a shell script under an exported preload say nothing and leave nothing.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq

# None of these acquires a mutex.
for tool in sha256sum "wc -l" "stat -c %s"; do
	find_program "${tool%% *}"
	# shellcheck disable=SC2086
	plain "${program%/*}"/$tool tests/lib.sh >"$scratch/plain" 2>&1 || fail "$tool itself"
	# shellcheck disable=SC2086
	shimmed ABSHIM_MUTEX=yield "${program%/*}"/$tool tests/lib.sh >"$scratch/shim" 2>&1 ||
		fail "$tool: exit status $?" "$scratch/shim"
	expect_same "$tool: output" "$scratch/plain" "$scratch/shim"
	expect "$tool: records" "" "$(ls "$ABSHIM_DIR")"
done
[ -z "$EMULATOR" ] || exit 0

need pigz xz zstd
data=$scratch/data
cat loader/*.c shim/*.c probes/*.c >"$data"
cat "$data" "$data" "$data" "$data" >"$data.4"
cat "$data.4" "$data.4" >"$data"

# compress PROGRAM ARGUMENTS...: reads $data.
compress() {
	about=$1
	forget_records
	plain "$@" <"$data" >"$scratch/plain" 2>"$scratch/errors" ||
		fail "$about: exit status $?" "$scratch/errors"
	shimmed ABSHIM_MUTEX=yield ABSHIM_REPORT="$scratch/report" "$@" \
		<"$data" >"$scratch/shim" 2>"$scratch/errors" ||
		fail "$about: exit status $?" "$scratch/errors"
	expect_same "$about: the file" "$scratch/plain" "$scratch/shim"
	find_record "$about"
	expect_figure '.totals.mutex.acquired > 0' true
	grep -q "^abshim: $about" "$scratch/report" || fail "$about: no report" "$scratch/errors"
	rm "$scratch/report"
}

compress pigz -n -c -p 4 -b 32
compress xz -c -1 -T 4 --block-size=65536
compress zstd -c -q -T4 -B65536

# Nor does any of these.
# shellcheck disable=SC2016
script='
	set -e
	echo "$(printf %s one two | tr n N)"
	mkdir d && cd d && touch a b && ls && cp a c && mv b e && rm -r ../d
	seq 10 | sed -n 3p | tee /dev/null | cat
	true && ! false
	(exit 3) || echo "left with $?"
	sleep 0.01 & wait
	find /etc/hostname /etc/passwd | head -n 1
	exec env false
'
quiet() {
	rm -rf "$scratch/empty"
	mkdir "$scratch/empty"
	(cd "$scratch/empty" && "$@" sh -c "$script") >"$scratch/out" 2>&1
	expect "the script: exit status" 1 $?
}

forget_records
quiet plain
mv "$scratch/out" "$scratch/plain"
quiet shimmed ABSHIM_MUTEX=yield
expect_same "the script: output" "$scratch/plain" "$scratch/out"
expect "the script: records" "" "$(ls "$ABSHIM_DIR")"
