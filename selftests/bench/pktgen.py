#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measure the receive path by inc_pktgen.ko: pktgen.py OUT REPS [CASE...]

Runs in a network namespace where rdma_inc and inc_pktgen are loaded. Makes the
bridge, the hosts' neighbour entries and the trees, then takes all cases in
turns, and writes OUT.1 to OUT.REPS: for each case, nanoseconds for each packet.
A repetition is TURNS turns of some milliseconds. Its value is the lowest of
their medians, for a machine is not busy with other things all the time.
"""
import json
import os
import subprocess
import sys

CONTROL = '/sys/kernel/debug/inc_pktgen'
NET = '10.49'
FULL = 16               # packets of a message, as libinc's
SLOTS = 64              # the default
FEW_SLOTS = 8           # of many trees
MANY = 1024             # more have one slot each: their results take memory
UC_SLOTS = 1024
WINDOW = 768            # packets of all ranks in flight, a message at least
AHEAD = 128             # packets that are prepared, and so in the cache
COLD = 3072             # which no second-level cache of today has room for
RANKS_PER_HOST = 8
MIN_RTO = 1000          # ms: nobody is asked whose CPU others have for a while
FRAG = 2048             # half a page
ODD_FRAG = 333          # ends in the middle of elements
TURNS = 10
ONE, BY_RANK, BY_TREE = range(3)        # enum pg_split


def ip_batch(lines):
    subprocess.run(['ip', '-batch', '-'], input='\n'.join(lines) + '\n',
                   text=True, check=True)


def address(host):
    return '%s.%d.%d' % (NET, 1 + host // 200, 10 + host % 200)


def number(addr):
    value = 0
    for part in addr.split('.'):
        value = value << 8 | int(part)
    return value


def control(*words):
    with open(CONTROL, 'wb', buffering=0) as f:
        f.write((' '.join(str(w) for w in words) + '\n').encode())


class Case:
    """
    What is measured: payload of a message, in a tree of so many ranks. With a
    split, so many messages at a time, whose packets one or two CPUs receive.
    """

    def __init__(self, name, kind='tree', ranks=8, trees=1, pmtu=1024,
                 size=None, frag=0, nic=False, uc=False, child=False,
                 split=None, at_once=1, ahead=AHEAD, turns=TURNS):
        self.name, self.kind, self.frag, self.nic = name, kind, frag, nic
        self.split, self.turns = split, turns
        # Short messages have a tree of their own: how soon they are
        # acknowledged depends on those before.
        self.form = (ranks, trees, pmtu, bool(size), uc, child)
        count = 1 if uc else FULL
        self.size = size or count * pmtu - 32
        if size:
            self.messages, self.rounds = 1, 200
        else:
            self.messages = max(1, max(WINDOW, ahead) // (ranks * count))
            self.rounds = max(10, -(-trees // self.messages))
        self.ahead = ahead
        if split is not None:
            self.messages = at_once
            self.ahead = at_once * ranks * count
            self.rounds = 100


CASES = [
    Case('1k'),
    Case('1k-forward', 'forward'),
    Case('1k-crc', 'crc'),
    Case('4k', pmtu=4096),
    Case('4k-forward', 'forward', pmtu=4096),
    Case('4k-crc', 'crc', pmtu=4096),
    Case('8b', size=8),
    Case('8b-last', 'last', size=8),
    Case('8b-last-64', 'last', size=8, ranks=64),
    Case('8b-last-1024', 'last', size=8, ranks=1024),
    Case('1k-cold', trees=4, ahead=COLD),
    Case('1k-cold-crc', 'crc', trees=4, ahead=COLD),
    Case('1k-nic', nic=True),
    Case('1k-frag', frag=FRAG),
    Case('1k-frag-crc', 'crc', frag=FRAG),
    Case('4k-frag', pmtu=4096, frag=FRAG),
    Case('4k-frag-crc', 'crc', pmtu=4096, frag=FRAG),
    Case('1k-2', ranks=2),
    Case('1k-64', ranks=64),
    Case('1k-256', ranks=256),
    Case('1k-1024', ranks=1024),
    Case('1k-trees', ranks=2, trees=MANY),
    Case('1k-uc', uc=True),
    Case('1k-uc-64', ranks=64, uc=True),
    Case('1k-child', child=True),
    Case('1k-child-uc', uc=True, child=True),
]

# Only with two CPUs.
CASES_SMP = [
    Case('one-1', split=ONE),
    Case('one-2', split=BY_RANK),
    Case('eight-1', split=ONE, at_once=8),
    Case('eight-2', split=BY_RANK, at_once=8),
    Case('many-1', ranks=64, split=ONE, at_once=4),
    Case('many-2', ranks=64, split=BY_RANK, at_once=4),
    Case('trees-1', ranks=2, trees=8, split=ONE, at_once=8),
    Case('trees-2', ranks=2, trees=8, split=BY_TREE, at_once=8),
    Case('forward-1', 'forward', split=ONE, at_once=8),
    Case('forward-2', 'forward', split=BY_RANK, at_once=8),
]

# Only if they are named: the first one tests, and nobody wonders how long it takes;
# the others would leave less of the caches to all.
NAMED = [
    Case('1k-odd', frag=ODD_FRAG),
    Case('1k-qps', trees=4096, turns=2),
    Case('1k-qps-131072', trees=16384, turns=2),
]


class Bench:
    def __init__(self, cases, ports):
        self.cases, self.ports = cases, ports
        self.nic = None
        self.trees = {}         # form: ID of the first one
        self.made = 0
        self.bridge()
        for case in cases:
            if case.form not in self.trees:
                self.make_trees(*case.form)

    def bridge(self):
        lines = ['link add br0 mtu 9000 type bridge mcast_snooping 0',
                 'addr add %s.0.1/16 dev br0' % NET]
        for port in range(self.ports):
            lines.append('link set pg%d mtu 9000' % port)
            lines.append('link set pg%d master br0 up' % port)
        ip_batch(lines + ['link set br0 up'])
        # A parent is behind the next one.
        hosts = max(self.hosts(c.form[0]) for c in self.cases) + 1
        ip_batch('neigh replace %s lladdr 02:70:%s dev br0 nud permanent' %
                 (address(h), ':'.join('%02x' % int(x)
                                       for x in address(h).split('.')))
                 for h in range(hosts))

    @staticmethod
    def hosts(ranks):
        return min(ranks, max(8, ranks // RANKS_PER_HOST))

    def make_trees(self, ranks, trees, pmtu, short, uc, child):
        first, self.made = self.made + 1, self.made + trees
        slots = (UC_SLOTS if uc else SLOTS if trees < FEW_SLOTS else
                 FEW_SLOTS if trees <= MANY else 1)
        size = pmtu if uc else FULL * pmtu
        # Short results would share an acknowledgment for as long.
        patience = '' if short else ' min-rto %d' % MIN_RTO
        self.trees[ranks, trees, pmtu, short, uc, child] = first
        ends = ' job-ranks %d first-rank 0' % (ranks + 1) if child else ''
        lines = []
        qpn = self.next_qpn = getattr(self, 'next_qpn', 16)
        for tree in range(first, first + trees):
            control('tree', ranks, slots, size, pmtu, int(uc))
            lines.append('tree add id %d ranks %d slots %d msg-size %d '
                         'pmtu %d dead-time 5000%s%s' %
                         (tree, ranks, slots, size, pmtu, patience, ends))
            for rank in range(ranks):
                lines.append('member add tree %d rank %d addr %s qpn %d psn 0'
                             ' transport %s' %
                             (tree, rank, address(rank % self.hosts(ranks)),
                              qpn, 'uc' if uc else 'rc'))
                qpn += 1
            if child:
                lines.append('parent set tree %d peer-tree 1 addr %s qpn %d psn 0'
                             ' rkey 1' % (tree, address(self.hosts(ranks)), qpn))
                qpn += 1
        self.next_qpn = qpn
        done = subprocess.run(['inc-tool', '-j', '-batch', '-'],
                              input='\n'.join(lines) + '\n', text=True,
                              stdout=subprocess.PIPE, check=True)
        for line in done.stdout.splitlines():
            self.connect(json.loads(line), ranks)

    def connect(self, m, ranks):
        if 'rkey' not in m:
            return
        who, host = ['parent', m['tree-id']], self.hosts(ranks)
        if 'rank' in m:
            who = ['member', m['tree-id'], m['rank']]
            host = m['rank'] % host
        control(*who, host % self.ports, '%x' % number(address(host)),
                '%x' % number('%s.0.1' % NET), m['qpn'], m['psn'], m['rkey'])

    def as_nic(self, nic):
        """Ports take bursts as they are, or not, as a NIC."""
        if nic == self.nic:
            return
        for port in range(self.ports):
            subprocess.run(['ethtool', '-K', 'pg%d' % port,
                            'tx-scatter-gather-fraglist',
                            'off' if nic else 'on'], check=True)
        self.nic = nic

    def run(self, case):
        """Returns the median of a turn, in nanoseconds for each packet."""
        self.as_nic(case.nic)
        first = self.trees[case.form]
        control('run', case.kind, first, case.form[1], case.size,
                case.messages, case.rounds, case.frag, case.ahead,
                case.split or ONE)
        with open(CONTROL) as f:
            found = json.load(f)
        if found['late'] > found['rounds']:
            print('pktgen: %s: results came late in %d of %d rounds' %
                  (case.name, found['late'], found['rounds']))
        return found['median'] * 1e6 / found['khz']


def no_limits():
    """Members and trees are charged all that they may ever take."""
    with open('/sys/module/rdma_inc/parameters/memory_ceiling', 'w') as f:
        f.write('65536')
    subprocess.run(['inc-tool', 'switch', 'set', 'memory-limit', '64G'],
                   check=True)


def main():
    out, reps, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    with open('/sys/module/inc_pktgen/parameters/ports') as f:
        ports = int(f.read())
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cpus[:1])
    usual = CASES + (CASES_SMP if len(cpus) > 1 else [])
    cases = [c for c in CASES + CASES_SMP + NAMED
             if c.name in names or not names and c in usual]
    unknown = set(names) - {c.name for c in cases}
    if unknown:
        sys.exit('pktgen: no such case: ' + ', '.join(sorted(unknown)))
    no_limits()
    bench = Bench(cases, ports)
    for rep in range(reps + 1):
        turns = {c.name: [] for c in cases}
        for turn in range(TURNS):
            for c in cases:
                if turn < c.turns:
                    turns[c.name].append(bench.run(c))
        if not rep:
            continue            # warming up
        with open('%s.%d' % (out, rep), 'w') as f:
            json.dump({name: min(found) for name, found in turns.items()}, f)


if __name__ == '__main__':
    main()
