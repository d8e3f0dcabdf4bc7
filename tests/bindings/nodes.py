# SPDX-License-Identifier: BSD-3-Clause
"""Four ranks on two nodes: the torus has the ranks of a node as its last dimension, and a communicator of a node has nothing else."""

import array
import sys

import trefoil

with trefoil.Comm() as comm:
    with comm.split(comm.rank // comm.ranks_per_node, comm.rank) as node:
        total = node.allreduce(array.array("i", [1]))[0]
        found = (comm.size, comm.torus, comm.ranks_per_node, node.size, total)
    if found != (4, (2, 2), 2, 2, 2):
        sys.exit(f"the nodes are wrong: {found}")
    print(f"rank {comm.rank} is right", flush=True)
    comm.barrier()
