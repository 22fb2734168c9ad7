#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""PyTorch's checks on each rank: checks.py SEED

Trains with DistributedDataParallel and FullyShardedDataParallel and compares
every bit of the parameters with those of one process that computes all ranks'
gradients and adds them in the switch's order; does the other collectives; and
does what PyTorch or its backend "mpi" rejects. Rank 0 prints the cases.

checks.py losses RANKS [ARGS...]: print the bits of the losses that train.py
has with these arguments and so many ranks, computed by this process alone.
"""
import argparse
import os
import struct
import sys
import warnings

import torch
import torch.distributed as dist
from torch.distributed import fsdp
from torch.nn.parallel import DistributedDataParallel

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../../userspace/examples/pytorch'))
import train  # noqa: E402 (the example, whose network and data this uses)

STEPS = 3
# Buckets of at most so many MiB, and how many that makes.
BUCKETS = ((0.0001, 3), (0.0004, 2), (25, 1))
TYPES = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
         torch.float32, torch.float64)


class Cases:
    """Cases of all ranks: one fails if it fails on any rank."""

    def __init__(self):
        self.n = 0
        self.failed = 0

    def report(self, ok, name, why=''):
        """Rank 0 prints a case."""
        all_ok = torch.tensor([int(bool(ok))], dtype=torch.int32)
        dist.all_reduce(all_ok, dist.ReduceOp.MIN)
        self.n += 1
        if not all_ok:
            self.failed += 1
        if not ok and dist.get_rank():
            print('rank %d: %s: %s' % (dist.get_rank(), name, why),
                  flush=True)
        if dist.get_rank() == 0:
            print('%sok %d - %s%s' % ('' if all_ok else 'not ', self.n, name,
                                      '' if all_ok else ' # %s' % why),
                  flush=True)


def equal(cases, name, got, want):
    """Have they the same bits?"""
    cases.report(torch.equal(got, want), name, '%s, not %s' % (
        got.flatten()[:8].tolist(), want.flatten()[:8].tolist()))


def options(seed, width=60):
    """What train.py takes from its command line."""
    return argparse.Namespace(seed=seed, width=width, batch=4, steps=STEPS)


def tree_sum(parts):
    """The sum of the ranks' parts in the order of protocol.rst."""
    while len(parts) > 1:
        parts = [parts[i] + parts[i + 1] if i + 1 < len(parts) else parts[i]
                 for i in range(0, len(parts), 2)]
    return parts[0]


def loss_of(model, args, rank, step, autocast=False):
    """A rank's loss of a step."""
    x, y = train.batch(args, rank, step)
    with torch.autocast('cpu', torch.bfloat16, enabled=autocast):
        out = model(x)
    return torch.nn.functional.mse_loss(out.float(), y)


def flat(model):
    """All parameters in a row."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def reference(args, ranks, autocast=False):
    """Parameters after STEPS, computed by this process alone."""
    model = train.network(args.width, args.seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=train.RATE)
    for step in range(STEPS):
        grads = []
        for r in range(ranks):
            optimizer.zero_grad()
            loss_of(model, args, r, step, autocast).backward()
            # DDP divides each rank's gradients before it adds them up.
            grads.append([p.grad * (1.0 / ranks) for p in model.parameters()])
        for i, p in enumerate(model.parameters()):
            p.grad = tree_sum([g[i] for g in grads])
        optimizer.step()
    return flat(model)


def train_with(model, args, rank, autocast=False):
    """Train a model that PyTorch distributes."""
    optimizer = torch.optim.SGD(model.parameters(), lr=train.RATE)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(model, args, rank, step, autocast).backward()
        optimizer.step()


def ddp(cases, seed):
    """DistributedDataParallel: buckets of several sizes, fp32 and bf16."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    args = options(seed)
    for autocast in (False, True):
        want = reference(args, ranks, autocast)
        for mib, number in BUCKETS:
            name = 'ddp: %s, buckets of %g MiB: ' % (
                'bf16 autocast' if autocast else 'fp32', mib)
            model = DistributedDataParallel(
                train.network(args.width, args.seed), bucket_cap_mb=mib)
            train_with(model, args, rank, autocast)
            # pylint: disable=protected-access
            got = model._get_ddp_logging_data()['rebuilt_bucket_sizes']
            cases.report(len(got.split(',')) == number,
                         '%sthere are %d' % (name, number), got)
            equal(cases, name + 'the reference\'s bits', flat(model), want)
    cases.report(not torch.equal(flat(model),
                                 reference(options(seed + 1), ranks)),
                 'ddp: another seed gives other parameters')
    # PyTorch 2.6 cannot make a group of only some ranks over MPI.
    again = DistributedDataParallel(
        train.network(args.width, args.seed),
        process_group=dist.new_group(list(range(ranks))))
    train_with(again, args, rank)
    equal(cases, 'ddp: a group of its own: the reference\'s bits',
          flat(again), reference(args, ranks))


