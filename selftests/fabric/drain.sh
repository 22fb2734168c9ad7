#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Switches are taken out of service, and put back, while jobs run.
#
#   drain.sh [VAR=VALUE]... [PART...]
#	PART: move stay computes keep reload

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

SAYS_BY=(ctl)
DB=/tmp/drain-$$.db
CONF=/tmp/drain-$$.conf
AMD_STORE=sqlite:$DB

suite_up()
{
	local name

	rm -f "$DB"*
	levels_up 2 2 || return
	for name in "${SWITCHES[@]}"; do
		agent_up "$name" || return
	done
	fabric_known
	amd_up && wait_for 30 ctl_up && clock_up
}

suite_down()
{
	amd_down
	agents_down
	rm -f "$DB"* "$CONF"
}

# on SWITCH: the last group has a tree there.
on()
{
	ctl group show "$JOB_NAME" | grep -q "switch $1, tree"
}

drained()
{
	ctl switch "$1" | grep -q ", drained by"
}

# Nothing is counted on any link when no group has a tree.
no_load()
{
	ctl -j topology | jq -e '[.links[].load // 0] | length > 0 and add == 0' \
		>/dev/null
}

# checked_job REPETITIONS ARGS...: of all four hosts, each result checked.
checked_job()
{
	am_start 4 --check --count 1000 -i "$1" --pause 5000 "${@:2}"
	event "group-ready $JOB_NAME" 20
}

# fetch PATH: what the manager publishes there.
fetch()
{
	sw curl -sS "http://127.0.0.1:18789$1"
}

# in_metrics LINE
in_metrics()
{
	fetch /metrics | grep -qxF "$1"
}

# The page shows two switches, and misses none of the third one's links.
page_forgets()
{
	fetch /state | jq -e '(.topology.switches | length) == 2 and .cuts == []' \
		>/dev/null
}

part_move()
{
	local first

	INC_AM_ON_FAILURE=rebuild checked_job 1500
	on l0
	ktap $? "a job has a tree at a leaf" "$(ctl group)"
	first=$JOB_NAME
	says "drain: the group moves" 0 "group $first: moves away" \
		switch l0 drain
	event "group-rebuilt $first" 20
	ktap $? "drain: it gets another tree" "$(tail -n 5 "$LAB_OUT/amd.log")"
	! on l0 && on sw
	ktap $? "drain: without that switch" "$(ctl group)"
	event "switch-drained l0" 10
	ktap $? "drain: an event when it is done" "$(ctl event | tail -n 5)"
	says "drain: it is shown" 0 ", drained by" switch l0
	says "drain: in JSON" 0 '"drain":"drained"' -j switch l0
	wait_for 5 in_metrics 'inc_am_switch_drained{switch="l0"} 1'
	ktap $? "drain: in the metrics"
	job_wait
	ktap $? "drain: no rank sees an error" "$(job_why)"
	checked_job 300
	! on l0 && on sw
	ktap $? "a job that begins then has no tree there" "$(ctl group)"
	says "why: it is drained" 0 "drained by" why "$JOB_NAME"
	job_wait
	ktap $? "and ends well" "$(job_why)"
	says "resume" 0 "l0: it gets new trees" switch resume l0
	am_job "a job after that" 4 --check --count 1000
	[ "$(grep -c "switch-resumed l0" "$LAB_OUT/amd.log")" = 1 ]
	ktap $? "resume: an event" "$(tail -n 5 "$LAB_OUT/amd.log")"
	checked_job 50
	on l0
	ktap $? "resume: a job has a tree there again" "$(ctl group)"
	job_wait
	ktap $? "and ends well, too" "$(job_why)"
}

part_stay()
{
	local one

	checked_job 1500
	one=$JOB_NAME
	says "drain: a group that is not rebuilt stays" 0 \
		"group $one: stays: it did not ask to be rebuilt" \
		switch drain l1
	says "drain: it goes on" 0 "draining, 1 group there" switch drain l1
	job_wait
	ktap $? "drain: a group that stays is left alone" "$(job_why)"
	event "switch-drained l1" 10
	ktap $? "drain: done when it has ended" "$(ctl event | tail -n 5)"
	ctl switch drain l0 >/dev/null
	INC_AM_ON_FAILURE=rebuild checked_job 1500
	says "drain: the last switch: nothing else can serve the group" 0 \
		"group $JOB_NAME: stays: no other switch" switch drain sw
	sleep 3
	says "drain: it stays there" 0 "ready, 4 of 4" group show "$JOB_NAME"
	ctl switch resume l0 >/dev/null
	event "group-rebuilt $JOB_NAME" 20
	ktap $? "drain: it moves when there is room" "$(ctl group)"
	job_wait
	ktap $? "drain: no rank sees an error" "$(job_why)"
	wait_for 5 no_load
	ktap $? "drain: no load is left on the links" "$(ctl -j topology)"
	says "drain: of none" 2 'no switch "l9"' switch drain l9
	says "drain: of what" 1 "which one" switch drain
	ctl switch resume sw >/dev/null
	ctl switch resume l1 >/dev/null
}

# One operation, and 20 seconds before it in which no rank calls libinc.
busy_job()
{
	INC_AM_ON_FAILURE=rebuild am_start 4 --count 1000 -i 0 -x 0 --check=1 \
		--pause 20000000
	event "group-ready $JOB_NAME" 20
	BUSY+=("$JOB_NAME")
	PIDS+=("${JOB_PIDS[@]}")
}

