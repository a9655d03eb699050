#!/bin/sh
# The man pages and the completion say what the command says of itself, no less and no more: every
# option, variable, value and counter, and every key of a JSON report. Pages are free of mistakes.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq
pages=loader/man

# The command for those who look for it in PATH.
mkdir "$scratch/bin"
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$EMULATOR" "$BUILD/abshim" >"$scratch/bin/abshim"
chmod +x "$scratch/bin/abshim"

# entries PAGE HEADING: the lines that name something in the sections whose heading has the text,
# without their macros.
entries() {
	HEADING=$2 awk '
		/^\.S[HS] / { inside = index($0, ENVIRON["HEADING"]) > 0 }
		inside && tagged { print }
		{ tagged = $0 == ".TP" }' "$pages/$1" | plain_text
}

# Takes macros, quotes and changes of font out of lines.
plain_text() {
	sed 's/^\.[BIR]* //; s/\\f.//g; s/\\-/-/g; s/"//g; s/\\&//g'
}

options_in() {
	grep -oE -- '(^|[^A-Za-z0-9-])--?[a-z][a-z-]*' | grep -oE -- '--?[a-z].*' | sort -u
}

# compare WHAT: says which lines one of the two files alone has, or the second one twice.
compare() {
	sort "$scratch/documented" | uniq -d | sed "s|^|$1 has twice |"
	sort -u "$scratch/said" -o "$scratch/said"
	sort -u "$scratch/documented" -o "$scratch/documented"
	comm -23 "$scratch/said" "$scratch/documented" | sed "s|^|$1 lacks |"
	comm -13 "$scratch/said" "$scratch/documented" | sed "s|^|$1 knows alone |"
}

subcommands() {
	abshim --help | sed -n 's/^  abshim \([a-z][a-z-]*\).*/\1/p'
}

synopsis() {
	sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' "$pages/abshim.1" |
		sed -n "/^\.B abshim $1/,/^\.[SP]/p" | plain_text
}

check_options() {
	for subcommand in $(subcommands); do
		{ abshim "$subcommand" --help && echo " --help"; } | options_in >"$scratch/said"
		entries abshim.1 "abshim $subcommand" | options_in >"$scratch/documented"
		compare "abshim.1 on $subcommand"
		{ synopsis "$subcommand" && echo " --help"; } | options_in >"$scratch/documented"
		compare "abshim.1's synopsis of $subcommand"
		completed_options "$subcommand" >"$scratch/documented"
		compare "the completion of $subcommand"
	done
}

# check_alternatives: what an option's argument may be is named in the page.
check_alternatives() {
	for subcommand in $(subcommands); do
		abshim "$subcommand" --help | grep -oE -- '--[a-z-]+ [a-z]+(\|[a-z]+)+' | sort -u |
			while read -r option alternatives; do
				body abshim.1 "$option" >"$scratch/body"
				for word in $(echo "$alternatives" | tr '|' ' '); do
					grep -qw -- "$word" "$scratch/body" || echo "abshim.1 lacks $word on $option"
				done
			done
	done
}

