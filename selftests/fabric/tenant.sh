#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tenants of the aggregation manager: what they may have, and what they see of
# each other.
#
#   tenant.sh [VAR=VALUE]... [PART...]
#	PART: quota reserve switch reload hide names host priority memory
#	ending

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$ROOT/selftests/lib/levels.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

DIR=$(mktemp -d)
CA=$DIR/ca
LIMITS=$DIR/tenants.conf

ca()
{
	"$ROOT/userspace/manager/ca/inc-am-ca" -d "$CA" "$@"
}

# limits LINE...: what the file has from now on.
limits()
{
	printf '%s\n' "$@" >"$LIMITS"
}

reloads()
{
	grep -c " limits-" "$LAB_OUT/amd.log"
}

reloaded()
{
	[ "$(reloads)" != "$1" ]
}

reload()
{
	local before

	before=$(reloads)
	kill -HUP "$AMD"
	wait_for 10 reloaded "$before"
}

suite_up()
{
	topo_up 4 && ca init && ca manager amd "$(topo_ip4 sw)" &&
		ca client ruth red && ca client rita red && ca client bob blue &&
		ca client nina && ca client gina green && ca operator olga &&
		ca token tom blue client "$DIR/tokens" >"$DIR/tom" || return
	AMD_SECURITY=(--tls-cert "$CA/amd/cert.pem" --tls-key "$CA/amd/key.pem"
		--tls-ca "$CA/ca.pem" --tokens "$DIR/tokens")
	AMD_ARGS=(--tenants "$LIMITS")
	agent_up sw && limits && amd_up && clock_up
}

suite_down()
{
	amd_down
	agents_down
	rm -rf "$DIR"
}

# as NAME CMD...: with NAME's certificate; tom has a token.
as()
{
	local name=$1

	shift
	if [ "$name" = tom ]; then
		INC_AM_CA=$CA/ca.pem INC_AM_TOKEN_FILE=$DIR/tom "$@"
	else
		INC_AM_CERTS=$CA/$name "$@"
	fi
}

# refused NAME USER RANKS TEXT ARGS...: USER's job is refused, and told TEXT.
refused()
{
	local name=$1 user=$2 ranks=$3 text=$4

	shift 4
	JOB_ODD[0]="--join-timeout $(scaled 60000)"
	as "$user" am_start "$ranks" --count 10 "$@"
	job_wait
	[ $? != 0 ] && grep -q "$text" "$JOB_LOG.0"
	ktap $? "$name" "$(cat "$JOB_LOG.0")"
	JOB_ODD=()
}

end_job()
{
	as olga ctl group del "$1"
	job_wait
	gone "$2"
}

part_quota()
{
	local job

	limits "all-ranks = 5" \
		"tenant = red" "groups = 1" "ranks = 3" "min-ranks = 2" \
		"tenant = *" "max-ranks = 2"
	reload
	refused "fewer ranks than the least" ruth 1 "must have at least 2"
	refused "more ranks than all may have" ruth 4 "may have 3 ranks in all"
	refused "more ranks than a group may have" tom 3 "may have 2 at most"
	as ruth long_job 3
	job=$JOB_NAME
	event "group-ready $job"
	ktap $? "a group within the limits" "$(cat "$JOB_LOG.0")"
	# There is an event for a tenant's refusals once a second.
	sleep 1.1
	refused "another user of the tenant" rita 2 \
		"tenant red may have 1 groups, and has 1"
	SAYS_BY=(as olga ctl)
	says "quota show" 0 "groups: 1 of 1" quota show red
	says "quota show -j" 0 '"used":3' -j quota
	says "event" 0 ": tenant red may have 1 groups" event
	SAYS_BY=(as bob ctl)
	says "a client sees its own limits" 0 "tenant blue" quota
	says "and no others'" 2 "are for operators" quota show red
	! as bob ctl quota | grep -q "red\|all tenants"
	ktap $? "quota: no other tenant's name" "$(as bob ctl quota)"
	as bob am_job "another tenant has room" 2 --check --count 100
	as tom am_job "the same with a token" 2 --check --count 100
	JOB_NAME=$job
	end_job "$job" "quota"
	as rita am_job "when it has ended" 2 --check --count 100
	gone "quota"
}

