#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# symbols.sh LIBINC.SO: the library exports what libinc.map says, nothing less
# and nothing more, each with its version; inc.h declares each; each has a page.
set -u
dir=$(dirname "$0")/..
lib=$1
failed=0
n=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# verdict NAME FILE: a case passes if FILE, what is wrong, is empty.
verdict()
{
	n=$((n + 1))
	if [ -s "$2" ]; then
		sed 's/^/# /' "$2"
		echo "not ok $n $1"
		failed=1
	else
		echo "ok $n $1"
	fi
}

# symbol@@version, as the map has it and as the library has it
awk '/^INC_[0-9.]+ *{/ { v = $1 } /global:/ { g = 1 } /local:/ { g = 0 }
     g && /^\t\tinc_[a-z0-9_]+;$/ { gsub(/[\t;]/, ""); print $0 "@@" v }' \
	"$dir/libinc.map" | sort >"$tmp/map"
nm -D --defined-only "$lib" | awk '$2 != "A" { print $3 }' | sort >"$tmp/lib"
sed 's/@@.*//' "$tmp/map" >"$tmp/names"
diff "$tmp/map" "$tmp/lib" >"$tmp/wrong"
[ -s "$tmp/map" ] || echo "no symbol in the map" >"$tmp/wrong"
verdict "symbols and versions are those of libinc.map" "$tmp/wrong"

# functions that inc.h declares: a name before a parenthesis, not in a comment
"${CC:-cc}" -fpreprocessed -dD -E -P "$dir/inc.h" 2>/dev/null | tr '\n' ' ' |
	tr ';' '\n' |
	grep -v typedef | grep -oE '\binc_[a-z0-9_]+\(' | tr -d '(' |
		sort -u >"$tmp/header"
diff "$tmp/names" "$tmp/header" >"$tmp/wrong"
verdict "inc.h declares them, and no other" "$tmp/wrong"

while read -r name; do
	page=$dir/man/$name.3
	[ -f "$page" ] || { echo "$name has no page"; continue; }
	target=$(sed -n 's,^\.so man3/,,p' "$page")
	[ -z "$target" ] || page=$dir/man/$target
	sed -n '/^\.SH NAME/,/^\.SH SYNOPSIS/p' "$page" 2>/dev/null |
		grep -qE "\b$name\b" || echo "$name is not in the NAME of $page"
	sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' "$page" 2>/dev/null |
		grep -qE "\b$name\(" ||
			echo "$name is not in the SYNOPSIS of $page"
done <"$tmp/names" >"$tmp/wrong"
for page in "$dir"/man/inc_*.3; do
	name=$(basename "$page" .3)
	grep -qx "$name" "$tmp/names" || echo "$page: there is no such function"
done >>"$tmp/wrong"
verdict "each has a manual page" "$tmp/wrong"
echo "1..$n"
exit $failed
