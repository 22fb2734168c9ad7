#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
r"""Data-parallel training with PyTorch's DistributedDataParallel.

Nothing here knows of a switch. Over Open MPI, mpirun-inc has the collectives
go through one; the same file runs with gloo:

  mpirun-inc -S 10.0.0.254 -H h1,h2,h3,h4 python3 train.py
  MASTER_ADDR=h1 MASTER_PORT=29500 WORLD_SIZE=4 RANK=0 USE_LIBUV=0 \
      python3 train.py --backend gloo       # on h1, RANK=1 on h2, ...

Each rank trains a small network on data of its own. Rank 0 prints a
line for each step: the mean of all ranks' losses, the same as bits, and the
step's time. In the end the ranks compare their parameters.
"""
import argparse
import json
import struct
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

INPUTS = 64
RATE = 0.05


def arguments(argv=None):
    """What the command line says."""
    p = argparse.ArgumentParser(
        description='Train a small network on several hosts.')
    p.add_argument('--backend', default='mpi',
                   help='of torch.distributed: mpi (default) or gloo')
    p.add_argument('--steps', type=int, default=10)
    p.add_argument('--width', type=int, default=500,
                   help='units of a hidden layer')
    p.add_argument('--layers', type=int, default=1, help='hidden layers')
    p.add_argument('--batch', type=int, default=8,
                   help='samples of a rank and step')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--bucket-mb', type=float, default=25,
                   help='gradients that DDP reduces at once, in MiB')
    args = p.parse_args(argv)
    for name in ('steps', 'width', 'layers', 'batch', 'bucket_mb'):
        if getattr(args, name) <= 0:
            p.error('--%s must be positive' % name.replace('_', '-'))
    if not dist.is_backend_available(args.backend):
        p.error('this PyTorch has no backend "%s"' % args.backend)
    return args


def network(width, seed, layers=1):
    """The same parameters on every rank."""
    torch.manual_seed(seed)
    net = torch.nn.Sequential()
    for i in range(layers):
        net.append(torch.nn.Linear(width if i else INPUTS, width))
        net.append(torch.nn.Tanh())
    return net.append(torch.nn.Linear(width, 1, bias=False))


def batch(args, rank, step):
    """A rank's samples of a step, and what the network is to learn."""
    rng = torch.Generator().manual_seed(
        args.seed + 1000003 * rank + 7919 * step)
    x = torch.rand(args.batch, INPUTS, generator=rng) * 2 - 1
    return x, torch.sin(x.sum(1, keepdim=True))


def equal_everywhere(model):
    """Have all ranks the same bits as parameters?"""
    bits = torch.cat([p.detach().view(torch.int32).flatten()
                      for p in model.parameters()])
    least, most = bits.clone(), bits.clone()
    dist.all_reduce(least, dist.ReduceOp.MIN)
    dist.all_reduce(most, dist.ReduceOp.MAX)
    return torch.equal(least, most)


def train(args, model):
    """Train, and print a line for each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    for step in range(args.steps):
        x, y = batch(args, dist.get_rank(), step)
        began = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()         # DDP reduces the gradients meanwhile
        optimizer.step()
        us = (time.perf_counter() - began) * 1e6
        mean = loss.detach() / dist.get_world_size()
        dist.all_reduce(mean)
        if dist.get_rank() == 0:
            print(json.dumps({
                'step': step, 'loss': mean.item(),
                'bits': struct.pack('>f', mean.item()).hex(),
                'us': round(us)}), flush=True)


def main():
    """Train as the arguments say."""
    args = arguments()
    torch.set_num_threads(1)
    dist.init_process_group(args.backend)
    model = DistributedDataParallel(
        network(args.width, args.seed, args.layers),
        bucket_cap_mb=args.bucket_mb)
    train(args, model)
    equal = equal_everywhere(model)
    if dist.get_rank() == 0:
        print('# parameters %s on %d ranks' %
              ('equal' if equal else 'DIFFER', dist.get_world_size()))
    dist.destroy_process_group()
    return 0 if equal else 1


if __name__ == '__main__':
    sys.exit(main())
