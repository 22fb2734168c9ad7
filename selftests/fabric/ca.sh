#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# inc-am-ca when files are missing or damaged, the disk is full, it is killed, or
# several run at once. As root; it needs no kernel module.

set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=selftests/lib/ktap.sh
. "$ROOT/selftests/lib/ktap.sh"

DIR=$(mktemp -d) || exit 1
CA=$DIR/full/ca
FILL=$DIR/full/fill
trap 'umount "$DIR/full" 2>/dev/null; rm -rf "$DIR"' EXIT

ca()
{
	"$ROOT/userspace/manager/ca/inc-am-ca" -d "$CA" "$@"
}

# says NAME STATUS TEXT ARGS...: inc-am-ca ends with STATUS and says TEXT, in a
# line of its own.
says()
{
	local name=$1 rc=$2 text=$3 out got

	shift 3
	out=$(ca "$@" 2>&1)
	got=$?
	[ $got = "$rc" ] && [[ $out == *"$text"* ]] &&
		[[ -z $out || $out == "inc-am-ca: "* ]] &&
		[[ ${out//$'\n'inc-am-ca: /} != *$'\n'* ]]
	ktap $? "$name" "status $got: $(tr '\n' '|' <<<"$out")"
}

# state: all that DIR has, but the lock
state()
{
	find "$CA" ! -name .lock \( -type d -print -o -printf '%p %s %i %T@\n' \)
}

# stays NAME STATE: and nothing is left behind.
stays()
{
	local is

	is=$(state)
	[ "$is" = "$2" ]
	ktap $? "$1" "${is//$'\n'/|}"
}

# is_revoked NAME: in the index, and in the list, too
is_revoked()
{
	local serial

	serial=$(ca list | awk -v name="$1" \
		'$2 == name && $6 == "revoked" { print $1 }')
	[ -n "$serial" ] && openssl crl -in "$CA/crl.pem" -noout -text |
		grep -q ": $serial\$"
	ktap $? "$1 is revoked" "serial $serial"
}

# lacks FILE COMMAND...: each says so, and changes nothing.
lacks()
{
	local file=$1 command was

	shift
	mv "$CA/$file" "$DIR/kept"
	was=$(state)
	for command; do
		# shellcheck disable=SC2086	# words
		says "no $file: ${command%% *}" 1 \
			"$file is missing; it has to come from a backup" $command
	done
	stays "no $file: nothing changes" "$was"
	mv "$DIR/kept" "$CA/$file"
}

test_missing()
{
	lacks index.txt list "revoke bob" crl
	lacks issued.txt list "revoke bob" "client new"
	lacks ca.key init
	lacks ca.pem crl
	rm "$CA/crl.pem"
	says "a list that is gone is made anew" 0 "" crl
	# A copy that is older than the list.
	cp "$CA/index.txt" "$DIR/kept"
	: >"$CA/index.txt"
	says "an index that is too old: crl" 1 "index.txt lacks" crl
	mv "$DIR/kept" "$CA/index.txt"
	# As an editor may leave it, which is no damage.
	cp "$CA/index.txt" "$DIR/kept"
	truncate -s -1 "$CA/index.txt"
	says "an index whose last line has no end" 0 "" crl
	cp "$DIR/kept" "$CA/index.txt"
}

# is_damaged FILE LINE TEXT COMMAND...: a line TEXT more.
is_damaged()
{
	local file=$1 line=$2 text=$3 command was

	shift 3
	cp "$CA/$file" "$DIR/kept"
	printf '%b' "$text" >>"$CA/$file"
	was=$(state)
	for command; do
		# shellcheck disable=SC2086	# words
		says "a damaged $file: ${command%% *}" 1 \
			"$file: line $line is damaged; it has to come from a backup" \
			$command
	done
	stays "a damaged $file: nothing changes" "$was"
	cp "$DIR/kept" "$CA/$file"
}

# no_pem FILE: it has nothing of what it should.
no_pem()
{
	local command was

	cp -p "$CA/$1" "$DIR/kept"
	echo nothing >"$CA/$1"
	was=$(state)
	for command in "client new" crl; do
		# shellcheck disable=SC2086	# words
		says "a damaged $1: ${command%% *}" 1 "$1 is damaged" $command
	done
	stays "a damaged $1: nothing changes" "$was"
	cp -p "$DIR/kept" "$CA/$1"
}

test_damaged()
{
	local got

	is_damaged index.txt 2 'junk\n' list crl
	is_damaged index.txt 2 'R\t491231235959Z\t269931235959Z\tAB\tunknown\t/\n' crl
	is_damaged issued.txt 3 '\0\0' list "client new"
	no_pem ca.key
	no_pem ca.pem
	cp "$CA/ca.pem" "$DIR/kept"
	openssl req -x509 -newkey rsa:1024 -nodes -keyout /dev/null -subj /CN=other \
		-out "$CA/ca.pem" 2>/dev/null
	says "another authority's ca.pem" 1 "is not the certificate of" crl
	echo nothing >"$CA/ca.pem"
	got=$(ca list 2>&1 >/dev/null)
	[[ $got == *"ca.pem is damaged; it has to come from a backup" ]]
	ktap $? "a damaged ca.pem: list" "$got"
	cp "$DIR/kept" "$CA/ca.pem"
}

# fill PAGES: so many are free.
fill()
{
	rm -f "$FILL"
	dd if=/dev/zero of="$FILL" bs=4096 2>/dev/null
	truncate -s -$(($1 * 4096)) "$FILL"
}

# full COMMAND...: fails until there is room enough, and nothing comes of it.
full()
{
	local pages out was bad='' rc=1

	was=$(state)
	for ((pages = 1; rc != 0 && pages < 12; pages += 3)); do
		fill "$pages"
		out=$(ca "$@" 2>&1)
		rc=$?
		[ $rc != 0 ] || break
		[ $rc = 1 ] && [ "$(state)" = "$was" ] && [[ $out =~ \
			^inc-am-ca:\ cannot\ write\ [^$'\n']*:\ No\ space\ left\ on\ device$ ]] ||
			bad+="$pages pages: status $rc: $out; "
	done
	[ -z "$bad" ] && [ $rc = 0 ] && [ $pages -gt 1 ]
	ktap $? "a full disk: $*" "$pages pages, status $rc, $bad$out"
	rm -f "$FILL"
}

test_full()
{
	full revoke bob
	is_revoked bob
	full client dora
	head -c 4090 /dev/zero | tr '\0' '#' >"$DIR/full/tokens"
	fill 0
	says "a full disk: token" 1 "tokens: No space left on device" \
		token tom - client "$DIR/full/tokens"
	[ "$(stat -c %s "$DIR/full/tokens")" = 4090 ]
	ktap $? "nothing of the token is left"
	CA=$DIR/full/ca2 says "a full disk: init" 1 "No space left on device" init
	[ ! -e "$DIR/full/ca2" ]
	ktap $? "nothing of the authority is left"
	rm -f "$FILL" "$DIR/full/tokens"
}

test_reads()
{
	mount -o remount,ro "$DIR/full"
	says "a disk that can only be read" 1 "Read-only file system" crl
	ca list >"$DIR/list" 2>&1 && grep -q "bob .*revoked" "$DIR/list"
	ktap $? "list only reads" "$(cat "$DIR/list")"
	mount -o remount,rw "$DIR/full"
}

test_output()
{
	local command out no="inc-am-ca: cannot write to standard output"

	for command in --help list "token tom - client $DIR/tokens"; do
		# shellcheck disable=SC2086	# words
		out=$(ca $command 2>&1 >/dev/full)
		[ $? = 1 ] && [ "$out" = "$no: No space left on device" ]
		ktap $? "${command%% *}: standard output is full" "$out"
		# shellcheck disable=SC2086	# words
		out=$(ca $command 2>&1 >&-)
		[ $? = 1 ] && [ "$out" = "$no: Bad file descriptor" ]
		ktap $? "${command%% *}: standard output is closed" "$out"
	done
	[ ! -s "$DIR/tokens" ]
	ktap $? "a token that nobody has got is not in the file"
	ca client quiet <&- >&- 2>&- && openssl verify -CAfile "$CA/ca.pem" \
		"$CA/quiet/cert.pem" >/dev/null
	ktap $? "what prints nothing needs no output"
}

# at_once COMMAND...: of all clients
at_once()
{
	local i pids=() bad=0

	for i in 1 2 3; do
		ca "$@" "p$i" 2>>"$DIR/said" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || bad=1
	done
	ktap $bad "3 at once: $*" "$(cat "$DIR/said")"
}

test_parallel()
{
	local i

	at_once client
	at_once revoke
	[ "$(ca list | grep -c " p[1-3] .* revoked$")" = 3 ] &&
		[ "$(openssl crl -in "$CA/crl.pem" -noout -text |
			grep -c "Serial Number:")" = 3 ]
	ktap $? "the list has them all" "$(cat "$CA/index.txt")"
	for i in 1 2 3; do
		CA=$DIR/at-once ca init 2>/dev/null && echo "$i" >>"$DIR/made" &
	done
	wait
	[ "$(wc -l <"$DIR/made")" = 1 ] && [ -e "$DIR/at-once/.lock" ]
	ktap $? "3 at once: one init makes it, and the others leave it alone" \
		"$(ls -A "$DIR/at-once")"
	for i in 1 2 3; do
		ca token "p$i" - client "$DIR/tokens" >/dev/null &
	done
	wait
	[ "$(grep -cE '^p[1-3] - client [0-9a-f]{64}$' "$DIR/tokens")" = 3 ]
	ktap $? "3 tokens at once" "$(cat "$DIR/tokens")"
}

# killed PROGRAM WORD ARGS...: inc-am-ca ARGS, when it has called PROGRAM with WORD.
killed()
{
	local real

	real=$(command -v "$1")
	mkdir -p "$DIR/bin"
	cat >"$DIR/bin/$1" <<-END
		#!/bin/bash
		$real "\$@"
		rc=\$?
		[[ " \$* " != *" $2 "* ]] || kill -9 0
		exit \$rc
	END
	chmod +x "$DIR/bin/$1"
	{
		PATH=$DIR/bin:$PATH setsid "$ROOT/userspace/manager/ca/inc-am-ca" \
			-d "$CA" "${@:3}"
	} >/dev/null 2>&1
	[ $? = 137 ]
	ktap $? "$3 is killed after $1"
	rm "$DIR/bin/$1"
}

test_killed()
{
	local was

	was=$(state)
	killed openssl -req client new
	[ -n "$(find "$CA" -path '*/.new.*' -name key.pem)" ]
	ktap $? "a key is left" "$(state)"
	says "one more call" 0 "" crl
	rm "$CA/crl.pem"
	stays "and it is gone" "$(grep -v 'crl\.pem' <<<"$was")"
	killed mv "$CA/index.txt" revoke bob
	says "revoke again" 0 "" revoke bob
	is_revoked bob
	[ -z "$(find "$CA" -name '.new.*')" ]
	ktap $? "nothing is left"
	CA=$DIR/killed
	killed mv "$CA/ca.pem" init
	says "init again" 0 "" init
	says "and it is one" 0 "" client x
	CA=$DIR/ca
}

# One without certificates, and one without lists
test_new()
{
	local CA=$DIR/new got

	ca init
	got=$(ca list)
	[ "$(wc -l <<<"$got")" = 1 ] && [[ $got == SERIAL* ]]
	ktap $? "a new authority has issued nothing" "$got"
	says "a new authority: crl" 0 "" crl
	ca client x
	says "a serial that was mistyped" 0 "AB00112233445566: \"inc-am-ca list\" does not have it" \
		revoke 00ab00112233445566
	openssl crl -in "$CA/crl.pem" -noout -text | grep -q ": AB00112233445566\$"
	ktap $? "is revoked nevertheless" "$(cat "$CA/index.txt")"
	rm "$CA/issued.txt" "$CA/index.txt" "$CA/crl.pem"
	says "an authority without lists: client" 1 "issued.txt is missing" client y
	says "an authority without lists: crl" 1 "index.txt is missing" crl
}

# What was given by mistake is refused; nothing is changed.
test_mistakes()
{
	local was command

	was=$(state)
	for command in "revoke b0" "revoke DEADBEEF"; do
		# shellcheck disable=SC2086	# words
		says "a name that could be a number: $command" 1 "neither does" \
			$command
	done
	for command in "-n 1" "--until 20980101000000Z" -f; do
		# shellcheck disable=SC2086	# words
		says "token $command" 2 "token: takes no" $command \
			token tim - client "$DIR/tim"
	done
	stays "mistakes: nothing changes" "$was"
	[ ! -e "$DIR/tim" ]
	ktap $? "mistakes: no token"
	cp "$CA/crl.pem" "$DIR/kept"
	: >"$CA/crl.pem"
	was=$(state)
	says "a list that is empty: crl" 1 "crl.pem is damaged" crl
	says "a list that is empty: revoke" 1 "crl.pem is damaged" revoke bob
	stays "a list that is empty: nothing changes" "$was"
	mv "$DIR/kept" "$CA/crl.pem"
}

test_validity()
{
	local CA=$DIR/dates got

	ca -n 20 --from 20300228120000Z init 'A/O=b + c\d'
	got=$(openssl x509 -in "$CA/ca.pem" -noout -subject -dates -nameopt multiline)
	[[ $got == *"commonName                = A/O=b + c"* &&
		$got == *"notBefore=Feb 28 12:00:00 2030"* &&
		$got == *"notAfter=Mar 20 12:00:00 2030"* ]]
	ktap $? "--days count from --from; a name's / and + are its own" "$got"
	rm -r "$CA"
	says "--days: too many" 2 "must be 1 to 999999 days" -n 99999999 init
	says "--from: no date" 2 "no date" --from 20301399120000Z init
	[ ! -e "$CA" ]
	ktap $? "nothing is left of it"
	says "a name that is too long" 2 "1 to 64 printable" init "$(printf %65s x)"
	ca -n 10 init
	says "a certificate that outlives its authority" 0 \
		"the authority's certificate ends before" client bob
	says "crl: --from later" 2 "not valid yet" crl --from 20900101000000Z
	says "a host's long name" 0 "ends before" agent sw \
		"$(printf 'a%.0s' {1..60}).$(printf 'b%.0s' {1..60}).example"
	says "a host's long label" 2 "1 to 63" agent sw2 "$(printf 'a%.0s' {1..64}).b"
	rm -r "$CA"
	# openssl refuses no such dates.
	ca --from 20200101000000Z --until 20210101000000Z init
	says "an authority that has expired" 1 "has expired, 2021-01-01" client bob
	got=$(ca list 2>&1 >/dev/null)
	[[ $got == *"has expired, 2021-01-01"* ]]
	ktap $? "an authority that has expired: list" "$got"
}

# What is no file of ours, or not all of it
test_others()
{
	local was

	mkfifo "$DIR/fifo"
	printf 'key = value\n' >"$DIR/other"
	says "token: a FIFO" 1 "is no file" token tom - client "$DIR/fifo"
	says "token: another file" 1 "other lines than tokens" \
		token tom - client "$DIR/other"
	says "token: the list of certificates" 1 "other lines than tokens" \
		token tom - client "$CA/issued.txt"
	mv "$CA/crl.pem" "$DIR/real" && ln -s "$DIR/real" "$CA/crl.pem"
	was=$(state)
	says "crl.pem is a link" 1 "is a symbolic link" crl
	stays "crl.pem is a link: nothing changes" "$was"
	mv "$DIR/real" "$CA/crl.pem"
	ca client dir && mv "$CA/dir/cert.pem" "$DIR/kept" && mkdir "$CA/dir/cert.pem"
	was=$(state)
	says "cert.pem is a directory" 1 "is no file" -f client dir
	stays "cert.pem is a directory: nothing changes" "$was"
	rmdir "$CA/dir/cert.pem" && mv "$DIR/kept" "$CA/dir/cert.pem"
	cp "$CA/issued.txt" "$DIR/kept" && : >"$CA/issued.txt"
	was=$(state)
	says "issued.txt is empty: revoke" 1 "issued.txt lacks" revoke bob
	says "issued.txt is empty: client" 1 "issued.txt lacks" -f client bob
	stays "issued.txt is empty: nothing changes" "$was"
	mv "$DIR/kept" "$CA/issued.txt"
}

# The daemon that reads a key reads the next one, too.
test_replaced()
{
	local CA=$DIR/replaced

	ca init && ca client bob
	chown -R 65534:65534 "$CA/bob"
	says "replaced: the one before counts yet" 0 "is still valid" -f client bob
	[ "$(stat -c %u:%g "$CA"/bob/*.pem | sort -u)" = 65534:65534 ]
	ktap $? "replaced: it belongs to whom it did" "$(ls -l "$CA/bob")"
	ca revoke bob
	[ -z "$(ca -f client bob 2>&1)" ]
	ktap $? "replaced: nothing is said of one that was revoked"
}

mkdir "$DIR/full" && mount -t tmpfs -o size=96k none "$DIR/full" || exit 1
ca init && ca client alice && ca client bob && ca revoke alice
ktap $? "an authority"
is_revoked alice
test_missing
test_damaged
test_full
test_reads
umount "$DIR/full" && CA=$DIR/ca && ca init && ca client bob && ca crl
ktap $? "an authority with room"
test_mistakes
test_replaced
test_validity
test_others
test_output
test_parallel
test_killed
test_new
ktap_plan
