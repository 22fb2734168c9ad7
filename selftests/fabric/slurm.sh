#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Slurm's jobs and the aggregation manager: a job that asks for it has its room
# before it starts, and gives it back whichever way it ends.
#
#   slurm.sh [VAR=VALUE]... [PART...]
#	PART: job key account none refused cancel away

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

DIR=$(mktemp -d)
HOOKS=$DIR/hooks
export SLURM_CONF=$DIR/slurm.conf
DAEMONS=()

configure()
{
	local host

	host=$(hostname -s)
	cat >"$SLURM_CONF" <<-END
	ClusterName=lab
	SlurmctldHost=$host(127.0.0.1)
	SlurmUser=root
	AuthType=auth/munge
	AuthInfo=socket=$DIR/munge/socket
	CredType=cred/munge
	ProctrackType=proctrack/linuxproc
	JobAcctGatherType=jobacct_gather/none
	MpiDefault=none
	ReturnToService=2
	SlurmctldPidFile=$DIR/slurmctld.pid
	SlurmdPidFile=$DIR/slurmd.pid
	StateSaveLocation=$DIR/state
	SlurmdSpoolDir=$DIR/spool
	SchedulerParameters=sched_min_interval=100000
	KillWait=2
	PrologSlurmctld=$HOOKS/prolog
	EpilogSlurmctld=$HOOKS/epilog
	TaskProlog=$HOOKS/task-prolog
	Prolog=$HOOKS/node-prolog
	Epilog=$HOOKS/node-epilog
	NodeName=n0 NodeHostname=$host NodeAddr=127.0.0.1 CPUs=1
	PartitionName=all Nodes=ALL Default=YES MaxTime=10
	END
	echo "CgroupPlugin=disabled" >"$DIR/cgroup.conf"
	cat >"$DIR/site.conf" <<-END
	PATH=$PATH
	LD_LIBRARY_PATH=$LD_LIBRARY_PATH
	SLURM_CONF=$SLURM_CONF
	INC_AM=$(topo_ip4 sw):1,$(topo_ip4 sw)
	END
	# As "make install" does.
	cp -r "$ROOT/userspace/manager/slurm" "$HOOKS" &&
		sed -i "s|/etc/rdma_inc/slurm.conf|$DIR/site.conf|g
			s|/etc/rdma_inc/slurm.key|$DIR/slurm.key|
			s|/run/rdma_inc-keys|$DIR/keys|" "$HOOKS/common"
}

# background NAME CMD...: on the bridge host.
background()
{
	local name=$1

	shift
	ip netns exec "$TOPO-sw" "$@" >"$LAB_OUT/$name.log" 2>&1 &
	DAEMONS+=($!)
}

idle()
{
	sw sinfo -h -o %t | grep -q idle
}

slurm_up()
{
	mkdir -p "$DIR/state" "$DIR/spool" "$DIR/munge"
	chmod 755 "$DIR" "$DIR/munge"
	configure
	dd if=/dev/urandom of="$DIR/munge/key" bs=128 count=1 status=none
	chmod 600 "$DIR/munge/key"
	background munged munged -F -f --key-file "$DIR/munge/key" \
		-S "$DIR/munge/socket" --pid-file "$DIR/munge/pid" \
		--seed-file "$DIR/munge/seed" --log-file "$LAB_OUT/munge.log"
	wait_for 20 test -S "$DIR/munge/socket" || return
	background slurmctld slurmctld -D
	background slurmd slurmd -D -N n0
	wait_for 30 idle || {
		tail -n 20 "$LAB_OUT"/{munged,slurmctld,slurmd}.log |
			sed 's/^/# /'
		return 1
	}
}

suite_up()
{
	topo_up 4 && ip -n "$TOPO-sw" link set lo up || return
	printf 'tenant = -\nranks = 4\n' >"$DIR/tenants.conf"
	AMD_ARGS=(--tenants "$DIR/tenants.conf")
	agent_up sw && amd_up && wait_for 10 ctl_up && slurm_up
}

suite_down()
{
	kill "${DAEMONS[@]}" 2>/dev/null
	wait "${DAEMONS[@]}" 2>/dev/null
	amd_down
	agents_down
	rm -rf "$DIR"
}

