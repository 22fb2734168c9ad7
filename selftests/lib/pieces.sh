# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What tests need: kernels, modules, programs, and root file systems with the
# packages of others. Sourced by run, which says where tests run (WHERE), and waits for
# a file in PIECES for each piece.

# needs WHERE: the pieces that a test there needs. What depends on its seed alone
# builds what it tests by itself.
needs()
{
	local piece

	[[ $1 == *= ]] || echo user
	for piece in $(tr -d '=!' <<<"${1//+/ }"); do
		case $piece in
		here | exec)	;;
		mpi* | torch | fabric) echo "+$piece" ;;
		uml-tt)		echo uml ;;
		vm)		[[ $1 != *+vm* ]] && echo vm || echo +vm ;;
		*)		echo "$piece" ;;
		esac
	done
}

# with_what: LAB_WITH of all tests that need MPI: "torch" has the packages of
# "mpi", too, and one copy of the root file system is enough.
with_what()
{
	[[ " ${WHERE[*]} " == *+torch* ]] && echo torch || echo mpi
}

# Make a piece: a kernel and the module for it, or MPI and what runs there.
make_piece()
{
	case $1 in
	user)		make -s lab-user lab-asan ;;
	uml)		$LAB prepare uml && $LAB modules uml build/uml &&
			$LAB modules uml build/mod-kunit INC_KUNIT=1 &&
			$LAB modules bonding build/bonding &&
			$LAB modules rxe build/rxe &&
			$LAB modules pktgen build/mod/pktgen &&
			kselftests ;;
	uml-*)		$LAB prepare "$1" && $LAB modules "$1" "build/$1" &&
			{ [ "$1" != uml-smp ] ||
				$LAB modules pktgen-smp build/mod-smp/pktgen; } ;;
	+vm)		$LAB prepare vm ;;
	+fabric)	export LAB_WITH=fabric
			$LAB exec true && fabric ;;
	+*)		export LAB_WITH
			LAB_WITH=$(with_what)
			$LAB exec true &&
			$LAB exec -- make -s -j"$(nproc)" \
				-C userspace/plugins/ompi O="$ROOT/build/user/ompi" \
				LIB="$ROOT/build/user/lib" all tests &&
			{ [ "$1" != +mpich ] || mpich; } &&
			{ [ "$1" != +mpi-apps ] ||
				LAB_WITH=mpi-apps $LAB exec true; } ;;
	# LAB=host looks there: the emulator would take long to build it.
	vm)		$LAB prepare vm && $LAB modules newest build/host &&
			$LAB exec -- make -s -j"$(nproc)" -C userspace \
				O="$ROOT/build/user-host" ;;
	vm-*)		$LAB prepare vm && $LAB modules "${1#vm-}" "build/${1#vm-}" ;;
	esac
}

# list_built: the programs and modules that all tests share, and when each was made.
list_built()
{
	find build/user build/user-asan build/manager-test/asan build/uml* -type f \
		\( -perm -u+x -o -name '*.ko' \) -printf '%p %T@\n' 2>/dev/null |
		sort
}

# overwritten LIST: those of LIST that have been made again since, or are gone: a
# test that starts one meanwhile fails.
overwritten()
{
	list_built | comm -23 "$1" - | cut -d ' ' -f 1
}

# Make the pieces one after the other. Tests whose pieces are there run
# meanwhile.
make_pieces()
{
	local piece since

	for piece in "$@"; do
		since=$SECONDS
		if (make_piece "$piece"); then
			: >"$PIECES/$piece"
			say "made    $piece ($((SECONDS - since)) s)"
		else
			: >"$PIECES/$piece.failed"
			say "FAILED  to make $piece"
		fi
	done
	list_built >"$PIECES/built"
}

# The kernel's own tests of rxe, for rxe.sh.
kselftests()
{
	local src

	src=$($LAB env | sed -n 's/^LAB_KSRC=//p')/tools/testing/selftests
	rm -rf build/kselftest && mkdir -p build/kselftest &&
		cp -r "$src/rdma" "$src/kselftest" build/kselftest/
}

# The manager, its client, and the agent.
fabric()
{
	local make=(make -s -j"$(nproc)" -C)

	$LAB exec -- "${make[@]}" userspace/manager O="$ROOT/build/user/manager" \
		R="$ROOT/build/user/rendezvous" all sim &&
		$LAB exec -- "${make[@]}" userspace/agent \
			O="$ROOT/build/user/agent" &&
		$LAB exec -- "${make[@]}" userspace/manager \
			O="$ROOT/build/manager-test" \
			R="$ROOT/build/user/rendezvous" asan &&
		$LAB exec -- "${make[@]}" userspace/agent \
			O="$ROOT/build/user/agent-asan" \
			CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
}

# MPICH's tests, for mpich.sh, which reports if they are missing.
mpich()
{
	local dir

	dir=$($LAB env | sed -n 's/^LAB_CACHE=//p')/mpich-tests
	$LAB exec -- selftests/mpi/mpich-build.sh "$dir" \
		>build/mpich-build.log 2>&1 ||
		say "MPICH's tests could not be made, see build/mpich-build.log"
	ln -sfn "$dir" build/mpich
}