completed_options() {
	command -v bash >/dev/null || { cat "$scratch/said" && return; }
	PATH=$scratch/bin:$PATH bash --norc -c '
		. loader/completion/abshim.bash
		COMP_LINE="abshim $1 -" COMP_WORDS=(abshim "$1" -) COMP_CWORD=2
		COMP_POINT=${#COMP_LINE}
		_abshim
		printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}

# body PAGE NAME: the text of the entry that begins with the name.
body() {
	plain_text <"$pages/$1" | awk -v name="$2" '
		/^\.S[HS] / || /^\.TP/ { inside = 0 }
		tagged { inside = index($0, name) == 1 }
		inside { print }
		{ tagged = $0 == ".TP" }'
}

# The words of each variable: alternatives, the strategies of its kind of lock, the hints.
variable_words() {
	jq -r '.strategies as $strategies | .variables[] | .name as $name | .key as $key |
		(if .values == "NAME[:N]" then
			[$strategies[] | select(."for" | split(", ") | index($key)) | .name]
		elif .values == "HINT" then
			(.help | sub(".*: "; "") | gsub(" \\([^)]*\\)"; "") | split(", "))
		else
			(.values | split("|"))
		end)[] | "\($name) \(.)"' "$scratch/list"
}

check_variables() {
	jq -r '.variables[].name' "$scratch/list" >"$scratch/said"
	entries libabshim.7 ENVIRONMENT | sed 's/=.*//' >"$scratch/documented"
	compare "libabshim.7"
	variable_words | while read -r name word; do
		body libabshim.7 "$name=" | grep -qwF -- "$word" || echo "libabshim.7 lacks $word on $name"
	done
}

check_counters() {
	for family in $(jq -r '.counters | keys[]' "$scratch/list"); do
		jq -r ".counters.${family}[].name" "$scratch/list" >"$scratch/said"
		entries libabshim.7 "($family)" >"$scratch/documented"
		compare "libabshim.7 on $family"
	done
}

# Prints a path for each key that the page documents, behind the name of its section, with FAMILY and
# the like as they stand.
documented_paths() {
	plain_text <"$pages/abshim-json.5" | awk '
		/^\.SH / { section = $2; count = 0 }
		/^\.SS / { sub(/^\.SS /, ""); count = split($0, objects, ", ") }
		tagged {
			keys = split($0, key, " *, *")
			for (i = 1; i <= count; i++)
				for (j = 1; j <= keys; j++)
					print section, (objects[i] == "Top level" ? "" : objects[i] ".") key[j]
		}
		{ tagged = $0 == ".TP" }'
}

# report_paths SECTION ARGUMENTS...: prints a path for each key of what abshim report prints.
report_paths() {
	section=$1
	shift
	abshim report --json "$@" >"$scratch/report.json" 2>"$scratch/report.log" ||
		fail "abshim report --json $*: exit status $?" "$scratch/report.log"
	json_paths "$section" "$scratch/report.json"
}

# json_paths SECTION FILE: the same of a file.
json_paths() {
	jq -r '[paths | select(last | type == "string") |
		map(if type == "number" then "[]" else tostring end) | join(".") | gsub("\\.\\[\\]"; "[]")] |
		unique[]' "$2" | sed -f "$scratch/families" | sed "s/^/$1 /"
}

# experiment_paths: the same of an experiment, its files, and a plan. An emulated abshim cannot start
# programs: what it would print is then taken to be what the page says.
experiment_paths() {
	dir=$scratch/experiment
	if [ -n "$EMULATOR" ]; then
		documented_paths | grep -E '^(EXPERIMENT|PLAN|DESIGN|RUNS) '
		return
	fi
	abshim ab -o "$dir" --until 0.01% --max-runs 10 --warmup 0 --json -- "$BUILD/workloads/families" \
		>"$scratch/ab.json" 2>"$scratch/report.log" || fail "abshim ab" "$scratch/report.log"
	abshim plan --detect 1% --json "$dir" >"$scratch/plan.json" || fail "abshim plan"
	jq '{experiment, until, resolution, others, notes}' "$scratch/ab.json" >"$scratch/experiment.json"
	head -n 1 "$dir/runs.jsonl" >"$scratch/run.json"
	json_paths EXPERIMENT "$scratch/experiment.json"
	json_paths PLAN "$scratch/plan.json"
	json_paths DESIGN "$dir/experiment.json" | sed 's/machine\.mitigations\..*/machine.mitigations.NAME/' | sort -u
	json_paths RUNS "$scratch/run.json" | sed 's/metrics\..*/metrics.NAME/' | sort -u
}

# audit_paths: the same of an audit; of files of which one has instructions, one calls functions.
audit_paths() {
	abshim audit --json "$library" "$BUILD/workloads/families" >"$scratch/audit.json" ||
		[ $? = 2 ] || fail "abshim audit --json"
	json_paths AUDIT "$scratch/audit.json" | sed 's/families\.[^.]*/families.INSTRUCTION/' | sort -u
}

# comparison_paths: the same of a comparison, of the list and of what is said of the machine.
comparison_paths() {
	seq 1 9 >"$scratch/one"
	seq 2 10 >"$scratch/two"
	abshim compare --json "$scratch/one" "$scratch/two" >"$scratch/compare.json" ||
		fail "abshim compare --json"
	json_paths COMPARISON "$scratch/compare.json"
	abshim doctor --seconds 0.01 --json >"$scratch/doctor.json" || [ $? = 1 ] ||
		fail "abshim doctor --json"
	json_paths DOCTOR "$scratch/doctor.json"
	json_paths LIST "$scratch/list" | sed 's/counters\.[a-z_]*/counters.FAMILY/' | sort -u
}