part_reserve()
{
	local job

	limits "tenant = red" "groups = 2" "ranks = 4" "tenant = blue" "groups = 1"
	reload
	SAYS_BY=(as ruth ctl)
	says "room for a job" 0 "" reservation add job1 ranks 3 for 600
	says "reservation" 0 "reservation job1: 0 of 1 groups, 0 of 3 ranks, tenant red, ends in" \
		reservation
	says "reservation -j" 0 '"used-ranks":0' -j reservation show job1
	says "quota has it" 0 "ranks: 0 and 3 reserved of 4" quota
	says "twice" 2 "a reservation \"job1\" already" \
		reservation add job1 ranks 1
	says "more than the tenant may have" 2 \
		"may have 4 ranks in all, and has 0 and 3 reserved: 1 are left" \
		reservation add job2 ranks 2
	says "fewer ranks than groups" 2 "a rank for each" \
		reservation add job2 ranks 1 groups 2
	says "a name with a space" 2 "without spaces" \
		reservation add "job 2" ranks 1
	says "no number of ranks" 1 "how many ranks" reservation add job2
	says "no number" 1 "must be a number" reservation add job2 ranks x
	says "a word that is none" 1 "none of ranks" reservation add job2 x 3
	says "another's tenant" 2 "for operators" \
		reservation add job2 ranks 1 tenant blue
	SAYS_BY=(as bob ctl)
	says "more ranks than a group can have" 2 \
		"never be reserved: a group has 1024 ranks at most" \
		reservation add all ranks 4294967295
	SAYS_BY=(as nina ctl)
	says "more groups than there can be trees" 2 \
		"never be reserved: the manager has IDs for 262144 trees" \
		reservation add all ranks 4294967295 groups 262145
	SAYS_BY=(as bob ctl)
	says "another tenant does not see it" 2 "no reservation" \
		reservation show job1
	says "and cannot delete it" 2 "no reservation" reservation del job1
	SAYS_BY=(as olga ctl)
	says "an operator does" 0 "tenant red" reservation show job1 red

	refused "what is reserved is used" rita 2 "and 3 reserved: 1 are left"
	export INC_AM_RESERVATION=nowhere
	refused "a reservation that is none" rita 2 "no reservation \"nowhere\""
	export INC_AM_RESERVATION=job1
	as rita long_job 3
	job=$JOB_NAME
	event "group-ready $JOB_NAME"
	ktap $? "a group takes its room" "$(cat "$JOB_LOG.0")"
	says "it is seen" 0 "1 of 1 groups, 3 of 3 ranks" reservation
	refused "there is no more of it" ruth 2 "1 are left"
	end_job "$job" "a group with a reservation"
	says "and it gives it back" 0 "0 of 1 groups, 0 of 3 ranks" reservation
	as ruth long_job 3
	event "group-ready $JOB_NAME"
	says "deleted while it is used" 0 "" reservation del job1 red
	unset INC_AM_RESERVATION
	says "the group goes on" 0 "ready, 3 of 3 ranks" group show "$JOB_NAME"
	says "as one like all others" 0 "ranks: 3 of 4" quota show red
	end_job "$JOB_NAME" "a group without its reservation"
	says "nothing is left" 0 "ranks: 0 of 4" quota show red

	says "for a second" 0 "" reservation add short ranks 2 for 1 tenant red
	event "reservation-over short: its time is over"
	ktap $? "it ends when its time is over" "$(as olga ctl reservation)"
	says "gone" 2 "no reservation" reservation show short
	limits
	reload
}

part_switch()
{
	local pids=() job

	limits "tenant = red" "switch-trees = 1" "tenant = blue" \
		"switch-slots = 16"
	reload
	as ruth long_job 2
	job=$JOB_NAME
	pids=("${JOB_PIDS[@]}")
	refused "a second tree at the switch" rita 2 \
		"tenant red may have 1 trees at each switch"
	as nina am_job "a caller without a tenant has no limit" 2 --check \
		--count 100
	refused "more slots than at each switch" bob 2 \
		"may have 16 slots at each switch"
	as bob am_job "as many slots as allowed" 2 --check --count 100 --slots 16
	as olga ctl group del "$job"
	wait "${pids[@]}"
	gone "limits of a switch"
	as rita am_job "when the tree is gone" 2 --check --count 100
}