# submit COMMENT COUNT [OPTION...]: a job whose four ranks reduce so often. Sets $JOB.
submit()
{
	cat >"$DIR/job" <<-END
	#!/bin/bash
	env | grep ^INC_AM
	for r in 0 1 2 3; do
		ip netns exec $TOPO-h\$r inc-perf --job slurm\$SLURM_JOB_ID \\
			--rank \$r --ranks 4 --dev $TOPO\$r --count 1000 \\
			-i $2 -x 1 --pause 1000 &
		pids+=" \$!"
	done
	wait -n \$pids
	rc=\$?
	wait \$pids
	exit \$rc
	END
	JOB=$(sw sbatch --parsable --comment="$1" -o "$DIR/out" "${@:3}" \
		"$DIR/job")
}

# of FIELD: what squeue or scontrol has of the job.
of()
{
	sw scontrol show job "$JOB" | sed -n "s/.*\b$1=//p" | cut -d ' ' -f 1
}

state_is()
{
	[[ $(of JobState) =~ ^($1)$ ]]
}

# held TEXT: the manager has this of the job's reservation.
held()
{
	ctl reservation show "slurm-$JOB" | grep -q "$1"
}

metric()
{
	metrics | grep -qxF "$1"
}

given_back()
{
	[ -z "$(ctl reservation)" ]
}

job_log()
{
	sw scontrol show job "$JOB" | grep -oE "(JobState|Reason|AdminComment)=.*"
	tail -n 5 "$DIR/out" "$LAB_OUT/slurmctld.log" 2>/dev/null
}

part_job()
{
	submit "urgent inc:ranks=4" 4000
	wait_for 20 held "1 of 1 groups, 4 of 4 ranks"
	ktap $? "a job has taken what was reserved for it" \
		"$(ctl reservation; job_log)"
	held "by $(id -un)"
	ktap $? "it is by the job's user" "$(ctl reservation)"
	grep -q "INC_AM_RESERVATION=slurm-$JOB" "$DIR/out"
	ktap $? "its tasks know the reservation" "$(cat "$DIR/out")"
	wait_for 10 metric 'inc_am_tenant_ranks{tenant=""} 4' &&
		metric 'inc_am_tenant_ranks_limit{tenant=""} 4'
	ktap $? "metrics: what its tenant has, and may have" \
		"$(metrics | grep tenant)"
	wait_for 60 state_is COMPLETED
	ktap $? "the job has ended well" "$(job_log)"
	wait_for 10 given_back
	ktap $? "its reservation has ended" "$(ctl reservation)"
}

no_keys()
{
	[ -z "$(ls "$DIR/keys")" ]
}

# The tasks of a job have the job's key, of which its node keeps nothing.
# key_job VAR=VALUE...: a job that says which key it has.
key_job()
{
	JOB=$(sw env "$@" sbatch --parsable -n 1 -o "$DIR/out" \
		--wrap "srun sh -c 'echo key \$INC_JOB_KEY; ls -l $DIR/keys/*'")
	wait_for 60 state_is COMPLETED
}

part_key()
{
	local job keys=()

	openssl rand -hex 64 >"$DIR/slurm.key"
	chmod 600 "$DIR/slurm.key"
	for job in 1 2; do
		key_job INC_AM_CA=/site/ca.pem
		keys+=("$(sed -n 's/^key \([0-9a-f]\{64\}\)$/\1/p' "$DIR/out")")
		grep -q "^-r\?w\?------- .*$DIR/keys/$JOB$" "$DIR/out"
		ktap $? "key: job $job: nobody else can read it" "$(cat "$DIR/out")"
		wait_for 10 no_keys
		ktap $? "key: job $job: then it is gone" "$(ls "$DIR/keys")"
	done
	[ "${#keys[0]}" = 64 ] && [ "${#keys[1]}" = 64 ] && [ "${keys[0]}" != "${keys[1]}" ]
	ktap $? "key: each job has one" "${keys[*]}; $(cat "$DIR/out")"
	key_job INC_AM_CA=/site/ca.pem INC_SERVER=10.0.0.1
	! grep -q "^key .*[0-9a-f]" "$DIR/out"
	ktap $? "key: none for a daemon in plaintext" "$(cat "$DIR/out")"
	for job in "chmod 644" "truncate -s 0"; do
		$job "$DIR/slurm.key"
		SLURM_JOB_ID=77 SLURM_JOB_UID=0 "$HOOKS/node-prolog" 2>"$DIR/out"
		[ $? = 1 ] && grep -q "32 bytes or more that root alone" "$DIR/out" &&
			no_keys
		ktap $? "key: none from a secret after $job" "$(cat "$DIR/out")"
		chmod 600 "$DIR/slurm.key"
	done
	rm "$DIR/slurm.key"
}

