# Turns bench_arms' lines into figures: every arm's run is compared with its base run of the same
# round, and the median of these comparisons is the figure, with its 95 % interval by rank (binomial).
# Pairs that the rest of the machine disturbed are left out while at least 9 others remain.
# Rounds named BLOCK.ROUND share servers within a block and so err together: there the median is
# that of the blocks' medians, and the interval is theirs.

function sort(values, count,    i, j, value)
{
	for (i = 2; i <= count; i++) {
		value = values[i]
		for (j = i - 1; j > 0 && values[j] > value; j--)
			values[j + 1] = values[j]
		values[j + 1] = value
	}
}

function median(values, count)
{
	sort(values, count)
	if (count % 2)
		return values[(count + 1) / 2]
	return (values[count / 2] + values[count / 2 + 1]) / 2
}

# A run's cost: nanoseconds for each unit of work.
function cost(arm, round, side, clock)
{
	return run[arm, round, side, clock "_ns"] / run[arm, round, side, "work"]
}

# Nanoseconds of the unit in which the table has its times.
function scale()
{
	return unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1
}

function compared(arm, round, clock,    base, own)
{
	base = cost(arm, round, "base", clock)
	own = cost(arm, round, "arm", clock)
	if (measure == "extra")
		return (own - base) / scale()
	return measure == "throughput" ? base / own : own / base
}

function goal_of(arm,    list, words, count, i)
{
	count = split(goals, list, ";")
	for (i = 1; i <= count; i++) {
		split(list[i], words, " ")
		if (words[1] == arm || words[1] == "*")
			return words[2] ? words[2] " " words[3] : ""
	}
	return ""
}

function verdict(value, goal,    words)
{
	if (goal == "")
		return ""
	split(goal, words, " ")
	if (words[1] == "<=")
		return value <= words[2] + 0 ? "met" : "missed"
	return value >= words[2] + 0 ? "met" : "missed"
}

function quiet_rounds(arm,    r, quiet)
{
	for (r = 1; r <= rounds; r++)
		quiet += run[arm, order[r], "arm", "disturbed"] == 0
	return quiet + 0
}

# Replaces the values, each of the block in `block`, by the blocks' medians; returns their count.
function block_medians(values, block, count,    one, first, i, n, blocks)
{
	for (i = 1; i <= count; i++) {
		if (block[i] != block[first] || !first) {
			if (first)
				values[++blocks] = median(one, n)
			first = i
			n = 0
			split("", one)
		}
		one[++n] = values[i]
	}
	values[++blocks] = median(one, n)
	for (i = blocks + 1; i <= count; i++)
		delete values[i]
	return blocks
}

# Fills figure[clock, ...] for one arm.
function figure_make(arm, clock,    values, block, bases, owns, r, count, units, all, rank)
{
	all = quiet_rounds(arm) < 9
	for (r = 1; r <= rounds; r++) {
		if (run[arm, order[r], "arm", "disturbed"] != 0 && !all)
			continue
		values[++count] = compared(arm, order[r], clock)
		block[count] = int(order[r])
		bases[count] = cost(arm, order[r], "base", clock)
		owns[count] = cost(arm, order[r], "arm", clock)
	}
	units = order[1] ~ /\./ ? block_medians(values, block, count) : count
	figure[clock, "value"] = median(values, units)
	rank = int((units + 1) / 2 - 0.98 * sqrt(units))
	rank = rank < 1 ? 1 : rank
	figure[clock, "low"] = values[rank]
	figure[clock, "high"] = values[units + 1 - rank]
	figure[clock, "base"] = median(bases, count)
	figure[clock, "arm"] = median(owns, count)
}

function figure_json(clock, goal)
{
	return sprintf("\"%s\":{\"base_ns\":%.3f,\"arm_ns\":%.3f,\"value\":%.4f,\"low\":%.4f," \
		"\"high\":%.4f,\"verdict\":\"%s\"}", clock, figure[clock, "base"],
		figure[clock, "arm"], figure[clock, "value"], figure[clock, "low"],
		figure[clock, "high"], verdict(figure[clock, "value"], goal))
}

function figure_text(clock, goal)
{
	return sprintf("%6.3f [%6.3f %6.3f] %-6s", figure[clock, "value"], figure[clock, "low"],
		figure[clock, "high"], verdict(figure[clock, "value"], goal))
}

function print_arm(arm,    goal)
{
	goal = goal_of(arm)
	figure_make(arm, "cpu")
	figure_make(arm, "wall")
	printf "%-14s %9.2f %9.2f  %s  %s %5d  %s\n", arm, figure["cpu", "base"] / scale(),
		figure["cpu", "arm"] / scale(), figure_text("cpu", goal), figure_text("wall", goal),
		quiet_rounds(arm), goal
	printf "{\"type\":\"figure\",\"group\":\"%s\",\"case\":\"%s\",\"arm\":\"%s\"," \
		"\"measure\":\"%s\",\"rounds\":%d,\"quiet\":%d,\"goal\":\"%s\",%s,%s}\n", group, name,
		arm, measure, rounds, quiet_rounds(arm), goal, figure_json("cpu", goal), figure_json("wall", goal) >>json
}

{
	# The last of a key counts: what the child measured comes after what the driver did.
	for (i = 1; i <= NF; i++) {
		split($i, pair, "=")
		field[pair[1]] = substr($i, length(pair[1]) + 2)
	}
	arm = field["arm"]
	round = field["round"]
	for (i in field)
		run[arm, round, field["side"], i] = field[i]
	printf "{\"type\":\"run\",\"group\":\"%s\",\"case\":\"%s\",\"arm\":\"%s\",\"side\":\"%s\"," \
		"\"round\":\"%s\",\"work\":%d,\"cpu_ns\":%.0f,\"wall_ns\":%.0f,\"other_ns\":%.0f," \
		"\"disturbed\":%d}\n", group, name, arm, field["side"], round, field["work"],
		field["cpu_ns"], field["wall_ns"], field["other_ns"], field["disturbed"] >>json
	if (!(round in seen_round)) {
		seen_round[round] = 1
		order[++rounds] = round
	}
	if (!(arm in seen_arm)) {
		seen_arm[arm] = 1
		arms[++arm_count] = arm
	}
}

END {
	printf "\n%s: %s (%s; medians of %d rounds)\n", group, name,
		measure == "extra" ? "time more than " (base ? base : "bare glibc") ", " unit :
			measure " beside bare glibc", rounds
	printf "%-14s %9s %9s  %-29s  %-29s %5s  %s\n", "arm", (base ? "base " : "bare ") unit,
		"arm " unit, "by CPU time", "by wall time", "quiet", "goal"
	for (i = 1; i <= arm_count; i++)
		print_arm(arms[i])
}
