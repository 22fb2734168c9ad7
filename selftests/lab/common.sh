# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by lab: messages, progress, locks, keys, namespaces.

: "${LAB_T0:=$(date +%s)}"
export LAB_T0

LAB_PIDS=()		# background jobs, killed when the script ends
LAB_TMPS=()		# half-made things, removed when the script ends

elapsed()
{
	echo $(($(date +%s) - LAB_T0))
}

say()
{
	printf '[%4ds] %s\n' "$(elapsed)" "$*" >&2
}

die()
{
	say "lab: $*"
	exit 1
}

# Kill a background job and all its children. Jobs that make namespaces are
# killed by their parent-death signal, link by link.
kill_job()
{
	local pid=$1 children child

	read -ra children < <(cat "/proc/$pid/task/"*/children 2>/dev/null)
	for child in "${children[@]}"; do
		kill_job "$child"
	done
	kill -KILL "$pid" 2>/dev/null
}

lab_cleanup()
{
	local rc=$? pid tmp

	trap '' INT TERM HUP
	trap - EXIT
	for pid in "${LAB_PIDS[@]}"; do
		if kill -0 "$pid" 2>/dev/null; then
			kill_job "$pid"
			wait "$pid" 2>/dev/null
		fi
	done
	for tmp in "${LAB_TMPS[@]}"; do
		rm -rf --one-file-system -- "$tmp"
	done
	# Temporary files of killed jobs of ours, too.
	[[ -n ${LAB_IN_ROOT:-} || $BASHPID != "$$" ]] ||
		rm -rf --one-file-system -- "$LAB_CACHE"/.tmp-*."$$"
	exit "$rc"
}

trap lab_cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

forget_pid()
{
	local i

	for i in "${!LAB_PIDS[@]}"; do
		[[ ${LAB_PIDS[i]} != "$1" ]] || unset 'LAB_PIDS[i]'
	done
}

# forget_tmp PATH: PATH is final; do not remove it at the end.
forget_tmp()
{
	local i

	for i in "${!LAB_TMPS[@]}"; do
		[[ ${LAB_TMPS[i]} != "$1" ]] || unset 'LAB_TMPS[i]'
	done
}

# Summarize a log's progress in a few words.
progress()
{
	local log=$1 n

	n=$(grep -cE '^  (CC|LD|AR|AS|HOSTCC)' "$log" 2>/dev/null)
	if ((n > 20)); then
		echo "$n files compiled"
	else
		tail -n 1 "$log" 2>/dev/null | tr -d '\r' | cut -c1-70
	fi
}

# doze SECONDS: sleep, but wake up for a signal.
doze()
{
	sleep "$1" &
	wait $!
}

# step NAME LOG CMD...: run CMD with its output in LOG, and print a sign of life
# every ten seconds. On failure show the end of the log.
step()
{
	local name=$1 log=$2 pid rc=0 n=0 t0
	shift 2

	t0=$(date +%s)
	mkdir -p "${log%/*}"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	LAB_PIDS+=("$pid")
	while kill -0 "$pid" 2>/dev/null; do
		doze 0.5
		((++n % 20)) || say "$name: $(progress "$log")"
	done
	wait "$pid" || rc=$?
	forget_pid "$pid"
	if ((rc)); then
		say "$name: FAILED (status $rc). The end of $log:"
		tail -n 25 "$log" | sed 's/^/    /' >&2
		hint "$log"
		return "$rc"
	fi
	say "$name: done in $(($(date +%s) - t0)) s"
}

# Name the usual causes of the errors at a log's end.
hint()
{
	if grep -qiE 'no space left on device|disk quota|enough free space' \
	   "$1"; then
		say "the disk is full: $(df -h --output=avail,target "$LAB_CACHE" |
			tail -n 1) left; about 8 GB are needed"
	elif grep -qiE 'could not resolve|temporary failure resolving|unable to connect|failed to fetch|connection (timed out|refused)|could not connect' "$1"; then
		say "the package mirror cannot be reached: is there a network? (mirror: ${LAB_MIRROR_URI:-that of apt})"
	elif grep -qiE 'operation not permitted' "$1"; then
		say "root with the right to make namespaces and mounts is needed"
	fi
}

# with_lock NAME CMD...: run CMD alone among all lab processes of this cache.
with_lock()
{
	local name=$1 fd rc=0 said=0
	shift

	mkdir -p "$LAB_CACHE"
	exec {fd}>"$LAB_CACHE/.lock-$name"
	until flock -w 10 "$fd"; do
		((said++)) || say "$name: another lab prepares it, waiting"
		((said % 2)) || say "$name: still waiting"
	done
	"$@" || rc=$?
	exec {fd}>&-
	return "$rc"
}

# key STRING|@FILE...: a short hash of the ingredients.
key()
{
	local a

	for a in "$@"; do
		if [[ $a == @* ]]; then
			cat "${a#@}"
		else
			printf '%s\n' "$a"
		fi
	done | sha256sum | cut -c1-12
}

# need_space GIB WHAT
need_space()
{
	local have

	mkdir -p "$LAB_CACHE"
	have=$(df --output=avail -B1M "$LAB_CACHE" | tail -n 1)
	((have >= $1 * 1024)) ||
		die "$2 needs $1 GiB in $LAB_CACHE, $((have / 1024)) GiB are free (RDMA_INC_CACHE chooses another place)"
}

need_root()
{
	((EUID == 0)) || die "root is needed (namespaces, mounts, chroot)"
}

# in_ns CMD...: run CMD in private mount and pid namespaces; all of it dies with
# us. LAB_NS_MORE: more options for unshare.
in_ns()
{
	# shellcheck disable=SC2086
	setpriv --pdeathsig KILL unshare --mount --pid --fork ${LAB_NS_MORE:-} \
		--kill-child=KILL --propagation private -- "$@"
}

# in_root ROOTFS [BIND...] -- CMD...: run CMD inside ROOTFS, in namespaces. The
# tree and the cache have the same names there; so has each BIND, SRC[:DST].
in_root()
{
	in_ns "$LAB_DIR/inroot.sh" "$@"
}