# What turns the names of families, their counters and of variables into the page's words for them.
write_families() {
	jq -r '.counters | to_entries[] | .key as $family | .value[] |
		"s/^\\(totals\\|threads\\[\\]\\)\\.\($family)\\.\(.name)$/\\1.FAMILY.COUNTER/"' "$scratch/list"
	jq -r '.counters | keys[] |
		"s/^\\(totals\\|threads\\[\\]\\)\\.\(.)\\>/\\1.FAMILY/"' "$scratch/list"
	echo 's/settings\.environment\..*/settings.environment.VARIABLE/'
}

# Takes away the paths below an array that no report has an element of.
below_known_arrays() {
	awk 'FNR == NR {
			said[$0] = 1
			if (match($0, /.*\[\]\./))
				filled[substr($0, 1, RLENGTH)] = 1
			next
		}
		{
			array = match($0, /.*\[\]\./) ? substr($0, 1, RLENGTH) : ""
			if (array == "" || array in filled || !(substr(array, 1, RLENGTH - 3) in said))
				print
		}' "$scratch/paths" -
}

check_json() {
	cp "$scratch/paths" "$scratch/said"
	documented_paths | below_known_arrays >"$scratch/documented"
	compare abshim-json.5
}

# leave_record PROGRAM ARGUMENTS...: of a workload that holds locks, has stacks, and what the machine
# has of atomics switched. Sets $record.
switch=
[ "$ARCH" != aarch64 ] || switch=ABSHIM_ATOMICS=llsc
leave_record() {
	workload=$1
	shift
	# shellcheck disable=SC2086
	shimmed $switch ABSHIM_STATS=hold ABSHIM_STACKS=8 ABSHIM_REPORT=none "$BUILD/workloads/$workload" "$@" \
		>"$scratch/out" 2>&1 || fail "$workload: exit status $?" "$scratch/out"
	find_record "$workload"
}

# Reports that between them have every key.
collect_paths() {
	leave_record plugins d "$BUILD/plugins/alpha.so"
	report_paths REPORT "$record" >"$scratch/paths"
	leave_record families
	{
		report_paths REPORT "$record" "$record"
		report_paths TABLE --by lock "$record"
		report_paths TABLE --by thread "$record"
		report_paths DIFFERENCE --diff "$record" "$record"
		comparison_paths
		audit_paths
		experiment_paths
	} >>"$scratch/paths"
}

check_all() {
	check_options
	check_alternatives
	check_variables
	check_counters
	check_json
}

# misses PAGE LINE: a page without the entry whose first line is like that is found out.
misses() {
	mkdir -p "$scratch/pages"
	cp loader/man/* "$scratch/pages"
	sed "/$2/d" "loader/man/$1" >"$scratch/pages/$1"
	cmp -s "loader/man/$1" "$scratch/pages/$1" && fail "no line like $2 in $1"
	pages=$scratch/pages
	[ -n "$(check_all)" ] || fail "$1 without $2 is not found out"
	pages=loader/man
}

for page in loader/man/*; do
	! command -v mandoc >/dev/null || expect "mandoc -T lint" "" "$(mandoc -T lint "$page")"
	! command -v man >/dev/null || expect "man --warnings" "" "$(man --warnings -l "$page" 2>&1 >/dev/null)"
done
abshim list --json >"$scratch/list" || fail "abshim list --json"
write_families >"$scratch/families"
collect_paths
found=$(check_all)
[ -z "$found" ] || fail "$found"
misses abshim.1 '^\.BI \\-\\-top'
misses libabshim.7 '^\.BI ABSHIM_DIR'
misses libabshim.7 '^\.B spun_vain'
misses libabshim.7 '^\.BR queue'
misses abshim-json.5 '^\.BR waits'
misses abshim-json.5 '^\.B holder'
misses abshim-json.5 '^\.B relative'
misses abshim-json.5 '^\.B stddev_ratio'
misses abshim-json.5 '^\.B helper_calls'
misses abshim-json.5 '^\.B default'
misses abshim-json.5 '^\.B load_average'
misses abshim-json.5 '^\.BR client_status'