# An account may have the name of a word of inc-amctl.
part_account()
{
	local name

	for name in help -h; do
		# Its ranks would have no tenant here, and end at once.
		JOB=$(sw sbatch --parsable --comment="inc:ranks=4" -o "$DIR/out" \
			"--account=$name" --wrap "sleep 5")
		wait_for 20 held_by "$name"
		ktap $? "account $name: there is a reservation" \
			"$(ctl reservation; job_log)"
		wait_for 60 state_is COMPLETED
		wait_for 10 given_back
		ktap $? "account $name: it has given all back" \
			"$(ctl reservation)"
	done
}

held_by()
{
	ctl reservation show -- "slurm-$JOB" "$1" | grep -qe "tenant $1, "
}

part_none()
{
	sw sbatch --parsable -o "$DIR/out2" --wrap "env | grep INC_AM; true" \
		--comment "incomplete" >"$DIR/id"
	JOB=$(cat "$DIR/id")
	wait_for 60 state_is COMPLETED
	ktap $? "a job that does not ask runs" "$(job_log)"
	! grep -q RESERVATION "$DIR/out2"
	ktap $? "and has no reservation" "$(cat "$DIR/out2")"
}

job_held()
{
	state_is PENDING && [ "$(of Priority)" = 0 ]
}

# refused NAME COMMENT TEXT: the job does not start, says why, and is held.
refused()
{
	submit "$2" 10
	wait_for 20 of_says "$3"
	ktap $? "$1: the job says why" "$(job_log)"
	sleep 1
	! state_is "RUNNING|COMPLETED"
	ktap $? "$1: it does not run" "$(job_log)"
	wait_for 20 job_held
	ktap $? "$1: it is held, not tried again" "$(job_log; sw scontrol \
		show job "$JOB")"
	sw scancel "$JOB"
	wait_for 10 given_back
	ktap $? "$1: nothing is reserved" "$(ctl reservation)"
}

of_says()
{
	sw scontrol show job "$JOB" | grep -q "AdminComment=rdma_inc: .*$1"
}

part_refused()
{
	refused "over quota" "inc:ranks=5" "can never.*may have 4 ranks in all"
	refused "a wrong wish" "inc:rank=4" "must be ranks=N"
	refused "no number" "inc:ranks=x" "must be ranks=N"
	refused "a word of inc-amctl" "inc:ranks=help" "must be ranks=N"
}

part_cancel()
{
	submit "inc:ranks=4" 1000000
	wait_for 20 held "4 of 4 ranks"
	# A user may do that at any time.
	sw scontrol update JobId="$JOB" Comment=other
	sw scancel "$JOB"
	wait_for 20 given_back
	ktap $? "a cancelled job gives back what was reserved" \
		"$(ctl reservation; job_log)"
	wait_for 10 no_tree
	ktap $? "and its tree is gone" "$(sw inc-tool tree show)"
}

part_away()
{
	amd_down
	submit "inc:ranks=4" 10
	wait_for 30 of_says "$(topo_ip4 sw):18790: the connection is refused"
	ktap $? "no manager: the job says why, of each" "$(job_log)"
	! state_is "RUNNING|COMPLETED" && ! job_held
	ktap $? "no manager: it does not run, and is tried again" "$(job_log)"
	amd_up
	wait_for 10 ctl_up
	sw scontrol update JobId="$JOB" StartTime=now
	wait_for 60 state_is COMPLETED
	ktap $? "tried again when there is one: it runs" "$(job_log)"
}

suite "job key account none refused cancel away" "$@"
