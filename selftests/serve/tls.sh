#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# TLS and tokens of the rendezvous: inc-tool serve under AddressSanitizer, ranks
# with right and wrong certificates and tokens, stalled handshakes, noise, and a
# parent's daemon.
#
#   tls.sh [VAR=VALUE]... [PART...]
#	PART: certificates tokens key plain stalled noise renewed levels

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/levels.sh
. "$(dirname "$0")/../lib/levels.sh"

STALLED=${STALLED:-200}
CA=$LAB_OUT/tls-ca
TOKENS=$LAB_OUT/tokens
LOG=$LAB_OUT/serve.log
PERF=(barrier -i 3 --timeout "$(scaled 30000)")
export ASAN_OPTIONS=detect_leaks=0

ca()
{
	"$ROOT/userspace/manager/ca/inc-am-ca" -d "$CA" "$@"
}

make_certificates()
{
	local ip root

	ip=$(switch_ip4 l0)
	root=$(switch_ip4 sw)
	rm -rf "$CA" "$CA-other" "$TOKENS"
	ca init && ca manager daemon "$ip" && ca manager root "$root" &&
		ca manager elsewhere 192.0.2.1 && ca client rank &&
		ca agent server "$ip" &&
		ca --from 20200101000000Z --until 20210101000000Z \
			client expired &&
		ca token rank - client "$TOKENS" >"$LAB_OUT/token" &&
		chmod 600 "$TOKENS" &&
		CA=$CA-other ca init && CA=$CA-other ca client stranger
}

# daemon ARGS...: at the leaf.
daemon()
{
	local PATH=$INC_ASAN/tool:$PATH

	rm -f "$LOG"

	# No function here: the PID has to be the program's.
	ip netns exec "$TOPO-l0" inc-tool serve --dead-time "$(scaled 350)" \
		"$@" >"$LOG" 2>&1 &
	SERVE_PID=$!
	wait_for 20 grep -q listening "$LOG" ||
		ktap 1 "inc-tool serve comes up" "$(cat "$LOG")"
}

# tls ARGS...: the daemon with its certificate.
tls()
{
	daemon --tls-cert "$CA/daemon/cert.pem" --tls-key "$CA/daemon/key.pem" \
		"$@"
}

gone()
{
	serve_ends "$1: the daemon" "$LOG"
}

# rank VAR=VALUE...: a job of one rank. Its output: $LAB_OUT/rank.log
rank()
{
	host 0 env "$@" timeout "$HANGS" inc-perf \
		--server "$(switch_ip4 l0)" --job "one$RANDOM" --rank 0 \
		--ranks 1 --dev "${TOPO}0" "${PERF[@]}" \
		>"$LAB_OUT/rank.log" 2>&1
}

# fits NAME VAR=VALUE...
fits()
{
	local name=$1

	shift
	rank "$@"
	ktap $? "$name" "$(tail -n 1 "$LAB_OUT/rank.log")"
}

# refused NAME RANK-SAYS DAEMON-SAYS VAR=VALUE...
refused()
{
	local name=$1 says=$2 log=$3

	shift 3
	! rank "$@" && grep -q "$says" "$LAB_OUT/rank.log"
	ktap $? "$name: the rank says why" "$(tail -n 1 "$LAB_OUT/rank.log")"
	wait_for 5 grep -q "refused.*$log" "$LOG"
	ktap $? "$name: so does the daemon" "$(tail -n 1 "$LOG")"
}

