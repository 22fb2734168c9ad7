# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by lab: makes the pieces in the cache.
#
# Every piece is a directory NAME-KEY, where KEY is a hash of its ingredients.
# It is made under a temporary name and renamed when complete, so a piece under
# its final name is complete. Older keys of the same name are removed then.

LAB_SUITE=trixie		# the root file system; kernel: its backports
LAB_MIN_KERNEL=7.2		# rxe works in network namespaces from here on
LAB_REV_ROOTFS=1		# count up when the way of making one changes
LAB_REV_SOURCE=1
LAB_REV_UML=1
LAB_REV_SPARSE=1
LAB_LOGS=$LAB_CACHE/logs

APT_GET=(apt-get -y -o APT::Install-Recommends=false -o DPkg::Use-Pty=0
	-o Dpkg::Options::=--force-unsafe-io -o Acquire::Languages=none)
export DEBIAN_FRONTEND=noninteractive

# packages FILE: its lines, and those of the files that it includes.
packages()
{
	local word rest

	while read -r word rest; do
		case $word in
		"" | \#*)	;;
		include)	packages "$rest" ;;
		*)		echo "$word${rest:+ $rest}" ;;
		esac
	done <"$LAB_DIR/$1"
}

# The lines of apt's own configuration that downloads depend on.
apt_net_config()
{
	apt-config dump |
		grep -E '^Acquire::(https?::(Proxy|Timeout)|Retries|Check-)[^"]* "[^"]+"' || :
}

# Find apt's source of Debian: the first URI of main for the host's own release.
find_mirror()
{
	local codename rel comp uri

	[[ -z ${LAB_MIRROR_URI:-} ]] || return 0
	LAB_MIRROR_URI=${RDMA_INC_MIRROR:-}
	if [[ -z $LAB_MIRROR_URI ]]; then
		# shellcheck disable=SC1091
		codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
		while read -r rel comp uri; do
			[[ $comp == main && $uri != *security* ]] || continue
			[[ $rel == "$codename" || $rel == sid ||
				$rel == unstable ]] || continue
			LAB_MIRROR_URI=$uri
			break
		done < <(apt-get indextargets --no-release-info \
			--format "\$(RELEASE) \$(COMPONENT) \$(REPO_URI)" \
			'Identifier: Packages')
	fi
	if [[ $LAB_MIRROR_URI == mirror+file:* ]]; then
		LAB_MIRROR_URI=$(grep -m1 -oE '(https?|file)://[^[:space:]]+' \
			"${LAB_MIRROR_URI#mirror+file:}")
	fi
	[[ -n $LAB_MIRROR_URI ]] ||
		die "apt's configuration names no Debian mirror; set RDMA_INC_MIRROR to one"
	export LAB_MIRROR_URI
}

keyring()
{
	echo /usr/share/keyrings/debian-archive-keyring.gpg
}

install_host_tools()
{
	apt-get update && "${APT_GET[@]}" install --no-install-recommends "$@"
}

