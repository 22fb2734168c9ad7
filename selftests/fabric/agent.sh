#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# inc-agentd, the NETCONF server of a switch, asked by a stock client
# (python3-ncclient): trees, wrong input, filters, an AllReduce through a tree
# that NETCONF made, events, restarts, SSH, clients that do not behave. The
# agent is built with AddressSanitizer.
#
# agent.sh [PART...]: only some of yang, edit, wrong, rules, state, filter, probe,
# levels, job, events, stp, restart, ssh, rude, options. Needs LAB_WITH=fabric.

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"

DIR=$(mktemp -d)
# shellcheck source=selftests/lib/agent.sh
. "$ROOT/selftests/lib/agent.sh"
AGENT_ARGS=(-i sw1)
NC2=/usr/share/yang/modules/libnetconf2

suite_up()
{
	topo_up 2 && agent_up
}

suite_down()
{
	agent_away
	rm -rf "$DIR"
}

# py_run PART ARGS...: let the script that has the part write its cases to a file.
py_run()
{
	local script=agent.py

	[[ $1 != rules && $1 != state ]] || script=rules.py
	[[ $1 != stp ]] || script=spanning.py
	sw timeout "$HANGS" python3 "$ROOT/selftests/fabric/$script" \
		"$SOCK" "$@" >"$DIR/cases" 2>&1
}

# py_done PART RC: report them.
py_done()
{
	local rc=$2

	ktap_take "$1" < <(grep -E '^((not )?ok |1\.\.)' "$DIR/cases")
	[ "$rc" = 0 ] || grep -vE '^((not )?ok |1\.\.)' "$DIR/cases" | sed 's/^/# /'
	ktap "$rc" "$1: ran to its end" "status $rc"
}

# py PART ARGS...
py()
{
	py_run "$@"
	py_done "$1" $?
}

lint()
{
	yanglint -p "$YANG" -p "$NC2" "$@"
}