part_certificates()
{
	tls --tls-ca "$CA/ca.pem" || return
	fits "right certificate" INC_SERVER_CERTS="$CA/rank"
	INC_SERVER_CERTS=$CA/rank job "a job over TLS" 2 "${PERF[@]}"
	INC_SERVER_CERTS=$CA/rank job "a job over TLS, UC" 2 "${PERF[@]}" --transport uc
	refused "no certificate" "which shows no certificate" \
		"no certificate" INC_SERVER_CA="$CA/ca.pem"
	refused "a stranger's certificate" "refuses the certificate" \
		"its certificate is not of the authority in --tls-ca" \
		INC_SERVER_CA="$CA/ca.pem" \
		INC_SERVER_CERT="$CA-other/stranger/cert.pem" \
		INC_SERVER_KEY="$CA-other/stranger/key.pem"
	refused "another authority" "certificate of the rendezvous daemon" \
		"refuses this daemon's certificate" \
		INC_SERVER_CERTS="$CA-other/stranger"
	! rank INC_SERVER_CERTS="$CA/expired" &&
		grep -q "has expired" "$LAB_OUT/rank.log"
	ktap $? "expired: the rank says why" "$(tail -n 1 "$LAB_OUT/rank.log")"
	refused "plaintext" "if inc-tool serve speaks TLS" \
		"TLS: it does not speak it" A=
	gone certificates
	daemon --tls-cert "$CA/elsewhere/cert.pem" \
		--tls-key "$CA/elsewhere/key.pem" || return
	refused "another name" "does not name" "refuses this daemon's" \
		INC_SERVER_CA="$CA/ca.pem"
	gone "another name"
	daemon --tls-cert "$CA/server/cert.pem" --tls-ca "$CA/ca.pem" \
		--tls-key "$CA/server/key.pem"
	ktap $? "a certificate for servers only, without a parent" "$(cat "$LOG")"
	fits "for servers only" INC_SERVER_CERTS="$CA/rank"
	gone "for servers only"
}

part_tokens()
{
	# Whole seconds, which any file system can keep.
	touch -d 2026-01-01 "$TOKENS"
	tls --tokens "$TOKENS" || return
	fits "right token" INC_SERVER_CA="$CA/ca.pem" \
		INC_SERVER_TOKEN_FILE="$LAB_OUT/token"
	refused "wrong token" "does not know the token" \
		"does not know the token" \
		INC_SERVER_CA="$CA/ca.pem" INC_SERVER_TOKEN=guess
	refused "no token" "needs a token" "needs a token" \
		INC_SERVER_CA="$CA/ca.pem"
	! rank INC_SERVER_TOKEN=guess &&
		grep -q "over TLS only" "$LAB_OUT/rank.log"
	ktap $? "a token is not sent without TLS" \
		"$(tail -n 1 "$LAB_OUT/rank.log")"
	cp -p "$TOKENS" "$TOKENS.was"
	sed -E "s/[0-9a-f]{64}/$(printf '0%.0s' {1..64})/" "$TOKENS.was" >"$TOKENS"
	touch -d 2026-01-01 "$TOKENS"
	sleep 1.1
	refused "another token, at the same time" "does not know the token" \
		"does not know the token" INC_SERVER_CA="$CA/ca.pem" \
		INC_SERVER_TOKEN_FILE="$LAB_OUT/token"
	cp "$TOKENS.was" "$TOKENS"
	sleep 1.1
	fits "the token again" INC_SERVER_CA="$CA/ca.pem" \
		INC_SERVER_TOKEN_FILE="$LAB_OUT/token"
	echo "a line that is wrong" >"$TOKENS"
	sleep 1.1
	refused "revoked token" "does not know the token" \
		"does not know the token" \
		INC_SERVER_CA="$CA/ca.pem" \
		INC_SERVER_TOKEN_FILE="$LAB_OUT/token"
	cp "$TOKENS.was" "$TOKENS"
	gone tokens
}

# one HOST NAME RANK KEY [RANKS SWITCH]: a rank of two, at that host, with that key.
one()
{
	host "$1" env INC_SERVER_CERTS="$CA/rank" INC_JOB_KEY="$4" \
		timeout "$HANGS" inc-perf --server "$(switch_ip4 "${6:-l0}")" \
		--job "$2" --rank "$3" --ranks "${5:-2}" --dev "$TOPO$1" "${PERF[@]}"
}

