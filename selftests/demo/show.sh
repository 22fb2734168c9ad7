# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the demos, inside the kernel: how steps and commands are shown. On a
# terminal (DEMO_TERMINAL) with colours.

START=$(date +%s%3N)
BOLD=${DEMO_TERMINAL:+$'\033[1m'}
CYAN=${DEMO_TERMINAL:+$'\033[36m'}
PLAIN=${DEMO_TERMINAL:+$'\033[0m'}

# step TEXT...
step()
{
	local ms=$(($(date +%s%3N) - START))

	printf '\n%s[%2d.%03d s] %s%s\n' "$BOLD" $((ms / 1000)) $((ms % 1000)) \
		"$*" "$PLAIN"
}

# prompt WHERE COMMAND...
prompt()
{
	local where=$1

	shift
	printf '  %s%s#%s %s\n' "$CYAN" "$where" "$PLAIN" "$*"
}