# Packages that the host needs besides Debian's essential ones.
prepare_host()
{
	local want=()

	command -v mmdebstrap >/dev/null || want+=(mmdebstrap)
	command -v xz >/dev/null || want+=(xz-utils)
	command -v git >/dev/null || want+=(git)
	[[ -e /usr/share/keyrings/debian-archive-trixie-stable.gpg ||
		-e /usr/share/keyrings/debian-archive-trixie-stable.pgp ]] ||
		want+=(debian-archive-keyring)
	((${#want[@]})) || return 0
	need_root
	command -v apt-get >/dev/null ||
		die "Debian's apt is needed on this machine"
	say "host: installing ${want[*]}"
	step host "$LAB_LOGS/host.log" install_host_tools "${want[@]}"
}

# have PATH: is the piece complete? Its stamp is the time of the last request.
have()
{
	[[ -e $1/.lab-complete ]] && {
		touch "$1/.lab-complete" 2>/dev/null || :
	}
}

# new_tmp NAME: make an empty directory for a new piece (in $TMP_DIR), and
# remove remains of killed makers.
new_tmp()
{
	rm -rf --one-file-system -- "$LAB_CACHE"/.tmp-"$1".*
	TMP_DIR=$LAB_CACHE/.tmp-$1.$$
	mkdir -p "$TMP_DIR"
	LAB_TMPS+=("$TMP_DIR")
}

# publish FINAL: move the complete $TMP_DIR to FINAL.
publish()
{
	local name=${1##*/} old

	: >"$TMP_DIR/.lab-complete"
	mv -T "$TMP_DIR" "$1"
	forget_tmp "$TMP_DIR"
	# another key used recently may be that of another branch: keep it for
	# now
	for old in "$LAB_CACHE/${name%-*}"-????????????; do
		[[ $old == "$1" || -n $(find "$old/.lab-complete" -mmin -120 \
			2>/dev/null) ]] ||
			rm -rf --one-file-system -- "$old"
	done
}

# ---------------------------------------------------------------- rootfs

rootfs_path()
{
	echo "$LAB_CACHE/rootfs-$(key "$LAB_REV_ROOTFS" "$LAB_SUITE" "$(packages packages)")"
}

make_rootfs()
{
	local dir=$1 opts=() line list

	while read -r line; do
		opts+=("--aptopt=$line")
	done < <(apt_net_config)
	# skip man pages, documentation and translations: nobody reads them
	for line in doc info locale man; do
		opts+=("--dpkgopt=path-exclude=/usr/share/$line/*")
	done
	list=$(packages packages | paste -sd,)
	in_ns mmdebstrap --mode=root --variant=minbase --components=main \
		--include="$list" --dpkgopt=force-unsafe-io \
		--aptopt='APT::Install-Recommends "false"' \
		--aptopt='Acquire::Languages "none"' "${opts[@]}" \
		--skip=cleanup/apt/lists --keyring="$(keyring)" \
		"$LAB_SUITE" "$dir" \
		"deb $LAB_MIRROR_URI $LAB_SUITE main" \
		"deb $LAB_MIRROR_URI $LAB_SUITE-updates main" \
		"deb $LAB_MIRROR_URI $LAB_SUITE-backports main" || return
	echo 127.0.0.1 localhost >"$dir/etc/hosts"
	echo ::1 localhost >>"$dir/etc/hosts"
	echo lab >"$dir/etc/hostname"
	mkdir -p "$dir/lib/modules"
	chroot "$dir" gcc -dumpfullversion >"$dir/.lab-gcc"
	echo "${LAB_ROOTFS##*-}" >"$dir/.lab-rootfs"
}

prepare_rootfs_locked()
{
	have "$LAB_ROOTFS" && return 0
	need_space 3 "the root file system"
	find_mirror
	say "rootfs: Debian $LAB_SUITE with $(packages packages | wc -l) packages"
	new_tmp rootfs
	step rootfs "$LAB_LOGS/rootfs.log" make_rootfs "$TMP_DIR" || return
	publish "$LAB_ROOTFS"
}

prepare_rootfs()
{
	[[ $LAB_ROOTFS != / ]] || return 0
	have "$LAB_ROOTFS" && return 0
	prepare_host && with_lock rootfs prepare_rootfs_locked
}

# ---------------------------------------------------------------- with

# A copy of the root file system with the packages of packages-$LAB_WITH, for
# "exec" and "run"; kernels and modules are built without it.
with_path()
{
	if [[ -z ${LAB_WITH:-} || $LAB_ROOTFS == / ]]; then
		echo "$LAB_ROOTFS"
	else
		echo "$LAB_CACHE/with-$LAB_WITH-$(key "${LAB_ROOTFS##*-}" "$(packages "packages-$LAB_WITH")")"
	fi
}

# Runs inside the copy (lab __with-install).
with_install()
{
	local list

	mapfile -t list < <(packages "packages-$LAB_WITH")
	apt-get update && "${APT_GET[@]}" install "${list[@]}" && apt-get clean
}

# with_names: what LAB_WITH may be.
with_names()
{
	local file names=

	for file in "$LAB_DIR"/packages-*; do
		# Debian's kernels are a piece of their own.
		[[ $file == *-vm ]] || names+=" ${file##*/packages-}"
	done
	echo "${names# }"
}

make_with()
{
	echo "copying the root file system"
	cp -a --reflink=auto "$LAB_ROOTFS/." "$1/" &&
		rm -f "$1/.lab-complete" &&
		LAB_CWD=/ in_root "$1" -- "$LAB_DIR/lab" __with-install
}

prepare_with_locked()
{
	have "$(with_path)" && return 0
	need_space 2 "the root file system with $LAB_WITH"
	say "$LAB_WITH: a copy of the root file system with $(packages "packages-$LAB_WITH" | wc -l) packages more"
	new_tmp "with-$LAB_WITH"
	step "$LAB_WITH" "$LAB_LOGS/with-$LAB_WITH.log" make_with "$TMP_DIR" ||
		return
	publish "$(with_path)"
}

prepare_with()
{
	[[ -n ${LAB_WITH:-} && $LAB_ROOTFS != / ]] || return 0
	[[ " $(with_names) " == *" $LAB_WITH "* ]] ||
		die "LAB_WITH=$LAB_WITH: there is no packages-$LAB_WITH in $LAB_DIR (there are: $(with_names))"
	have "$(with_path)" && return 0
	prepare_rootfs && with_lock "with-$LAB_WITH" prepare_with_locked
}

# ---------------------------------------------------------------- source

# source_path [newest|debug]: the version in RDMA_INC_KERNEL, or that of
# linux-image-amd64; the newest one available; or the first with the patches
# of uml-debug, which need not have the others built anew.
source_path()
{
	local patches=("$LAB_DIR"/patches/*.patch)

	[[ ${1:-} != debug ]] || patches+=("$LAB_DIR"/patches/debug/*.patch)
	echo "$LAB_CACHE/source-${1:+$1-}$(key "$LAB_REV_SOURCE" \
		"$LAB_MIN_KERNEL" @<(cat "${patches[@]}") \
		${RDMA_INC_KERNEL:+"$RDMA_INC_KERNEL"})"
}

# aside_apt DIR CMD...: apt with a single suite of its own, leaving the host's
# lists alone. The suites are in DIR/sources.list.
aside_apt()
{
	local dir=$1 cmd=$2
	shift 2

	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/status"
	"$cmd" -o Dir::Etc::SourceList="$dir/sources.list" \
		-o Dir::Etc::SourceParts=- \
		-o Dir::Etc::Preferences=/dev/null \
		-o Dir::Etc::PreferencesParts=/dev/null \
		-o APT::Update::Error-Mode=any \
		-o Dir::State="$dir/state" -o Dir::Cache="$dir/cache" \
		-o Dir::State::status="$dir/status" -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o APT::Architecture=amd64 \
		-o APT::Architectures=amd64 "$@"
}

# choose_source DIR: the linux-source of the same version as linux-image-amd64,
# so that all kernels have one version (while backports moves on, sources arrive
# before kernels and headers); otherwise, or if requested, the newest.
choose_source()
{
	local all want

	[[ -z ${RDMA_INC_KERNEL:-} ]] || {
		echo "linux-source-$RDMA_INC_KERNEL"
		return
	}
	all=$(aside_apt "$1" apt-cache search --names-only \
		'^linux-source-[0-9.]+$' | awk '{ print $1 }' | sort -V)
	[[ $2 == newest ]] ||
		want=$(aside_apt "$1" apt-cache depends linux-image-amd64 |
			sed -nE 's/.*Depends: linux-image-([0-9]+\.[0-9]+).*/\1/p' |
			head -n 1)
	grep -xF "linux-source-${want:-none}" <<<"$all" || tail -n 1 <<<"$all"
}

# apply_patches DIR VERSION PATCH...
apply_patches()
{
	local dir=$1 version=$2 patch
	shift 2

	for patch in "$@"; do
		(cd "$dir" && GIT_CEILING_DIRECTORIES="$LAB_CACHE" git apply \
			--verbose "$patch") || {
			echo "patches/${patch##*/patches/} does not fit $version"
			return 1
		}
	done
}

# make_source_debug DIR: the plain source, by hard links, with more patches. git
# replaces files, and kernels are built elsewhere.
make_source_debug()
{
	echo "linking the source"
	cp -al "$LAB_KSRC/." "$1/" && rm -f "$1/.lab-complete" &&
		apply_patches "$1" "linux-source-$(<"$1/.lab-version")" \
			"$LAB_DIR"/patches/debug/*.patch
}

make_source()
{
	local dir=$1 which=$2 apt=$1/.apt pkg deb

	mkdir -p "$apt"
	echo "deb [signed-by=$(keyring)] $LAB_MIRROR_URI $LAB_SUITE-backports main" >"$apt/sources.list"
	aside_apt "$apt" apt-get update || return
	pkg=$(choose_source "$apt" "$which")
	if [[ -z $pkg ]] || ! printf '%s\n' "$LAB_MIN_KERNEL" \
	   "${pkg#linux-source-}" | sort -VC; then
		echo "no linux-source >= $LAB_MIN_KERNEL in $LAB_SUITE-backports (there: ${pkg:-none})"
		return 1
	fi
	echo "downloading $pkg"
	(cd "$apt" && aside_apt "$apt" apt-get download "$pkg") || return
	deb=$(echo "$apt"/linux-source-*.deb)
	echo "unpacking $pkg"
	(set -o pipefail
	 dpkg-deb --fsys-tarfile "$deb" |
		tar xO --wildcards './usr/src/linux-source-*.tar.xz' |
		xz -dc -T0 | tar x --no-same-owner -C "$dir" \
			--strip-components=1) || return
	rm -rf "$apt"
	apply_patches "$dir" "$pkg" "$LAB_DIR"/patches/*.patch || return
	echo "${pkg#linux-source-}" >"$dir/.lab-version"
}

prepare_source_locked()
{
	local which=$1 name=source${1:+-$1} final

	final=$(source_path "$which")
	have "$final" && return 0
	if [[ $which == debug ]]; then
		new_tmp "$name"
		step "$name" "$LAB_LOGS/$name.log" make_source_debug \
			"$TMP_DIR" || return
		publish "$final"
		return
	fi
	need_space 4 "the kernel's source"
	find_mirror
	say "$name: linux-source of $LAB_SUITE-backports"
	new_tmp "$name"
	step "$name" "$LAB_LOGS/$name.log" make_source "$TMP_DIR" "$which" ||
		return
	publish "$final"
}

# prepare_source [newest|debug]; debug wants the plain one to be there.
prepare_source()
{
	have "$(source_path "${1:-}")" && return 0
	prepare_host &&
		with_lock "source${1:+-$1}" prepare_source_locked "${1:-}"
}

# Runs in the background and cleans up only after itself.
prepare_source_job()
{
	trap lab_cleanup EXIT
	LAB_PIDS=()
	LAB_TMPS=()
	prepare_source
}

# rootfs and source do not depend on each other: make both at once.
prepare_base()
{
	local pid rc=0

	have "$LAB_KSRC" && { [[ $LAB_ROOTFS == / ]] || have "$LAB_ROOTFS"; } &&
		return 0
	prepare_host || return
	prepare_source_job &
	pid=$!
	LAB_PIDS+=("$pid")
	prepare_rootfs || rc=$?
	wait "$pid" || rc=$?
	forget_pid "$pid"
	return "$rc"
}

# -------------------------------------------------------------- User-Mode Linux

# Source of a kernel: uml-smp uses the newest, ahead of Debian's own; uml-debug
# has patches of its own.
source_of()
{
	case $1 in
	smp) echo newest ;;
	debug) echo debug ;;
	esac
}

# uml_path up|smp|debug: the key includes the compiler's version, which is known
# once the root file system exists.
uml_path()
{
	local gcc=none ksrc

	ksrc=$(source_path "$(source_of "$1")")
	[[ ! -e $LAB_ROOTFS/.lab-gcc ]] || gcc=$(<"$LAB_ROOTFS/.lab-gcc")
	echo "$LAB_CACHE/uml-$1-$(key "$LAB_REV_UML" "${ksrc##*-}" "$gcc" \
		"@$LAB_DIR/config/uml.config" "@$LAB_DIR/config/uml-$1.config")"
}

# Check that each symbol of the fragments has its value; later lines win.
# Symbols come and go with versions: only mention those that the source lacks.
check_config()
{
	local bad=0 sym val

	while IFS='=' read -r sym val; do
		if [[ $val == n ]]; then
			! grep -q "^$sym=" .config || {
				echo "config: $sym is set"
				bad=1
			}
		elif grep -qxF "$sym=$val" .config; then
			:
		elif ! grep -rqE "^[[:space:]]*(menu)?config ${sym#CONFIG_}\$" \
			"$LAB_KSRC" --include='Kconfig*'; then
			echo "config: $sym is unknown to this kernel"
		else
			echo "config: $sym is not $val but $(grep "^$sym=" .config || echo unset)"
			bad=1
		fi
	done < <(grep -hv '^#' "$@" |
		awk -F= '{ v[$1] = $0 } END { for (s in v) print v[s] }')
	return "$bad"
}

# Runs inside the root file system (lab __uml-build): $1 build directory, $2
# kind
uml_build()
{
	local dir=$1 conf=$LAB_DIR/config

	# Its directory has another name each time.
	export CCACHE_DISABLE=1
	LAB_KSRC=$(source_path "$(source_of "$2")")
	cd "$dir" || return
	make -C "$LAB_KSRC" ARCH=um O="$dir" allnoconfig || return
	"$LAB_KSRC/scripts/kconfig/merge_config.sh" -m -O . .config \
		"$conf/uml.config" "$conf/uml-$2.config" >merge.log || return
	make ARCH=um olddefconfig || return
	check_config "$conf/uml.config" "$conf/uml-$2.config" || return
	make ARCH=um -j"$(nproc)" linux modules || return
	make ARCH=um INSTALL_MOD_PATH="$dir/modroot" modules_install || return
	make -s ARCH=um kernelrelease >.lab-kver
	# large, and of no use outside of the source tree
	rm -f "$dir/modroot/lib/modules/"*/build vmlinux.o
}

make_uml()
{
	LAB_CWD=/ in_root "$LAB_ROOTFS" -- "$LAB_DIR/lab" __uml-build "$1" \
		"$2" || return
	# the build directory's own name is stored in one place
	sed -i "s|$1|$3|g" "$1/Makefile"
}

prepare_uml_locked()
{
	local kind=$1 ksrc final

	ksrc=$(source_path "$(source_of "$kind")")
	final=$(uml_path "$kind")
	have "$final" && return 0
	need_space 3 "a kernel"
	say "uml-$kind: Linux $(<"$ksrc/.lab-version") as User-Mode Linux, on $(nproc) CPUs"
	new_tmp "uml-$kind"
	step "uml-$kind" "$LAB_LOGS/uml-$kind.log" make_uml "$TMP_DIR" "$kind" \
		"$final" || return
	publish "$final"
}

prepare_uml()
{
	have "$(uml_path "$1")" && return 0
	prepare_base && prepare_source "$(source_of "$1")" &&
		with_lock "uml-$1" prepare_uml_locked "$1"
}

# ---------------------------------------------------------------- sparse

sparse_path()
{
	echo "$LAB_CACHE/sparse-$(key "$LAB_REV_SPARSE" "$LAB_SUITE")"
}

# The suite's own sparse is too old for the kernel source: unpack sid's aside.
make_sparse()
{
	local dir=$1 apt=$1/.apt

	mkdir -p "$apt"
	echo "deb [signed-by=$(keyring) check-valid-until=no] $LAB_MIRROR_URI sid main" >"$apt/sources.list"
	aside_apt "$apt" apt-get update &&
		(cd "$apt" && aside_apt "$apt" apt-get download sparse) &&
		dpkg-deb -x "$apt"/sparse_*.deb "$dir" &&
		rm -rf "$apt" &&
		LAB_CWD=/ in_root "$LAB_ROOTFS" -- "$dir/usr/bin/sparse" \
			--version
}

prepare_sparse_locked()
{
	local final

	final=$(sparse_path)
	have "$final" && return 0
	find_mirror
	new_tmp sparse
	step sparse "$LAB_LOGS/sparse.log" make_sparse "$TMP_DIR" || return
	publish "$final"
}

prepare_sparse()
{
	have "$(sparse_path)" && return 0
	prepare_rootfs && with_lock sparse prepare_sparse_locked
}
