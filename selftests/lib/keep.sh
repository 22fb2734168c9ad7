# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the runner: results of tests whose inputs have not changed since.

# User space that only tests with a mark in WHERE see.
KEEP_MPI=userspace/plugins/ompi/
KEEP_FABRIC='userspace/(manager|agent)/'

# keep_scan FILE: put "HASH PATH" of each file of the tree into FILE.
keep_scan()
{
	local f

	git ls-files -co --exclude-standard | while read -r f; do
		[ ! -f "$f" ] || printf '%s\n' "$f"
	done | tr '\n' '\0' | xargs -0 sha256sum | sed 's/  / /' >"$1"
}

# keep_suites WORD...: the folders of selftests that WORDs name, and all that the
# files in these name in turn.
keep_suites()
{
	local seen=' lib lab ' todo=" $* " new dir

	while :; do
		new=
		for dir in $(grep -oE '(selftests|\.\.)/[a-z]+' <<<"$todo" |
			sed 's|.*/||' | sort -u); do
			[ -d "selftests/$dir" ] && [[ $seen != *" $dir "* ]] ||
				continue
			seen+="$dir "
			new+=" $dir"
		done
		[ -n "$new" ] || break
		# shellcheck disable=SC2046,SC2086	# words
		todo=$(grep -rhoIE '(selftests|\.\.)/[a-z]+' \
			$(printf 'selftests/%s ' $new))
	done
	echo "$seen"
}

# keep_key SCAN LAB WHERE CMD...: a hash of what a test's result depends on: its
# line, the pieces of the lab (LAB), and files. Those in a UML kernel see the module,
# user space without what they have no mark for, and the suites that they name;
# all others see the whole tree.
keep_key()
{
	local scan=$1 lab=$2 where=$3 suites files=. but='^$'

	shift 2
	case $where in
	here* | exec* | vm*) ;;
	*)	suites=$(keep_suites "$@")
		suites=${suites# }
		suites=${suites% }
		files=" ((kernel|userspace|selftests/(${suites// /|}))/|selftests/Makefile$)|^[^/]* [^/]*$"
		[[ $where == *+mpi* || $where == *+torch* ]] || but+="| $KEEP_MPI"
		[[ $where == *+fabric* ]] || but+="| $KEEP_FABRIC"
		;;
	esac
	{
		echo "$lab $*"
		grep -E "$files" "$scan" | grep -vE "$but"
	} | sha256sum | cut -c 1-20
}

# keep_result DIR KEY WORDS: keep a result; forget those of a month ago.
keep_result()
{
	mkdir -p "$1" && echo "$3" >"$1/$2" &&
		find "$1" -type f -mtime +30 -delete
}