part_reload()
{
	limits "tenant = red" "groups = 0"
	reload
	refused "no groups at all" ruth 2 "may have 0 groups"
	limits "tenant = red" "groups = many"
	reload
	grep -q "limits-wrong.*as before: .*tenants.conf:2: this must be a number" \
		"$LAB_OUT/amd.log"
	ktap $? "a wrong file: it is said where" "$(cat "$LAB_OUT/amd.log")"
	refused "a wrong file: the limits are as before" ruth 2 "may have 0 groups"
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --switch /x --tenants "$LIMITS")
	says "a wrong file: the manager does not start" 1 \
		"tenants.conf:2: this must be a number" --listen 127.0.0.1:0
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --switch /x)
	says "no file" 1 "/nowhere: No such file" --tenants /nowhere
	says "a directory" 1 "/: is not a regular file" --tenants /
	mkfifo "$LIMITS.fifo"
	says "a FIFO" 1 "is not a regular file" --tenants "$LIMITS.fifo"
	mv "$LIMITS" "$LIMITS.was"
	mkdir "$LIMITS"
	reload
	rmdir "$LIMITS"
	mv "$LIMITS.was" "$LIMITS"
	grep -q "limits-wrong.*as before: .*tenants.conf: is not a regular file" \
		"$LAB_OUT/amd.log"
	ktap $? "a file that cannot be read: it is said" "$(cat "$LAB_OUT/amd.log")"
	refused "its limits are as before" ruth 2 "may have 0 groups"
	# As it is printed there.
	sed -n '/tenants.conf`` (``--tenants``)::$/,/^[^ ]/s/^   //p' \
		"$ROOT/Documentation/manager.rst" >"$LIMITS"
	[ "$(wc -l <"$LIMITS")" -gt 5 ]
	ktap $? "manager.rst has an example" "$(cat "$LIMITS")"
	reload
	SAYS_BY=(as olga ctl)
	says "the example of manager.rst is good" 0 "of 512" quota show red
	SAYS_BY=(sw)
	limits
	reload
	as ruth am_job "limits are gone" 2 --check --count 100
	gone "reload"
	default_file
}

# The file that is read without --tenants, written after the manager's start. The
# guest's /etc cannot be written: a copy takes its place meanwhile.
default_file()
{
	local args=("${AMD_ARGS[@]}")

	amd_down
	AMD_ARGS=()
	cp -r /etc "$DIR/etc" && mount --bind "$DIR/etc" /etc &&
		mkdir -p /etc/rdma_inc && amd_up || return
	SAYS_BY=(as olga ctl)
	says "no default file" 0 "nothing is limited: there is no /etc/rdma_inc" \
		quota
	reload
	says "a reload without it" 0 "nothing is limited" quota
	printf '%s\n' "tenant = red" "groups = 0" >/etc/rdma_inc/tenants.conf
	reload
	says "written, and reloaded" 0 "were read from /etc/rdma_inc" quota
	refused "its limits are in force" ruth 2 "may have 0 groups"
	rm -r /etc/rdma_inc
	reload
	says "it is gone" 0 "tenants.conf: No such file" quota
	refused "the limits are as before" ruth 2 "may have 0 groups"
	SAYS_BY=(sw)
	amd_down
	umount /etc
	AMD_ARGS=("${args[@]}")
	amd_up
}

# sees_not WHO ARGS...: inc-amctl tells WHO nothing of the group.
sees_not()
{
	local who=$1 text

	shift
	text=$(as "$who" ctl "$@" 2>&1)
	! grep "$JOB_NAME" <<<"$text" | grep -qv "there is no group"
	ktap $? "$who: $* does not show another tenant's group" "$text"
}

