# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# inc-agentd of the bridge host, built with AddressSanitizer. Sourced after
# suite.sh, with DIR set to a directory of the suite's.
#
#   agent_up ARGS...   agent_down   agent_away

YANG=$ROOT/userspace/agent/yang
SOCK=$DIR/sock
AGENTD=$INC_USER/agent-asan/inc-agentd
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=23
AGENT=
# AddressSanitizer needs terabytes of addresses.
UNLIMITED='--max-memory 0'

# What it is always started with.
AGENT_ARGS=()

# agent_up ARGS...
agent_up()
{
	# The last one was ready, too: the next one may come to open it late.
	: >"$DIR/log"
	# shellcheck disable=SC2086	# words
	ip netns exec "$TOPO-sw" "$AGENTD" $UNLIMITED -u "$SOCK" -y "$YANG" \
		"${AGENT_ARGS[@]}" "$@" >"$DIR/log" 2>&1 &
	AGENT=$!
	wait_for 60 grep -q ready "$DIR/log" ||
		ktap 1 "inc-agentd comes up" "$(cat "$DIR/log")"
}

# Ends it; fails unless it ends in order (23: AddressSanitizer has a report).
agent_down()
{
	local rc

	kill "$AGENT"
	wait "$AGENT"
	rc=$?
	AGENT=
	[ $rc = 0 ] || sed 's/^/# /' "$DIR/log" | head -n 60
	return $rc
}

# For suite_down: whatever state it is in.
agent_away()
{
	[ -z "$AGENT" ] || kill -9 "$AGENT" 2>/dev/null
	AGENT=
}
