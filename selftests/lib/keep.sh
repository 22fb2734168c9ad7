# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the runner: results of tests whose inputs have not changed since.

# User space that only tests with a mark in WHERE see.
KEEP_MPI=userspace/plugins/ompi/
KEEP_FABRIC='userspace/(manager|agent)/'

# keep_files: the tree's files, each with a NUL behind it. What somebody has git
# ignore for himself counts.
keep_files()
{
	local f

	git ls-files -z -co --exclude-per-directory=.gitignore |
		while read -rd '' f; do
			[ ! -f "$f" ] || printf '%s\0' "$f"
		done
	[ "${PIPESTATUS[0]}" = 0 ]
}

# keep_scan FILE: put "HASH PATH" of each file of the tree into FILE, and "x PATH" of
# those that can be started. Fails if git does.
keep_scan()
{
	: >"$1.since"
	keep_files | sort -zu >"$1.files"
	[ "${PIPESTATUS[*]}" = "0 0" ] || return
	xargs -0r sha256sum <"$1.files" | sed 's/  / /' >"$1"
	[ "${PIPESTATUS[*]}" = "0 0" ] && [ -s "$1" ] || return
	xargs -0r sh -c 'exec find -L "$@" -prune -perm -u+x -printf "x %p\n"' sh \
		<"$1.files" >>"$1"
}

# keep_touched FILE: has a file of the tree been written, made or removed since
# keep_scan began?
keep_touched()
{
	! keep_files | sort -zu | cmp -s - "$1.files" ||
		[ -n "$(xargs -0r sh -c 'exec find "$@" -prune -cnewer "$0"' \
			"$1.since" <"$1.files")" ]
}

# keep_environment: the variables that reach a test, or decide what it notices. A
# value may have several lines.
keep_environment()
{
	env -0 | grep -zE '^(INC|LAB|RDMA_INC)_|^(C|CXX|CPP|LD)FLAGS=|^(CC|CXX|SEED)=|^[A-Z]+SAN_OPTIONS=' |
		sort -z
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

# keep_named DIR...: the files and folders of the tree that what is in DIR names, a
# line each, as regular expressions. What the runner makes for tests is no name of theirs.
keep_named()
{
	local path

	grep -rhoIE --exclude='*-test.sh' --exclude={keep,pieces}.sh --exclude=README.md \
		'(Documentation|userspace)/[A-Za-z0-9_./-]+' "$@" | sort -u |
		while read -r path; do
			path=${path%[./]}
			# A folder of many counts by its own rule.
			[[ $path == */*/* || $path == *.* ]] && [ -e "$path" ] ||
				continue
			printf '%s\n' " ${path//./\\.}(/|\$)"
		done
}

# keep_key SCAN LAB WHERE CMD...: a hash of what a test's result depends on: its
# line, the environment, the pieces of the lab (LAB), and files. Those in a UML
# kernel see the module, user space without what they have no mark for, the suites
# that they name, and whatever else of the tree these name; all others see the
# whole tree.
keep_key()
{
	local scan=$1 lab=$2 where=$3 suites files=. but='^$' named='^$'

	shift 2
	case $where in
	here* | exec* | vm*) ;;
	*)	suites=$(keep_suites "$@")
		suites=${suites# }
		suites=${suites% }
		files=" ((kernel|userspace|selftests/(${suites// /|}))/|selftests/(Makefile|run)$)|^[^/]* [^/]*$"
		# shellcheck disable=SC2046,SC2086	# words
		named+=$(keep_named $(printf 'selftests/%s ' $suites) |
			sed 's/^/|/' | tr -d '\n')
		[[ $where == *+mpi* || $where == *+torch* ]] || but+="| $KEEP_MPI"
		[[ $where == *+fabric* ]] || but+="| $KEEP_FABRIC"
		;;
	esac
	{
		echo "$lab $*"
		keep_environment
		{
			grep -E "$files" "$scan" | grep -vE "$but"
			grep -E "$named" "$scan"
		} | sort -u
	} | sha256sum | cut -c 1-20
}

# forget_result DIR KEY: it passed once, and has failed now.
forget_result()
{
	rm -f "$1/$2"
}

# keep_result DIR KEY WORDS: keep a result; forget those of a month ago.
keep_result()
{
	mkdir -p "$1" && echo "$3" >"$1/$2" &&
		find "$1" -type f -mtime +30 -delete
}
