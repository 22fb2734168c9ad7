#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Does the manager find room where there is some? Random jobs fill random
fabrics; an exact solver (glpsol) says of each whether any tree would do.

    exact.py TRY_PLACE [FABRICS [SEED]]

The solver knows nothing of links: all switches of these fabrics reach each
other. A tree is a set of nodes (switch, first rank, last rank), each divided
among its members: hosts, and nodes of other switches. 95 % of the jobs that can
be placed must be, and no others. It is 99.3 % of many, but those that are not come
together, in one fabric: if too few of FABRICS are, four times as many decide.
"""
import os
import random
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
FABRICS = int(sys.argv[2]) if len(sys.argv) > 2 else 30
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10 ** 6)


def fabric(rng):
    n = rng.randrange(2, 5)
    links = [(rng.randrange(a), a) for a in range(1, n)]
    return {'n': n, 'links': links, 'hosts': rng.randrange(2, 6),
            'room': [rng.randrange(4) for _ in range(n)],
            'members': [rng.choice((0, 2, 3, 4)) for _ in range(n)]}


def job(rng, f):
    return [rng.randrange(f['n']) for _ in range(rng.randrange(2, 7))]


def placed(f, at):
    """The nodes that the manager would make."""
    words = [f['n'], f['hosts'], f['hosts']]
    for room, members in zip(f['room'], f['members']):
        words += [room, members]
    words.append(len(f['links']))
    for link in f['links']:
        words += link
    words += [len(at), *at]
    out = subprocess.run([PROGRAM], input=' '.join(map(str, words)),
                         capture_output=True, text=True, check=True).stdout
    return [tuple(map(int, line.split())) for line in out.splitlines()]


def possible(f, at):
    """A linear program in whole numbers. x: the node exists; y: it has this
    member, an interval of ranks, which is a host or some node elsewhere."""
    last = len(at) - 1
    nodes = [(s, i, j) for s in range(f['n']) if f['room'][s]
             for i in range(last + 1) for j in range(i + 1, last + 1)]
    rows, binary = [], []
    for node in nodes:
        s, i, j = node
        x = 'x_%d_%d_%d' % node
        binary.append(x)
        limit = f['members'][s] or f['hosts']
        limit = min(limit, f['hosts'])
        member = {}
        for a in range(i, j + 1):
            for b in range(a, j + 1):
                if (a, b) == (i, j):
                    continue
                if a == b:
                    member[a, b] = ['y_%d_%d_%d_%d_%d_h' % (*node, a, b)]
                else:
                    member[a, b] = ['y_%d_%d_%d_%d_%d_%d' % (*node, a, b, t)
                                    for t in range(f['n'])
                                    if t != s and f['room'][t]]
                binary += member[a, b]
        names = sum(member.values(), [])
        # Each rank below it is below one member.
        for r in range(i, j + 1):
            cover = [v for (a, b), vs in member.items() if a <= r <= b
                     for v in vs]
            rows.append(' + '.join(cover or ['zero']) + ' - %s = 0' % x)
        rows.append(' + '.join(names) + ' - %d %s <= 0' % (limit, x))
    for node in nodes:
        s, i, j = node
        x = 'x_%d_%d_%d' % node
        above = ['y_%d_%d_%d_%d_%d_%d' % (*up, i, j, s) for up in nodes
                 if up[0] != s and up[1] <= i and j <= up[2] and
                 up[1:] != (i, j)]
        if (i, j) == (0, last):
            continue
        rows.append(' + '.join(above + ['zero']) + ' - %s = 0' % x)
    roots = ['x_%d_0_%d' % (s, last) for s in range(f['n']) if f['room'][s]]
    if not roots:
        return False
    rows.append(' + '.join(roots) + ' = 1')
    for s in range(f['n']):
        own = ['x_%d_%d_%d' % node for node in nodes if node[0] == s]
        if own:
            rows.append(' + '.join(own) + ' <= %d' % f['room'][s])
    return solve(rows, binary)


def solve(rows, binary):
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'tree.lp')
        with open(path, 'w', encoding='ascii') as lp:
            lp.write('Minimize\n obj: zero\nSubject To\n')
            lp.writelines(' r%d: %s\n' % (i, row)
                          for i, row in enumerate(rows))
            lp.write('Bounds\n zero = 0\nBinary\n')
            lp.writelines(' %s\n' % name for name in binary)
            lp.write('End\n')
        out = subprocess.run(['glpsol', '--lp', path, '--tmlim', '60', '-w',
                              os.path.join(tmp, 'out')], check=True,
                             capture_output=True, text=True).stdout
    if 'INTEGER OPTIMAL SOLUTION FOUND' in out:
        return True
    if 'NO' in out and 'FEASIBLE SOLUTION' in out:
        return False
    sys.exit('exact.py: glpsol: ' + out[-500:])


def main():
    rng = random.Random(SEED)
    could = did = wrong = jobs = 0
    print('# seed %d' % SEED)
    for n in range(4 * FABRICS):
        if n == FABRICS and did >= 0.95 * could:
            break
        f = fabric(rng)
        for _ in range(6):
            at = job(rng, f)
            jobs += 1
            nodes = placed(f, at)
            can = possible(f, at)
            could += can
            did += bool(nodes) and can
            wrong += bool(nodes) and not can
            for node in nodes:
                f['room'][node[0]] -= 1
    print('# %d jobs, %d could be placed, %d were' % (jobs, could, did))
    good = could > jobs / 4 and did >= 0.95 * could and not wrong
    print('%s 1 - jobs are placed where there is room\n1..1' %
          ('ok' if good else 'not ok'))
    return not good


sys.exit(main())
