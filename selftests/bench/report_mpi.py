#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of the benchmark's MPI part: report_mpi.py SAMPLES DIR

Writes DIR/mpi.json, plots DIR/mpi-*.svg, and DIR/mpi.md, the README's table.

As in report.py: a figure is taken per repetition, then its median, minimum and
maximum are given. What a repetition says is the median of its rounds. What is
best of Open MPI is the way with the smallest median over repetitions.
"""
import glob
import json
import os
import re
import statistics
import sys

import plot
import report

RANKS = (2, 4, 8, 16)
SIZES = (65536, 262144, 1048576)
MIB = report.MIB
WAYS = {'tcp': 'Open MPI as it comes, TCP',
        'ring': 'Open MPI, ring over TCP',
        'ucx': 'Open MPI over rxe (UCX)',
        'ucx-ring': 'Open MPI, ring over rxe (UCX)'}
TITLES = {'allreduce': 'AllReduce', 'bcast': 'Broadcast', 'reduce': 'Reduce',
          'alltoall': 'AllToAll', 'gather': 'Gather', 'scatter': 'Scatter',
          'allgather': 'AllGather', 'barrier': 'Barrier'}
# Minimum share of the ceiling, by size; minimum gain over the best alternative.
CEILING_BARS = {262144: 0.90, 1048576: 0.97}
GAIN_BARS = {('allreduce', 65536): 1.6, ('allreduce', MIB): 1.8,
             ('bcast', MIB): 2.2, ('reduce', MIB): 2.2}
SAME_TRANSPORT = ('alltoall', 'gather', 'scatter', 'allgather')
IDLE_BAR = 0.30


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


class Samples(report.Report):
    """Rows are found by what they are of: WHAT.WAY.N.REPETITION."""

    def rate(self, what='others'):
        """Bit/s of the shaped links: of the part "ranks", of all others."""
        return report.load(os.path.join(self.samples, 'rates'))[what] * 1e6

    def links(self, what='others'):
        return 'links of %g Mb/s' % (self.rate(what) / 1e6)

    def files(self, name):
        """Of all repetitions, in order."""
        found = {}
        for path in glob.glob(os.path.join(self.samples, name + '.*')):
            tail = path[len(self.samples) + len(name) + 2:]
            if tail.isdigit():
                found[int(tail)] = path
        return [found[r] for r in sorted(found)]

    def rounds(self, name, op, size):
        found = []
        for path in self.files(name):
            found += [r for r in lines(path)
                      if r['op'] == op and r['size'] == size]
        return found

    def us(self, name, op, size):
        return [statistics.median(r['us'])
                for r in self.rounds(name, op, size)]

    def ways(self, what, op, size, n=8):
        """Times of each way without the switch."""
        found = {way: self.us('%s.%s.%d' % (what, way, n), op, size)
                 for way in WAYS}
        return {way: us for way, us in found.items() if us}


def best(ways):
    return min(ways, key=lambda way: statistics.median(ways[way]))


def title(op, size):
    return TITLES[op] if op == 'barrier' else \
        '%s of %s' % (TITLES[op], report.name_of(size))


def ranks(rep):
    """AllReduce over the switch, by the number of ranks."""
    rate, links = rep.rate('ranks'), rep.links('ranks')
    for n in RANKS:
        name = 'ranks.inc.%d' % n
        for size in SIZES:
            us = rep.us(name, 'allreduce', size)
            what = '%s, N=%d, %s' % (title('allreduce', size), n, links)
            rep.add(what, [u / 1e3 for u in us], 'ms')
            rep.add(what + ', of the ceiling',
                    [size / u * 1e6 / report.ceiling(size, rate) for u in us],
                    'share', CEILING_BARS.get(size), most=False)
        rows = rep.rounds(name, 'allreduce', MIB)
        for way in ('tx', 'rx'):
            rep.add('Bytes that a host %s for each of payload, N=%d' %
                    ('sends' if way == 'tx' else 'gets', n),
                    [r[way] / MIB for r in rows], 'ratio', 1.08)
        rep.add('Idle share of the CPU meanwhile, N=%d, %s' % (n, links),
                [r['idle'] for r in rows], 'share', IDLE_BAR, most=False)
    rep.ratio('AllReduce of 1 MiB, %s, time with N=16 over that with N=2' %
              links,
              rep.us('ranks.inc.16', 'allreduce', MIB),
              rep.us('ranks.inc.2', 'allreduce', MIB), 1.05)


def beside_best(rep, what, op, size, bar):
    ours = rep.us(what + '.inc.8', op, size)
    ways = rep.ways(what, op, size)
    name = '%s, N=8' % title(op, size)
    if what == 'others':
        name += ', ' + rep.links()
    scale, unit = (1e3, 'ms') if what == 'others' else (1, 'us')
    rep.add(name + ', over the switch', [u / scale for u in ours], unit)
    for way, us in ways.items():
        rep.add('%s, %s' % (name, WAYS[way]), [u / scale for u in us], unit)
    rep.ratio('%s, times faster than the best of Open MPI (%s)' %
              (name, best(ways)), ways[best(ways)], ours, bar, most=False)
    return ways


def others(rep):
    """The collectives, beside those of Open MPI without the switch."""
    for size in SIZES:
        beside_best(rep, 'others', 'allreduce', size,
                    GAIN_BARS.get(('allreduce', size)))
    for op in ('bcast', 'reduce') + SAME_TRANSPORT:
        ways = beside_best(rep, 'others', op, MIB, GAIN_BARS.get((op, MIB)))
        if op in SAME_TRANSPORT and 'ucx-ring' in ways:
            rep.ratio('%s, N=8, %s, times faster than Open MPI over rxe' %
                      (title(op, MIB), rep.links()), ways['ucx-ring'],
                      rep.us('others.inc.8', op, MIB), 0.95, most=False)
    # Open MPI polls while it waits, which hides how much CPU it needs.
    for op in ('allreduce', 'bcast', 'reduce') + SAME_TRANSPORT:
        rep.add('Idle share of the CPU, %s, N=8, %s, over the switch' %
                (title(op, MIB), rep.links()),
                [r['idle'] for r in rep.rounds('others.inc.8', op, MIB)],
                'share', IDLE_BAR, most=False)


def fallen(rep):
    """What falls through, in the switch's order, beside Open MPI's own."""
    for what, n, links in (('fallen', 5, ''), ('fallen', 8, ''),
                           ('fallen-shaped', 8, ', ' + rep.links())):
        for op in ('allreduce', 'reduce'):
            for size in (8, 1024, 8192, 65536, MIB):
                own = rep.us('%s.tcp.%d' % (what, n), op, size)
                same = rep.us('%s.same.%d' % (what, n), op, size)
                if not own:
                    continue
                name = '%s that falls through, N=%d%s' % (title(op, size), n,
                                                          links)
                rep.add(name + ', ' + WAYS['tcp'], own, 'us')
                rep.add(name + ', in the switch\'s order', same, 'us')
                rep.ratio(name + ', time in the switch\'s order over that', same,
                          own)


def latency(rep):
    """What is short, on links that are not shaped."""
    rtt, quick = ([report.load(path)['median'] for path in rep.files(name)]
                  for name in ('latency.rtt', 'latency.rtt-yield'))
    name = 'RC write with Immediate, host and bridge host, round trip'
    rep.add(name, rtt, 'us')
    rep.add(name + ', ends give way as libinc does', quick, 'us')
    for op, size in (('allreduce', 8), ('barrier', 0)):
        for n in (2, 4, 8):
            us = rep.us('latency.inc.%d' % n, op, size)
            name = '%s, N=%d' % (title(op, size), n)
            if n < 8:
                rep.add(name + ', over the switch', us, 'us')
            rep.ratio(name + ', over N/2 round trips', us,
                      [r * n / 2 for r in rtt], 1.15)
            rep.ratio(name + ', over N/2 that give way', us,
                      [r * n / 2 for r in quick])
        beside_best(rep, 'latency', op, size, 2.4)


def halo(rep):
    """A solver's loop, with either way of other messages."""
    for op, late in (('halo', ''), ('halolate', ', a rank late')):
        for size in (1024, 65536):
            name = 'Messages of %s to two neighbours and a sum%s, N=4' % (
                report.name_of(size), late)
            for ours, theirs, by in (('inc', 'tcp', 'TCP'),
                                     ('inc-ucx', 'ucx', 'rxe (UCX)')):
                us, stock = (rep.us('halo.%s.4' % who, op, size)
                             for who in (ours, theirs))
                if not us or not stock:
                    continue
                rep.add('%s, %s, over the switch' % (name, by), us, 'us')
                rep.ratio('%s, %s, times faster than without' % (name, by),
                          stock, us, 1.0, most=False)