# A child cannot know whose key is the job's: its parent is stopped meanwhile.
keys_below()
{
	local key job=below$RANDOM bad good=()

	key=$(openssl rand -hex 32)
	one 1 "$job" 2 "$key" 3 sw >"$LAB_OUT/key2.log" 2>&1 &
	good=($!)
	wait_for 10 grep -q "\"$job\": rank 2" "$LAB_OUT/root.log"
	kill -STOP "$1"
	one 1 "$job" 1 "$(openssl rand -hex 32)" 3 >"$LAB_OUT/rank.log" 2>&1 &
	bad=$!
	wait_for 10 grep -q "\"$job\": rank 1" "$LOG"
	one 0 "$job" 0 "$key" 3 >"$LAB_OUT/key0.log" 2>&1 &
	good+=($!)
	wait_for 10 grep -q "\"$job\": rank 0 .* 1 of 3" "$LOG"
	kill -CONT "$1"
	! wait "$bad" && grep -q "another key" "$LAB_OUT/rank.log"
	ktap $? "another key at a child is refused" "$(cat "$LAB_OUT/rank.log")"
	one 1 "$job" 1 "$key" 3 >"$LAB_OUT/key1.log" 2>&1 &&
		wait "${good[0]}" && wait "${good[1]}"
	ktap $? "and harms none of the others" "$(cat "$LAB_OUT"/key?.log)"
}

part_key()
{
	local key name how first

	key=$(openssl rand -hex 32)
	tls --tls-ca "$CA/ca.pem" -v || return
	INC_SERVER_CERTS=$CA/rank INC_JOB_KEY=$key job "a job with a key" 2 "${PERF[@]}"
	for how in without with; do
		first=$([ "$how" = without ] || echo "$key")
		name=key$RANDOM
		one 0 "$name" 0 "$first" >"$LAB_OUT/key0.log" 2>&1 &
		wait_for 10 grep -q "\"$name\": rank 0" "$LOG"
		! one 1 "$name" 1 "$(openssl rand -hex 32)" >"$LAB_OUT/rank.log" 2>&1 &&
			grep -q "rank 1 has \(another\|a\) key" "$LAB_OUT/rank.log"
		ktap $? "a job $how one: a rank with another is refused, and told why" \
			"$(cat "$LAB_OUT/rank.log")"
		one 1 "$name" 1 "$first" >"$LAB_OUT/rank.log" 2>&1 && wait %%
		ktap $? "a job $how one goes on" \
			"$(cat "$LAB_OUT"/{rank,key0}.log)"
	done
	gone key
	daemon || return
	! rank INC_JOB_KEY="$key" && grep -q "sent over TLS only" "$LAB_OUT/rank.log"
	ktap $? "a key in plaintext" "$(cat "$LAB_OUT/rank.log")"
	gone "key in plaintext"
}

part_plain()
{
	daemon || return
	grep -q "WARNING: without TLS" "$LOG"
	ktap $? "without TLS: a warning" "$(head -n 1 "$LOG")"
	refused "TLS to a daemon without" "does not speak it" "it speaks TLS" \
		INC_SERVER_CERTS="$CA/rank"
	fits "without TLS" A=
	gone plain
	daemon --insecure-plaintext || return
	! grep -q WARNING "$LOG"
	ktap $? "--insecure-plaintext: no warning" "$(head -n 1 "$LOG")"
	gone "insecure"
	daemon --listen 127.0.0.1 || return
	! grep -q WARNING "$LOG"
	ktap $? "loopback: no warning" "$(head -n 1 "$LOG")"
	gone loopback
	! at l0 inc-tool serve --tokens "$TOKENS" >"$LOG" 2>&1 &&
		grep -q "beyond loopback needs" "$LOG"
	ktap $? "tokens without TLS are refused" "$(cat "$LOG")"
}

# noise CASE N: connections that say no TLS, or not all of it.
noise()
{
	host 1 python3 "$ROOT/selftests/serve/noise.py" "$1" \
		"$(switch_ip4 l0)" "$2" "$SEED" >"$LAB_OUT/noise.log" 2>&1
}

