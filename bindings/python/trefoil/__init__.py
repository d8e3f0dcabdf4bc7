# SPDX-License-Identifier: BSD-3-Clause
"""Collectives for machines wired as a torus. docs/tutorial-python.md of Trefoil explains these bindings.

    import numpy, trefoil
    comm = trefoil.Comm()                        # from the launcher; trefoil.Comm(MPI.COMM_WORLD) under mpi4py
    total = comm.allreduce(numpy.arange(3.0))    # in place
    request = comm.iallreduce(send, recv, trefoil.MAX)
    request.wait()
"""

from ._buffers import IN_PLACE, Buffer, alike as _alike, equal as _equal
from ._collectives import reduction as _reduction
from ._communicator import Comm
from ._constants import UNDEFINED, Datatype, Evidence, Reduce, Status
from ._library import Cause, Error, check as _check, lib as _lib, version
from ._operations import Op
from ._requests import Request, startall, testall, waitall, waitany
from ._version import VERSION as __version__

globals().update(Reduce.__members__)
globals().update(Datatype.__members__)


def reduce_local(a, b, op=Reduce.SUM, datatype=None):
    """On this rank alone: b[i] = a[i] op b[i]."""
    left, right = Buffer(a, "a"), Buffer(b, "b", write=True)
    _alike(left, right)
    _equal(left, right.count, "a")
    _check(_lib.trefoil_reduce_local(left.address, right.address, right.count, *_reduction(right, op, datatype)))
    return b


__all__ = ["Cause", "Comm", "Datatype", "Error", "Evidence", "IN_PLACE", "Op", "Reduce", "Request", "Status", "UNDEFINED",
           "reduce_local", "startall", "testall", "version", "waitall", "waitany", *Reduce.__members__, *Datatype.__members__]