part_hide()
{
	local who job pids

	as ruth long_job 2
	SAYS_BY=(as rita ctl)
	says "a user of the tenant sees the group" 0 "$JOB_NAME: ready" group show
	says "and why it has its tree" 0 "root is sw" why "$JOB_NAME"
	for who in bob tom nina; do
		sees_not $who group show
		sees_not $who -j group show "$JOB_NAME"
		sees_not $who why "$JOB_NAME"
		sees_not $who topology
	done
	SAYS_BY=(as tom ctl)
	says "its name is of no use" 2 "there is no group" group show "$JOB_NAME"
	says "nor to know its tenant" 2 "there is no group" group show \
		"$JOB_NAME" red
	says "a client gets no events" 2 "for operators" event
	says "nor a stream of them" 2 "for operators" event --follow
	says "nor tasks" 2 "for operators" task "$JOB_NAME"
	says "nor a stream of these" 2 "for operators" task --follow
	says "nor history" 2 "for operators" task "$JOB_NAME" --history
	as rita ctl -j topology | grep -q '"trees":0'
	ktap $? "a client does not see how many trees there are"
	[ "$(as rita ctl topology | awk '{ print $1, $2 }')" = \
		"$(printf '%s\n' "switch sw:" "host $(topo_ip4 0)" \
			"host $(topo_ip4 1)")" ] && ! as rita ctl topology | grep -q /
	ktap $? "a client sees its group's switch and hosts, and no agent" \
		"$(as rita ctl topology)"
	[ -z "$(as bob ctl topology)" ]
	ktap $? "and nothing of others'" "$(as bob ctl topology)"
	SAYS_BY=(as olga ctl)
	says "an operator sees the group" 0 "tenant red" group show "$JOB_NAME"
	wait_for 10 sees_trees 1
	says "and its tree at the switch" 0 '"trees":1' -j topology
	# A rank of blue that knows the name is in a group of its own.
	job=$JOB_NAME
	pids=("${JOB_PIDS[@]}")
	as bob am_same "$job"
	wait_for 10 two_groups "$job"
	ktap $? "the same name is another group of another tenant" \
		"$(as olga ctl group show)"
	says "whose is it?" 2 "several tenants" group del "$job"
	says "group del NAME TENANT" 0 "" group del "$job" red
	wait "${pids[@]}"
	says "the other one is left" 0 "1 of 2 ranks, tenant blue" group show "$job"
	says "and deleted" 0 "" group del "$job" blue
	job_wait
	gone "hide"
}

# sees_trees N: the manager asks the switch every two seconds.
sees_trees()
{
	as olga ctl -j topology | grep -q "\"trees\":$1"
}

two_groups()
{
	[ "$(as olga ctl group show | grep -c "^group $1:")" = 2 ]
}

# am_same NAME: rank 0 of 2 of a group of that name
am_same()
{
	INC_AM=$(topo_ip4 sw) ip netns exec "$TOPO-h3" inc-perf --job "$1" \
		--rank 0 --ranks 2 --dev "${TOPO}3" --timeout "$JOB_TIMEOUT" \
		>"$LAB_OUT/$1.same" 2>&1 &
	JOB_PIDS=($!)
}

# figure TENANT: bytes of its task $JOB_NAME that hosts sent, by the metrics.
figure()
{
	metrics | sed -n "s/^inc_am_task_received_bytes_total{tenant=\"$1\",task=\"$JOB_NAME\"} //p"
}

# has_figure TENANT MIN
has_figure()
{
	local n

	n=$(figure "$1")
	((${n:-0} >= $2))
}

# A tenant has begun as many groups as one host may, and they wait for ranks: that is
# nothing to another tenant there.
part_host()
{
	local i waiting=()

	for ((i = 0; i < 16; i++)); do
		JOB_LATE=1023 as ruth am_start 1024 --count 10
		waiting+=("${JOB_PIDS[@]}")
	done
	wait_for 20 forming 16
	ktap $? "16 groups of 1,024 ranks wait" "$(as olga ctl group)"
	refused "one more of the same tenant" rita 1 "wait for their ranks already"
	as bob am_job "another tenant's, of the same host" 1 --check --count 100
	kill "${waiting[@]}"
	wait "${waiting[@]}" 2>/dev/null
	gone "host"
}

# forming N: so many groups
forming()
{
	[ "$(as olga ctl group | grep -c "1 of 1024 ranks")" = "$1" ]
}

