#!/bin/sh
# abshim compare gives the published comparisons as published, and ministat's figures to the digit.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
need jq python3
[ -z "$EMULATOR" ] || skip "figures do not depend on the machine"

outputs=tests/data/outputs

# says FILTER WANTED ARGUMENTS...: in the JSON of a comparison.
says() {
	filter=$1 wanted=$2
	shift 2
	abshim compare --json "$@" >"$scratch/out" 2>"$scratch/err" ||
		fail "compare $*: exit status $?" "$scratch/err"
	expect "compare $*: $filter" "$wanted" "$(jq -r "$filter" "$scratch/out")"
}

rounded='def percent: . * 10000 | round / 100;'
first="$rounded .metrics[0].comparisons[0]"
says "$first | .welch.relative | percent" 3.14 \
	$outputs/ycsb-mongodb-nolse.txt $outputs/ycsb-mongodb-lse.txt
says "$rounded .metrics[] | select(.name == \"scan.mean\").comparisons[0].welch.relative | percent" \
	-4.09 $outputs/ycsb-mongodb-nolse.txt $outputs/ycsb-mongodb-lse.txt
says "$first.verdict" unknown $outputs/ycsb-mongodb-nolse.txt $outputs/ycsb-mongodb-lse.txt
says "$first | .welch.relative | percent" 29.35 \
	$outputs/cassandra-stress-notlab.txt $outputs/cassandra-stress-tlab.txt
