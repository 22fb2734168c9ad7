#!/bin/bash
t() { local s=${EPOCHREALTIME/./}; "${@:2}"; echo "$1 $(( (${EPOCHREALTIME/./}-s)/1000 )) ms"; }
rep() { local i n=$1; shift; for ((i=0;i<n;i++)); do "$@" >/dev/null; done; }
ip netns add a
t "true x50" rep 50 /bin/true
t "netns exec true x50" rep 50 ip netns exec a true
t "nsenter true x50" rep 50 nsenter --net=/run/netns/a true
t "ip -n link x50" rep 50 ip -n a link
t "python x5" rep 5 python3 -c 1
t "python -I -S x5" rep 5 python3 -I -S -c 1
t "python json x5" rep 5 python3 -c 'import json,sys'
t "subshell x50" rep 50 eval '(:)'
t "scapy x1" rep 1 python3 -c 'import scapy.all'
ip link add v0 type veth peer name v1; ip link set v0 up
t "rdma link add x5" eval 'for i in 1 2 3 4 5; do rdma link add r$i type rxe netdev v0; done' 
t "ns del" ip netns del a