def sum_and_take(_state, grad, mine):
    """What FSDP's reduce-scatter does, by an all-reduce: pytorch.rst."""
    dist.all_reduce(grad)
    mine.copy_(grad.chunk(dist.get_world_size())[dist.get_rank()])
    mine.div_(dist.get_world_size())


def shard(args, hook):
    """A network whose parameters are spread over the ranks."""
    model = fsdp.FullyShardedDataParallel(
        train.network(args.width, args.seed), device_id=torch.device('cpu'))
    if hook:
        model.register_comm_hook(None, hook)
    return model


def fsdp_reference(args, ranks):
    """As reference(); the sum is divided, not its parts."""
    model = train.network(args.width, args.seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=train.RATE)
    for step in range(STEPS):
        grads = []
        for r in range(ranks):
            optimizer.zero_grad()
            loss_of(model, args, r, step).backward()
            grads.append([p.grad.clone() for p in model.parameters()])
        for i, p in enumerate(model.parameters()):
            p.grad = tree_sum([g[i] for g in grads]) / ranks
        optimizer.step()
    return flat(model)


def sharded(cases, seed):
    """FullyShardedDataParallel, whose reduce-scatter the backend may lack."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    args = options(seed + 2)
    model = shard(args, sum_and_take)
    train_with(model, args, rank)
    with fsdp.FullyShardedDataParallel.summon_full_params(model):
        got = flat(model)
    equal(cases, 'fsdp: with a hook, the reference\'s bits', got,
          fsdp_reference(args, ranks))
    model = shard(args, None)
    rejects(cases, 'fsdp: without a hook', 'reduce_scatter',
            lambda: train_with(model, args, rank))


def rejects(cases, name, text, what):
    """WHAT raises an error that names TEXT, and the ranks go on."""
    try:
        what()
        said = 'no error'
    except Exception as e:  # pylint: disable=broad-except
        said = '%s: %s' % (type(e).__name__, e)
    cases.report(text in said, '%s: an error that says "%s"' % (name, text),
                 said.replace('\n', ' ')[:200])


def data(rank, dtype, n=5):
    """A rank's elements: small, so that no type overflows."""
    return (torch.arange(n) * 3 % 4 + rank % 3).to(dtype)