part_stalled()
{
	local pid lines

	tls --tls-ca "$CA/ca.pem" || return
	noise stall "$STALLED" &
	pid=$!
	wait_for 10 grep -q there "$LAB_OUT/noise.log"
	ktap $? "$STALLED handshakes stall" "$(tail -n 1 "$LAB_OUT/noise.log")"
	INC_SERVER_CERTS=$CA/rank job "a job forms meanwhile" 2 "${PERF[@]}"
	wait_for 15 grep -q "gone" "$LAB_OUT/noise.log"
	ktap $? "they are dropped" "$(tail -n 1 "$LAB_OUT/noise.log")"
	wait "$pid"
	lines=$(grep -c refused "$LOG")
	[ "$lines" -le 40 ]
	ktap $? "the log is short" "$lines lines"
	gone stalled
}

part_noise()
{
	echo "# seed $SEED"
	tls --tls-ca "$CA/ca.pem" --tokens "$TOKENS" || return
	noise random 300
	ktap $? "random handshakes" "seed $SEED: $(tail -n 1 "$LAB_OUT/noise.log")"
	fits "a rank joins after it" INC_SERVER_CERTS="$CA/rank"
	gone noise
}

part_renewed()
{
	tls --tls-ca "$CA/ca.pem" || return
	ca --force manager daemon "$(switch_ip4 l0)"
	sleep 1.1
	fits "a renewed certificate" INC_SERVER_CERTS="$CA/rank"
	echo garbage >"$CA/daemon/cert.pem"
	sleep 1.1
	fits "a certificate that is damaged" INC_SERVER_CERTS="$CA/rank"
	grep -q "what was read before still counts" "$LOG"
	ktap $? "the daemon says so" "$(tail -n 1 "$LOG")"
	gone renewed
	ca --force manager daemon "$(switch_ip4 l0)"
}

# Both daemons speak TLS, with ranks and with each other.
part_levels()
{
	local root

	ip netns exec "$TOPO-sw" inc-tool serve -v --levels --dead-time "$(scaled 350)" \
		--tls-ca "$CA/ca.pem" --tls-cert "$CA/root/cert.pem" \
		--tls-key "$CA/root/key.pem" >"$LAB_OUT/root.log" 2>&1 &
	root=$!
	wait_for 20 grep -q listening "$LAB_OUT/root.log" || return
	tls --tls-ca "$CA/ca.pem" --parent "$(switch_ip4 sw)" -v || return
	INC_SERVER_CERTS=$CA/rank INC_JOB_KEY=$(openssl rand -hex 32) \
		job "a child of a parent with TLS" 2 "${PERF[@]}"
	keys_below "$root"
	gone levels
	daemon --parent "$(switch_ip4 sw)" || return
	refused_up "a child without TLS" "speaks TLS" A=
	gone "a child without TLS"
	kill "$root"
	wait "$root"
	ktap $? "the parent ends well"
	rm "$LAB_OUT/root.log"
	ip netns exec "$TOPO-sw" inc-tool serve --levels >"$LAB_OUT/root.log" 2>&1 &
	root=$!
	wait_for 20 grep -q listening "$LAB_OUT/root.log" || return
	tls --tls-ca "$CA/ca.pem" --parent "$(switch_ip4 sw)" || return
	refused_up "a parent without TLS" "does not speak it" \
		INC_SERVER_CERTS="$CA/rank"
	gone "a parent without TLS"
	kill "$root"
	wait "$root"
	ktap $? "the parent without TLS ends well"
}

# refused_up NAME TEXT VAR=VALUE...: the rank learns what parts the daemons.
refused_up()
{
	local name=$1 says=$2

	shift 2
	! rank "$@" && grep -q "$says" "$LAB_OUT/rank.log"
	ktap $? "$name: the rank says why" "$(tail -n 1 "$LAB_OUT/rank.log")"
}

suite_up()
{
	levels_up 1 2 && make_certificates
}

suite_down()
{
	levels_down
}

suite "certificates tokens key plain stalled noise renewed levels" "$@"
