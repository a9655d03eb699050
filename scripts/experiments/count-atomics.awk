# Reads a log of qemu-aarch64 -d in_asm,exec,nochain and prints how many exclusive instructions
# (LDXR, STXR and their like) and how many of LSE (CAS, SWP, LDADD and their like) were executed; with
# -v filter=yes, the blocks that hold any, as -dfilter takes them. The encodings are those of the Arm
# Architecture Reference Manual, C4.1, "Loads and Stores".

# Eight hexadecimal digits of an instruction.
function is_exclusive(word)
{
	return word ~ /^[048c]8[0145]/ || word ~ /^[8c]8[2367]/
}

function is_lse(word)
{
	return word ~ /^[048c]8[abef]/ || word ~ /^[04]8[2367]/ || word ~ /^[37bf]8[2367abef].[0-8][0-3]/
}

function pad(digits)
{
	digits = sprintf("%16s", digits)
	gsub(/ /, "0", digits)
	return digits
}

# A block is translated again when its code has changed: what is said last counts.
/^IN:/ {
	fresh = 1
	next
}

/^0x/ {
	if (fresh) {
		block = pad(substr($1, 3, length($1) - 3))
		exclusives[block] = lses[block] = fresh = 0
	}
	exclusives[block] += is_exclusive($2)
	lses[block] += is_lse($2)
	next
}

/^Trace/ {
	split($4, part, "/")
	exclusive += exclusives[part[2]]
	lse += lses[part[2]]
}

END {
	if (!filter) {
		print exclusive + 0, lse + 0
		exit
	}
	for (block in lses) {
		if (lses[block] + exclusives[block] > 0)
			list = list (list ? "," : "") "0x" block "+4"
	}
	print list
}
