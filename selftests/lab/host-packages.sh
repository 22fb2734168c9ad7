#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Install by apt what is missing for building and running on this machine's own
# kernel.

PACKAGES="gcc make pkg-config kmod iproute2 procps rdma-core ibverbs-providers
libibverbs-dev libnl-3-dev libnl-genl-3-dev libjson-c-dev python3 jq"
[ -d "/lib/modules/$(uname -r)/build" ] ||
	PACKAGES+=" linux-headers-$(uname -r)"

missing=()
for p in $PACKAGES; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" \
		= installed ] ||
		missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0
echo "installing: ${missing[*]}"
{ apt-get update -q && DEBIAN_FRONTEND=noninteractive \
	apt-get install -y -q --no-install-recommends "${missing[@]}"; } \
	>/tmp/rdma_inc-apt.log 2>&1 || {
	tail -n 5 /tmp/rdma_inc-apt.log
	echo "could not install them; the log is /tmp/rdma_inc-apt.log" >&2
	exit 1
}
