# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by lab: run, modules, detect.

# Patterns in a kernel log that make a run fail: its own reports, and a program of ours
# that crashes, which its test may take for any other error.
LAB_REPORTS='(inc-[a-z]+|live|proxy)\[[0-9]+\]: segfault|BUG:|WARNING:|INFO: trying to register|Oops|KASAN: |UBSAN|possible circular|inconsistent lock state|possible recursive locking|possible irq lock inversion|suspicious RCU usage|Invalid wait context|held lock freed|lock held when returning|INFO: task .* blocked|rcu.*stall|general protection|Kernel panic|sleeping function called|scheduling while atomic|refcount_t:|unregister_netdevice: waiting|ODEBUG:|ref_tracker: .*leaked|list_(add|del) corruption|segfault in kernel|Segfault with no mm|Kernel mode fault'

# A report of this is not: if a process is killed, ib_core frees its QP's memory while
# the stock rxe may be looking the QP up for a packet.
LAB_STOCK='KASAN: slab-use-after-free in rxe_pool_get_index'

# enter ROOTFS CMD...: run CMD in the foreground, with our standard input.
enter()
{
	local root=$1 pid rc=0
	shift

	case $PWD/ in
	"$LAB_TREE"/*) export LAB_CWD=$PWD ;;
	*) export LAB_CWD=$LAB_TREE ;;
	esac
	in_root "$root" -- "$@" <&0 &
	pid=$!
	LAB_PIDS+=("$pid")
	wait "$pid" || rc=$?
	forget_pid "$pid"
	return "$rc"
}

help_run()
{
	cat <<EOF
Usage: lab run [OPTIONS] [--] SCRIPT [ARGS...]

Runs SCRIPT (bash, or any program of the tree) as root in a kernel, with the
tree under its own name and the root file system as userland. Its output comes
as it is written; its exit status is returned, or
  99   the kernel's log shows a BUG, WARNING, lockdep report, leak, ...
  98   the kernel ended without the script having ended
  124  the time limit was reached

  --backend B    auto (default), uml, uml-tt (uml, whose time leaps to the next
                 timer when all wait), uml-smp, uml-debug, vm, vm-6.12, vm-7.2,
                 vm-rt, host
  --timeout SEC  time limit (default 300); of uml-tt, both by its own clock and by
                 the host's
  --name NAME    of the run (default: the script's name)
  --out DIR      results (default build/lab/NAME in the tree)
  --cpus N       default 1 for uml (fixed), 2 otherwise
  --mem M        default 2G
  --pin CPU      bind the emulator to one of the host's CPUs; if there are others,
                 whatever else runs gets that one only while it is idle
  --env VAR[=V]  hand a variable to the script (LAB_* and INC_* always are)
  --no-rxe       do not load rdma_rxe first

The script sees LAB_BACKEND (for uml-tt: uml, and LAB_VIRTUAL=1), LAB_OUT (its
directory for results), LAB_TREE and LAB_KVER. DIR afterwards holds output,
console, dmesg, status, and report when the log had something to report.
EOF
}

# Print why a machine's own kernel will not do, or nothing.
host_lacks()
{
	local kver

	kver=$(uname -r)
	printf '%s\n' "$LAB_MIN_KERNEL" "$kver" | sort -VC || {
		echo "kernel $kver is older than $LAB_MIN_KERNEL"
		return
	}
	[[ -e /proc/modules ]] || {
		echo "kernel $kver loads no modules"
		return
	}
	[[ -d /lib/modules/$kver/build/. ]] || {
		echo "no headers in /lib/modules/$kver/build"
		return
	}
	[[ -d /sys/module/rdma_rxe ]] ||
		modinfo -k "$kver" rdma_rxe >/dev/null 2>&1 || {
		echo "kernel $kver has no rdma_rxe"
		return
	}
}

cmd_detect()
{
	case ${1:-} in
	-h | --help)
		echo "Usage: lab detect    prints host or uml; on stderr why"
		;;
	*) no_arguments detect "$@"; detect ;;
	esac
}

detect()
{
	local why

	why=$(host_lacks)
	if [[ -z $why ]]; then
		echo host
	else
		echo uml
		say "backend uml: $why"
	fi
}

cmd_run()
{
	local why backend=auto timeout=300 name='' out='' cpus='' mem=2G \
		pin='' env=() no_rxe=''

	while (($#)); do
		case $1 in
		--backend | --timeout | --name | --out | --cpus | --mem | --pin | --env)
			(($# > 1)) || die "run: $1 wants a value (see lab run --help)" ;;
		esac
		case $1 in
		-h | --help) help_run; return 0 ;;
		--backend) backend=$2; shift ;;
		--timeout) timeout=$2; shift ;;
		--name) name=$2; shift ;;
		--out) out=$2; shift ;;
		--cpus) cpus=$2; shift ;;
		--mem) mem=$2; shift ;;
		--pin) pin=$2; shift ;;
		--env) env+=("$2"); shift ;;
		--no-rxe) no_rxe=1 ;;
		--) shift; break ;;
		-*) die "run: unknown option $1 (see lab run --help)" ;;
		*) break ;;
		esac
		shift
	done
	(($#)) || { help_run >&2; return 2; }
	need_root
	[[ $timeout =~ ^[1-9][0-9]*$ ]] ||
		die "run: --timeout wants seconds, not \"$timeout\""
	[[ /$name/ != */../* ]] ||
		die "run: --name wants a name below build/lab, not \"$name\""
	[[ -z $cpus || $cpus =~ ^[1-9][0-9]*$ ]] ||
		die "run: --cpus wants a number from 1, not \"$cpus\""
	[[ -z $pin ]] || taskset -c "$pin" true 2>/dev/null ||
		die "run: --pin: this machine has no CPU \"$pin\""
	[[ $LAB_TREE != *[[:space:]\']* ]] ||
		die "run: the tree's path must not hold spaces or quotes"
	[[ -f $1 ]] || die "run: no script $1"
	[[ $backend != auto ]] || backend=$(detect)
	set -- "$(realpath "$1")" "${@:2}"
	[[ $1 == "$LAB_TREE"/* ]] ||
		die "run: the script must lie in the tree ($LAB_TREE)"
	: "${name:=$(basename "$1" .sh)}"
	: "${out:=$LAB_TREE/build/lab/$name}"
	out=$(realpath -m "$out")

	case $backend in
	uml | uml-tt) prepare_uml up || return ;;
	uml-*) prepare_uml "${backend#uml-}" || return ;;
	vm | vm-6.12 | vm-7.2 | vm-rt)
		prepare_vm || return
		[[ $backend != vm-7.2 ]] || prepare_kernel || return
		[[ $backend != vm-rt ]] || prepare_kernel rt || return
		vm_kvm_works ||
			say "vm: without KVM: about 15 times slower than native"
		;;
	host)
		prepare_rootfs || return
		why=$(host_lacks)
		[[ -z $why ]] || say "backend host: $why; trying all the same"
		;;
	*) die "run: there is no backend \"$backend\"" ;;
	esac

	prepare_with || return
	[[ $backend == host ]] || check_memory "$mem"

	mkdir -p "$out"
	exec {LAB_RUN_LOCK}>"$out/.lock"
	flock -n "$LAB_RUN_LOCK" ||
		die "run: another run writes to $out (--name or --out gives it a place of its own)"
	rm -f "$out"/{status,output,console,dmesg,kmemleak,report,stuck}
	touch "$out/output" "$out/console"
	# the same kernel and modules, with another clock
	export LAB_OUT=$out LAB_BACKEND=${backend/%-tt/}
	[[ $backend != *-tt ]] || export LAB_VIRTUAL=1
	LAB_MARK="lab: run $$-$RANDOM begins"
	write_job "$timeout" "$no_rxe" "${env[@]}" -- "$@"
	run_backend "$backend" "$timeout" "${cpus:-2}" "$mem" "$pin"
}

# The guest's memory is a file on a tmpfs, allocated as it is touched.
check_memory()
{
	local want have

	want=$(numfmt --from=iec "$1" 2>/dev/null) ||
		die "run: --mem wants a size as 2G, not \"$1\""
	have=$(($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) * 1024))
	((have >= want)) ||
		say "run: the guest may take $1, but only $((have >> 20)) MiB are free (--mem)"
}

# write_job TIMEOUT NO_RXE [VAR[=VALUE]...] -- CMD...
write_job()
{
	local timeout=$1 no_rxe=$2 v
	shift 2

	{
		echo "# written by lab run"
		printf 'export RDMA_INC_CACHE=%q\n' "$LAB_CACHE"
		for v in "${!LAB_@}" "${!INC_@}"; do
			case $v in
			LAB_PIDS | LAB_TMPS | LAB_REPORTS | LAB_STOCK | LAB_RUN_LOCK) ;;
			LAB_CWD | LAB_JOB | LAB_MARK) ;;
			*) printf 'export %s=%q\n' "$v" "${!v}" ;;
			esac
		done
		[[ -z $no_rxe ]] || echo 'export LAB_NO_RXE=1'
		while [[ $1 != -- ]]; do
			if [[ $1 == *=* ]]; then
				printf 'export %s=%q\n' "${1%%=*}" "${1#*=}"
			elif [[ -v $1 ]]; then
				printf 'export %s=%q\n' "$1" "${!1}"
			fi
			shift
		done
		shift
		[[ -x $1 ]] || set -- bash "$@"
		printf 'job_timeout=%q\n' "$timeout"
		printf 'job_mark=%q\n' "$LAB_MARK"
		printf 'job_cmd=('; printf '%q ' "$@"; echo ')'
		printf 'job_writable=(%q' "$LAB_TREE"
		[[ $LAB_OUT/ == "$LAB_TREE"/* ]] || printf ' %q' "$LAB_OUT"
		echo ')'
	} >"$LAB_OUT/job"
}

# Each page that a guest's process has may be a mapping of the emulator's: with
# AddressSanitizer the usual 65530 are soon too few, and processes get SIGSEGV.
MAPPINGS=262144

more_mappings()
{
	local max=/proc/sys/vm/max_map_count

	(($(<$max) >= MAPPINGS)) || echo $MAPPINGS 2>/dev/null >$max ||
		echo "lab: vm.max_map_count is $(<$max): large programs may crash in User-Mode Linux; sysctl vm.max_map_count=$MAPPINGS" >&2
}

# Start the kernels; their output is the console.
# start_uml BUILD SMP MEM PIN [ARG...]: with ARG on the kernel's command line
start_uml()
{
	local build=$1 smp=$2 mem=$3 pin=$4 kernel args alone=()
	shift 4

	more_mappings
	# keep the machine's other work out of the measurement
	[[ $(nproc) = 1 ]] || ! chrt -r 1 true 2>/dev/null || alone=(chrt -r 1)
	kernel=("$build/linux" "mem=$mem" root=/dev/root rootfstype=hostfs
		rootflags=/ ro con=null "con0=null,fd:1" loglevel=8
		"init=$LAB_DIR/guest.sh" "LAB_JOB=$LAB_OUT/job" "$@")
	# slab_debug: without it stale pointers in the allocator's per-CPU lists
	# look like references to kmemleak
	# by ptrace, a system call costs several times as much as on a real
	# machine; several CPUs do not work with it at all
	if ((smp)); then
		kernel+=("ncpus=$smp" seccomp=on)
	else
		kernel+=(seccomp=auto)
	fi
	[[ $build != "$(uml_path debug)" ]] || kernel+=(slab_debug=F)
	args=("$build/modroot/lib/modules:/lib/modules")
	[[ $LAB_OUT/ == "$LAB_TREE"/* ]] || args+=("$LAB_OUT")
	[[ -z $pin ]] || kernel=("${alone[@]}" taskset -c "$pin" "${kernel[@]}")
	# a panic sends SIGTERM to the whole process group
	kernel=(setsid --wait "${kernel[@]}")
	LAB_CWD=/ in_root "$(with_path)" "${args[@]}" -- "${kernel[@]}"
}

# Run directly on this machine's kernel, in new namespaces (network too).
start_host()
{
	local binds=()

	[[ ! -d /lib/modules ]] || binds=(/lib/modules)
	LAB_NS_MORE="--net --uts --ipc" LAB_CWD=/ in_root "$LAB_ROOTFS" \
		"${binds[@]}" -- "$LAB_DIR/guest.sh" host "$LAB_OUT/job"
}

run_backend()
{
	local backend=$1 timeout=$2 cpus=$3 mem=$4 pin=$5
	local start pid tail timer rc report timed_out=0

	# the limit is for the script; booting and the leak check are extra
	case $backend in
	uml-debug) ((timeout += 15)) ;;
	vm*) ((timeout += 30)) ;;
	esac
	case $backend in
	uml) start=(start_uml "$(uml_path up)" 0 "$mem" "$pin") ;;
	uml-tt)
		start=(start_uml "$(uml_path up)" 0 "$mem" "$pin"
			time-travel=inf-cpu)
		;;
	uml-*)
		start=(start_uml "$(uml_path "${backend#uml-}")" "$cpus" "$mem"
			"$pin")
		;;
	vm) start=(start_vm new "$cpus" "$mem" "$pin") ;;
	vm-6.12) start=(start_vm old "$cpus" "$mem" "$pin") ;;
	vm-7.2) start=(start_vm min "$cpus" "$mem" "$pin") ;;
	vm-rt) start=(start_vm rt "$cpus" "$mem" "$pin") ;;
	host) start=(start_host) ;;
	esac

	"${start[@]}" >"$LAB_OUT/console" 2>&1 </dev/null &
	pid=$!
	LAB_PIDS+=("$pid")
	tail -n +1 -s 0.1 --pid="$pid" -f "$LAB_OUT/output" 2>/dev/null &
	tail=$!
	LAB_PIDS+=("$tail")
	sleep "$timeout" &
	timer=$!
	LAB_PIDS+=("$timer")
	wait -n "$pid" "$timer"		# no polling: somebody may be measuring
	if ! kill -0 "$timer" 2>/dev/null; then
		timed_out=1
		# what it says while it is ended is not its own
		check_log
		report=$?
		kill_job "$pid"
	fi
	kill "$timer" 2>/dev/null
	wait "$pid" 2>/dev/null
	wait "$tail" 2>/dev/null
	forget_pid "$pid"
	forget_pid "$tail"
	forget_pid "$timer"
	if ! ((timed_out)); then
		check_log
		report=$?
	fi
	if [[ -s $LAB_OUT/status ]]; then
		rc=$(<"$LAB_OUT/status")
	elif ((timed_out)); then
		say "run: time limit of $timeout s reached, the kernel was ended"
		rc=124
	else
		say "run: the kernel ended before the script"
		rc=98
	fi
	if ((report)); then
		rc=99
	elif ((rc == 98 || rc == 124)); then
		show_console
	fi
	return "$rc"
}

show_console()
{
	say "the end of $LAB_OUT/console:"
	tail -n 40 "$LAB_OUT/console" | tr -d '\r' | sed 's/^/    /' >&2
}

# Check the kernel's log; put its reports into LAB_OUT/report. Messages from
# booting, before the run, are not the project's business.
check_log()
{
	local log part=

	# Where the kernel's buffer was overwritten, the mark is, too.
	for log in "$LAB_OUT"/{dmesg,console}; do
		[[ -s $log && -z $part ]] || continue
		part=$(tr -d '\r' <"$log" | sed -n "/$LAB_MARK/,\$p")
	done
	[[ -n $part || ! -s $LAB_OUT/dmesg ]] || part=$(<"$LAB_OUT/dmesg")
	! grep "$LAB_STOCK" <<<"$part" ||
		say "run: that is rdma_rxe's own; KASAN reports nothing more in this boot"
	part=$(grep -v "$LAB_STOCK" <<<"$part")
	[[ -s $LAB_OUT/kmemleak ]] || grep -qE "$LAB_REPORTS" <<<"$part" ||
		return 0
	grep -nE -A 30 "$LAB_REPORTS" <<<"$part" >"$LAB_OUT/report"
	say "run: the kernel reports a problem ($LAB_OUT/report):"
	[[ ! -s $LAB_OUT/kmemleak ]] ||
		cat "$LAB_OUT/kmemleak" >>"$LAB_OUT/report"
	head -n 60 "$LAB_OUT/report" | sed 's/^/    /' >&2
	return 1
}
