#!/bin/sh
# What make install leaves works from where it is: the command finds its library in ../lib and the
# library its report in ../bin, man finds the pages, bash and zsh complete. make uninstall takes all
# of it away.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq make kccachetest
[ -z "$EMULATOR" ] || skip "what an emulated abshim starts would not be emulated"

prefix=$scratch/root/usr/local
bin=$prefix/bin lib=$prefix/lib share=$prefix/share

# make_target TARGET: into $prefix, without compiling.
make_target() {
	make -s -o all "$1" DESTDIR="$scratch/root" PREFIX=/usr/local ARCH="$ARCH" BUILD="$BUILD" \
		>"$scratch/make" 2>&1 || fail "make $1" "$scratch/make"
}

# check_report WHAT: of kccachetest's report on standard error.
check_report() {
	about=$1
	grep -q '^abshim: kccachetest' "$scratch/err" || fail "$about: no report" "$scratch/err"
	grep -q 'acquired *300,128 ' "$scratch/err" || fail "$about: the count" "$scratch/err"
	find_record kccachetest
	expect_figure .process.library "$lib/libabshim.so"
	expect_figure .trust.reported true
	forget_records
}

# run_installed WHAT COMMAND...: from another folder, by a command line that ends in kccachetest's.
run_installed() {
	about=$1
	shift
	(cd / && timeout "$seconds" "$@" kccachetest order -th 4 25000) >"$scratch/out" 2>"$scratch/err" ||
		fail "$about: exit status $?" "$scratch/err"
	check_report "$about"
}

check_man() {
	command -v man >/dev/null || return 0
	for page in abshim.1 libabshim.7 abshim-json.5; do
		man -M "$share/man" -w "${page#*.}" "${page%.*}" >"$scratch/out" 2>"$scratch/err"
		expect "man -w $page" "$share/man/man${page#*.}/$page" "$(cat "$scratch/out")"
		MANWIDTH=80 man -M "$share/man" "${page#*.}" "${page%.*}" >"$scratch/out" 2>"$scratch/err" ||
			fail "man $page" "$scratch/err"
		grep -qi "^NAME" "$scratch/out" || fail "man $page shows no page" "$scratch/out"
	done
}

# bash_completes LINE: what bash would offer, sorted, in one line.
bash_completes() {
	PATH=$bin:$PATH bash --norc -c '
		[ -z "$2" ] || . "$2"
		. "$3"
		COMP_LINE=$1 COMP_POINT=${#1}
		read -ra COMP_WORDS <<<"${1//[=:]/ & }"
		[[ $1 != *[\ =:] ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		$(complete -p abshim | sed "s/.*-F \([^ ]*\).*/\1/") abshim
		printf "%s\n" "${COMPREPLY[@]}"' bash "$1" "$bash_completion" \
		"$share/bash-completion/completions/abshim" 2>"$scratch/err" | sort | paste -s -d ' '
}

# zsh_completes LINE: the same of zsh, which runs in a terminal of its own.
zsh_completes() {
	: >"$scratch/zsh/offered"
	LINE=$1 OFFERED=$scratch/zsh/offered FUNCTIONS=$share/zsh/site-functions ZDOTDIR=$scratch/zsh \
		PATH=$bin:$PATH timeout "$seconds" zsh -f "$scratch/zsh/drive" 2>"$scratch/err"
	sort -u "$scratch/zsh/offered" | paste -s -d ' '
}

# One shell drives another, which writes down all that is offered, and ends by control-X.
prepare_zsh() {
	mkdir "$scratch/zsh"
	cat >"$scratch/zsh/drive" <<'END'
zmodload zsh/zpty || exit
zpty shell zsh -i
zpty -w -n shell "$LINE"$'\t\x18'
while zpty -r shell output; do :; done
END
	cat >"$scratch/zsh/.zshrc" <<'END'
PROMPT= fpath=($FUNCTIONS $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {
	local -a offered
	if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		builtin compadd -O offered "$@"
		((! $#offered)) || print -lr -- $offered >>$OFFERED
	fi
	builtin compadd "$@"
}
finish() { exit }
zle -N finish && bindkey '^X' finish
END
}

# check_completion SHELL: keys end in = in bash's replies alone.
check_completion() {
	shell=$1
	keys=$("$bin/abshim" list --json | jq -r '.variables[].key | select(. != null)')
	strategies=$("$bin/abshim" list --json |
		jq -r '.strategies[] | select(."for" == null or (."for" | test("mutex"))) | .name')
	[ "$shell" = zsh ] || keys=$(echo "$keys" | sed 's/$/=/')
	subcommands=$("$bin/abshim" --help | sed -n 's/^  abshim \([a-z]*\) .*/\1/p')
	completes "abshim " "--help --version $(echo "$subcommands" | sort | paste -s -d ' ')"
	completes "abshim rep" "report"
	completes "abshim list -" "--help --json"
	completes "abshim run --rep" "--report"
	completes "abshim run -s " "$(echo "$keys" | sort | paste -s -d ' ')"
	completes "abshim run -s mutex=" "$(echo "$strategies" | sort | paste -s -d ' ')"
	completes "abshim run -s stats=o" "off on"
	completes "abshim run -s mutex=park -s mutex=ad" adaptive
	completes "abshim run -- kccachete" kccachetest
	completes "abshim run -s mutex=park kccachete" kccachetest
	completes "abshim report --top " ""
	completes "abshim report --by t" "thread type"
	completes "abshim report $scratch/recor" "$record_word"
	completes "abshim compare --stu" "--student"
	completes "abshim compare --convention " "classic freebsd"
	completes "abshim compare --metric " ""
	completes "abshim compare --as hyper" hyperfine
	completes "abshim compare $scratch/recor" "$record_word"
	completes "abshim compare -a $scratch/recor" "$record_word"
	completes "abshim nonsense -" ""
}

completes() {
	expect "$shell on '$1'" "$2" "$("${shell}_completes" "$1")"
}

make_target install
run_installed "abshim run" "$bin/abshim" run -s mutex=yield:30 --
mkdir "$scratch/path"
ln -s "$bin/abshim" "$scratch/path/abshim"
run_installed "abshim run by a link" env PATH="$scratch/path:$PATH" abshim run --
run_installed LD_PRELOAD env LD_PRELOAD="$lib/libabshim.so"
check_man
: >"$scratch/record"
record_word=$scratch/record
if command -v bash >/dev/null; then
	bash_completion=
	check_completion bash
	bash_completion=/usr/share/bash-completion/bash_completion
	[ ! -e $bash_completion ] || check_completion bash
fi
if command -v zsh >/dev/null; then
	zsh -n "$share/zsh/site-functions/_abshim" || fail "zsh -n"
	prepare_zsh
	record_word=record # the part behind the folder
	check_completion zsh
fi
make_target uninstall
expect "left behind" "" "$(find "$scratch/root" ! -type d)"
