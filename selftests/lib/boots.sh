# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the runner: tests that share a boot of the debug kernel, whose boot and
# search for leaks take longer than many a test.
# shellcheck disable=SC2034 # the runner's tables

# By the table, in seconds: what those that share one take.
BOOT_TAKES=200
# By the run's name: its tests.
declare -A BOOT=()

# pack_boots: replace the tests in TODO that can share a boot by runs of several.
pack_boots()
{
	local i name boot n=0 rest=()

	[ -z "$REPEATED" ] || return 0
	while read -r _ i; do
		name=${TODO[i]}
		unset "TODO[$i]"
		for boot in "${!BOOT[@]}" ''; do
			[ -n "$boot" ] && [ $((TAKES[$boot] + TAKES[$name])) -gt \
				$BOOT_TAKES ] || break
		done
		[ -n "$boot" ] || boot=uml-debug-$((++n))
		join_boot "$boot" "$name"
	done < <(for i in "${!TODO[@]}"; do
		[ "${WHERE[${TODO[i]}]}" != uml-debug ] ||
			echo "${TAKES[${TODO[i]}]} $i"
	done | sort -rn)
	for boot in "${!BOOT[@]}"; do
		name=${BOOT[$boot]# }
		if [[ $name == *" "* ]]; then
			CMD[$boot]="selftests/lib/several.sh $name"
			# A slow machine takes several times as long.
			LIMIT[$boot]=$((LIMIT[$boot] + 4 * TAKES[$boot]))
			rest+=("$boot")
		else
			unset "BOOT[$boot]"
			rest+=("$name")
		fi
	done
	TODO=("${TODO[@]}" "${rest[@]}")
}

# join_boot BOOT NAME
join_boot()
{
	BOOT[$1]+=" $2"
	IN_SET[$1]=${IN_SET[$2]} WHERE[$1]=${WHERE[$2]} NEEDS[$1]=${NEEDS[$2]}
	KIND[$1]=other
	TAKES[$1]=$((${TAKES[$1]:-0} + TAKES[$2]))
	[ "${LIMIT[$1]:-0}" -ge "${LIMIT[$2]}" ] || LIMIT[$1]=${LIMIT[$2]}
}

# share_cpu BOOT: divide what the kernel's processes took among its tests. Its own
# clock of CPU time runs while the machine has its CPUs do other work.
share_cpu()
{
	local boot=$1 name all total=0

	all=$(cpu "$boot")
	for name in ${BOOT[$boot]}; do
		total=$((total + $(cpu "$name")))
	done
	for name in ${BOOT[$boot]}; do
		[ ! -e "$OUT/$name.cpu" ] || [ $total = 0 ] ||
			printf '\n0m%ds 0m0s\n' $(($(cpu "$name") * all / total)) \
				>"$OUT/$name.cpu"
	done
}

# reap_boot BOOT: count the tests of a boot that has ended. If the kernel reports a
# problem or dies, that is counted as failed, and each test runs by itself, to show
# which is to blame; so does what the time limit has left.
reap_boot()
{
	local boot=$1 name rc seconds=$((SECONDS - SINCE[$1]))

	rc=$(cat "$OUT/$boot.rc" 2>/dev/null || echo 1)
	unset "PID[$boot]" "SINCE[$boot]" "CPU[$boot]"
	[ "$rc" = 0 ] || say "FAILED  $boot: status $rc, see $OUT/$boot.log"
	if [[ $rc == 98 || $rc == 99 ]]; then
		tail -n 25 "$OUT/$boot.log" | sed 's/^/          | /'
		say "        each of${BOOT[$boot]} runs by itself now"
		add_result "$boot" failed "$seconds" 0 1 0
		# They may pass now: the next run must not take that for the boot's.
		for name in ${BOOT[$boot]}; do
			forget_result "$KEPT" "${KEY[$name]:-none}"
			unset "KEY[$name]"
		done
		# shellcheck disable=SC2206 # words
		TODO+=(${BOOT[$boot]})
		return
	fi
	share_cpu "$boot"
	for name in ${BOOT[$boot]}; do
		if [ ! -e "$OUT/$name.log" ]; then
			TODO+=("$name")
			continue
		fi
		# the one that the time limit has ended
		[ -e "$OUT/$name.rc" ] || echo 124 >"$OUT/$name.rc"
		SINCE[$name]=$((SECONDS - $(cat "$OUT/$name.seconds" || echo "$seconds")))
		reap "$name"
	done
}
