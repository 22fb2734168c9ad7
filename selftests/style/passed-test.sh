#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Is a file looked at again when it, what it sources or the tool changes, and only
# then? With "--changed", only if it differs from upstream's? Prints what is wrong.

cd "$(dirname "$0")/../.." || exit 1
LAB=selftests/lab/lab
OUT=$PWD/build/check/passed-test
rm -rf "$OUT"
# shellcheck source=selftests/style/check.sh
. selftests/style/check.sh
CACHE=$OUT
SCRIPT=$OUT/script
LIB=$OUT/lib
LOOKED=$OUT/looked

# look FILE...: a tool that finds the word "wrong"
look()
{
	echo "$*" >>"$LOOKED"
	! grep -h wrong "$@"
}

# is_looked_at yes|no WHEN [TOOL]
is_looked_at()
{
	local is=no

	rm -f "$LOOKED"
	echo "$SCRIPT" | on_new "${3:-tool 1}" look >"$OUT/says"
	RC=$?
	[ ! -e "$LOOKED" ] || is=yes
	[ $is = "$1" ] || echo "$2: it is looked at: $is"
}

echo "# shellcheck source=$LIB" >"$SCRIPT"
echo right >"$LIB"
is_looked_at yes "new"
is_looked_at no "not changed"
is_looked_at yes "another version" "tool 2"
is_looked_at no "the first version again"
echo wrong >>"$SCRIPT"
is_looked_at yes "changed"
[ $RC != 0 ] && [ -s "$OUT/says" ] || echo "what the tool found is not said"
is_looked_at yes "not passed"
sed -i 's/wrong/good/' "$SCRIPT"
is_looked_at yes "mended"
echo other >"$LIB"
is_looked_at yes "what it sources has changed"
is_looked_at no "at last"
touch -d "-31 days" "$OUT"/passed/*
is_looked_at no "long ago"
touch -d "-31 days" "$OUT"/passed/*
is_looked_at yes "new to a third version" "tool 3"
[ "$(find "$OUT/passed" -type f | wc -l)" = 1 ] || echo "old entries stay"

# commit FILE: a new one, in the repository here
commit()
{
	echo >"$1" && git add "$1" &&
		git -c user.name=a -c user.email=a@b commit -qm "add $1"
}

# differs FILES WHEN: these are looked at, of all that may be there
differs()
{
	local got

	got=$(printf '%s\n' old committed open new | changed | xargs)
	[ "$got" = "$1" ] || echo "$2: \"$got\" are looked at, not \"$1\""
}

PART=changed
mkdir "$OUT/up" && cd "$OUT/up" && git init -q && commit old &&
	commit open && git clone -q . ../clone && cd ../clone || echo "no clone"
differs "" "a fresh clone"
commit committed
echo >>open
echo >new
differs "committed open new" "a clone with changes"
git branch -q --unset-upstream
differs "open new" "without upstream"
PART=
differs "old committed open new" "all"
cd / && rm -rf "$OUT"
