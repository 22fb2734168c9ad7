# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A job with faults injected into its packets. Sourced after suite.sh.

# faults_done NAME MIN MAX TEXT COUNTER STAT DONE...: continue the job that was
# stopped until its faults were set. "DONE..." prints how often the fault was
# injected, and into how many packets: MIN to MAX per mille. "STAT COUNTER" has
# counted it, which is case TEXT.
faults_done()
{
	local name=$1 least=$2 most=$3 text=$4 counter=$5 stat=$6
	local n=0 of=0 seen=0 rc s now

	shift 6
	kill -CONT "${JOB_PIDS[@]}"
	# The counters disappear with their tree. A hundred show the rate.
	while [[ $n -lt 100 || $seen = 0 ]] &&
	      kill -0 "${JOB_PIDS[0]}" 2>/dev/null; do
		s=$("$stat" "$counter") && now=$("$@") && [ -n "$now" ] ||
			continue
		read -r n of <<<"$now"
		seen=$s
	done
	job_wait
	rc=$?
	ktap $rc "$name: right results" "$(job_why)"
	[ $rc = 0 ] && rm -f "$JOB_LOG".*
	echo "# $name: $n of $of packets, $counter $seen"
	[ "$n" -gt 0 ] && [ $((n * 1000)) -ge $((of * least)) ] &&
		[ $((n * 1000)) -le $((of * most)) ]
	ktap $? "$name: as often as asked for" "$n of $of packets"
	[ "$seen" -gt 0 ]
	ktap $? "$name: $text" "$counter $seen"
}
