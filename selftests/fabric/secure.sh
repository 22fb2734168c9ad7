#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who may use the aggregation manager: certificates, tokens, roles; what is
# refused, and whether it is said why.
#
#   secure.sh [VAR=VALUE]... [PART...]
#	PART: ca tls token key role expiry crl netconf user rude plain. RUDE: connections

# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants
# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/lib/fabric.sh
. "$ROOT/selftests/lib/fabric.sh"

# For the part rude; the manager, and who connects to it, inherit it.
ulimit -n 20000

DIR=$(mktemp -d)
CA=$DIR/ca
TOKENS=$DIR/tokens

ca()
{
	"$ROOT/userspace/manager/ca/inc-am-ca" -d "$CA" "$@"
}

make_certs()
{
	ca init &&
		ca manager amd "$(topo_ip4 sw)" 127.0.0.1 &&
		ca manager elsewhere 192.0.2.1 &&
		ca client alice red && ca operator olga && ca admin root &&
		ca --from 20200101000000Z --until 20210101000000Z client old red &&
		ca --until 20980101000000Z --from 20970101000000Z client early &&
		ca agent sw "$(topo_ip4 sw)" &&
		ca token tom blue client "$TOKENS" >"$DIR/tom" &&
		truncate -s -1 "$TOKENS" &&	# as an editor may
		ca token rita red client "$TOKENS" >"$DIR/rita" &&
		ca token opal - operator "$TOKENS" >"$DIR/opal" &&
		"$ROOT/userspace/manager/ca/inc-am-ca" -d "$DIR/other" init &&
		"$ROOT/userspace/manager/ca/inc-am-ca" -d "$DIR/other" client alice
}