EVENT = re.compile(r'([\d.]+): inc_(request|tx_result): tree=(\d+) .*'
                   r'(?:msg_id|imm)=(\w+)')


def residence_of(path):
    """Microseconds from each message's last request to its last result."""
    asked, told = {}, {}
    with open(path) as f:
        for line in f:
            m = EVENT.match(line)
            if not m:
                continue
            message = (m.group(3), int(m.group(4), 0) & 0xffffff)
            (asked if m.group(2) == 'request' else told)[message] = \
                float(m.group(1)) * 1e6
    return [told[i] - asked[i] for i in told if i in asked]


def residence(rep):
    for n in (2, 8):
        rep.add('AllReduce of 8 B, N=%d, last request in to last result out' %
                n, [statistics.median(residence_of(path)) for path in
                    rep.files('residence.trace.%d' % n)], 'us')


def hosts_per_gb(rep, way):
    """CPU seconds of all hosts for 10^9 bytes of result."""
    found = []
    for path, rows in zip(rep.files('cpu.%s.8' % way),
                          rep.rounds('cpu.%s.8' % way, 'allreduce', MIB)):
        number = path.rsplit('.', 1)[1]
        account = report.Account(os.path.join(
            rep.samples, 'cpu.%s.account.%s' % (way, number)))
        found.append(account.seconds('hosts_process', 'hosts_work',
                                     'hosts_softirq') /
                     (len(rows['us']) * MIB / 1e9))
    return found