def reductions(cases):
    """All-reduce and reduce, each type and operation."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for dtype in TYPES:
        parts = torch.stack([data(r, dtype) for r in range(ranks)])
        want = {dist.ReduceOp.SUM: parts.sum(0, dtype=dtype),
                dist.ReduceOp.MIN: parts.min(0)[0],
                dist.ReduceOp.MAX: parts.max(0)[0],
                dist.ReduceOp.PRODUCT: parts.prod(0, dtype=dtype)}
        got = []
        for op in want:
            t = data(rank, dtype)
            dist.all_reduce(t, op)
            got.append(t)
        equal(cases, 'all_reduce: %s' % dtype, torch.stack(got),
              torch.stack(list(want.values())))
        t = data(rank, dtype)
        dist.reduce(t, 1)
        equal(cases, 'reduce: %s' % dtype,
              t if rank == 1 else want[dist.ReduceOp.SUM],
              want[dist.ReduceOp.SUM])


def movements(cases):
    """The collectives that add nothing up."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine = torch.rand(7, generator=torch.Generator().manual_seed(rank))
    all_of = [torch.rand(7, generator=torch.Generator().manual_seed(r))
              for r in range(ranks)]

    t = mine.clone()
    dist.broadcast(t, ranks - 1)
    equal(cases, 'broadcast', t, all_of[-1])
    got = [torch.empty(7) for _ in all_of]
    dist.all_gather(got, mine)
    equal(cases, 'all_gather', torch.cat(got), torch.cat(all_of))
    dist.gather(mine, got if rank == 1 else None, 1)
    equal(cases, 'gather', torch.cat(got), torch.cat(all_of))
    t = torch.empty(7)
    dist.scatter(t, all_of if rank == 2 else None, 2)
    equal(cases, 'scatter', t, mine)
    t = torch.empty(ranks)
    dist.all_to_all_single(t, mine[:ranks].contiguous())
    equal(cases, 'all_to_all_single', t,
          torch.stack([a[rank] for a in all_of]))
    dist.barrier()
    said = [None] * ranks
    dist.all_gather_object(said, 'rank' * (rank + 1))
    cases.report(said == ['rank' * (r + 1) for r in range(ranks)],
                 'all_gather_object', str(said))


def wrong(cases):
    """What PyTorch, or its backend, does not do."""
    ranks = dist.get_world_size()
    ones = torch.ones(ranks, ranks)

    for name, says, what in (
            # The backend has no MPI type or operation for these.
            ('bf16', 'map::at', lambda: dist.all_reduce(ones.bfloat16())),
            ('fp16', 'map::at', lambda: dist.all_reduce(ones.half())),
            ('AVG', 'map::at',
             lambda: dist.all_reduce(ones, dist.ReduceOp.AVG)),
            ('a transposed tensor', 'contiguous',
             lambda: dist.all_reduce(torch.ones(2, 3).t())),
            ('too few tensors', 'world size',
             lambda: dist.all_gather([ones], ones)),
            ('all_gather_into_tensor', '_allgather_base',
             lambda: dist.all_gather_into_tensor(ones, ones[0])),
            ('reduce_scatter_tensor', 'reduce_scatter',
             lambda: dist.reduce_scatter_tensor(ones[0], ones)),
            ('bf16 parameters', 'map::at',
             lambda: DistributedDataParallel(
                 train.network(4, 1).bfloat16()))):
        rejects(cases, name, says, what)


def losses(args, ranks):
    """The bits of train.py's losses."""
    model = train.network(args.width, args.seed, args.layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=train.RATE)
    for step in range(args.steps):
        parts, grads = [], []
        for r in range(ranks):
            optimizer.zero_grad()
            loss = loss_of(model, args, r, step)
            loss.backward()
            parts.append(loss.detach() / ranks)
            grads.append([p.grad * (1.0 / ranks) for p in model.parameters()])
        for i, p in enumerate(model.parameters()):
            p.grad = tree_sum([g[i] for g in grads])
        optimizer.step()
        print(struct.pack('>f', tree_sum(parts).item()).hex())


def main():
    """All checks."""
    torch.set_num_threads(1)
    if sys.argv[1] == 'losses':
        losses(train.arguments(sys.argv[3:]), int(sys.argv[2]))
        return 0
    seed = int(sys.argv[1])
    warnings.simplefilter('ignore')
    dist.init_process_group('mpi')
    cases = Cases()
    ddp(cases, seed)
    sharded(cases, seed)
    reductions(cases)
    movements(cases)
    wrong(cases)
    if dist.get_rank() == 0:
        print('1..%d' % cases.n, flush=True)
    dist.destroy_process_group()
    return 1 if cases.failed else 0


if __name__ == '__main__':
    sys.exit(main())
