#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of the benchmark: report.py SAMPLES DIR

Writes DIR/switch.json and plots, DIR/*.svg.

Every figure is taken per repetition, from samples of the same boot, then
its median, minimum and maximum over the repetitions are given.
"""
import collections
import glob
import json
import os
import re
import statistics
import sys

import plot
import ratios

RATE = 20e6                     # bit/s of the shaped links
MSG_DATA = 65536 - 32           # payload of a message
PMTU = 1024
ETH, IPV4, UDP, BTH, RETH, IMM, ICRC, AETH = 14, 20, 8, 12, 16, 4, 4, 4
BASE = ETH + IPV4 + UDP + BTH + ICRC
ACK = BASE + AETH


SIZES = (8, 1024, 65536, 1048576)
RANKS = (2, 4, 8)
MIB = 1048576
TREES, MEMBERS = 1024, 64


def load(path):
    with open(path) as f:
        return json.load(f)


def reps(prefix):
    found = {}
    for path in glob.glob(prefix + '.*'):
        tail = path[len(prefix) + 1:]
        if tail.isdigit():
            found[int(tail)] = load(path)
    return [found[r] for r in sorted(found)]


def packets(payload):
    return -(-payload // PMTU)


def ceiling(payload, rate=RATE):
    """Most payload bytes per second of an AllReduce over a shaped link.

    What tbf counts: Ethernet header to ICRC. Down: WRITE ONLYs of the results
    and our acknowledgments of the requests, one every 16 packets; up: the
    requests and the host's acknowledgments, one every 16 packets.
    """
    up = down = 0
    left = payload
    while left > 0:
        data = min(left, MSG_DATA)
        n = packets(data + 32)
        up += data + 32 + n * BASE + RETH + IMM + -(-n // 16) * ACK
        down += data + n * (BASE + RETH) + IMM + -(-n // 16) * ACK
        left -= data
    return rate / 8 * payload / max(up, down)


def size_row(run, size):
    rows = run['results'] if isinstance(run, dict) else run
    return next(r for r in rows if r['size'] == size)


class Report:
    def __init__(self, samples):
        self.samples = samples
        self.rows = []

    def take(self, name):
        """Samples of all repetitions, in order."""
        return reps(os.path.join(self.samples, name))

    def times(self, name, size):
        return [size_row(r, size)['avg_us'] for r in self.take(name)]

    def add(self, name, values, unit, bar=None, most=True):
        value = statistics.median(values)
        ok = None
        if bar is not None:
            ok = value <= bar if most else value >= bar
        self.rows.append({
            'name': name, 'value': round(value, 4),
            'min': round(min(values), 4), 'max': round(max(values), 4),
            'unit': unit, 'bar': bar, 'ok': ok})

    def ratio(self, name, above, below, bar=None, most=True):
        self.add(name, [a / b for a, b in zip(above, below)], 'ratio', bar,
                 most)

    def save(self, path):
        with open(path, 'w') as f:
            json.dump(self.rows, f, indent=1)
            f.write('\n')

    def show(self):
        print('%-64s %10s %10s %10s  %-6s %s' %
              ('', 'median', 'min', 'max', 'unit', 'bar'))
        for r in self.rows:
            if r.pop('quiet', False):
                continue
            bar = '' if r['bar'] is None else '%g %s' % (
                r['bar'], 'reached' if r['ok'] else 'MISSED')
            print('%-64s %10.4g %10.4g %10.4g  %-6s %s' %
                  (r['name'], r['value'], r['min'], r['max'], r['unit'], bar))


def name_of(size):
    for unit, div in (('MiB', 1 << 20), ('KiB', 1 << 10)):
        if size >= div:
            return '%d %s' % (size // div, unit)
    return '%d B' % size


def round_trips(rep):
    """AllReduce beside RC writes of two hosts."""
    rtts = {}
    for size in SIZES:
        rtts[size] = [r['median'] for r in rep.take('rtt.%d' % size)]
        rep.add('RC write round trip, %s' % name_of(size), rtts[size], 'us')
    yields = [r['median'] for r in rep.take('rtt-yield.8')]
    rep.add('RC write round trip, 8 B, ends give way as libinc does', yields,
            'us')
    for n in RANKS:
        for size in SIZES:
            us = rep.times('allreduce.%d' % n, size)
            name = 'AllReduce, N=%d, %s' % (n, name_of(size))
            rep.add(name, us, 'us')
            rep.ratio(name + ', over N/2 round trips', us,
                      [r * n / 2 for r in rtts[size]],
                      1.3 if size == 8 else None)
            if size == 8:
                rep.ratio(name + ', over N/2 that give way', us,
                          [r * n / 2 for r in yields])


# Maximum share of the server's time; minimum multiple of its throughput.
LATENCY_BARS = {2: 0.45, 8: 0.60}
THROUGHPUT_BARS = {8: 1.9}


def server(rep):
    """AllReduce by the module beside the same by a process."""
    for n in RANKS:
        for size in SIZES:
            ours = rep.times('allreduce.%d' % n, size)
            theirs = rep.times('server.%d' % n, size)
            name = 'AllReduce, N=%d, %s' % (n, name_of(size))
            rep.add(name + ', server in user space', theirs, 'us')
            if size == MIB:
                rep.ratio(name + ', throughput over the server\'s', theirs,
                          ours, THROUGHPUT_BARS.get(n), most=False)
            else:
                rep.ratio(name + ', time over the server\'s', ours, theirs,
                          LATENCY_BARS.get(n) if size == 8 else None)


def shaped(rep):
    for n in RANKS:
        name = 'AllReduce, N=%d, 1 MiB, links of 20 Mb/s' % n
        ours = rep.times('shaped.%d' % n, MIB)
        theirs = rep.times('shaped-server.%d' % n, MIB)
        rep.add(name, [MIB / u for u in ours], 'MB/s')
        rep.add(name + ', of the ceiling',
                [MIB / u * 1e6 / ceiling(MIB) for u in ours], 'ratio', 0.95,
                most=False)
        rep.add(name + ', server in user space', [MIB / u for u in theirs],
                'MB/s')
        rep.ratio(name + ', throughput over the server\'s', theirs, ours)


def rails(rep):
    """Two devices of each host over one of them, in the same run."""
    for n in RANKS:
        for size, what in ((MIB, '1 MiB'), (MIB // 4, '256 KiB'), (8, '8 B')):
            rep.ratio('AllReduce, N=%d, %s, two rails over one' % (n, what),
                      rep.times('rails-one.%d.%d' % (n, size), size),
                      rep.times('rails.%d.%d' % (n, size), size),
                      1.9 if size == MIB else None, most=False)


# Loss in per cent: minimum share of the throughput without loss.
LOSS_BARS = {'rc': {'0.1': 0.80, '1': 0.60},
             'uc': {'0.1': 0.99, '1': 0.97, '2': 0.957, '5': 0.90},
             'auto': {'2': 0.957, '5': 0.90},
             'alone': {'2': 0.957, '5': 0.90}}
LOSS_NAMES = {'auto': 'by default', 'alone': 'by default, one after another'}


def loss(rep):
    """Goodput on lossy links over that of the same run without loss."""
    rxe = {p: [r['median'] for r in rep.take('loss-rxe.%s' % p)]
           for p in ('0', '0.1', '1')}
    for p in ('0.1', '1'):
        if rxe[p] and all(rxe['0']):
            rep.ratio('Goodput, WRITEs between two rxe hosts, loss of %s %%' %
                      p,
                      rxe[p], rxe['0'])
    for transport in LOSS_BARS:
        for n in (2, 4, 8):
            runs = {p: [r['results'][0]['avg_us'] for r in
                        rep.take('loss-%s.%d.%s' % (transport, n, p))]
                    for p in ('0', '0.1', '1', '2', '5')}
            if not runs['0']:
                continue
            size = rep.take('loss-%s.%d.0' % (transport, n))[0]['results'][0]
            name = '%s, N=%d, links of 20 Mb/s' % (
                LOSS_NAMES.get(transport, transport.upper()), n)
            rep.add('Goodput, ' + name,
                    [size['size'] / u for u in runs['0']], 'MB/s')
            for p in ('0.1', '1', '2', '5'):
                if runs[p]:
                    rep.ratio('Goodput, %s, loss of %s %%, of that without' %
                              (name, p), runs['0'], runs[p],
                              LOSS_BARS[transport].get(p), most=False)


# At most so many microseconds.
PKTGEN_LAST = (('8b-last', 8, None), ('8b-last-64', 64, 10),
               ('8b-last-1024', 1024, 200))

# Least of the speed of one CPU that two have.
PKTGEN_TWO = (
    ('one message in flight', 'one', 1.6),
    ('eight messages in flight', 'eight', 1.85),
    ('eight trees of two', 'trees', 1.85))


def pktgen(rep):
    """A request packet with its result and ACKs, by the receive path alone."""
    runs = rep.take('pktgen')
    names = [n for n in runs[0] if all(n in r for r in runs)]
    for name in names:
        if 'last' not in name:
            rep.add('Request packet, %s' % name,
                    [r[name] for r in runs], 'ns')
    for name, n, bar in PKTGEN_LAST:
        if name in names:
            rep.add('8 B, N=%d, last request in to last result out' % n,
                    [r[name] / 1000 for r in runs], 'us', bar)
    for name, payload in (('1k', 1024), ('4k', 4096)):
        if name in names:
            rep.add('Requests of one CPU, %s' % name,
                    [payload * 8 / r[name] for r in runs], 'Gb/s')
    for what, above, below, bar, _ in ratios.RATIOS:
        if above in names and below in names:
            rep.ratio('Request packet, ' + what,
                      [r[above] for r in runs],
                      [r[below] for r in runs], bar)
    for what, name, bar in PKTGEN_TWO:
        if name + '-1' in names and name + '-2' in names:
            rep.ratio('Requests of two CPUs over one, 1 KiB, ' + what,
                      [r[name + '-1'] for r in runs],
                      [r[name + '-2'] for r in runs], bar, most=False)


class Account:
    """What was done between two readings of inc_account.ko."""

    def __init__(self, path):
        self.begin, self.end = load(path + '.begin'), load(path + '.end')
        self.hz = self.diff('tsc') / (self.diff('ns') / 1e9)

    def diff(self, key):
        return self.end[key] - self.begin[key]

    def seconds(self, *accounts):
        return sum(self.end[a][0] - self.begin[a][0]
                   for a in accounts) / self.hz

    def events(self):
        return sum(self.end[a][1] - self.begin[a][1]
                   for a in self.end if isinstance(self.end[a], list))

    def bridge(self):
        """Seconds of the bridge host: its processes and all its kernel does."""
        return self.seconds('bridge_process', 'bridge_work', 'bridge_softirq')

    def bridge_share(self):
        """Share of all time in which somebody worked."""
        busy = self.diff('ns') / 1e9 - self.seconds('idle', 'stolen')
        return self.bridge() / busy

    def per_packet(self, key='port_big'):
        """Microseconds of the bridge host for each packet of data."""
        return self.bridge() / self.diff(key) * 1e6

    def overhead(self):
        """Share of all time that the accounting itself takes."""
        return self.events() * self.end['event_cycles'] / self.diff('tsc')

    def crc(self):
        """Microseconds that the CRC of a packet's payload takes."""
        return self.end['crc_cycles'] / self.hz * 1e6

    def stolen(self):
        """Share of all time that the machine was busy with other things."""
        return self.seconds('stolen') / (self.diff('ns') / 1e9)

    def unknown(self):
        """Share of all time that is nobody's."""
        return (self.seconds('nobody', 'nobody_softirq') /
                (self.diff('ns') / 1e9))


def accounts(rep, name):
    found = []
    for n in range(1, 1000):
        path = os.path.join(rep.samples, '%s.%d' % (name, n))
        if not os.path.exists(path + '.end'):
            return found
        found.append(Account(path))


def per_gb(account, n):
    """CPU seconds for 10^9 bytes of result; a packet in for each rank."""
    return account.per_packet() * n / PMTU * 1e3


def cpu(rep):
    """What the bridge host's CPU does for the same result."""
    module, process = accounts(rep, 'cpu-module'), accounts(rep, 'cpu-server')
    ours = [per_gb(a, 8) for a in module]
    theirs = [per_gb(a, 8) for a in process]
    rep.add('CPU of the bridge host per GB of result, N=8', ours, 's')
    rep.add('CPU of the bridge host per GB of result, N=8, server', theirs, 's')
    for part in ('process', 'work', 'softirq'):
        rep.add('  of that, %s' % part,
                [a.seconds('bridge_' + part) / a.bridge() for a in process],
                'share')
    rep.ratio('CPU of the bridge host, over the server\'s', ours, theirs,
              0.1667)
    rep.add('Throughput over the server\'s, were the bridge host\'s work free',
            [1 / (1 - a.bridge_share()) for a in process], 'ratio')
    packet = [a.per_packet() for a in module]
    rxe_in = [a.per_packet() for a in accounts(rep, 'cpu-in')]
    rxe_out = [a.per_packet('host_big') for a in accounts(rep, 'cpu-out')]
    forward = [a.per_packet() for a in accounts(rep, 'cpu-forward')]
    rep.add('CPU per request packet, taken in, reduced and answered, N=8',
            packet, 'us')
    rep.add('CPU per request packet, bursts taken apart at the ports',
            [a.per_packet() for a in accounts(rep, 'cpu-apart')], 'us')
    rep.add('CPU of rxe per packet of a WRITE received', rxe_in, 'us')
    rep.add('CPU of rxe per packet of a WRITE sent', rxe_out, 'us')
    rep.ratio('CPU per request packet, over rxe receiving and sending one',
              packet, [i + o for i, o in zip(rxe_in, rxe_out)], 0.25)
    rep.add('CPU of the bridge per packet forwarded', forward, 'us')
    rep.ratio('CPU per request packet, over forwarding one', packet, forward)
    rep.add('CRC of 1 KiB in this kernel', [a.crc() for a in module], 'us')
    every = module + process
    rep.add('  time that is nobody\'s', [a.unknown() for a in every], 'share')
    rep.add('  time stolen by the machine, left out',
            [a.stolen() for a in every], 'share')
    rep.add('  time that the accounting takes', [a.overhead() for a in every],
            'share')


# Functions by purpose, the first match counts: "$" is the end of a name.
WORK = (
    ('CRC', r'crc32|inc_crc|inc_icrc'),
    ('reduction', r'(int|uint|f|bf|fp)\d+_|inc_reduce|merge'),
    ('copy', r'memcpy|skb_copy|copy_'),
    ('module, the rest', r'.* \[rdma_inc\]'),
    ('accounting', r'.* \[inc_account\]'),
    ('clock', r'ktime_|os_nsecs|timer_read|0x7ff'),
    ('buffers', r'kfree|kmem|__kmalloc|kmalloc|__slab|skb_release|consume_skb|'
                r'napi_build|__build_skb|__alloc_skb|memset|__page_frag|refill|'
                r'skb_free|build_skb|sk_skb|napi_skb|vmalloc_to'),
    ('bridge', r'br_|__br_|fdb_|nbp_'),
    ('IP input', r'ip_rcv|ip_local_deliver|ip_route_input|fib_|udp_v4_early|'
                 r'ip_sublist|nf_|__inet|inet_|memcmp'),
    ('IP output', r'ip_|__ip_|neigh|dst_|ipv4_'),
    ('devices', r'__netif|netif_|process_backlog|net_rx|veth|__dev|dev_|eth_|'
                r'netdev_|validate_|enqueue_|skb_|__skb|qdisc|__napi|napi|'
                r'harmonize|passthru'),
)


def work_of(name):
    return next((what for what, pattern in WORK if re.match(pattern, name)),
                'other')


def profile(rep):
    """What the CPU time of a request packet is spent on."""
    packet = statistics.median(a.per_packet()
                               for a in accounts(rep, 'cpu-module'))
    shares = {}
    paths = sorted(glob.glob(os.path.join(rep.samples, 'profile.*[0-9]')))
    for path in paths:
        counts = collections.Counter()
        with open(path) as f:
            for line in f:
                count, name = line.rstrip().split(' ', 1)
                counts[work_of(name)] += int(count)
        for what, count in counts.items():
            shares.setdefault(what, []).append(
                count / sum(counts.values()) * packet)
    for what, us in sorted(shares.items(), key=lambda x: -sum(x[1])):
        us += [0] * (len(paths) - len(us))
        rep.add('  of CPU per request packet: %s' % what, us, 'us')


def order(rep):
    """What it costs that the same input gives the same bits."""
    ours, theirs = accounts(rep, 'cpu-module'), accounts(rep, 'cpu-arrival')
    rep.ratio('CPU per request packet, order of ranks over order of arrival',
              [a.per_packet() for a in ours], [a.per_packet() for a in theirs],
              1.1)
    rep.ratio('AllReduce, N=8, 1 MiB, time, order of ranks over order of arrival',
              rep.times('order-ranks', MIB), rep.times('order-arrival', MIB),
              1.1)


def reductions(rep, out):
    """The reductions alone; bench_reduce has shown them as a table."""
    rows = load(os.path.join(out, 'reduce.json'))
    for row in rows:
        row['name'] = 'Reduction, ' + row['name']
        row['quiet'] = row['bar'] is None
    rep.rows += rows


def flat(rep):
    """Does a packet cost the same, however many trees and members?"""
    for what, few, many in (('trees', 1, TREES), ('members', 2, MEMBERS)):
        us = {}
        for n in (few, many):
            us[n] = [a.per_packet()
                     for a in accounts(rep, 'flat-%s-%d' % (what, n))]
            rep.add('CPU per request packet, %d %s' % (n, what), us[n], 'us')
        rep.ratio('CPU per request packet, %d %s over %d' % (many, what, few),
                  us[many], us[few], 1.1)
    memory(rep)


def memory(rep):
    tree = load(os.path.join(rep.samples, 'tree'))
    tree = tree[0] if isinstance(tree, list) else tree
    for key in sorted(k for k in tree if 'memory' in k):
        rep.add('%s of a tree of 8 slots of 4 KiB and 2 members' %
                key.capitalize(), [tree[key]], 'B')


def plot_points(rep, name, sizes, value):
    points = []
    for size in sizes:
        values = [value(u) for u in rep.times(name, size)]
        points.append((size, statistics.median(values), min(values),
                       max(values)))
    return points


def plot_latency(rep, out):
    sizes = [r['size'] for r in rep.take('allreduce.2')[0]['results']]
    series = []
    for n, mark in zip(RANKS, ('circle', 'square', 'triangle')):
        for colour, name, who in ((0, 'allreduce', 'rdma_inc'),
                                  (1, 'server', 'server')):
            series.append(plot.Series(
                '%s, N=%d' % (who, n), colour, mark,
                plot_points(rep, '%s.%d' % (name, n), sizes, lambda u: u)))
    plot.chart(os.path.join(out, 'latency.svg'), 'AllReduce, fp32 sum: time',
               'By the module and by a server in user space on the bridge '
               'host; one CPU for all; median, min, max',
               ('size', 'µs'), series, sizes, name_of, y_log=True)


def plot_ranks(rep, path, title, note, names, extra=()):
    series = list(extra)
    for colour, mark, who, name in names:
        points = []
        for n in RANKS:
            values = [MIB / u for u in rep.times('%s.%d' % (name, n), MIB)]
            points.append((n, statistics.median(values), min(values),
                           max(values)))
        series.append(plot.Series(who, colour, mark, points))
    plot.chart(path, title, note, ('ranks', 'MB/s'), series, RANKS,
               lambda n: 'N=%d' % n)


def plots(rep, out):
    if not rep.take('allreduce.2') or not rep.take('shaped.2'):
        return
    plot_latency(rep, out)
    plot_ranks(rep, os.path.join(out, 'throughput.svg'),
               'AllReduce of 1 MiB, fp32 sum: throughput',
               'Size over time; one CPU for bridge host and all ranks; '
               'median, min, max',
               ((0, 'circle', 'rdma_inc', 'allreduce'),
                (1, 'square', 'server', 'server')))
    top = ceiling(MIB) / 1e6
    plot_ranks(rep, os.path.join(out, 'shaped.svg'),
               'AllReduce of 1 MiB over links of 20 Mb/s: throughput',
               'Size over time; the ceiling counts all headers and '
               'acknowledgments; median, min, max',
               ((0, 'circle', 'rdma_inc', 'shaped'),
                (1, 'square', 'server', 'shaped-server')),
               (plot.Series('ceiling', 2, '',
                            [(n, top, top, top) for n in RANKS]),))


def main():
    samples, out = sys.argv[1:]
    rep = Report(samples)
    if os.path.exists(os.path.join(out, 'reduce.json')):
        reductions(rep, out)
    for name, parts in (('rtt', (round_trips, server)), ('shaped', (shaped,)), ('rails', (rails,)),
                        ('loss', (loss,)), ('cpu', (cpu, order)),
                        ('profile', (profile,)), ('flat', (flat,)),
                        ('pktgen', (pktgen,))):
        if glob.glob(os.path.join(samples, name + '*')):
            for part in parts:
                part(rep)
    plots(rep, out)
    rep.show()
    print('\nThe ceiling is %.3f MB/s: the payload\'s share of what tbf counts, '
          'all\nheaders and acknowledgments included.' %
          (ceiling(MIB) / 1e6))
    rep.save(os.path.join(out, 'switch.json'))
    missed = [r for r in rep.rows if r['ok'] is False]
    print('\n%d figures, %d below their bar; switch.json and plots in %s' %
          (len(rep.rows), len(missed), out))


if __name__ == '__main__':
    main()