def cpu(rep):
    ours, ring = hosts_per_gb(rep, 'inc'), hosts_per_gb(rep, 'ucx-ring')
    rep.add('CPU of the hosts per GB reduced, N=8, over the switch', ours, 's')
    if ring:
        rep.add('CPU of the hosts per GB reduced, N=8, ring over rxe', ring,
                's')
        rep.ratio('CPU of the hosts, over the ring\'s', ours, ring, 0.6)


def rates(rep, name):
    return [report.load(path)['median'] for path in rep.files('beside.' + name)]


def beside(rep):
    """Traffic of others."""
    without, idle = ([statistics.mean(three) for three in
                      zip(*(rates(rep, kind + str(i)) for i in (1, 2, 3)))]
                     for kind in ('without', 'idle'))
    rep.add('RDMA WRITE from host to host, without the module', without, 'MB/s')
    rep.ratio('RDMA WRITE, with the module and a tree, of that', idle, without,
              0.98, most=False)
    alone = rates(rep, 'alone')
    rep.add('RDMA WRITE from host to host, %s' % rep.links(), alone, 'MB/s')
    shares = {way: [b / a for a, b in zip(alone, rates(rep, 'busy.' + way))]
              for way in ('inc', 'ucx-ring')}
    name = 'RDMA WRITE beside an AllReduce on the same links'
    rep.add(name + ', over the switch, of that', shares['inc'], 'share', 0.5,
            most=False)
    if shares['ucx-ring']:
        rep.add(name + ', ring over rxe, of that', shares['ucx-ring'], 'share')
        rep.ratio(name + ', over that beside the ring', shares['inc'],
                  shares['ucx-ring'], 1.0, most=False)