part_yang()
{
	local out

	out=$(lint "$YANG"/*.yang 2>&1)
	ktap $? "yanglint accepts the modules" "$out"
	py dump "$DIR/get.xml" "$DIR/config.xml"
	out=$(lint -t data -e "$YANG/rdma-inc-switch.yang" "$DIR/get.xml" 2>&1)
	ktap $? "yanglint accepts the reply to get" "$out"
	out=$(lint -t config "$YANG/rdma-inc-switch.yang" "$DIR/config.xml" 2>&1)
	ktap $? "yanglint accepts the reply to get-config" "$out"
	! lint -t config "$YANG/rdma-inc-switch.yang" "$DIR/get.xml" \
		>/dev/null 2>&1
	ktap $? "yanglint sees state in the reply to get"
}

part_edit()
{
	py edit
}

part_wrong()
{
	py wrong
}

part_rules()
{
	py rules
}

part_state()
{
	py state
}

part_filter()
{
	py filter
}

part_probe()
{
	py probe "$(topo_ip4 0)" "$(topo_ip4 1)"
}

part_levels()
{
	py levels
}

# The ranks' daemon is agent.py, which has only NETCONF.
part_job()
{
	local daemon

	py_run job "$(topo_ip4 sw)" 2 &
	daemon=$!
	wait_for 20 grep -q listening "$DIR/cases"
	JOB_TIMEOUT=$(scaled 20000)
	job "AllReduce through a tree made by NETCONF" 2 allreduce -t int32 \
		-o sum --count 5000 -i 3 --check
	wait "$daemon"
	py_done job $?
}

part_events()
{
	py events
}

part_stp()
{
	py stp "$(topo_ip4 1)"
}

part_restart()
{
	py before "$DIR/before.xml"
	kill -9 "$AGENT"
	wait "$AGENT" 2>/dev/null
	agent_up
	ktap $? "the agent starts again after kill -9"
	kill -HUP "$AGENT"
	py after "$DIR/before.xml"
	agent_down
	ktap $? "SIGTERM ends it in order" "$(tail -n 3 "$DIR/log")"
	! ls "$SOCK" >/dev/null 2>&1
	ktap $? "its socket is gone"
	mkdir "$DIR/yang" && cp "$YANG"/*.yang "$DIR/yang" &&
		echo nonsense >"$DIR/yang/rdma-inc-switch.yang" &&
		agent_up -y "$DIR/yang"
	ktap $? "it does not need the files of its own modules" \
		"$(tail -n 3 "$DIR/log")"
}

keys()
{
	local name

	[ -e "$DIR/hostkey" ] && return
	ssh-keygen -q -m PEM -t ecdsa -N '' -f "$DIR/hostkey" || return 1
	# ncclient reads only keys with a passphrase.
	for name in good bad; do
		ssh-keygen -q -t ed25519 -N secret -f "$DIR/$name" || return 1
	done
}

part_ssh()
{
	keys
	agent_down
	ktap $? "the agent ends in order"
	cp "$DIR/bad.pub" "$DIR/admin.pub"
	agent_up -s 127.0.0.1:8300 -k "$DIR/hostkey" -a "admin=$DIR/admin.pub"
	ktap $? "the agent listens for SSH"
	cp "$DIR/good.pub" "$DIR/admin.pub"
	kill -HUP "$AGENT"
	wait_for 20 grep -q "count from now on" "$DIR/log"
	ktap $? "it reads the keys again" "$(tail -n 3 "$DIR/log")"
	py ssh "$DIR/good" "$DIR/bad"
	cp "$DIR/bad" "$DIR/admin.pub"
	kill -HUP "$AGENT"
	wait_for 20 grep -q "this is a private key" "$DIR/log" &&
		wait_for 20 grep -q "before still count" "$DIR/log"
	ktap $? "a private key is not read again" "$(tail -n 3 "$DIR/log")"
	page_works
}

# The commands that the page has, with its address.
page_works()
{
	local out

	agent_down
	sw ip addr add 192.0.2.1/32 dev lo
	rm -f "$DIR/admin" "$DIR/admin.pub"
	ssh-keygen -q -t ed25519 -N '' -f "$DIR/admin"
	agent_up --ssh 192.0.2.1 --host-key "$DIR/hostkey" \
		--user "admin=$DIR/admin.pub"
	out=$(cd "$DIR" && sed -n '/^   from ncclient/,/^   EOF/s/^   //p' \
		"$ROOT/Documentation/netconf.rst" | sed '$d' |
		sw timeout "$HANGS" python3 - 2>&1)
	[[ $out == *"<id>sw1</id>"* ]]
	ktap $? "what the page has for ncclient works" "${out:0:300}"
}

part_rude()
{
	agent_down
	agent_up -n 6
	py rude
	kill -0 "$AGENT"
	ktap $? "the agent still runs"
}

# Another program's, which takes datagrams: connecting to it fails.
other_socket()
{
	python3 -c 'import signal, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
signal.pause()' "$DIR/dgram" &
	wait_for 20 test -S "$DIR/dgram"
	says "another program's socket" 1 "$DIR/dgram: " -y "$YANG" \
		-u "$DIR/dgram"
	[ -S "$DIR/dgram" ]
	ktap $? "it is still there"
	kill $!
}

absent()
{
	local file

	for file; do
		[ ! -e "$file" ] || return
	done
}

# Where there is no room for the PID.
full_disk()
{
	local dir=$DIR/full

	mkdir "$dir"
	mount -t tmpfs -o size=4k none "$dir"
	dd if=/dev/zero of="$dir/file" bs=4k count=1 2>/dev/null
	says "a PID file on a full disk" 1 "No space left" -y "$YANG" \
		-u "$DIR/full.sock" --pidfile "$dir/pid"
	absent "$dir/pid" "$DIR/full.sock"
	ktap $? "a PID file on a full disk: neither it nor a socket is left" \
		"$(ls "$dir" "$DIR")"
	umount "$dir"
	mknod "$dir/full" c 1 7
	says "a PID file that is a device" 1 "No space left" -y "$YANG" \
		-u "$DIR/full.sock" --pidfile "$dir/full"
	stat -c %F "$dir/full" | grep -q "character special"
	ktap $? "a PID file that is a device: it stays" "$(ls -l "$dir")"
}

# A name may have several keys, all of them with the same rights.
ssh_users()
{
	local at=(-y "$YANG" -u "$DIR/other" -s 127.0.0.1:8301
		  -k "$DIR/hostkey")
	local good=$DIR/good.pub

	says "a name that may look only, and change" 2 "both name eve" \
		"${at[@]}" -a "eve=$good" -r "eve=$DIR/bad.pub"
	says "the same, the other way round" 2 "both name eve" \
		"${at[@]}" -r "eve=$good" -a "ann=$good" -a "eve=$DIR/bad.pub"
	printf 'user = eve=%s\nreader = eve=%s\n' "$good" "$good" >"$DIR/conf"
	says "the same in a file" 2 "both name eve" "${at[@]}" -f "$DIR/conf"
	says "a private key for a public one" 1 "good: this is a private key" \
		"${at[@]}" -a "eve=$DIR/good"
	says "no key" 1 "conf: not a public key" "${at[@]}" -a "eve=$DIR/conf"
	says "SSH at a name" 1 "--ssh nosuch.invalid: must be an IP address" \
		"${at[@]}" -s nosuch.invalid -a "eve=$good"
	ssh-keygen -q -t ed25519 -N '' -f "$DIR/ed25519"
	says "a host key of a kind that libnetconf2 has not" 1 \
		"ed25519: must be a private key of ECDSA or RSA" "${at[@]}" \
		-a "eve=$good" -k "$DIR/ed25519"
	says "a host key that is a public one" 1 "must be a private key of" \
		"${at[@]}" -a "eve=$good" -k "$DIR/hostkey.pub"
}

part_options()
{
	local file id at

	# shellcheck disable=SC2206	# words
	SAYS_BY=("$AGENTD" $UNLIMITED)
	says "--help" 0 "Usage: inc-agentd" --help
	says "--version" 0 "inc-agentd $(cat "$ROOT/VERSION")" --version
	says "an option that does not exist" 2 "--help lists the options" --nonsense
	says "an argument" 2 "unexpected argument" nonsense
	says "SSH without a host key" 2 "needs --host-key" -s 127.0.0.1
	says "SSH without users" 2 "nobody can log in" -s 127.0.0.1 -k x
	says "a user without a key" 2 "NAME=FILE" -a admin
	says "TLS without certificates" 2 "--tls needs" -t 127.0.0.1
	says "certificates without TLS" 2 "need --tls" --tls-cert x
	says "certificates that are not there" 1 "/nowhere: No such file" \
		-y "$YANG" -u "$DIR/other" -t 127.0.0.1 --tls-cert /nowhere \
		--tls-key /nowhere --tls-ca /nowhere
	mkfifo "$DIR/fifo"
	says "a certificate that is a FIFO" 1 "$DIR/fifo: is not a regular" \
		-y "$YANG" -u "$DIR/other" -t 127.0.0.1 --tls-cert "$DIR/fifo" \
		--tls-key "$DIR/fifo" --tls-ca "$DIR/fifo"
	says "a host key that is a FIFO" 1 "$DIR/fifo: is not a regular" \
		-y "$YANG" -u "$DIR/other" -s 127.0.0.1 -k "$DIR/fifo" \
		-a admin=/nowhere
	printf '# all\n\n id = x\nmax-sessions 7\nnonsense = 1\n' >"$DIR/conf"
	says "a file: no such option" 2 'conf:5: "nonsense": there is no such option' \
		-f "$DIR/conf"
	echo "mode" >"$DIR/conf"
	says "a file: no value" 2 "conf:1: this option needs a value" \
		-f "$DIR/conf"
	echo "verbose = 3" >"$DIR/conf"
	says "a file: a value too many" 2 "conf:1: this option has no value" \
		-f "$DIR/conf"
	printf 'id = x\nmax-sessions = 0\n' >"$DIR/conf"
	says "a file: a wrong value" 2 "conf:2: --max-sessions \"0\": must be" \
		-f "$DIR/conf"
	says "a file: none" 2 "No such file" -f /nowhere
	says "a file: a directory" 2 "is not a regular file" -f "$DIR"
	head -c 9 /dev/zero >"$DIR/zero"
	says "a file: zero bytes" 2 "zero byte" -f "$DIR/zero"
	keys
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-subj /CN=x -keyout "$DIR/tls.key" -out "$DIR/tls.pem" 2>/dev/null
	says "a certificate with another's key" 1 "is not the private key of" \
		-y "$YANG" -u "$DIR/other" -t 127.0.0.1 --tls-key "$DIR/hostkey" \
		--tls-cert "$DIR/tls.pem" --tls-ca "$DIR/tls.pem"
	for at in 127.0.0.1:0 127.0.0.1:65536 127.0.0.1: "[::1" "[::1]830" \
		  "[::1]:x" ""; do
		says "SSH at \"$at\"" 2 "from 1 to 65535" -s "$at"
	done
	# Without brackets, an address of IPv6 has no port.
	says "SSH at ::1" 2 "needs --host-key" -s ::1
	# Not UTF-8; a control character of Latin-1 (C1), which terminals obey.
	for id in $'sw\xff' $'sw\xc2\x9b2J' $'sw\e[2J' "sw 1" $'s\u00fc'; do
		says "a name like $(printf %q "$id")" 2 "printable ASCII" \
			-y "$YANG" -u "$DIR/other" -i "$id"
	done
	says "a wrong mode" 2 "from 0 to 777" -m 888
	says "no YANG modules" 1 "cannot load the YANG modules" -y /nowhere \
		-u "$DIR/other"
	says "a socket in no directory" 1 "No such file" -y "$YANG" \
		-u /nowhere/sock
	says "a socket that is in use" 1 "another process listens" -y "$YANG" \
		-u "$SOCK"
	echo precious >"$DIR/file"
	ln -s "$DIR/file" "$DIR/link"
	for file in file link; do
		says "a $file in the socket's place" 1 "which is no socket" \
			-y "$YANG" -u "$DIR/$file"
	done
	[ -L "$DIR/link" ] && [ "$(cat "$DIR/file")" = precious ]
	ktap $? "they are still there"
	full_disk
	other_socket
	ssh_users
	says "a host key that does not exist" 1 "/nowhere: No such file" \
		-y "$YANG" -u "$DIR/other" -s 127.0.0.1:8301 -k /nowhere \
		-a a=/nowhere
	SAYS_BY=(sw)
}

suite "yang edit wrong rules state filter probe levels job events stp restart ssh rude options" "$@"
