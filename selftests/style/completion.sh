#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Completion of the shell offers names that others have chosen: none of them is
# evaluated, neither by TAB nor in the line that it becomes. Prints what is wrong.

cd "$(dirname "$0")/../.." || exit 1
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
WRONG=0

wrong()
{
	echo "$*"
	WRONG=1
}

# Whatever is asked for names prints these.
# shellcheck disable=SC2016 # they must not expand
NAMES=('$(>pwned)' '`>pwned`' 'a;>pwned' 'a&>pwned' "'>pwned" 'a*' '~x' '!!')

fakes()
{
	local cmd kind name

	for kind in group switch client task reservation tenant tree ""; do
		for name in "${NAMES[@]}"; do
			echo "${kind:+$kind }$name${kind:+: rank 0}"
		done
	done >"$DIR/names"
	sed -n '$!s/: rank 0$/ rank 0/; /^tree/p' "$DIR/names" >"$DIR/trees"
	printf 'tree 1 rank %s\n' "${NAMES[@]}" >"$DIR/ranks"
	grep -v ' ' "$DIR/names" >"$DIR/plain"
	for cmd in inc-amctl:names inc-tool:trees ip:plain ls:plain; do
		printf '#!/bin/sh\n[ "$1" != member ] || exec cat %s\nexec cat %s\n' \
			"$DIR/ranks" "$DIR/${cmd#*:}" >"$DIR/${cmd%:*}"
		chmod +x "$DIR/${cmd%:*}"
	done
	cat >"$DIR/inc-amd" <<-'EOF'
		#!/bin/sh
		echo "Usage: inc-amd --not-this"
		echo "  -s, --switch ADDR  the agent, besides --not-that"
		echo "      --store WHERE  what is to survive"
	EOF
	chmod +x "$DIR/inc-amd"
	PATH=$DIR:$PATH
}

# press_tab COMMAND WORD...: set COMPREPLY to what TAB offers after these.
press_tab()
{
	local complete=_${1//-/_}

	COMP_WORDS=("$@" "")
	COMP_CWORD=$#
	COMPREPLY=()
	$complete 2>/dev/null
}

# try COMMAND WORD...: TAB after these. Every name is offered, and is still that
# name when the shell has read the line.
try()
{
	local offer name found complete=_${1//-/_}

	press_tab "$@"
	for name in "${NAMES[@]}"; do
		found=
		for offer in "${COMPREPLY[@]}"; do
			# As if the user had pressed the return key.
			eval "set -- $offer" 2>/dev/null
			[ "$*" != "$name" ] || found=1
		done
		[ $found ] || wrong "${COMP_WORDS[*]}TAB: no $name"
	done
	[ ! -e pwned ] || wrong "${COMP_WORDS[*]}TAB: a name was run"
	rm -f pwned
	# What it begins with is looked at.
	COMP_WORDS[COMP_CWORD]=nonesuch
	$complete 2>/dev/null
	[ ${#COMPREPLY[@]} = 0 ] ||
		wrong "${COMP_WORDS[*]}TAB: ${COMPREPLY[*]}"
}

# offers WORD COMMAND...: TAB after COMMAND... offers WORD, too.
offers()
{
	press_tab "${@:2}"
	[[ " ${COMPREPLY[*]} " == *" $1 "* ]] ||
		wrong "${COMP_WORDS[*]}TAB: no $1"
}

# never WORD COMMAND...: TAB after COMMAND... does not.
never()
{
	press_tab "${@:2}"
	[[ " ${COMPREPLY[*]} " != *" $1 "* ]] ||
		wrong "${COMP_WORDS[*]}TAB: $1"
}

fakes
for file in userspace/*/completion/*; do
	# shellcheck source=/dev/null
	. "$file"
done
cd "$DIR" || exit 1
for words in tree member parent slot stat switch; do
	offers list inc-tool $words
done
offers state inc-tool slot list
offers arrival inc-tool serve --order
offers rank inc-tool member add tree 1 rank 0 addr 10.0.0.1
offers qpn inc-tool member add tree 1 rank 0 qpn 17 rank 1
offers for inc-amctl reservation add x ranks 4
never ranks inc-amctl reservation add x ranks 4
never help inc-amctl switch drain
for words in why "group show" switch client task quota "reservation del" \
	"-m host why"; do
	# shellcheck disable=SC2086 # words
	try inc-amctl $words
done
for words in "tree show" "tree del" "tree set" "member add tree" \
	"member show tree 1 rank" "-netns"; do
	# shellcheck disable=SC2086 # words
	try inc-tool $words
done
try inc-perf --dev
COMP_WORDS=(inc-amd --s)
COMP_CWORD=1
_inc_daemon
[ "${COMPREPLY[*]}" = "--switch --store" ] ||
	wrong "inc-amd --sTAB: ${COMPREPLY[*]}"
exit $WRONG
