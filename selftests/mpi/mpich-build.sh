#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mpich-build.sh DIR: build MPICH's collective tests for Open MPI in DIR/coll,
# unless they exist. Runs in the root file system with Open MPI. The source is
# bookworm's MPICH, whose tests use nothing newer than Open MPI 5 provides.

set -eu
DIR=$1
SUITE=bookworm

[ ! -e "$DIR/complete" ] || exit 0
rm -rf "$DIR"
mkdir -p "$DIR/apt/state/lists/partial" "$DIR/apt/cache/archives/partial"
cd "$DIR"
mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\//) { print $i; exit } }' \
	/etc/apt/sources.list)
echo "deb-src $mirror $SUITE main" >apt/sources.list
apt=(apt-get -o "Dir::Etc::SourceList=$DIR/apt/sources.list"
	-o Dir::Etc::SourceParts=-
	-o "Dir::State=$DIR/apt/state" -o "Dir::Cache=$DIR/apt/cache"
	-o Dir::State::status=/var/lib/dpkg/status -o APT::Sandbox::User=root)
"${apt[@]}" update
"${apt[@]}" source --download-only mpich
mkdir src
tar xf mpich_*.orig.tar.* -C src --strip-components=1 --wildcards '*/test/mpi' \
	'*/confdb'
cd src/test/mpi
# C++ is neither installed nor needed.
./configure --with-mpi=/usr CC=mpicc CXX=mpicc CXXCPP='gcc -E -x c' \
	--disable-fortran --disable-cxx
# Names that were removed from MPI long ago.
grep -rlE 'MPI_Type_(hvector|hindexed)\(' dtpools |
	xargs -r sed -i 's/MPI_Type_\(hvector\|hindexed\)(/MPI_Type_create_\1(/'
make -j"$(nproc)" -C dtpools
make -j"$(nproc)" -C util
# Some do not compile with Open MPI.
make -j"$(nproc)" -k -C coll CFLAGS='-O1 -std=gnu11 -fpermissive -w' || :
mkdir "$DIR/coll"
find coll -maxdepth 1 -type f -perm -u+x -exec cp {} "$DIR/coll/" \;
cp coll/testlist "$DIR/coll/"
[ -x "$DIR/coll/allred" ]
cd "$DIR"
rm -rf src apt mpich_*
: >complete
