#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Does names.py count the functions and words that it should, and complain of a
# folder that has too many of them? Prints what is wrong.

NAMES=$(cd "$(dirname "$0")" && pwd)/names.py
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
WRONG=0
cd "$DIR" || exit 1

# same WHAT IS MUST
same()
{
	[ "$2" = "$3" ] && return
	echo "$1: \"$2\", must be \"$3\""
	WRONG=1
}

# functions N: as many static ones with names of two words
functions()
{
	local i

	for ((i = 0; i < $1; i++)); do
		printf 'static int do_that%d(int run)\n{\n\treturn run;\n}\n' "$i"
	done
}

mkdir -p userspace/{tool,core-tests/shim} kernel/core/tests
functions 19 >userspace/tool/a.c
cat >userspace/tool/b.c <<'EOF'
/* static void find(void) { } */
static int declared(int x);
static int (*const table[])(int) = { do_that };
static const char text[] = "static int quoted(void) {";
int public(void)
{
}
static __attribute__((format(printf, 1, 2)))
int
run(const char *fmt, ...)
{
}
EOF
cat >userspace/core-tests/shim/c.c <<'EOF'
static inline void kfree(const void *p)
{
}
EOF
sed 's/kfree/check/' userspace/core-tests/shim/c.c >kernel/core/tests/d.c
functions 1 >kernel/core/tests/e.c

same "one of two" "$(find . -type f -printf '%P\n' | "$NAMES")" \
"tests: 1 of 2 static functions have names of one word; 45 % may: name them verb_object
kernel/core/tests/d.c:1: check() has one word"
rm kernel/core/tests/d.c
same "one of twenty" "$(find . -type f -printf '%P\n' | "$NAMES")" ""
sed -i '/do_that18/,$d' userspace/tool/a.c
same "one of nineteen" "$(find . -type f -printf '%P\n' | sort | "$NAMES")" \
"userspace/tool: 1 of 19 static functions have names of one word; 5 % may: name them verb_object
userspace/tool/b.c:10: run() has one word"
rm userspace/tool/*
cat >userspace/tool/a.c <<'EOF'
/* It is not said any more: any more of these, and there are too many. */
static const char text[] = "not any more";
/*
 * Nor any more here. This one is broken, and was not any
 * more on one line.
 */
EOF
same "four of the same words" "$(echo userspace/tool/a.c | "$NAMES")" \
"userspace/tool: comments have \"any more\" 4 times in 31 words; 0.4 in 1,000 may be: name the subject
userspace/tool/a.c:1: any more
userspace/tool/a.c:1: any more
userspace/tool/a.c:4: any more
userspace/tool/a.c:5: any more"
sed -i 's/Nor any more here/Not here/' userspace/tool/a.c
same "three of the same words" "$(echo userspace/tool/a.c | "$NAMES")" ""
exit $WRONG