# Ranks that compute make a new queue pair when they call libinc: other groups do
# not wait for that.
part_computes()
{
	local BUSY=() PIDS=() name

	busy_job
	INC_AM_ON_FAILURE=rebuild checked_job 1000
	name=$JOB_NAME
	PIDS+=("${JOB_PIDS[@]}")
	busy_job
	ctl switch drain l0 >/dev/null
	event "group-rebuilt $name" 10
	ktap $? "computes: a group moves while others wait for their ranks" \
		"$(ctl event | tail -n 5)"
	for name in "${BUSY[@]}"; do
		event "group-moves $name" 5
		says "computes: its state" 0 "rebuilding, 4 of 4" \
			group show "$name"
		says "computes: whom it waits for" 0 "waits for ranks 0-3" \
			task show "$name"
		says "computes: why it has no tree" 0 "new queue pairs of ranks 0-3: computing" \
			why "$name"
	done
	wait_for 5 in_metrics 'inc_am_groups{state="rebuilding"} 2'
	ktap $? "computes: the metrics"
	JOB_PIDS=("${PIDS[@]}")
	job_wait
	ktap $? "computes: all go on in the end" "$(job_why)"
	for name in "${BUSY[@]}"; do
		event "group-rebuilt $name" 1
		ktap $? "computes: over another tree"
	done
	ctl switch resume l0 >/dev/null
}

part_keep()
{
	ctl switch drain l1 >/dev/null
	drained l1
	ktap $? "a switch without groups is drained at once" "$(ctl switch)"
	kill_amd
	amd_up && wait_for 30 ctl_up
	drained l1
	ktap $? "killed manager: the next one knows it" "$(ctl switch)"
	ctl switch resume l1 >/dev/null
	amd_down
	amd_up && wait_for 30 ctl_up
	! drained l1
	ktap $? "and that it was resumed" "$(ctl switch)"
}

# names SWITCH...: the file that has the manager's switches names these.
names()
{
	local name

	for name in "$@"; do
		echo "switch = $(sock_of "$name")"
	done >"$CONF"
}

# reload TEXT: the manager reads that again, and an event says this.
reload()
{
	local before

	before=$(grep -cE "$1" "$LAB_OUT/amd.log")
	kill -HUP "$AMD"
	wait_for 10 says_again "$1" "$before"
}

# says_again TEXT BEFORE
says_again()
{
	[ "$(grep -cE "$1" "$LAB_OUT/amd.log")" -gt "$2" ]
}

is_up()
{
	ctl switch "$1" | grep -q ": up"
}

part_reload()
{
	amd_down
	names sw l0
	amd_up --config "$CONF" && wait_for 30 ctl_up
	says "a switch that is not named" 2 "knows no switch l1" switch l1
	names sw l0 l1
	reload "switches-read .*1 switches are new, 0 are not named"
	ktap $? "SIGHUP: an event" "$(cat "$LAB_OUT/amd.log")"
	wait_for 10 is_up l1
	ktap $? "SIGHUP: a new switch is there" "$(ctl switch)"
	fabric_known
	sleep 3
	INC_AM_ON_FAILURE=rebuild checked_job 1500
	on l1
	ktap $? "SIGHUP: it gets trees" "$(ctl group)"
	echo "switch = relative.sock" >>"$CONF"
	reload "switches-wrong .*$CONF:[0-9]*: the switches are as before: .*relative.sock: the path"
	ktap $? "SIGHUP: a file that is wrong" "$(cat "$LAB_OUT/amd.log")"
	names sw sw
	reload "switches-wrong .*$CONF: the switches are as before: .*sw.* is given twice"
	ktap $? "SIGHUP: a switch that is named twice" "$(cat "$LAB_OUT/amd.log")"
	names
	reload "switches-wrong .*$CONF: the switches are as before: no switch"
	ktap $? "SIGHUP: a file without a switch" "$(cat "$LAB_OUT/amd.log")"
	names sw l0 && echo "nonsense = 1" >>"$CONF"
	reload "switches-wrong .*$CONF:[0-9]*: the switches are as before: .nonsense.: there is no such"
	ktap $? "SIGHUP: an option that is none" "$(cat "$LAB_OUT/amd.log")"
	rm "$CONF" && mkfifo "$CONF"
	reload "switches-wrong .*$CONF: the switches are as before: is not a regular file"
	ktap $? "SIGHUP: a file that has become a pipe" "$(cat "$LAB_OUT/amd.log")"
	rm "$CONF"
	is_up l1
	ktap $? "SIGHUP: then all is as before" "$(ctl switch)"
	names sw l0
	reload "switches-read .*0 switches are new, 1 are not named"
	event "group-rebuilt $JOB_NAME" 20
	ktap $? "SIGHUP: a group leaves a switch that is not named any more" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	event "switch-gone l1" 10
	ktap $? "SIGHUP: then it is gone" "$(tail -n 5 "$LAB_OUT/amd.log")"
	says "SIGHUP: and nobody sees it" 2 "knows no switch l1" switch l1
	wait_for 10 page_forgets
	ktap $? "SIGHUP: nor misses its links" "$(fetch /state)"
	job_wait
	ktap $? "SIGHUP: no rank sees an error" "$(job_why)"
	am_job "SIGHUP: a job without that switch" 4 --check --count 1000
	names sw l1 l0
	reload "switches-read"
	wait_for 10 is_up l1
	ktap $? "SIGHUP: it can come back" "$(ctl switch)"
	am_job "SIGHUP: and a job uses it" 4 --check --count 1000
}

suite "move stay computes keep reload" "$@"