says "$first.student | [.difference, .error, .pooled_stddev, .relative * 1e6, .relative_error * 1e6]
	| map(. * 10 | round / 10 | tostring) | join(\" \")" \
	"20344.2 764.2 1478.5 443126.2 16646.3" $outputs/ministat-mysql-yieldloops.txt
abshim compare $outputs/ycsb-mongodb-nolse.txt $outputs/ycsb-mongodb-lse.txt >"$scratch/out"
expect "the last line" "One run an arm: no significance can be claimed." \
	"$(tail -n 1 "$scratch/out")"

# Both conventions of the relative error, and a verdict of each kind.
seq 100 0.5 105 >"$scratch/a"
seq 100.2 0.5 105.2 >"$scratch/like"
seq 110 0.5 115 >"$scratch/more"
says ".metrics[0].comparisons[0].verdict" undecided "$scratch/a" "$scratch/like"
says ".metrics[0].comparisons[0].verdict" different "$scratch/a" "$scratch/more"
says ".metrics[0].comparisons[0].verdict" equivalent --equivalence 3% "$scratch/a" "$scratch/like"
says '.metrics[0].comparisons | length' 2 "$scratch/a" "$scratch/like" "$scratch/more"
says '.metrics[0].arms[1].n' 22 -a "$scratch/a" -b "$scratch/like" "$scratch/more"
says '.metrics[0].comparisons[0].student.relative_error * 1000 | round' 14 "$scratch/a" "$scratch/more"
says '.metrics[0].comparisons[0].student.relative_error * 1000 | round' 15 --convention freebsd \
	"$scratch/a" "$scratch/more"
says '.metrics[0].arms[0] | "\(.median) \(.median_upper) \(.mean)"' "106.5 108 105.75" -C 2 \
	$outputs/ministat-input-columns-c2.txt $outputs/ministat-input-columns-c2.txt
says '.metrics[0].comparisons[0] | "\(.reference) \(.arm) \(.welch.difference)"' "a b 10" \
	-b "$scratch/more" -a "$scratch/a"
abshim compare --level 99.9999999% "$scratch/a" "$scratch/more" >"$scratch/out"
grep -q '(99.9999999 %: ' "$scratch/out" || fail "a level near 100 %" "$scratch/out"
abshim compare --student --level 99.99% "$scratch/a" "$scratch/more" >"$scratch/out"
grep -q '^Difference at 99.99% confidence' "$scratch/out" || fail "its ministat" "$scratch/out"

printf '1e308\n1.1e308\n1.2e308\n' >"$scratch/huge"
printf '1\nnan\n2\n' >"$scratch/nan"
printf -- '-100\n-101\n-102\n-99\n' >"$scratch/negative"
printf -- '-110\n-111\n-112\n-109\n' >"$scratch/lower"
printf '3\n3\n3\n3\n' >"$scratch/three"
printf '4\n4\n4\n4\n' >"$scratch/four"
printf '0\n0\n0\n0\n' >"$scratch/zero"
seq 3000 >"$scratch/long"
says '.metrics[0].comparisons[0] | .welch.relative < 0 and .student.relative < 0 and
	.student.relative_error > 0' true "$scratch/negative" "$scratch/lower"
says '.metrics[0].comparisons[0].quote' "$scratch/four is 33.33 % more (without any spread, n = 4+4)" \
	"$scratch/three" "$scratch/four"
says '.metrics[0].comparisons[0].verdict' undecided "$scratch/three" "$scratch/three"
says '.metrics[0].comparisons[0] | "\(.quote) \(.welch.relative)"' \
	"no difference shown (+0, without any spread, n = 4+4) null" "$scratch/zero" "$scratch/zero"
says '.metrics | length' 1 --metric value --metric value "$scratch/a" "$scratch/like"
# JSON without NaN or infinity, whatever the files hold.
for file in three four zero negative a; do
	for other in three four zero lower one; do
		[ $other != one ] || echo 7 >"$scratch/one"
		abshim compare --json --equivalence 2% "$scratch/$file" "$scratch/$other" >"$scratch/out" ||
			fail "compare $file $other"
		python3 -c 'import json, sys
json.load(sys.stdin, parse_constant=lambda name: sys.exit(name))' <"$scratch/out" ||
			fail "JSON of $file and $other" "$scratch/out"
		abshim compare --equivalence 2% --full "$scratch/$file" "$scratch/$other" >"$scratch/out"
		! grep -wE 'nan|inf' "$scratch/out" || fail "text of $file and $other" "$scratch/out"
	done
done

# What --as takes is what the list names.
abshim list --json >"$scratch/list" || fail "abshim list --json"
expect "parsers in the list" "$(grep -c '^PARSER(' loader/parse/parsers.def)" \
	"$(jq '.parsers | length' "$scratch/list")"
abshim list >"$scratch/text" || fail "abshim list"
for parser in $(jq -r '.parsers[].name' "$scratch/list"); do
	grep -q "^  $parser  " "$scratch/text" || fail "abshim list lacks $parser"
	abshim compare --as "$parser" /dev/null /dev/null 2>"$scratch/err"
	expect "--as $parser" "2 abshim: /dev/null: is empty; a tool's output is needed" \
		"$? $(cat "$scratch/err")"
done

# As many resamples as time allows, and none rather than too few.
says '.evaluation | "\(.resamples) \(.permutations)"' "10000 9999" "$scratch/long" "$scratch/a"
seq 20000 >"$scratch/long"
says '.evaluation | "\(.resamples) \(.permutations)"' "4997 4997" "$scratch/long" "$scratch/a"
seq 200000 >"$scratch/long"
says '.evaluation | "\(.resamples) \(.permutations)"' "0 0" "$scratch/long" "$scratch/a"
says '.metrics[0].comparisons[0] | "\(.bootstrap.low) \(.p_brown_forsythe)"' "null null" \
	"$scratch/long" "$scratch/a"
abshim compare "$scratch/long" "$scratch/a" | grep -q '^Too many values for bootstrap' ||
	fail "a cut is not said"
expect "names of metrics" "value" "$(abshim compare --metric list "$scratch/a" "$scratch/like")"
for option in --json --student --full --help "--metric list"; do
	# shellcheck disable=SC2086
	abshim compare $option "$scratch/a" "$scratch/like" >/dev/full 2>"$scratch/err"
	expect "a full disk with $option" "125 1" "$? $(wc -l <"$scratch/err")"
done

# refused STATUS PATTERN ARGUMENTS...: one line.
refused() {
	wanted=$1 pattern=$2
	shift 2
	abshim compare "$@" >"$scratch/out" 2>"$scratch/err"
	expect "compare $*: exit status" "$wanted" $?
	expect "compare $*: lines" 1 "$(wc -l <"$scratch/err")"
	grep -q "^abshim: .*$pattern" "$scratch/err" || fail "compare $*: message" "$scratch/err"
}
refused 2 "bad-token-last-line.txt:6: " $outputs/ministat-input-bad-token-last-line.txt "$scratch/a"
refused 2 "missing: .*No such file" "$scratch/a" "$scratch/missing"
refused 2 "huge: value is 1e+308" "$scratch/huge" "$scratch/a"
refused 2 "is a directory" "$scratch/a" "$scratch"
refused 2 "is empty" "$scratch/a" /dev/null
refused 2 "nan:2: 'nan'" "$scratch/nan" "$scratch/a"
refused 125 "wants files" -a "$scratch/a" -b
refused 125 "given by -a and -b, or each alone" "$scratch/a" -b "$scratch/a"
refused 125 "a: given twice" -a "$scratch/a" -a "$scratch/a"
refused 125 "more than 7 arms" 1 2 3 4 5 6 7 8
refused 125 "must be a number from 5 to 500" --width 4 "$scratch/a" "$scratch/a"
refused 125 "give two files or more"
refused 125 "holds 1 result" "$scratch/a"
refused 125 "must be a percentage" --level x "$scratch/a" "$scratch/a"
refused 125 "must be a percentage between 0% and 100%" --equivalence 1 "$scratch/a" "$scratch/a"
refused 125 "no such tool" --as nothing "$scratch/a" "$scratch/a"
refused 125 "not in all arms; there are: value" --metric nothing "$scratch/a" "$scratch/a"
printf '{"results": [{"command": "x", "times": [1, 2]}]}' >"$scratch/hyperfine"
for metric in value nothing; do
	abshim compare --metric $metric "$scratch/a" "$scratch/hyperfine" 2>"$scratch/err"
	expect "--metric $metric of files that have none in common" \
		"2 abshim: compare: no metric that every arm has" "$? $(tail -n 1 "$scratch/err")"
done
printf '1\n2\0003\n4\n' >"$scratch/nul"
refused 2 "nul:2: a NUL byte" "$scratch/nul" "$scratch/a"
refused 2 "a:11: no line has a column 2" -C 2 "$scratch/a" "$scratch/a"
refused 125 "unknown option" --nothing "$scratch/a" "$scratch/a"

# A plan: a number as large as it is, and no power that would be less than none.
abshim plan --detect 0.0000001% "$scratch/a" >"$scratch/out" 2>&1 || fail "plan of a small share"
grep -q '^more than 1,000,000,000 runs of each arm find a difference of 1e-07 %' "$scratch/out" ||
	fail "a plan of too many runs" "$scratch/out"
expect "a plan of too many runs in JSON" null \
	"$(abshim plan --json --detect 0.0000001% "$scratch/a" 2>"$scratch/err" | jq .plan.runs)"
grep -q 'more than 1,000,000,000 runs of each arm, so that runs is null' "$scratch/err" ||
	fail "the message of too many runs" "$scratch/err"
for share in "--power 49.9%" "--level 1%"; do
	# shellcheck disable=SC2086
	abshim plan $share --detect 1% "$scratch/a" 2>"$scratch/err"
	expect "plan $share" "125 1" "$? $(grep -c 'must be from 50% to below 100%' "$scratch/err")"
done

# A thousand seeded sets of data: the table, the difference and its errors as ministat prints them.
# Its plots lose points of all sets but the last (its height is the last set's), so plots are
# compared for single sets.
command -v ministat >/dev/null || skip "ministat is missing: compared with nothing"
python3 - "$scratch" "$BUILD/abshim" <<'END' || fail "ministat says otherwise"
import random, subprocess, sys
scratch, abshim = sys.argv[1:]
def run(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout
def figures(text):
    lines = text.split("\n")
    return [l for l in lines if l and not l.startswith(("|", "+--", "value", "  "))]
bad = 0
for seed in range(1000):
    random.seed(seed)
    mean = random.choice([1e-3, 1, 100, 1e6])
    names = []
    for i in range(random.randint(2, 4)):
        name = f"{scratch}/set{i}"
        spread, factor = random.choice([.01, .05, .3]), random.choice([1, 1.02, 1.1])
        digits = random.choice([5, 8])
        with open(name, "w") as out:
            for _ in range(random.randint(3, 40)):
                out.write("%.*g\n" % (digits, random.gauss(mean * factor, mean * spread)))
        names.append(name)
    theirs = figures(run("ministat", "-w", "74", *names))
    ours = figures(run(abshim, "compare", "--student", *names))
    if theirs != ours:
        bad += 1
        if bad < 3:
            print("\n".join(theirs), "\n".join(ours), sep="\n--\n")
    if seed < 50:
        plot = [l for l in run("ministat", "-s", "-w", "60", names[0], names[0]).split("\n")
                if l.startswith(("|", "+--"))]
        own = [l for l in run(abshim, "compare", "--student", "--width", "60", names[0],
               names[0]).split("\n") if l.startswith(("|", "+--"))]
        bad += plot != own
print(bad, "of 1000 differ")
sys.exit(bad != 0)
END