# Two tenants choose one name, and one sends ten times as much.
part_names()
{
	local red blue

	as ruth am_start 2 allreduce --count 10000 -i 20 -x 0
	job_wait
	ktap $? "a job of red" "$(cat "$JOB_LOG".*)"
	JOB_PIDS=()
	as bob am_rank 0 2 allreduce --count 100000 -i 20 -x 0
	as bob am_rank 1 2 allreduce --count 100000 -i 20 -x 0
	job_wait
	ktap $? "one of blue, with the same name" "$(cat "$JOB_LOG".*)"
	wait_for 20 has_figure blue 16000000
	red=$(figure red)
	blue=$(figure blue)
	((red >= 1600000 && red < 2400000 && blue >= 16000000 &&
		blue < 24000000))
	ktap $? "each has figures of its own" "$red and $blue bytes"
	SAYS_BY=(as olga ctl)
	[ "$(as olga ctl task "$JOB_NAME" | sed 's/.*ended, \(tenant [a-z]*\),.*/\1/' |
		sort | xargs)" = "tenant blue tenant red" ]
	ktap $? "two rows, each with its tenant" "$(as olga ctl task)"
	says "task NAME TENANT" 0 "ended, tenant red" task "$JOB_NAME" red
	says "of none" 2 "there is no task" task "$JOB_NAME" -
	says "whose history?" 2 "several tenants" task "$JOB_NAME" --history
	says "of this one" 0 "messages/s" task "$JOB_NAME" blue --history
	says "a switch has no tenant" 1 "has no switches" task --switches sw red
	says "events say whose" 0 "(tenant blue)" event
	gone "names"
}

# --- Priorities -------------------------------------------------------------

declare -A NAMES LOGS PIDS

# low WHO KEY N ARGS...: a job of WHO that runs until somebody ends it.
low()
{
	local who=$1 key=$2

	shift 2
	as "$who" long_job "$@"
	NAMES[$key]=$JOB_NAME
	LOGS[$key]=$JOB_LOG
	PIDS[$key]=${JOB_PIDS[*]}
	event "group-ready $JOB_NAME"
	ktap $? "$who has a group ($key)" "$(tail -n 3 "$JOB_LOG.0")"
}

# job_of KEY: what follows is about that job.
job_of()
{
	JOB_NAME=${NAMES[$1]}
	JOB_LOG=${LOGS[$1]}
	read -ra JOB_PIDS <<<"${PIDS[$1]}"
}

# goes_on KEY...: they were left alone.
goes_on()
{
	local key

	SAYS_BY=(as olga ctl)
	for key; do
		says "$key goes on" 0 "${NAMES[$key]}: ready" \
			group show "${NAMES[$key]}"
	done
}

# end KEY...: by hand.
end()
{
	local key

	for key; do
		job_of "$key"
		as olga ctl group del "$JOB_NAME"
		job_wait
	done
}

knows_max_trees()
{
	as olga ctl -j switch sw | grep -q "\"max-trees\":$1[,}]"
}

# max_trees N: the switch takes N trees, and the manager has read that: it asks
# every few seconds.
max_trees()
{
	sw inc-tool switch set max-trees "$1"
	wait_for 10 knows_max_trees "$1"
	ktap $? "the manager knows that the switch takes $1 trees" \
		"$(as olga ctl -j switch sw)"
}

memory_used()
{
	sw inc-tool -j switch show | sed 's/.*"memory-used":\([0-9]*\).*/\1/'
}

# The switch has less than $1 bytes in use: an ended group's tree is gone.
has_freed()
{
	[ "$(memory_used)" -lt "$1" ]
}

# linger WHO N: N groups of WHO end while one of their ranks stays.
linger()
{
	# Not the last one's.
	: >"$LAB_OUT/linger.log"
	# No function here: the PID has to be the program's.
	INC_AM_CERTS=$CA/$1 ip netns exec "$TOPO-h0" python3 \
		"$ROOT/selftests/fabric/linger.py" "$(topo_ip4 sw):18790" \
		"$(topo_ip4 0)" "$2" >"$LAB_OUT/linger.log" 2>&1 &
	LINGER=$!
	wait_for 20 grep -q lingering "$LAB_OUT/linger.log"
	ktap $? "$2 groups of $1 are ending" "$(cat "$LAB_OUT/linger.log")"
}