def steps(path):
    # The first one has the ranks meet.
    return statistics.median(r['us'] for r in lines(path)[1:])


def train(rep):
    """An application: the same losses, in less time."""
    name = 'A step of training, 1 MiB of gradients, N=8'
    ours = [steps(path) for path in rep.files('train.inc.8')]
    rep.add(name + ', over the switch', [u / 1e3 for u in ours], 'ms')
    ways = {way: [steps(path) for path in rep.files('train.%s.8' % way)]
            for way in WAYS}
    ways = {way: us for way, us in ways.items() if us}
    for way, us in ways.items():
        rep.add('%s, %s' % (name, WAYS[way]), [u / 1e3 for u in us], 'ms')
    rep.ratio('%s, times faster than the best of Open MPI (%s)' %
              (name, best(ways)), ways[best(ways)], ours)
    same = []
    for a, b in zip(rep.files('train.inc.8'), rep.files('train.doubling.8')):
        bits = [[r['bits'] for r in lines(path)] for path in (a, b)]
        same.append(sum(x == y for x, y in zip(*bits)) / len(bits[0]))
    rep.add('Losses with the bits that recursive doubling gives', same, 'share',
            1.0, most=False)


def ddp(rep):
    """PyTorch: a step, and the losses' bits in the defined order."""
    name = 'A step of PyTorch\'s DDP, 1.1 MiB of gradients in buckets of ' \
        '256 KiB, N=8, ' + rep.links()
    us = {way: [statistics.median(r['us'] for r in lines(path))
                for path in rep.files('ddp.%s.8' % way)]
          for way in ('inc', 'tcp', 'ring', 'gloo')}
    for way, what in (('inc', 'over the switch'), ('gloo', 'gloo'),
                      ('tcp', WAYS['tcp']), ('ring', WAYS['ring'])):
        rep.add('%s, %s' % (name, what), [u / 1e3 for u in us[way]], 'ms')
    rep.ratio(name + ', times faster than gloo', us['gloo'], us['inc'], 1.7,
              most=False)
    without = {way: us[way] for way in ('tcp', 'ring')}
    rep.ratio('%s, times faster than the best of Open MPI (%s)' %
              (name, best(without)), without[best(without)], us['inc'], 1.6,
              most=False)
    with open(os.path.join(rep.samples, 'ddp.reference')) as f:
        want = f.read().split()
    got = [r['bits'] for r in lines(os.path.join(rep.samples, 'ddp.inc.8'))]
    rep.add('DDP\'s losses with the bits that one process gives that adds in '
            'the switch\'s order',
            [sum(a == b for a, b in zip(got, want)) / len(want)], 'share', 1.0,
            most=False)


def comms_of(rep, n):
    rows = {who: [lines(path)[0] for path in rep.files('comms.%s.%d' % (who, n))]
            for who in ('tcp', 'inc', 'first')}
    names = {'tcp': 'Open MPI', 'inc': 'coll/inc',
             'first': 'coll/inc, coll_inc_meet_after=1'}
    for key, what, bar in (
            ('first', 'First collective of MPI_COMM_WORLD', None),
            ('further', 'First collective of a further communicator', 5),
            ('splits', '150 MPI_Comm_splits with a collective each', 1000),
            ('frees', 'Their frees', None),
            ('started', 'From mpirun to the end of the first collective',
             None)):
        for who, found in rows.items():
            rep.add('%s, N=%d, %s' % (what, n, names[who]),
                    [r[key] for r in found], 'ms',
                    bar if who == 'inc' and n == 4 else None)
    rep.add('From mpirun to the end of the first collective, N=%d, more than '
            'Open MPI' % n, [a['started'] - b['started'] for a, b in
                             zip(rows['inc'], rows['tcp'])], 'ms', 50)


def comms(rep):
    """
    What communicators cost, beside Open MPI without coll/inc, which itself
    needs more than the bars for eight ranks on one CPU.
    """
    for n in 4, 8:
        comms_of(rep, n)


