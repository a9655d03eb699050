# shellcheck shell=bash
# Completes abshim's arguments in bash, from what the command says of itself: subcommands, options
# and their arguments from --help, keys and values of -s from `abshim list --json`.

_abshim_subcommands() {
	"$abshim" --help 2>/dev/null | sed -n 's/^  abshim \([a-z][a-z-]*\).*/\1/p' | sort -u
}

# The options that the help text names.
_abshim_options() {
	{
		echo --help
		grep -oE '(^|[[ |])--?[a-z][a-z-]*' <<<"$help" | grep -oE -- '--?[a-z].*'
	} | sort -u
}

# What the help text puts behind option $1: FILE, N, or alternatives as a|b; or nothing.
_abshim_argument() {
	sed -nE "s/.*(^|[[ |])$1 ([A-Z]+|[a-z]+(\|[a-z]+)+)([] =].*)?\$/\2/p" <<<"$help" | head -n 1
}

# One line for each key of -s: the key, a blank, its values with | between them; one in capitals
# stands for something else.
_abshim_keys() {
	"$abshim" list --json 2>/dev/null | awk -F '"' '
		$2 == "name" { name = $4 }
		$2 == "for" { families = $4 }
		$2 == "count" {
			count = split(families, list, ", ")
			for (i = 1; i <= count; i++)
				strategies[list[i]] = strategies[list[i]] "|" name
		}
		$2 == "key" { key = $4 }
		$2 == "values" { values = $4 }
		$2 == "help" && key != "" {
			if (values == "NAME[:N]")
				values = substr(strategies[key], 2)
			else if (values == "HINT") {
				values = $4
				sub(/.*: /, "", values)
				gsub(/ \([^)]*\)/, "", values)
				gsub(/, /, "|", values)
			}
			print key " " values
			key = ""
		}'
}

# The records of this user, and the processes of those that still run.
_abshim_records() {
	local file pid
	for file in "${ABSHIM_DIR:-/dev/shm/abshim-$UID}"/*.abshim; do
		[[ -e $file ]] || continue
		echo "$file"
		pid=${file%.*.abshim}
		pid=${pid##*.}
		[[ ! -e /proc/$pid ]] || echo "$pid"
	done
}

_abshim_complete_setting() {
	local key=${current%%=*} name values value IFS
	while IFS=' ' read -r name values; do
		if [[ $current != *=* ]]; then
			echo "$name="
		elif [[ $name == "$key" ]]; then
			IFS='|'
			for value in $values; do
				[[ $value == [0-9A-Z]* ]] || echo "$key=$value"
				[[ $value != PATH && $value != DIRECTORY ]] ||
					compgen -f -P "$key=" -- "${current#*=}"
			done
		fi
	done <<<"$(_abshim_keys)"
}

# The tools whose output is understood.
_abshim_parsers() {
	"$abshim" list --json 2>/dev/null | awk -F '"' '
		$2 == "parsers" { inside = 1 }
		inside && $2 == "name" { print $4 }'
}

# What may stand where FILE, N, KEY, PARSER or alternatives are asked for.
_abshim_complete_argument() {
	case $1 in
	KEY) _abshim_complete_setting ;;
	PARSER) _abshim_parsers ;;
	N | RUNS | S | NAME | SHARE | CHARS) ;;
	*\|*) tr '|' '\n' <<<"$1" ;;
	*) compgen -f -- "$current" ;;
	esac
}

# Sets at to the place of the first word that is neither an option nor an option's argument.
_abshim_find_operand() {
	for ((at = 2; at < ${#words[@]} - 1; at++)); do
		[[ ${words[at]} != -- ]] || { ((at++)) && return; }
		[[ ${words[at]} == -?* ]] || return
		[[ -z $(_abshim_argument "${words[at]}") ]] || ((at++))
	done
}

_abshim_complete_command() {
	mapfile -t COMPREPLY < <(compgen -c -- "$current" | sort -u)
	[[ $current != */* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
}

# A file, a command, or a process: what can be looked at.
_abshim_complete_target() {
	compgen -f -- "$current"
	[[ $current == */* ]] || compgen -c -- "$current" | sort -u
	[[ $current != [0-9]* ]] || compgen -W "$(cd /proc && echo [0-9]*)" -- "$current"
}

# What stands behind the command $1 of `abshim run`: by its own completion where there is one.
_abshim_complete_rest() {
	local offset
	for ((offset = 2; offset < COMP_CWORD; offset++)); do
		[[ ${COMP_WORDS[offset]} != "$1" ]] || break
	done
	if declare -F _command_offset >/dev/null; then
		_command_offset "$offset"
	else
		compopt -o default 2>/dev/null
	fi
}

_abshim_candidates() {
	local argument=
	[[ $previous != -* ]] || argument=$(_abshim_argument "$previous")
	if [[ -n $argument ]]; then
		_abshim_complete_argument "$argument"
	elif [[ $current == -* ]]; then
		_abshim_options
	elif [[ $usage == *"|COMMAND"* ]]; then
		_abshim_complete_target
	else
		[[ $usage != *PID* ]] || _abshim_records
		[[ $usage != *FILE* ]] || _abshim_complete_argument FILE
	fi
}

# Readline breaks words at = and : too, so a reply leaves out what stands before the last of them.
_abshim_reply() {
	local candidate head=${current%"${current##*[=:]}"}
	while IFS= read -r candidate; do
		[[ -z $candidate || $candidate != "$current"* ]] || COMPREPLY+=("${candidate#"$head"}")
	done
}

_abshim() {
	local words current previous help usage at last abshim=${COMP_WORDS[0]/#\~/$HOME}
	local line=${COMP_LINE:0:COMP_POINT}
	COMPREPLY=()
	read -ra words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=("")
	last=$((${#words[@]} - 1))
	current=${words[last]} previous=${words[last - 1]}
	if ((last < 2)); then
		_abshim_reply < <(_abshim_subcommands && printf -- '--help\n--version\n')
		return
	fi
	help=$("$abshim" "${words[1]}" --help 2>/dev/null) || return
	usage=${help%%$'\n\n'*}
	_abshim_find_operand
	if [[ $usage != *" COMMAND"* ]] || ((at > last)) || [[ $at == "$last" && $current == -* ]]; then
		_abshim_reply < <(_abshim_candidates)
	elif ((at == last)); then
		_abshim_complete_command
	else
		_abshim_complete_rest "${words[at]}"
	fi
	[[ ${COMPREPLY[*]-} != *= ]] || compopt -o nospace 2>/dev/null
}

complete -F _abshim abshim