linger_no_more()
{
	kill "$LINGER"
	wait "$LINGER" 2>/dev/null
	gone "$1"
}

trees_are()
{
	[ "$(sw inc-tool tree | grep -c "^tree ")" = "$1" ]
}

# first_ready KEY OTHER: the group KEY was ready before OTHER.
first_ready()
{
	grep -o "group-ready [^ :]*" "$LAB_OUT/amd.log" |
		grep -xe "group-ready ${NAMES[$1]}" -e "group-ready ${NAMES[$2]}" |
		head -n 1 | grep -qx "group-ready ${NAMES[$1]}"
}

# both LOW HIGH: one begins a job after the other, for a room that comes free when both
# wait: the switch's agent deletes nothing until then.
both()
{
	local key

	kill -STOP "${AGENT[sw]}"
	for key; do
		as "$key" am_start 2 --check --count 100
		NAMES[$key]=$JOB_NAME
		LOGS[$key]=$JOB_LOG
		PIDS[$key]=${JOB_PIDS[*]}
		event "group .$JOB_NAME.: rank 1"
	done
	sleep 0.5
	kill -CONT "${AGENT[sw]}"
	job_of "$2"
	job_wait
	ktap $? "$2 has its turn" "$(cat "$JOB_LOG".*)"
	# There is room for it if the other one has ended by then.
	job_of "$1"
	job_wait
}

# Of those that wait for room, who has the higher priority is first; nobody ends.
part_priority()
{
	limits "tenant = red" "priority = 9" "tenant = green" "priority = 2"
	reload
	SAYS_BY=(as olga ctl)
	says "quota has the priority" 0 "tenant red, priority 9" quota show red
	says "quota -j has it" 0 '"priority":9' -j quota show red
	max_trees 1
	low bob old 2
	refused "a priority ends nobody" ruth 2 \
		"none has the capability and room for another tree$"
	goes_on old
	end old
	linger bob 1
	both gina ruth
	linger_no_more "priority"
	first_ready ruth gina
	ktap $? "the higher priority is first" "$(tail -n 12 "$LAB_OUT/amd.log")"
	sw inc-tool switch set max-trees 0
	limits
	reload
}

# Memory of a switch, which is only known when it refuses a tree.
part_memory()
{
	local used

	# What the trees before had is freed a moment after them.
	wait_for 10 has_freed 1
	linger ruth 1
	used=$(memory_used)
	sw inc-tool switch set memory-limit $((used + used / 2))
	as nina am_job "the memory of a group that ends" 2 --check --count 100
	linger_no_more "memory"
	low bob old 2
	refused "that of one that goes on is its own" ruth 2 "needs .* KiB"
	goes_on old
	end old
	sw inc-tool switch set memory-limit 1G
	gone "memory"
}

# Groups that have ended, with a rank that stays: who needs their room gets it, and a
# tenant has no more of them than of others.
part_ending()
{
	limits "tenant = red" "switch-trees = 2"
	reload
	max_trees 2
	linger ruth 2
	as nina am_job "their room is anyone's" 2 --check --count 100
	linger_no_more "room"
	low bob old 2
	linger ruth 1
	as gina am_job "nobody else ends" 2 --check --count 100
	goes_on old
	end old
	linger_no_more "room of one"
	sw inc-tool switch set max-trees 0
	linger ruth 2
	as rita am_job "it is room within the limit of a switch" 2 --check --count 100
	linger_no_more "limit of a switch"

	limits "tenant = red" "groups = 2" "ranks = 4"
	reload
	linger ruth 6
	wait_for 10 trees_are 2
	ktap $? "a tenant has as many as it may have groups" "$(sw inc-tool tree)"
	as ruth am_job "and no job waits for them" 2 --check --count 100
	linger_no_more "groups of a tenant"
	limits "tenant = red" "ranks = 2"
	reload
	linger ruth 3
	wait_for 10 trees_are 1
	ktap $? "the same by ranks" "$(sw inc-tool tree)"
	linger_no_more "ranks of a tenant"
	limits
	reload
}

suite "quota reserve switch reload hide names host priority memory ending" "$@"