def figure(value):
    return '%.0f' % value if value >= 100 else '%.3g' % value


def spread(values, scale=1.0):
    return '%s (%s … %s)' % tuple(
        figure(f(values) / scale) for f in (statistics.median, min, max))


def table(rep, out):
    """The README's table."""
    rows = [('others', 'allreduce', s) for s in SIZES]
    rows += [('others', op, MIB) for op in ('bcast', 'reduce') + SAME_TRANSPORT]
    rows += [('latency', 'allreduce', 8), ('latency', 'barrier', 0)]
    text = ['| 8 ranks | Open MPI at its best | over the switch | times faster |',
            '|---|---|---|---|']
    for what, op, size in rows:
        ours, ways = rep.us(what + '.inc.8', op, size), rep.ways(what, op, size)
        if not ours or not ways:
            continue
        theirs = ways[best(ways)]
        scale, unit = (1e3, 'ms') if what == 'others' else (1, 'µs')
        text.append('| %s, %s | %s (%s) | %s | %s |' % (
            title(op, size), unit, spread(theirs, scale), best(ways),
            spread(ours, scale),
            spread([a / b for a, b in zip(theirs, ours)])))
    if len(text) == 2:
        return
    with open(os.path.join(out, 'mpi.md'), 'w') as f:
        f.write('\n'.join(text) + '\n')
    print('\n' + '\n'.join(text))


def points(values_of_x):
    return [(x, statistics.median(v), min(v), max(v)) for x, v in values_of_x]


def plots(rep, out):
    series = [plot.Series('rdma_inc', 0, 'circle', points(
        (s, rep.us('others.inc.8', 'allreduce', s)) for s in SIZES))]
    for way, mark in zip(rep.ways('others', 'allreduce', MIB),
                         ('square', 'triangle', 'circle')):
        series.append(plot.Series(way, 1, mark, points(
            (s, rep.us('others.%s.8' % way, 'allreduce', s)) for s in SIZES)))
    plot.chart(os.path.join(out, 'mpi-allreduce.svg'),
               'MPI_Allreduce, 8 ranks, %s: time' % rep.links(),
               'Open MPI over the switch and without it; median, min, max',
               ('size', 'µs'), series, SIZES, report.name_of, y_log=True)
    series = []
    for size, mark in zip((MIB, 262144), ('circle', 'square')):
        series.append(plot.Series(report.name_of(size), 0, mark, points(
            (n,
             [size / u for u in rep.us('ranks.inc.%d' % n, 'allreduce', size)])
            for n in RANKS)))
    top = report.ceiling(MIB, rep.rate('ranks')) / 1e6
    series.append(plot.Series('ceiling', 2, '',
                              [(n, top, top, top) for n in RANKS]))
    plot.chart(os.path.join(out, 'mpi-ranks.svg'),
               'MPI_Allreduce over the switch, %s: throughput' %
               rep.links('ranks'),
               'Size over time; the ceiling counts all headers and '
               'acknowledgments; median, min, max',
               ('ranks', 'MB/s'), series, RANKS, lambda n: 'N=%d' % n)


def main():
    samples, out = sys.argv[1:]
    rep = Samples(samples)
    have = {part.__name__ for part in PARTS
            if glob.glob(os.path.join(samples, part.__name__ + '.*'))}
    for part in PARTS:
        if part.__name__ in have:
            part(rep)
    if {'ranks', 'others'} <= have:
        plots(rep, out)
    rep.show()
    table(rep, out)
    rep.save(os.path.join(out, 'mpi.json'))
    missed = [r for r in rep.rows if r['ok'] is False]
    print('\n%d figures, %d below their bar; mpi.json, mpi.md and plots in %s' %
          (len(rep.rows), len(missed), out))


PARTS = (ranks, others, fallen, latency, halo, residence, cpu, beside, train, ddp, comms)

if __name__ == '__main__':
    main()
