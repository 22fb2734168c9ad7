#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a user of Open MPI meets first: "try" with right and wrong arguments, and
# builds on a machine that is too old. Runs outside of a kernel.
#
#   user.sh [PART...]
#	PART: build wrong run ctrl_c
#
# shellcheck disable=SC2319 # "$?" of a condition is what ktap wants

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh
export LAB_WITH=${LAB_WITH:-mpi}
TRY=selftests/mpi/try
mkdir -p build
W=$(mktemp -d "$PWD/build/user.XXXXXX")
trap 'rm -rf "$W"' EXIT

# told NAME STATUS TEXT CMD...: it ends so, and says TEXT.
told()
{
	local name=$1 rc=$2 text=$3 out got

	shift 3
	out=$("$@" 2>&1 </dev/null)
	got=$?
	[ $got = "$rc" ] && [[ $out == *"$text"* ]]
	ktap $? "$name" "status $got: $(tail -n 5 <<<"$out" | tr '\n#' '| ')"
}

# pc VERSION: have pkg-config find this Open MPI.
pc()
{
	printf 'Name: ompi\nDescription: x\nVersion: %s\n' "$1" >"$W/ompi.pc"
}

part_build()
{
	local plugin=(make -s -C userspace/plugins/ompi "O=$W/ompi" "LIB=$W")

	export PKG_CONFIG_LIBDIR=$W
	told "build: no Open MPI" 2 "apt install libopenmpi-dev" "${plugin[@]}"
	pc 4.1.4
	told "build: Open MPI of Debian 12" 2 \
		"found Open MPI 4.1.4, coll/inc needs 5.x" "${plugin[@]}"
	told "build: the compiler does not run" 2 "packages] Error 1" \
		"${plugin[@]}"
	pc 6.0.0
	told "build: a newer Open MPI" 2 "found Open MPI 6.0.0" "${plugin[@]}"
	pc 5.0.7
	told "build: no PMIx" 2 "apt install libpmix-dev" "${plugin[@]}"
	sed 's/ompi/pmix/' "$W/ompi.pc" >"$W/pmix.pc"
	told "build: no libinc" 2 'run "make userspace" first' "${plugin[@]}"
	unset PKG_CONFIG_LIBDIR
	mkdir -p "$W/include/config"
	echo 6.1.0-30-amd64 >"$W/include/config/kernel.release"
	told "build: kernel of Debian 12" 2 "the module needs 6.12 or later" \
		make -s modules-build "KDIR=$W" "BUILD=$W"
}

part_wrong()
{
	local say=$W/say.c

	told "try: help" 0 "Usage: selftests/mpi/try" $TRY --help
	told "try: no program" 2 "which program?" $TRY
	told "try: an unknown option" 2 "no option -x" $TRY -x
	told "try: no value" 2 "-n wants a value" $TRY -n
	told "try: no hosts" 2 "-n wants a number from 1" $TRY -n 0 x
	told "try: loss that is no number" 2 "-l wants per cent" $TRY -l much x
	told "try: no such program" 1 "there is no nothing.c" $TRY nothing.c
	told "try: a directory" 1 "is no file" $TRY "$W"
	echo 'int main(void) { return nothing; }' >"$say"
	told "try: not executable" 1 "is not executable" $TRY README.md
	told "try: does not compile" 1 "does not compile" $TRY "$say"
	echo 'int f(void) { return 0; }' >"$W/f.c"
	echo 'int f(void); int main(void) { return f(); }' >"$say"
	# shellcheck disable=SC2016 # expanded there
	selftests/lab/lab exec -- sh -c 'cd "$1" &&
		gcc -shared -o libnowhere.so f.c && gcc -o lacks say.c -L. -lnowhere &&
		rm libnowhere.so' sh "$W"
	told "try: a library is missing" 1 "libnowhere.so => not found" \
		$TRY "$W/lacks"
}

# A program outside of the tree, on a bad network; its status is try's. Only rank
# 0 fails: mpirun kills the others then, which may have words to say yet.
part_run()
{
	local dir

	dir=$(mktemp -d)
	cat >"$dir/seven.c" <<-'END'
	#include <mpi.h>
	#include <stdio.h>
	int main(int argc, char **argv)
	{
		int i, me, sum = 0;

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &me);
		for (i = 0; i < 10; i++)
			MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM,
				      MPI_COMM_WORLD);
		if (!me)
			printf("%s: sum %d\n", argv[1], sum);
		MPI_Finalize();
		return me ? 0 : 7;
	}
	END
	$TRY -n 2 -p 2 -l 1 -r 100 -m coll_inc_meet_after=1 "$dir/seven.c" \
		'an argument' >"$W/run" 2>&1
	[ $? = 7 ]
	ktap $? "try: the program's exit status" "$(tail -n 1 "$W/run")"
	grep -q 'an argument: sum 6' "$W/run"
	ktap $? "try: its output, with its argument" "$(tail -n 3 "$W/run")"
	grep -q 'coll/inc: rank 0: [1-9].* collectives went through' "$W/run"
	ktap $? "try: how many collectives went through the switch" \
		"$(grep coll/inc "$W/run" | tail -n 1)"
	rm -rf "$dir"
}

# left PID: does anything of that run of "try" run?
left()
{
	pgrep -f "build/try/out.$1/job"
}

part_ctrl_c()
{
	local pid i rc

	echo 'print("going", flush=True); import time; time.sleep(99)' \
		>"$W/sleep.py"
	: >"$W/sleep"
	# A terminal sends the signal to all processes of the job. Without a
	# terminal, bash has background jobs ignore it.
	setsid env --default-signal=INT $TRY -n 2 "$W/sleep.py" >"$W/sleep" 2>&1 </dev/null &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		[ "$(grep -c going "$W/sleep")" = 2 ] && break
		sleep 0.1
	done
	grep -q going "$W/sleep"
	ktap $? "try: output is seen as it comes" "$(tail -n 3 "$W/sleep")"
	python3 -c 'import os, signal, sys
os.killpg(int(sys.argv[1]), signal.SIGINT)' $pid
	wait $pid
	rc=$?
	[ $rc = 130 ]
	ktap $? "try: interrupted" "status $rc"
	! left $pid
	ktap $? "try: nothing runs on" "$(left $pid | tr '\n' ' ')"
}

[ $# -gt 0 ] || set -- build wrong run ctrl_c
for part in "$@"; do
	"part_$part"
done
ktap_plan