secured()
{
	AMD_SECURITY=(--tls-cert "$CA/${1:-amd}/cert.pem"
		--tls-key "$CA/${1:-amd}/key.pem" --tls-ca "$CA/ca.pem")
	[ $# = 0 ] || shift
	AMD_SECURITY+=("$@")
	amd_down
	amd_up
}

# A client that does not look at its certificate.
tries_expired()
{
	sw timeout "$HANGS" openssl s_client -connect "$(topo_ip4 sw):18790" -alpn h2 \
		-cert "$CA/old/cert.pem" -key "$CA/old/key.pem" \
		-CAfile "$CA/ca.pem" </dev/null
}

# as NAME CMD...: with NAME's certificate
as()
{
	local name=$1

	shift
	INC_AM_CERTS=$CA/$name "$@"
}

suite_up()
{
	topo_up 2 && make_certs && agent_up sw && secured amd --tokens "$TOKENS" &&
		clock_up
}

suite_down()
{
	amd_down
	agents_down
	rm -rf "$DIR"
}

# fails_job NAME TEXT: one rank, which is told TEXT.
fails_job()
{
	JOB_ODD[0]="--join-timeout $(scaled 20000)"
	am_start 1 --count 10
	job_wait
	[ $? != 0 ] && grep -q "$2" "$JOB_LOG.0"
	ktap $? "$1: refused, and told why" "$(cat "$JOB_LOG.0")"
	JOB_ODD=()
}

# state_of SERIAL: as the authority lists it.
state_of()
{
	ca list | awk -v serial="$1" '$1 == serial { print $6 }'
}

serial_of()
{
	openssl x509 -in "$1" -noout -serial | cut -d = -f 2
}

# An authority of its own: a certificate that was replaced can be revoked.
ca_lists()
{
	local CA=$DIR/lists first second

	ca init && ca client eve red
	first=$(serial_of "$CA/eve/cert.pem")
	ca -f client eve red 2>"$DIR/said"
	grep -q "still valid.*revoke $first" "$DIR/said"
	ktap $? "--force says that the one before is valid" "$(cat "$DIR/said")"
	second=$(serial_of "$CA/eve/cert.pem")
	[ "$(state_of "$first") $(state_of "$second")" = "replaced valid" ]
	ktap $? "list has both" "$(ca list)"
	ca list | grep -qE "eve +client +red +20[0-9-]+T[0-9:]+Z"
	ktap $? "and says whose they are, and when they expire" "$(ca list)"
	ca revoke "$first"
	[ "$(state_of "$first") $(state_of "$second")" = "revoked valid" ]
	ktap $? "the one that was replaced is revoked" "$(ca list)"
	ca revoke eve
	[ "$(openssl crl -in "$CA/crl.pem" -noout -text |
		grep -cE "Serial Number: ($first|$second)")" = 2 ]
	ktap $? "revoke NAME takes back all of that name" "$(ca list)"
}

# A certificate that cannot be made replaces none, and is in nobody's way.
ca_fails()
{
	local was

	was=$(sha256sum "$CA"/alice/*.pem)
	says "a certificate that ends before it begins" 2 "over before" \
		-f --until 20200101000000Z client alice
	says "a date that is none" 1 "openssl x509" \
		-f --until 29999999999999Z client alice
	[ "$(sha256sum "$CA"/alice/*.pem)" = "$was" ]
	ktap $? "the one before stays, with its key"
	says "a new one that fails" 1 "openssl x509" \
		--until 29999999999999Z client broken
	[ ! -e "$CA/broken" ]
	ktap $? "nothing of it is left" "$(ls -A "$CA")"
	mkdir "$CA/broken" && : >"$CA/broken/cert.pem"
	says "one that is damaged" 0 "broken/cert.pem is no certificate" list
	rm -r "$CA/broken"
}

part_ca()
{
	SAYS_BY=("$ROOT/userspace/manager/ca/inc-am-ca" -d "$CA")
	says "inc-am-ca --help" 0 "Usage: inc-am-ca" --help
	says "no command" 2 "which command" ""
	says "a second authority" 1 "is there already" init
	says "a certificate twice" 1 "force replaces it" client alice
	says "a manager without a host" 2 "by which it is reached" manager x
	says "a name with a slash" 2 "must be 1 to 63" client a/b
	says "a name that is a file of the authority's" 2 "has a file of that name" \
		client crl.pem
	ca_fails
	says "a revoked certificate that is none" 1 "nor is it a serial" \
		revoke alice nobody
	[ ! -e "$CA/crl.pem" ]
	ktap $? "then none is revoked"
	says "an unknown role" 2 "must be client" token a - god "$DIR/x"
	says "an address that is none" 2 "must be one of IPv4" \
		manager x 10.0.0.999
	says "a port behind an address" 2 "without a port" manager x a:99
	ca_lists
	SAYS_BY=("$ROOT/userspace/manager/ca/inc-am-ca" -d "$DIR/none")
	says "no authority" 1 "has no authority" client x
	SAYS_BY=(sw)
}

# refused WHY: an event says so, and who it was; there is one a second at most.
refused()
{
	sleep 1.2
	"${SAYS_BY[@]}" topology >/dev/null 2>&1
	wait_for 10 grep -q "caller-refused.*$(topo_ip4 sw):[0-9]*: $1" \
		"$LAB_OUT/amd.log"
	ktap $? "an event: $1" "$(tail -n 5 "$LAB_OUT/amd.log")"
}

# no_manager ssh|http|closes TEXT: a rank and inc-amctl ask what is no manager, and
# are told TEXT.
no_manager()
{
	local AM_OTHERS=:18797 SAYS_BY=(ctl -m "$(topo_ip4 sw):18797") pid

	rm -f "$LAB_OUT/other.log"
	# Not a function: the PID has to be the program's.
	ip netns exec "$TOPO-sw" python3 "$ROOT/selftests/fabric/other.py" \
		"$(topo_ip4 sw):18797" "$1" >"$LAB_OUT/other.log" 2>&1 &
	pid=$!
	wait_for 30 grep -q listening "$LAB_OUT/other.log"
	fails_job "no manager, $1" "$2"
	! grep -qE "last error|Stream removed|http1|^[EIW][0-9]{4} " "$JOB_LOG.0"
	ktap $? "no manager, $1: nothing of a library's" "$(cat "$JOB_LOG.0")"
	says "no manager, $1: inc-amctl" 2 \
		"manager $(topo_ip4 sw):18797: " topology
	says "no manager, $1: inc-amctl says why" 2 "$2" topology
	kill "$pid"
	wait "$pid" 2>/dev/null
	return 0
}

part_tls()
{
	as alice am_job "TLS: 2 ranks with certificates" 2 --check --count 1000
	gone "TLS"
	SAYS_BY=(as olga ctl)
	says "an operator sees the switch" 0 "switch sw" topology
	[ -z "$(as alice ctl topology)" ]
	ktap $? "a client without groups sees none" "$(as alice ctl topology)"
	SAYS_BY=(as alice ctl)
	(
		unset INC_AM_CERTS
		fails_job "no TLS" "set INC_AM_CERTS"
	)
	as old fails_job "an expired certificate" \
		"/old/cert.pem: the certificate has expired"
	as early fails_job "a certificate of the future" "not valid yet"
	INC_AM_CERTS=$DIR/other/alice fails_job "another authority's manager" \
		"certificate of the manager is not of the authority in $DIR/other/alice/ca.pem"
	INC_AM_CA=$CA/ca.pem as sw fails_job "an agent's certificate" \
		"sw/cert.pem: the certificate is not for clients"
	INC_AM_CA=$CA/ca.pem INC_AM_CERT=$DIR/other/alice/cert.pem \
		INC_AM_KEY=$DIR/other/alice/key.pem \
		fails_job "another authority's client" \
		"$DIR/other/alice/cert.pem (INC_AM_CERT)"
	INC_AM_CA=$CA/ca.pem fails_job "neither certificate nor token" \
		"needs a certificate"
	INC_AM_CA=$DIR/nothing fails_job "a file that is not there" "nothing"
	INC_AM_CA=$CA/ca.pem INC_AM_CERT=$CA/alice/cert.pem \
		fails_job "a certificate without its key" INC_AM_KEY
	SAYS_BY=(env -u INC_AM_CERTS ip netns exec "$TOPO-sw" inc-amctl
		-m "$(topo_ip4 sw)")
	says "inc-amctl without TLS" 2 "set INC_AM_CERTS" topology
	refused "TLS: it does not speak it"
	SAYS_BY=(as old ctl)
	says "inc-amctl, expired" 2 "old/cert.pem: the certificate has expired, at" \
		topology
	# It does not even try; others do.
	SAYS_BY=(tries_expired)
	refused "TLS: its certificate has expired, or its authority's has"
	INC_AM_CERTS=$DIR/other/alice
	export INC_AM_CERTS
	SAYS_BY=(ctl)
	says "inc-amctl, another authority" 2 "authority" topology
	unset INC_AM_CERTS
	grep -q "caller-refused" "$LAB_OUT/amd.log"
	ktap $? "violations are reported" "$(tail -n 5 "$LAB_OUT/amd.log")"
	# The manager's certificate has another name.
	secured elsewhere
	as alice fails_job "a manager of another name" \
		"certificate of the manager does not name $(topo_ip4 sw)"
	secured amd
	SAYS_BY=(env INC_AM_CA="$CA/ca.pem" INC_AM_TOKEN=some ip netns exec
		"$TOPO-sw" inc-amctl -m "$(topo_ip4 sw)")
	says "inc-amctl, a token for a manager that takes none" 2 \
		"does the manager take tokens" topology
	secured amd --tokens "$TOKENS"
	as alice no_manager ssh "does not speak it: is this the port"
	as alice no_manager closes \
		"it has ended the connection; is this the port"
}

# The first manager is on this host, the second one is not, or may not be.
other_manager()
{
	local near=127.0.0.1:18795 far pid

	far=$(topo_ip4 0):18795
	rm -f "$DIR/heard"
	ip netns exec "$TOPO-h0" python3 "$ROOT/selftests/fabric/eavesdrop.py" \
		"$INC_AM_TOKEN" "$near" "$far" >"$DIR/heard" 2>&1 &
	pid=$!
	wait_for 20 grep -q listening "$DIR/heard"
	INC_AM=$near,$far ip netns exec "$TOPO-h0" timeout "$(scaled 12)" \
		inc-perf --job x --rank 0 --ranks 1 --dev "${TOPO}0" \
		--timeout "$(scaled 5000)" --count 10 >/dev/null 2>&1
	kill "$pid"
	wait "$pid" 2>/dev/null
	grep -q "^$near token" "$DIR/heard"
	ktap $? "a manager on this host gets the token" "$(cat "$DIR/heard")"
	! grep -q "^$far token" "$DIR/heard"
	ktap $? "another one does not, without TLS" "$(cat "$DIR/heard")"
}

stale()
{
	metrics | grep -qxF "inc_am_credentials_stale{file=\"$TOKENS\"} $1"
}

# Tokens that are damaged, or taken out, while ranks run that have come by them.
token_gone()
{
	local red blue alarm

	INC_AM_TOKEN_FILE=$DIR/rita long_job 1
	red=("${JOB_PIDS[@]}" "$JOB_LOG")
	INC_AM_TOKEN_FILE=$DIR/tom long_job 1
	blue=$JOB_NAME
	cp "$TOKENS" "$DIR/good"
	mv "$TOKENS" "$TOKENS.away"
	kill -HUP "$AMD"
	event "credentials-wrong $TOKENS: tokens: what was read before still counts: No such"
	ktap $? "a file of tokens that is missing: SIGHUP has an event" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	mv "$TOKENS.away" "$TOKENS"
	echo nonsense >>"$TOKENS"
	kill -HUP "$AMD"
	event "credentials-wrong $TOKENS: tokens: all other lines count: line"
	ktap $? "a damaged file of tokens: SIGHUP has an event" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	wait_for 10 stale 1
	ktap $? "metrics have it" "$(metrics | grep stale)"
	alarm=$(sw python3 -c 'import json, urllib.request
x = json.load(urllib.request.urlopen("http://127.0.0.1:18789/state"))
print(*[c["of"] + ": " + c["text"] for c in x["certificates"]])')
	[[ $alarm == *"tokens: all other lines count: line"* ]]
	ktap $? "the page has an alarm" "$alarm"
	kill -0 "${red[0]}"
	ktap $? "its job goes on" "$(cat "${red[1]}.0")"
	# A line that is wrong keeps no other token valid that is taken out.
	{ echo nonsense; grep -v "^rita" "$DIR/good"; } >"$TOKENS"
	kill -HUP "$AMD"
	wait "${red[0]}"
	ktap $((! $?)) "the job of a token that was taken out ends" \
		"$(cat "${red[1]}.0")"
	event "the caller.s token has been revoked"
	ktap $? "an event says why" "$(tail -n 5 "$LAB_OUT/amd.log")"
	grep -v "^rita" "$DIR/good" >"$TOKENS"
	kill -HUP "$AMD"
	event "credentials-read $TOKENS: tokens: read again"
	ktap $? "a good one: SIGHUP has an event" \
		"$(tail -n 5 "$LAB_OUT/amd.log")"
	wait_for 10 stale 0
	ktap $? "metrics: it was read" "$(metrics | grep stale)"
	SAYS_BY=(env "INC_AM_TOKEN=$(cat "$DIR/opal")" ip netns exec "$TOPO-sw"
		inc-amctl -m "$(topo_ip4 sw)")
	says "another token's job goes on" 0 "$blue: ready" group show "$blue"
	SAYS_BY=(sw)
	kill "${JOB_PIDS[@]}"
	wait "${JOB_PIDS[@]}"
	gone "tokens that were taken out"
}

part_token()
{
	export INC_AM_CA=$CA/ca.pem

	INC_AM_TOKEN_FILE=$DIR/tom am_job "2 ranks with a token" 2 --check \
		--count 1000
	token_gone
	INC_AM_TOKEN=wrong fails_job "a wrong token" "does not know the token"
	INC_AM_TOKEN="a b" fails_job "a token with a space" "printable"
	INC_AM_TOKEN_FILE=/nowhere fails_job "no file" "/nowhere"
	INC_AM_TOKEN=$(cat "$DIR/opal")
	export INC_AM_TOKEN
	SAYS_BY=(ctl)
	says "an operator's token" 2 "there is no group" group del x
	unset INC_AM_CA
	says "inc-amctl: a token without TLS" 2 "over TLS only" topology
	fails_job "a token without TLS" "over TLS only"
	other_manager
	# Revoked while the manager runs.
	export INC_AM_CA=$CA/ca.pem
	sed -i '/^opal/d' "$TOKENS"
	says "a token that was revoked" 2 "does not know" topology
	unset INC_AM_CA INC_AM_TOKEN
}

# gets PATH ARGS...: the status of the page at the manager, for another host.
gets()
{
	host 0 curl -s -o "$DIR/page" -w '%{http_code}' --cacert "$CA/ca.pem" \
		"${@:2}" "https://$(topo_ip4 sw):18789$1"
}

is_served_with()
{
	gets /state -H "Authorization: Bearer $1" | grep -qx 200 &&
		jq -e .groups "$DIR/page" >/dev/null
}

serial_served()
{
	host 0 openssl s_client -connect "$(topo_ip4 sw):18789" </dev/null 2>/dev/null |
		openssl x509 -noout -serial | cut -d = -f 2
}

is_renewed()
{
	[ "$(serial_served)" = "$(serial_of "$CA/amd/cert.pem")" ]
}

# Beyond loopback the page is for operators, by HTTPS.
page_asks()
{
	local opal path n=0

	opal=$(ca token opera - operator "$TOKENS")
	secured amd --tokens "$TOKENS" --http "$(topo_ip4 sw):18789"
	for path in / /page.js /state /events /history /metrics /nothing; do
		[ "$(gets $path)" = 401 ] || n=$((n + 1))
	done
	ktap $n "the page asks other hosts for a token"
	[ "$(gets /state -H "Authorization: Bearer x")" = 401 ] &&
		[ "$(gets /state -H "Authorization: Bearer $(cat "$DIR/tom")")" = 401 ] &&
		[ "$(gets /state -u ":$(cat "$DIR/tom")")" = 401 ] &&
		[ "$(gets /state -H "Authorization: Basic x")" = 401 ]
	ktap $? "a client's, or a wrong one, is not enough" "$(cat "$DIR/page")"
	wait_for 10 is_served_with "$opal"
	ktap $? "an operator's is"
	[ "$(gets /metrics -u "any:$opal")" = 200 ] &&
		grep -q "^inc_am_" "$DIR/page"
	ktap $? "also as a password"
	! host 0 curl -s "http://$(topo_ip4 sw):18789/state" >/dev/null
	ktap $? "nothing is sent in plaintext"
	host 0 curl -sN -m 60 --cacert "$CA/ca.pem" -u ":$opal" \
		"https://$(topo_ip4 sw):18789/events" >"$DIR/events" &
	wait_for 10 test -s "$DIR/events"
	ca -f manager amd "$(topo_ip4 sw)" 127.0.0.1
	wait_for 20 is_renewed
	ktap $? "a renewed certificate is served" "$(serial_served)"
	wait_for 10 is_served_with "$opal"
	ktap $? "and the page goes on"
	wait $!
	[ $? != 28 ] && [ -s "$DIR/events" ]
	ktap $? "viewers have to come again" "$(head -c 200 "$DIR/events")"
	host 0 curl -sN -m 60 --cacert "$CA/ca.pem" -u ":$opal" \
		"https://$(topo_ip4 sw):18789/events" >"$DIR/events" &
	wait_for 10 test -s "$DIR/events"
	sed -i /^opera/d "$TOKENS"
	kill -HUP "$AMD"
	wait_for 10 is_refused "$opal"
	ktap $? "a token that is revoked no longer counts"
	wait $!
	[ $? != 28 ]
	ktap $? "nor for those who view the page"
}

is_refused()
{
	[ "$(gets /state -u ":$1")" = 401 ]
}

# stranger NAME TEXT [KEY]: a rank of the last group with that key, or none.
stranger()
{
	local first=$JOB_NAME

	host 1 env INC_JOB_KEY="$3" INC_AM="$(topo_ip4 sw)" timeout "$HANGS" \
		inc-perf --job "$first" --rank 1 --ranks 2 --dev "${TOPO}1" \
		--count 10 >"$DIR/stranger" 2>&1
	[ $? = 1 ] && grep -q "$2" "$DIR/stranger"
	ktap $? "key: $1: refused, and told why" "$(cat "$DIR/stranger")"
}

part_key()
{
	local key limits=$DIR/tenants.conf

	key=$(openssl rand -hex 32)
	export INC_AM_CERTS=$CA/alice
	INC_JOB_KEY=$key am_job "key: two ranks with the same one" 2 --check --count 1000
	INC_JOB_KEY=${key}00 fails_job "key: too long" "INC_JOB_KEY: must be 64 digits"
	INC_JOB_KEY=${key^^} fails_job "key: in capitals" "INC_JOB_KEY: must be 64 digits"
	JOB_LATE=1 am_start 2 --check --count 1000
	event "group \"$JOB_NAME\": rank 0"
	stranger "a rank with one, where the first has none" \
		"rank 1 has a key, and the first rank has none" "$key"
	am_rank 1 2 --check --count 1000
	job_wait
	ktap $? "key: the group without one is not harmed" "$(job_why)"
	export INC_JOB_KEY=$key
	JOB_LATE=1 am_start 2 --check --count 1000
	event "group \"$JOB_NAME\": rank 0"
	stranger "another one" "rank 1 has another key" "$(openssl rand -hex 32)"
	stranger "none" "rank 1 has no key"
	event "refused .*rank 1 has .* key"
	ktap $? "key: an event says so" "$(tail -n 5 "$LAB_OUT/amd.log")"
	am_rank 1 2 --check --count 1000
	job_wait
	ktap $? "key: the group is not harmed" "$(job_why)"
	# The next manager knows it from the store, and keeps no more than a digest.
	AMD_STORE=sqlite:$DIR/key.db secured amd
	long_job 2
	stranger "a group that runs" "rank 1 has no key"
	! grep -qa "$key" "$DIR/key.db"* && grep -qa '"key":' "$DIR/key.db"*
	ktap $? "key: the store has its digest"
	kill_amd
	AMD_STORE=sqlite:$DIR/key.db amd_up
	event "rank-resumed\|group-restored $JOB_NAME" 20
	wait_for 20 is_whole
	ktap $? "key: ranks resume at the next manager" "$(ctl group)"
	stranger "that one" "rank 1 has no key"
	kill "${JOB_PIDS[@]}"
	job_wait
	# A tenant whose groups need one.
	printf 'tenant = red\nrequire-key = maybe\n' >"$limits"
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --switch /x --listen 127.0.0.1:0)
	says "key: require-key = maybe" 1 "tenants.conf:2: this must be yes or no" \
		--tenants "$limits"
	printf 'tenant = red\nrequire-key = yes\n' >"$limits"
	secured amd --tenants "$limits"
	am_job "key: a tenant that needs keys" 2 --check --count 1000
	unset INC_JOB_KEY
	fails_job "key: none there" "set INC_JOB_KEY alike"
	unset INC_AM_CERTS
	AMD_SECURITY=(--insecure-plaintext)
	amd_down
	amd_up
	INC_JOB_KEY=$key fails_job "key: in plaintext" "sent over TLS only"
	secured amd --tokens "$TOKENS"
}

is_whole()
{
	ctl group | grep -q "group $JOB_NAME: ready, 2 of 2"
}

part_role()
{
	local pid

	export INC_AM_CERTS=$CA/alice
	long_job 2
	SAYS_BY=(ctl)
	says "a client deletes no groups" 2 "this is for operators" \
		group del "$JOB_NAME"
	INC_AM_CERTS=$CA/olga says "an operator does" 0 "" group del "$JOB_NAME"
	others_fail "deleted" -1 "operator olga has deleted"
	event "group-ended $JOB_NAME: .*operator olga has deleted the group"
	ktap $? "and an event tells who" "$(tail -n 5 "$LAB_OUT/amd.log")"
	gone "roles"
	# Renewed while the manager runs, which is not restarted.
	pid=$AMD
	ca -f manager amd 192.0.2.9
	fails_job "the manager's certificate is read again" \
		"the certificate of the manager does not name"
	ca -f manager amd "$(topo_ip4 sw)"
	am_job "and again" 2 --count 10
	# Nobody calls meanwhile.
	cp -p "$CA/amd/cert.pem" "$DIR/cert.pem"
	echo nonsense >"$CA/amd/cert.pem"
	event "credentials-wrong .*amd/cert.pem" 20
	ktap $? "a certificate that cannot be read is an event within ten seconds" \
		"$(tail -n 3 "$LAB_OUT/amd.log")"
	cp "$CA/alice/cert.pem" "$CA/amd/cert.pem"
	cp -p "$CA/amd/key.pem" "$DIR/key.pem"
	cp "$CA/alice/key.pem" "$CA/amd/key.pem"
	event "credentials-wrong .*not for servers" 20
	ktap $? "so is a client's" "$(tail -n 3 "$LAB_OUT/amd.log")"
	mv "$DIR/key.pem" "$CA/amd/key.pem"
	mv "$DIR/cert.pem" "$CA/amd/cert.pem"
	kill -0 "$pid"
	ktap $? "the manager still runs"
	unset INC_AM_CERTS
}

# netconf_tls NAME: log in to the agent with NAME's certificate, read, and try to
# change something. Prints what the agent says.
netconf_tls()
{
	as "$1" sw python3 "$ROOT/selftests/fabric/tls.py" "$(topo_ip4 sw)"
}

# logs_in NAME
logs_in()
{
	sleep 1
	netconf_tls "$1" >/dev/null
}

# A manager's host is cut off: nothing comes of it any more, no FIN, either.
# vanished ADDRESS OPTIONS...: of the agent
vanished()
{
	local at=$1 pid

	shift
	amd_down
	agents_down
	agent_up sw "$@" --max-sessions 1 || return
	rm -f "$DIR/held"
	INC_AM_CERTS=$CA/switchboard ip netns exec "$TOPO-h0" \
		python3 "$ROOT/selftests/fabric/tls.py" "$at" hold \
		>"$DIR/held" 2>&1 &
	pid=$!
	wait_for 20 grep -q "get ok" "$DIR/held"
	ktap $? "a manager elsewhere logs in" "$(cat "$DIR/held")"
	SAYS_BY=(netconf_tls)
	says "there may be one session" 1 "refused" switchboard
	SAYS_BY=(sw)
	sw ip link set v0 down
	kill -9 $pid
	wait_for 30 logs_in switchboard
	ktap $? "its session ends when it has vanished" "$(sw ss -tno)"
	sw ip link set v0 up
}

# serves CERT ADDRESS: does the agent have this certificate?
serves()
{
	local serial

	serial=$(openssl x509 -in "$1" -noout -serial) &&
		sw openssl s_client -connect "$2:6513" </dev/null 2>/dev/null |
		openssl x509 -noout -serial | grep -qx "$serial"
}

# renewed DIR ADDRESS: the agent's certificate, while it runs
renewed()
{
	local dir=$1 at=$2 log=$LAB_OUT/agentd-sw.log

	ca -f agent sw "$at"
	! serves "$dir/cert.pem" "$at"
	ktap $? "a renewed certificate is not read without SIGHUP"
	kill -HUP "${AGENT[sw]}"
	wait_for 20 serves "$dir/cert.pem" "$at"
	ktap $? "it is with SIGHUP" "$(tail -n 3 "$log")"
	cp "$CA/alice/key.pem" "$DIR/key.pem"
	mv "$dir/key.pem" "$DIR/right.pem" && mv "$DIR/key.pem" "$dir/key.pem"
	kill -HUP "${AGENT[sw]}"
	wait_for 20 grep -q "read before still count" "$log"
	ktap $? "another's key is not taken" "$(tail -n 3 "$log")"
	mv "$DIR/right.pem" "$dir/key.pem"
	serves "$dir/cert.pem" "$at" && ! grep -q "session.*ended" "$log"
	ktap $? "sessions go on, and others may log in" "$(tail -n 9 "$log")"
	as alice am_job "NETCONF over TLS, renewed: 2 ranks" 2 --count 1000
}

part_netconf()
{
	local dir=$CA/sw at

	at=$(topo_ip4 sw)
	ca manager switchboard "$at"
	ca agent other 192.0.2.7
	amd_down
	agents_down
	agent_up sw --tls "$at" --tls-cert "$dir/cert.pem" \
		--tls-key "$dir/key.pem" --tls-ca "$CA/ca.pem" || return
	secured_switch amd "tls://$at"
	wait_for 10 switch_up
	ktap $? "NETCONF over TLS: the agent answers" "$(as olga ctl topology)"
	wait_for 20 has_left agent sw 824
	ktap $? "NETCONF over TLS: when the agent's certificate expires" \
		"$(days_left agent sw)"
	as alice am_job "NETCONF over TLS: 2 ranks" 2 --check --count 1000
	gone "NETCONF over TLS"
	renewed "$dir" "$at"
	SAYS_BY=(netconf_tls)
	says "the manager may change the switch" 0 "get ok, lock ok" switchboard
	says "an operator may look only" 0 "get ok, lock access-denied" olga
	says "a client may not log in" 1 "refused" alice
	says "an agent may not log in" 1 "refused" sw
	says "an expired certificate" 1 "refused" old
	SAYS_BY=(sw)
	vanished "$at" --tls "$at" --tls-cert "$dir/cert.pem" \
		--tls-key "$dir/key.pem" --tls-ca "$CA/ca.pem"
	# Another agent's certificate, at this one's address.
	amd_down
	agents_down
	agent_up sw --tls "$at" --tls-cert "$CA/other/cert.pem" \
		--tls-key "$CA/other/key.pem" --tls-ca "$CA/ca.pem" || return
	secured_switch amd "tls://$at"
	! wait_for 4 switch_up
	ktap $? "an agent of another name is refused" "$(as olga ctl topology)"
	amd_down
	agents_down
	agent_up sw
	secured amd --tokens "$TOKENS"
}

# days_left OF NAME: as the metrics say.
days_left()
{
	metrics | python3 -c 'import re, sys, time
of, name = map(re.escape, sys.argv[1:])
found = re.findall(r"inc_am_certificate_expires_timestamp_seconds\{of=\"" + of +
                   r"\",name=\"[^\"]*" + name + r"\"\} (\d+)", sys.stdin.read())
print(*[(int(f) - int(time.time())) // 86400 for f in found])' "$@"
}

has_left()
{
	[ "$(days_left "$1" "$2")" = "$3" ]
}

# warned NAME TEXT: there is an event with the text.
warned()
{
	wait_for 20 grep -qE "certificate-expires .*$2" "$LAB_OUT/amd.log"
	ktap $? "$1" "$(grep certificate- "$LAB_OUT/amd.log")"
}

# Certificates that expire: events, metrics, the page.
part_expiry()
{
	ca -n 6 manager brief "$(topo_ip4 sw)" 127.0.0.1
	ca -n 20 client soon red && ca -n 400 client later red
	ca -n 3 crl && cp "$CA/crl.pem" "$DIR/crl-brief.pem"
	secured brief --tls-crl "$DIR/crl-brief.pem" --tokens "$TOKENS"
	warned "its own certificate expires: an event" \
		"brief/cert.pem: manager: the certificate expires in 5 days"
	warned "the list of revoked ones expires: an event" \
		"crl: the list of revoked certificates expires in 2 days"
	as soon ctl group >/dev/null
	as soon ctl group >/dev/null
	as later ctl group >/dev/null
	warned "a client's expires: an event" \
		"soon of red: client: the certificate expires in 19 days"
	[ "$(grep -c "certificate-expires soon" "$LAB_OUT/amd.log")" = 1 ] &&
		! grep -qE "certificate-expires (later|.*ca.pem)" \
			"$LAB_OUT/amd.log"
	ktap $? "once, and of no other" "$(grep certificate- "$LAB_OUT/amd.log")"
	wait_for 10 has_left client "later of red" 399
	ktap $? "metrics: a client's" "$(days_left client "later of red")"
	has_left manager brief/cert.pem 5 && has_left crl .pem 2
	ktap $? "metrics: the manager's, the list" "$(metrics | grep expires)"
	[ "$(days_left authority ca.pem)" -gt 3000 ]
	ktap $? "metrics: the authority's" "$(days_left authority ca.pem)"
	sw python3 -c 'import json, urllib.request
x = json.load(urllib.request.urlopen("http://127.0.0.1:18789/state"))
assert {c["of"] for c in x["certificates"]} == {"manager", "crl", "client"}, x' \
		>"$DIR/state" 2>&1
	ktap $? "the page has them as alarms" "$(cat "$DIR/state")"
	ca -f -n 400 manager brief "$(topo_ip4 sw)" 127.0.0.1 2>/dev/null
	wait_for 30 has_left manager brief/cert.pem 399
	ktap $? "a renewed one is noticed" "$(days_left manager brief/cert.pem)"
	# The one before is valid yet.
	ca -f --from 20200101000000Z --until 20210101000000Z \
		manager brief "$(topo_ip4 sw)" 127.0.0.1 2>/dev/null
	kill -HUP "$AMD"
	event "credentials-wrong .*still counts: .*brief/cert.pem: .* has expired"
	ktap $? "an expired one is not taken" "$(cat "$LAB_OUT/amd.log")"
	SAYS_BY=(as alice ctl)
	says "clients are served" 0 "" group
	SAYS_BY=(sw)
	ca -n 9 manager etcd 127.0.0.1
	AMD_STORE=etcd:127.0.0.1:1
	AMD_ARGS=(--etcd-ca "$CA/ca.pem" --etcd-cert "$CA/etcd/cert.pem"
		--etcd-key "$CA/etcd/key.pem")
	secured amd --tokens "$TOKENS"
	warned "the certificate for etcd expires: an event" \
		"etcd/cert.pem: etcd: the certificate expires in 8 days"
	wait_for 10 has_left etcd etcd/cert.pem 8
	ktap $? "metrics: the one for etcd" "$(days_left etcd etcd/cert.pem)"
	[ "$(days_left etcd /ca.pem)" -gt 3000 ]
	ktap $? "metrics: the authority's of etcd" "$(days_left etcd /ca.pem)"
	AMD_STORE=none
	AMD_ARGS=()
	secured amd --tokens "$TOKENS"
}

is_over()
{
	! kill -0 "$1" 2>/dev/null
}

# publish FILE: it is the list of revoked certificates now.
publish()
{
	cp "$1" "$DIR/crl.new" && mv "$DIR/crl.new" "$DIR/crl.pem"
}

# wrong_lists NAME CMD...: it does not start with them.
wrong_lists()
{
	local name=$1 other=$DIR/other

	shift
	SAYS_BY=(timeout "$HANGS" "$@")
	says "$name: no list" 1 "/nowhere: No such file" --tls-crl /nowhere
	says "$name: a file that is none" 1 "no list of revoked" \
		--tls-crl "$CA/ca.pem"
	"$ROOT/userspace/manager/ca/inc-am-ca" -d "$other" crl
	says "$name: another authority's list" 1 "not signed by the authority" \
		--tls-crl "$other/crl.pem"
	says "$name: an expired list" 1 "has expired" --tls-crl "$DIR/expired.pem"
	SAYS_BY=(sw)
}

# keeps_list NAME FILE: FILE is not taken, and the log says so.
keeps_list()
{
	local before

	before=$(grep -c "still counts" "$LAB_OUT/amd.log")
	publish "$2"
	as bob fails_job "$1, bob" "has been revoked"
	[ "$(grep -c "still counts" "$LAB_OUT/amd.log")" = $((before + 1)) ]
	ktap $? "$1: the log says so once" "$(grep "still counts" \
		"$LAB_OUT/amd.log")"
}

part_crl()
{
	local tls=(--tls-cert "$CA/amd/cert.pem" --tls-key "$CA/amd/key.pem"
		--tls-ca "$CA/ca.pem") follow

	ca client bob red && ca client carl red && ca operator otto && ca crl
	publish "$CA/crl.pem"
	ca --from 20190101000000Z --until 20200101000000Z crl
	mv "$CA/crl.pem" "$DIR/expired.pem"
	wrong_lists inc-amd inc-amd --store none --listen 127.0.0.1:0 --switch /x \
		"${tls[@]}"
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --switch /x)
	says "a list without TLS" 2 "--tls-crl needs" --tls-crl "$DIR/crl.pem"

	secured amd --tokens "$TOKENS" --tls-crl "$DIR/crl.pem"
	as alice am_job "nobody is revoked yet" 2 --check --count 100
	as bob long_job 2
	as otto ctl event --follow >"$DIR/follow" 2>&1 &
	follow=$!
	wait_for 20 grep -q group-ready "$DIR/follow"
	cp "$DIR/crl.pem" "$DIR/older.pem"
	ca revoke alice bob otto
	publish "$CA/crl.pem"
	SAYS_BY=(as olga ctl)
	says "a job that runs goes on" 0 "$JOB_NAME: ready" group show "$JOB_NAME"
	kill -HUP "$AMD"
	others_fail "a revoked client's job after SIGHUP" -1 "has been revoked"
	wait_for 10 is_over "$follow"
	ktap $? "a revoked operator's watch ends"
	is_over "$follow" || kill "$follow"
	wait "$follow"
	[ $? = 2 ] && grep -q "the caller.s certificate has been revoked" "$DIR/follow"
	ktap $? "and says why" "$(tail -n 2 "$DIR/follow")"
	as alice fails_job "a revoked client" "the certificate has been revoked"
	SAYS_BY=(as alice ctl)
	says "inc-amctl with a revoked certificate" 2 "has been revoked" topology
	as carl am_job "another one is not" 2 --check --count 100
	INC_AM_CA=$CA/ca.pem INC_AM_TOKEN_FILE=$DIR/tom \
		am_job "nor are tokens" 2 --check --count 100
	ca -f client alice red
	as alice am_job "a new certificate of the same name" 2 --count 10
	keeps_list "an expired list" "$DIR/expired.pem"
	keeps_list "another authority's list" "$DIR/other/crl.pem"
	keeps_list "nonsense" "$DIR/tom"
	keeps_list "an older list" "$DIR/older.pem"
	ca revoke carl
	publish "$CA/crl.pem"
	as carl fails_job "the next good list is taken" "has been revoked"
	crl_agent
	amd_down
	agents_down
	agent_up sw
	secured amd --tokens "$TOKENS"
}

switch_down()
{
	! switch_up
}

# The same for an agent.
crl_agent()
{
	local at dir=$CA/sw tls

	at=$(topo_ip4 sw)
	ca manager board "$at"
	tls=(--tls "$at" --tls-cert "$dir/cert.pem" --tls-key "$dir/key.pem"
		--tls-ca "$CA/ca.pem")
	amd_down
	agents_down
	wrong_lists inc-agentd ip netns exec "$TOPO-sw" inc-agentd -u "$DIR/sock" -i sw \
		-y "$ROOT/userspace/agent/yang" "${tls[@]}"
	agent_up sw "${tls[@]}" --tls-crl "$DIR/crl.pem" || return
	secured_switch amd "tls://$at"
	wait_for 20 switch_up
	ktap $? "NETCONF: nobody is revoked yet" "$(as olga ctl topology)"
	SAYS_BY=(netconf_tls)
	says "NETCONF: another manager may log in" 0 "get ok, lock ok" board
	ca revoke board
	publish "$CA/crl.pem"
	says "NETCONF: not when it is revoked" 1 "refused" board
	SAYS_BY=(sw)
	switch_up
	ktap $? "NETCONF: this one goes on" "$(as olga ctl topology)"
	ca revoke amd
	publish "$CA/crl.pem"
	wait_for 20 switch_down
	ktap $? "NETCONF: a session that exists is of no use then" \
		"$(as olga ctl topology)"
	amd_down
	ca -f manager amd "$at"
	secured_switch amd "tls://$at"
	wait_for 20 switch_up
	ktap $? "NETCONF: a new certificate" "$(as olga ctl topology)"
}

switch_up()
{
	as olga ctl topology | grep "^switch" | grep -q ': up'
}

# secured_switch NAME ADDRESS
secured_switch()
{
	AMD_SECURITY=(--tls-cert "$CA/$1/cert.pem" --tls-key "$CA/$1/key.pem"
		--tls-ca "$CA/ca.pem")
	amd_up --switch "$2"
}

# As the units start them: two users that are there, daemon and nobody.
part_user()
{
	local dir=$CA/amd agent=1 amd=65534 sock
	local caps=+net_admin,+net_bind_service

	sock=$(sock_of sw)
	chmod 711 "$DIR"
	# As debian/rdma_inc/amd.conf has it.
	chown -R $amd "$dir"
	! setpriv --reuid $amd --regid $amd --clear-groups cat "$CA/ca.key" \
		2>/dev/null
	ktap $? "the authority's key is root's" "$(ls -l "$CA")"
	amd_down
	agents_down
	rm -f "$sock"
	install -d -o $agent "$DIR/agent"
	cp -r "$CA/sw" "$CA/ca.pem" "$DIR/agent"
	chown -R $agent "$DIR/agent"
	ip netns exec "$TOPO-sw" setpriv --reuid $agent --regid $agent \
		--clear-groups --no-new-privs --inh-caps "-all,$caps" \
		--ambient-caps "-all,$caps" --bounding-set "-all,$caps" \
		inc-agentd -u "$DIR/agent/sock" -m 666 -i sw \
		-y "$ROOT/userspace/agent/yang" --tls "$(topo_ip4 sw):830" \
		--tls-cert "$DIR/agent/sw/cert.pem" \
		--tls-key "$DIR/agent/sw/key.pem" \
		--tls-ca "$DIR/agent/ca.pem" \
		>"$LAB_OUT/agentd-sw.log" 2>&1 &
	AGENT[sw]=$!
	wait_for 20 test -S "$DIR/agent/sock"
	ktap $? "the agent starts as its unit starts it" \
		"$(cat "$LAB_OUT/agentd-sw.log")"
	sw ss -Htln 'sport = 830' | grep -q . &&
		! grep -h "^CapEff" /proc/${AGENT[sw]}/task/*/status |
		grep -qv "0000000000001000$"
	ktap $? "it has port 830, and no thread but CAP_NET_ADMIN" \
		"$(sw ss -Htln; grep -h Cap /proc/${AGENT[sw]}/task/*/status)"
	: >"$LAB_OUT/amd.log"
	ip netns exec "$TOPO-sw" setpriv --reuid $amd --regid $amd \
		--clear-groups --no-new-privs --inh-caps -all \
		--ambient-caps -all --bounding-set -all \
		inc-amd -v --listen "$(topo_ip4 sw):18790" --store none \
		--switch "$DIR/agent/sock" --tls-cert "$dir/cert.pem" \
		--tls-key "$dir/key.pem" --tls-ca "$dir/ca.pem" \
		--dead-time "$(scaled 350)" >"$LAB_OUT/amd.log" 2>&1 &
	AMD=$!
	wait_for 20 grep -q listening "$LAB_OUT/amd.log"
	ktap $? "the manager starts without any" "$(cat "$LAB_OUT/amd.log")"
	as alice am_job "users of their own: 2 ranks" 2 --check --count 1000
	gone "users of their own"
	amd_down
	ktap $? "the manager ends in order"
	agents_down
	agent_up sw
	secured amd --tokens "$TOKENS"
}

# exposure NAME DIR: systemd's judgement of a unit, in tenths
exposure()
{
	local unit=$DIR/inc-$1.service

	sed -e 's|@SBINDIR@|/usr/sbin|' -e 's|@SYSCONFDIR@|/etc|' \
		"$ROOT/userspace/$2/systemd/inc-$1.service.in" >"$unit"
	systemd-analyze security --no-pager --offline=true --threshold=25 \
		"$unit" >"$DIR/exposure" 2>&1
	ktap $? "the unit of inc-$1 has at most 2.5" "$(tail -n 1 "$DIR/exposure")"
}

# rude N SECONDS: begin to open N connections, all of which are to be closed so
# soon. Sets PID_RUDE.
rude()
{
	rm -f "$DIR/rude"
	sw timeout "$(scaled $((45 + $2)))" \
		python3 "$ROOT/selftests/fabric/rude.py" "$(topo_ip4 sw)" \
		"$1" "$2" >"$DIR/rude" 2>&1 &
	PID_RUDE=$!
	wait_for 30 grep -q "^open" "$DIR/rude"
}

# rude_end NAME
rude_end()
{
	local rc

	wait "$PID_RUDE"
	rc=$?
	sed 's/^/# /' "$DIR/rude"
	ktap $rc "$1" "$(cat "$DIR/rude")"
	kill -0 "$AMD"
	ktap $? "the manager still runs"
}

# Those who connect and say nothing, or nonsense, or do not read.
part_rude()
{
	rm -f "$DIR/rude"
	exposure amd manager
	exposure agentd agent
	rude 500 15
	SAYS_BY=(as alice ctl)
	says "a client is served beside silent ones" 0 "" topology
	SAYS_BY=(sw)
	as alice am_job "a job beside silent ones" 2 --count 10
	rude_end "silent connections are closed within 15 s"
	# In this kernel to accept each takes the only CPU for 1 to 2 ms, ten times
	# as long as on a host, and who comes then has to wait for all before it.
	rude "${RUDE:-5000}" 60
	wait_for 60 as alice ctl topology
	ktap $? "a client is served soon after thousands" \
		"$(as alice ctl topology 2>&1)"
	as alice am_job "a job after thousands" 2 --count 10
	rude_end "thousands of silent connections are closed"
}

part_plain()
{
	local at="--switch /x --listen 0.0.0.0:18790" option

	SAYS_BY=(timeout "$HANGS" inc-amd --store none)
	# shellcheck disable=SC2086	# words
	{
		says "plaintext beyond loopback" 2 "insecure-plaintext" $at
		says "a name that looks like loopback" 2 "insecure-plaintext" \
			--switch /x --listen 127.0.0.1.example.com:18790
		says "tokens in plaintext" 2 "contradicts" $at \
			--insecure-plaintext --tokens "$TOKENS"
		says "tokens beyond loopback" 2 "insecure-plaintext" $at \
			--tokens "$TOKENS"
		says "a certificate without a key" 2 "need each other" $at \
			--tls-cert "$CA/amd/cert.pem"
		says "another's key" 1 \
			"$CA/alice/key.pem is not the private key of" $at \
			--tls-cert "$CA/amd/cert.pem" --tls-ca "$CA/ca.pem" \
			--tls-key "$CA/alice/key.pem"
		openssl pkey -in "$CA/amd/key.pem" -aes128 -passout pass:x \
			-out "$DIR/locked.pem"
		says "a key with a password" 1 "locked.pem: it has a password" \
			$at --tls-cert "$CA/amd/cert.pem" --tls-ca "$CA/ca.pem" \
			--tls-key "$DIR/locked.pem"
		openssl x509 -in "$CA/amd/cert.pem" -outform DER -out "$DIR/der"
		says "a certificate as DER" 1 "der: there is no certificate in it, as PEM" \
			$at --tls-cert "$DIR/der" --tls-ca "$CA/ca.pem" \
			--tls-key "$CA/amd/key.pem"
		says "a client's certificate" 1 "alice/cert.pem: the certificate is not for servers" \
			$at --tls-cert "$CA/alice/cert.pem" \
			--tls-key "$CA/alice/key.pem" --tls-ca "$CA/ca.pem"
		says "an authority that is none" 1 "alice/cert.pem: no certificate in it is an authority's" \
			$at --tls-cert "$CA/amd/cert.pem" \
			--tls-key "$CA/amd/key.pem" --tls-ca "$CA/alice/cert.pem"
		says "a store of no kind" 2 "--store foo: must be" \
			--switch /x --store foo
		says "no known hosts" 2 "--known-hosts $DIR/none: No such" \
			--switch /x --known-hosts "$DIR/none"
		says "no SSH key" 2 "--ssh-key $DIR/none: No such" \
			--switch /x --ssh-key "$DIR/none"
		says "an SSH key that is a directory" 2 \
			"--ssh-key $DIR: is not a regular file" \
			--switch /x --ssh-key "$DIR"
		for option in ca=x cert=x key=x insecure-plaintext; do
			says "--etcd-$option without etcd" 2 \
				"are for --store etcd:" \
				--switch /x --store none "--etcd-$option"
		done
		says "an address of nobody here" 1 "no interface of this host" \
			--switch /x --insecure-plaintext --listen 192.0.2.77:1
		mkfifo "$DIR/fifo"
		says "known hosts: a FIFO" 2 "not a regular file" \
			--switch /x --known-hosts "$DIR/fifo"
		for option in tls-cert tls-key tls-ca tls-crl; do
			says "--$option: a FIFO" 1 \
				"$DIR/fifo: is not a regular file" $at \
				--tls-cert "$CA/amd/cert.pem" \
				--tls-key "$CA/amd/key.pem" --tls-ca "$CA/ca.pem" \
				"--$option" "$DIR/fifo"
		done
		says "tokens: a FIFO" 1 "not a regular file" \
			--switch /x --tokens "$DIR/fifo"
		says "a file that is none" 1 "no certificate" $at \
			--tls-cert "$CA/amd/cert.pem" --tls-ca /bin/true \
			--tls-key "$CA/amd/key.pem"
		says "tokens: a line that is none" 1 "line 1: must be" \
			--switch /x --tokens "$CA/ca.pem"
		says "tokens: a directory" 1 "regular file" \
			--switch /x --tokens "$DIR"
		chmod o+w "$TOKENS"
		says "tokens: others may write" 1 "chmod go-w" \
			--switch /x --tokens "$TOKENS"
		chmod o-w "$TOKENS"
	}
	SAYS_BY=(timeout "$HANGS" inc-amctl -m 127.0.0.1:1 topology)
	INC_AM_CA=$CA/ca.pem INC_AM_CERT=$CA/alice/cert.pem \
		INC_AM_KEY=$CA/amd/key.pem says "a client with another's key" 2 \
		"$CA/amd/key.pem is not the private key of the certificate $CA/alice/cert.pem"
	INC_AM_CA=$DIR/fifo says "a client's authority: a FIFO" 2 "regular file"
	SAYS_BY=(timeout "$HANGS" inc-amd --store none --switch /x --listen 127.0.0.1:0)
	says "the page beyond loopback" 2 "http-insecure-plaintext" \
		--http 0.0.0.0:18789
	secured amd --http "$(topo_ip4 sw):18789" --http-insecure-plaintext
	SAYS_BY=(host 0 python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).status)')
	says "the page for other hosts, beside TLS" 0 200 \
		"http://$(topo_ip4 sw):18789/state"
	page_asks
	SAYS_BY=(as alice ctl)
	says "clients still need a certificate" 0 "" topology
	SAYS_BY=(sw)
	AMD_SECURITY=(--insecure-plaintext)
	amd_down
	amd_up
	grep -q WARNING "$LAB_OUT/amd.log"
	ktap $? "plaintext: a warning" "$(cat "$LAB_OUT/amd.log")"
	am_job "plaintext" 2 --check --count 1000
	as alice fails_job "TLS with a manager without" "does not speak it"
	no_manager ssh "something else: is this the port of inc-amd?"
	no_manager http "something else: is this the port of inc-amd?"
	no_manager closes \
		"it has ended the connection; is this the port of inc-amd?"
	AM_OTHERS=:18798 fails_job "no manager at all" \
		"the connection is refused: is inc-amd running there"
}

suite "ca tls token key role expiry crl netconf user rude plain" "$@"
