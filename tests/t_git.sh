#!/bin/sh
# git, with threads that search, compress and index, and with processes that it starts for parts of
# the work, does what it does without the library; each process is accounted for by itself.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
find_program git

files=150
repository=$scratch/repository
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_DIR="$repository/.git"
export GIT_WORK_TREE="$repository" HOME="$scratch" TZ=UTC
export GIT_AUTHOR_NAME=nobody GIT_AUTHOR_EMAIL=nobody@localhost
export GIT_AUTHOR_DATE="1000000000 +0000" GIT_COMMITTER_DATE="1000000000 +0000"
export GIT_COMMITTER_NAME=nobody GIT_COMMITTER_EMAIL=nobody@localhost

# git ARGUMENTS...: without the library.
git() {
	plain "$program" "$@" 2>"$scratch/errors" || fail "git $1" "$scratch/errors"
}

# Two commits, and all of them in the pack $scratch/all.pack.
make_repository() {
	git init -q -b master "$repository"
	for step in 2 3; do
		for file in $(seq $files); do
			seq "$file" $step 4000 >>"$repository/$file"
		done
		git -C "$repository" add .
		git -C "$repository" commit -q -m "by $step"
	done
	git rev-list --objects --all >"$scratch/objects"
	git pack-objects -q --stdout <"$scratch/objects" >"$scratch/all.pack"
}

# expect_accounted THREADS: every process ended well, and one of them had so many threads. Those that
# took no mutex leave no record.
expect_accounted() {
	most=0 sum=0
	for record in "$ABSHIM_DIR"/*.abshim; do
		[ -e "$record" ] || continue
		read_report "$record"
		expect_figure '"\(.process.state) \(.process.exit_status // 0)" |
			IN("ended 0", "replaced 0")' true
		expect_figure '.totals.mutex.lost + .trust.threads_lost' 0
		expect_figure .settings.mutex "$mutex"
		created=$(figure .process.threads_created)
		[ "$created" -le "$most" ] || most=$created
		sum=$((sum + $(figure .totals.mutex.acquired)))
	done
	expect "$about: threads" "$1" "$most"
	[ "$1" = 0 ] || [ $sum -gt $files ] || fail "$about: only $sum mutexes acquired"
}

# try THREADS ARGUMENTS...: runs git with and without the library, and compares what it printed and
# what outcome_of COMMAND prints then.
try() {
	threads=$1
	command=$2
	shift 2
	set -- -c checkout.workers=3 -c checkout.thresholdForParallelism=1 "$command" "$@"
	about="git $command without the library"
	plain "$program" "$@" <"$scratch/input" >"$scratch/plain" 2>"$scratch/errors" ||
		fail "$about" "$scratch/errors"
	outcome_of "$command" "$scratch/plain" >"$scratch/plain.outcome"
	[ -s "$scratch/plain.outcome" ] || fail "$about: nothing came of it"
	for mutex in glibc yield:30; do
		about="git $command, mutex=$mutex"
		undo "$command"
		forget_records
		shimmed ABSHIM_MUTEX=$mutex ABSHIM_REPORT=none "$program" "$@" \
			<"$scratch/input" >"$scratch/shim" 2>"$scratch/errors" ||
			fail "$about: exit status $?" "$scratch/errors"
		outcome_of "$command" "$scratch/shim" >"$scratch/shim.outcome"
		expect_same "$about: outcome" "$scratch/plain.outcome" "$scratch/shim.outcome"
		expect_accounted "$threads"
	done
}

# Which thread compresses an object against which other is chance: the objects are not.
outcome_of() {
	case $1 in
	pack-objects)
		git index-pack --stdin --fix-thin <"$2" >"$scratch/name"
		set -- "$GIT_DIR/objects/pack/pack-$(cut -f 2 "$scratch/name")"
		git show-index <"$1.idx" | cut -d ' ' -f 2 | sort
		rm -f "$1".*
		;;
	checkout) (cd "$repository" && sha256sum -- *) ;;
	index-pack) cat "$2" && sha256sum <"$scratch/all.idx" ;;
	repack) git count-objects -v | grep -v size && git fsck --full 2>&1 ;;
	*) cat "$2" ;;
	esac
}

undo() {
	case $1 in
	checkout) git checkout -q -f master ;;
	index-pack) rm -f "$scratch/all.idx" ;;
	esac
}

make_repository
: >"$scratch/input"
try 4 grep --threads=4 -n '39$'
[ "$(wc -l <"$scratch/shim")" -gt $files ] || fail "git grep finds too little" "$scratch/shim"
try 4 index-pack --threads=4 -o "$scratch/all.idx" "$scratch/all.pack"
try 0 checkout -q HEAD~1
try 4 repack -a -d -f -q --threads=4
try 0 fsck --full --root
cp "$scratch/objects" "$scratch/input"
try 4 pack-objects -q --threads=4 --stdout --no-reuse-delta
