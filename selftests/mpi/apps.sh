#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Applications of Debian's, small, which send messages to neighbours and add
# numbers in turns: over coll/inc they have to find the same energy as without,
# through the switch. How long each takes is shown, and not judged.
#
#   apps.sh [VAR=VALUE]... [PART...]
#	PART: cp2k lammps qe fftw petsc
#	VAR: PER_HOST=1

# shellcheck source=selftests/lib/suite.sh
. "$(dirname "$0")/../lib/suite.sh"
# shellcheck source=selftests/mpi/lib.sh
. "$ROOT/selftests/mpi/lib.sh"

PER_HOST=${PER_HOST:-1}
RANKS=4
TURNS=2

# Eight molecules of water, a few steps of its density.
cp2k_input()
{
	local x y z

	cat <<-END
	&GLOBAL
	 PROJECT water
	 RUN_TYPE ENERGY
	 PRINT_LEVEL LOW
	&END
	&FORCE_EVAL
	 METHOD QS
	 &DFT
	  BASIS_SET_FILE_NAME /usr/share/cp2k/BASIS_SET
	  POTENTIAL_FILE_NAME /usr/share/cp2k/GTH_POTENTIALS
	  &MGRID
	   CUTOFF 140
	  &END
	  &SCF
	   EPS_SCF 1e-5
	   SCF_GUESS ATOMIC
	   MAX_SCF 12
	   IGNORE_CONVERGENCE_FAILURE
	  &END
	  &XC
	   &XC_FUNCTIONAL PBE
	   &END
	  &END
	 &END
	 &SUBSYS
	  &CELL
	   ABC 7.8 7.8 7.8
	  &END
	  &COORD
	END
	for x in 1.95 5.85; do for y in 1.95 5.85; do for z in 1.95 5.85; do
		echo "O $x $y $z"
		awk -v x=$x -v y=$y -v z=$z 'BEGIN {
			print "H", x + 0.76, y + 0.59, z
			print "H", x - 0.76, y + 0.59, z }'
	done; done; done
	cat <<-END
	  &END
	  &KIND H
	   BASIS_SET DZV-GTH-PADE
	   POTENTIAL GTH-PBE-q1
	  &END
	  &KIND O
	   BASIS_SET DZVP-GTH-PADE
	   POTENTIAL GTH-PBE-q6
	  &END
	 &END
	&END
	END
}

# The melt of LAMMPS's own benchmarks, with the sums of each tenth step.
lammps_input()
{
	cat <<-END
	units lj
	atom_style atomic
	lattice fcc 0.8442
	region box block 0 12 0 12 0 12
	create_box 1 box
	create_atoms 1 box
	mass 1 1.0
	velocity all create 1.44 87287 loop geom
	pair_style lj/cut 2.5
	pair_coeff 1 1 1.0 1.0 2.5
	neighbor 0.3 bin
	neigh_modify delay 0 every 20 check no
	fix 1 all nve
	thermo 2
	run 200
	END
}

# Two atoms of silicon in their lattice.
qe_input()
{
	cat <<-END
	&control
	 calculation = 'scf', prefix = 'si', outdir = './si'
	 pseudo_dir = '/usr/share/espresso/pseudo'
	/
	&system
	 ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 24.0
	/
	&electrons
	 conv_thr = 1.0d-10
	/
	ATOMIC_SPECIES
	 Si 28.086 Si.pz-vbc.UPF
	ATOMIC_POSITIONS alat
	 Si 0.00 0.00 0.00
	 Si 0.25 0.25 0.25
	K_POINTS automatic
	 2 2 2 1 1 1
	END
}

# build NAME LIBRARY: a program over a library of Debian's.
build()
{
	# shellcheck disable=SC2046	# words
	mpicc -O2 -o "$LAB_OUT/$1" "$ROOT/selftests/mpi/$1.c" \
		$(pkg-config --cflags --libs "$2") "${@:3}" 2>"$LAB_OUT/$1.cc"
	ktap $? "$1 is built" "$(head -n 3 "$LAB_OUT/$1.cc")"
}

# energy APP FILE: what it has found at last.
energy()
{
	case $1 in
	cp2k)	 awk '/ENERGY\| Total FORCE_EVAL/ { e = $NF } END { print e }' "$2" ;;
	# step, temperature, pair energy, ..., total energy, pressure
	lmp)	 awk '$1 == 200 && NF >= 6 { print $5; exit }' "$2" ;;
	pw.x)	 awk '/^!/ { print $5 }' "$2" ;;
	*)	 awk '/^(energy|norm)/ { print $2 }' "$2" ;;
	esac
}

# same A B: to eight digits; none is none.
same()
{
	awk -v a="$1" -v b="$2" 'BEGIN {
		d = a - b; m = a < 0 ? -a : a
		exit !(a != "" && b != "" && m && (d < 0 ? -d : d) <= 1e-8 * m) }'
}

# turn APP WHO ARGS...: a run; its seconds are added to those of APP.WHO.
turn()
{
	local app=$1 who=$2 start

	shift 2
	MPI_ARGS=(--mca coll_inc_stats 2)
	[ "$who" = ours ] || MPI_ARGS=(--mca coll_inc_priority 0)
	start=$(date +%s%N)
	mpi "$app.$who" "$PER_HOST" $((RANKS / PER_HOST)) \
		env OMP_NUM_THREADS=1 "$app" "$@"
	ktap $? "$app, $who: it ends well" \
		"$(grep -av 'coll/inc: rank' "$LAB_OUT/$app.$who" | tail -n 3 | tr '#\n' '  ')"
	echo $((($(date +%s%N) - start) / 1000000)) >>"$LAB_OUT/$app.$who.ms"
}

# app APP ARGS...: in turns with stock Open MPI.
app()
{
	local app=$1 i

	shift
	cd "$LAB_OUT" && rm -f "$app".*.ms || return
	for ((i = 0; i < TURNS; i++)); do
		turn "$app" ours "$@"
		turn "$app" stock "$@"
	done
	same "$(energy "$app" "$app.ours")" "$(energy "$app" "$app.stock")"
	ktap $? "$app: the energy is as without coll/inc" \
		"$(energy "$app" "$app.ours"), $(energy "$app" "$app.stock")"
	[[ ", $(went "$app.ours")" == *", allreduce "[1-9]* ]]
	ktap $? "$app: operations go through the switch"
	echo "# $app: ms over the switch: $(paste -sd' ' "$app.ours.ms"); without: $(paste -sd' ' "$app.stock.ms"); through the switch: $(went "$app.ours")"
}

part_cp2k()
{
	cp2k_input >"$LAB_OUT/water.inp"
	app cp2k -i water.inp
}

part_lammps()
{
	lammps_input >"$LAB_OUT/melt.in"
	app lmp -in melt.in -log none
}

part_qe()
{
	qe_input >"$LAB_OUT/si.in"
	app pw.x -in si.in
}

part_fftw()
{
	build fft fftw3 -lfftw3_mpi -lm && app fft 32 100
}

part_petsc()
{
	build poisson PETSc && app poisson 24 300
}

suite_up()
{
	PATH=$LAB_OUT:$PATH
	mpi_up $RANKS
}

# As a user runs them.
MPI_MEET=
MPI_LIMIT=300
suite "cp2k lammps qe fftw petsc" "$@"
