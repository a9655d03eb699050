#!/bin/sh
# make deb: the package is whole by Debian's own tools; in a system of essential packages it does
# not configure without what it needs, and with that it installs, runs and goes again.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need make jq dpkg-deb dpkg-shlibdeps readelf
project=$PWD

# make_deb: from what has been built; sets $package.
make_deb() {
	make -s -o all deb ARCH="$ARCH" BUILD="$BUILD" >"$scratch/make" 2>&1 ||
		fail "make deb" "$scratch/make"
	package=$(tail -n 1 "$scratch/make")
}

# field NAME: of the package's control file.
field() {
	dpkg-deb --field "$package" "$1"
}

check_control() {
	expect "version" "abshim $(field Version)" "$(abshim --version)"
	expect "file" "abshim_$(field Version)_$(field Architecture).deb" "$(basename "$package")"
	case $ARCH in
	x86_64) expect "architecture" amd64 "$(field Architecture)" ;;
	aarch64) expect "architecture" arm64 "$(field Architecture)" ;;
	esac
	expect "recommended" libunwind8 "$(field Recommends)"
	for soname in $(needed_libraries); do
		provider=$(dpkg -S "*lib/$(uname -m)-linux-gnu/$soname" | head -n 1 | cut -d : -f 1)
		field Depends | tr ',' '\n' | grep -q "^ *$provider\( \|$\)" ||
			fail "$soname is in $provider, which is not in Depends: $(field Depends)"
	done
}

# The loader is part of libc's package.
needed_libraries() {
	readelf -d "$BUILD/abshim" "$BUILD/libabshim.so" |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-' | sort -u
}

check_contents() {
	dpkg-deb --contents "$package" >"$scratch/contents" || fail "dpkg-deb --contents"
	expect "not root's" "" "$(awk '$2 != "root/root"' "$scratch/contents")"
	expect "modes" "-rw-r--r-- -rwxr-xr-x drwxr-xr-x" "$(cut -d ' ' -f 1 "$scratch/contents" | sort -u | xargs)"
	expect "executable" ./usr/bin/abshim "$(awk '/^-rwx/ { print $6 }' "$scratch/contents")"
	documents=share/doc/abshim
	for file in bin/abshim lib/libabshim.so lib/libabshim-alloc.so share/man/man1/abshim.1.gz share/man/man7/libabshim.7.gz \
		share/man/man5/abshim-json.5.gz share/bash-completion/completions/abshim \
		share/zsh/vendor-completions/_abshim share/lintian/overrides/abshim \
		$documents/copyright $documents/changelog.gz $documents/README.md; do
		echo "usr/$file"
	done | sort >"$scratch/wanted"
	dpkg-deb -x "$package" "$scratch/unpacked" || fail "dpkg-deb -x"
	dpkg-deb -e "$package" "$scratch/control" || fail "dpkg-deb -e"
	(cd "$scratch/unpacked" && find usr -type f) | sort >"$scratch/found"
	expect "files" "$(cat "$scratch/wanted")" "$(cat "$scratch/found")"
	(cd "$scratch/unpacked" && md5sum --quiet -c "$scratch/control/md5sums") || fail "md5sums"
	expect "files in md5sums" "$(cat "$scratch/found")" "$(sed 's/^[^ ]*  //' "$scratch/control/md5sums" | sort)"
	zcat "$scratch/unpacked/usr/$documents/changelog.gz" | head -n 1 |
		grep -q "^abshim ($(field Version)) " || fail "changelog"
	sed -n 's/^Copyright (c) /Copyright: /p' LICENSE >"$scratch/holder"
	grep -qxFf "$scratch/holder" "$scratch/unpacked/usr/$documents/copyright" || fail "copyright"
}

# The maintainer's address is that of who builds, on a machine that may have no full name.
check_policy() {
	command -v lintian >/dev/null || return 0
	as_root=
	[ "$(id -u)" != 0 ] || as_root=--allow-root
	lintian --no-cfg $as_root --fail-on error,warning \
		--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$package" \
		>"$scratch/lintian" 2>&1 || fail "lintian" "$scratch/lintian"
}

# inside COMMAND...: in the clean system.
inside() {
	timeout -k 5 "$seconds" "$project/scripts/in-root" "$system" "$@" >"$scratch/out" 2>"$scratch/err"
}

# works COMMAND...: inside, with success.
works() {
	inside "$@" || fail "$*: exit status $?" "$scratch/err" "$scratch/out"
}

list_files() {
	find "$system" \( -path "$system/var/lib/dpkg" -o -path "$system/var/log" -o -path "$system/tmp" \
		-o -path "$system/var/cache/ldconfig" \) -prune -o -print | sort
}

install_it() {
	inside dpkg --install /tmp/abshim.deb && fail "installed without what it depends on" "$scratch/out"
	grep -q 'abshim depends on libdw1' "$scratch/err" || fail "no word of libdw1" "$scratch/err"
	works dpkg --purge abshim
	# shellcheck disable=SC2016
	works sh -c 'dpkg --install $(ls /var/cache/apt/archives/*.deb | grep -v libunwind)'
	list_files >"$scratch/before"
	works dpkg --install /tmp/abshim.deb
	# shellcheck disable=SC2016
	works dpkg-query --show --showformat '${Status}' abshim
	expect "status" "install ok installed" "$(cat "$scratch/out")"
	works dpkg --verify abshim
	expect "changed files" "" "$(cat "$scratch/out")"
}

run_it() {
	works abshim --version
	expect "version" "abshim $(field Version)" "$(cat "$scratch/out")"
	works abshim list
	grep -q '^  ABSHIM_MUTEX=' "$scratch/out" || fail "abshim list" "$scratch/out"
	works abshim run -- sh -c true
	expect "output of true" "" "$(cat "$scratch/out")"
	works abshim run -s mutex=yield:30 -s report=/tmp/report.json -- /tmp/threads live 80
	expect "output" "acquired 8001, ended 80" "$(cat "$scratch/out")"
	cp "$system/tmp/report.json" "$scratch/report.json"
	expect_figure .totals.mutex.acquired 8001
	expect_figure .settings.mutex yield:30
	refuses_stacks
	works sh -c 'dpkg --install /var/cache/apt/archives/libunwind8_*.deb'
	works abshim run -s stacks=8 -s report=/tmp/stacks.json -- /tmp/selectkey
	cp "$system/tmp/stacks.json" "$scratch/report.json"
	expect_figure '.stacks | length > 0' true
	works env LD_PRELOAD=libabshim.so /tmp/threads live 80
	grep -q '^abshim: threads, pid' "$scratch/err" || fail "no report by name of the library" "$scratch/err"
}

# What the package only recommends is missed in one line by what needs it.
refuses_stacks() {
	inside abshim run -s stacks=8 -- true
	expect "status without libunwind" 78 $?
	grep -q 'install the package libunwind8' "$scratch/err" || fail "no word of libunwind8" "$scratch/err"
}

remove_it() {
	works dpkg --purge abshim libunwind8
	list_files >"$scratch/after"
	cmp -s "$scratch/before" "$scratch/after" ||
		fail "left behind: $(diff "$scratch/before" "$scratch/after")"
	inside dpkg-query --show abshim && fail "dpkg still knows the package"
	return 0
}

export SOURCE_DATE_EPOCH=1750000000
make_deb
cp "$package" "$scratch/first"
make_deb
cmp -s "$scratch/first" "$package" || fail "the package is another one when it is made again"
check_control
check_contents
check_policy

[ -z "$EMULATOR" ] || skip "the package is whole, but another machine's is not installed here"
[ -e build/sysroot-clean/.complete ] || skip "the package is whole, but build/sysroot-clean is missing"
system=$scratch/system
scripts/in-root / true 2>"$scratch/err" || skip "the package is whole, but $(cat "$scratch/err")"
mkdir "$system"
cp -a --reflink=auto build/sysroot-clean/. "$system" || fail "cp"
cp "$package" "$system/tmp/abshim.deb"
cp "$BUILD/workloads/threads" "$BUILD/workloads/selectkey" "$system/tmp/"
install_it
run_it
remove_it
