# SPDX-License-Identifier: BSD-3-Clause
"""The collectives. Each is written once, as what the C function is given; a communicator gets three methods of it."""

import ctypes
import functools

from ._buffers import IN_PLACE, Buffer, Lists, alike, blocks, equal
from ._constants import Datatype, Reduce
from ._library import check, constant, lib, refuse
from ._operations import Op
from ._requests import Request

PREPARED = {}


def collective(prepare):
    """`prepare`(comm, ...) returns what the C function is given before the communicator, and what the call returns."""
    PREPARED[prepare.__name__] = prepare
    return prepare


def _pair(send, recv, write_recv=True):
    """Both buffers; with one alone the call is in place."""
    if recv is None:
        send, recv = IN_PLACE, send
    both = Buffer(send, "send"), Buffer(recv, "recv", write=write_recv)
    alike(*both)
    return both


def reduction(buffer, op, datatype):
    """The type and the operation for C."""
    if isinstance(op, Op):
        return Datatype.ELEMENT, op.handle
    op = constant(Reduce, op, "op")
    if buffer.is_bool and op in (Reduce.SUM, Reduce.AVG):
        refuse("the sum of bools is none; give trefoil.LOR or trefoil.LAND, or an array of integers: astype(int)")
    return buffer.reduced(datatype), op


def _same_lengths(send, recv, op, datatype):
    send, recv = _pair(send, recv)
    if not send.in_place:
        equal(send, recv.count, "send")
    return (send, recv, recv.count, *reduction(recv, op, datatype)), recv.given


@collective
def allreduce(comm, send, recv=None, op=Reduce.SUM, datatype=None):
    """recv[i] = op over all ranks of send[i]; with one buffer, in place."""
    return _same_lengths(send, recv, op, datatype)


@collective
def scan(comm, send, recv=None, op=Reduce.SUM, datatype=None):
    """Rank r receives the reduction of what ranks 0 ... r send."""
    return _same_lengths(send, recv, op, datatype)


@collective
def exscan(comm, send, recv=None, op=Reduce.SUM, datatype=None):
    """The same without the own contribution; rank 0 receives nothing."""
    return _same_lengths(send, recv, op, datatype)


@collective
def reduce(comm, send, recv=None, op=Reduce.SUM, root=0, datatype=None):
    """As allreduce, but only the root receives, and gives `recv`. In place at the root: send=IN_PLACE."""
    at_root = comm.rank == root
    send = Buffer(send, "send")
    recv = Buffer(recv if at_root else None, "recv", write=at_root)
    alike(send, recv)
    if at_root and not send.in_place:
        equal(recv, send.count, "recv")
    known = recv if send.in_place else send
    return (send, recv, known.count, *reduction(known, op, datatype), root), recv.given


@collective
def reduce_scatter_block(comm, send, recv=None, op=Reduce.SUM, datatype=None):
    """Rank r receives block r of the reduction of `send`. In place: the result is at the beginning."""
    send, recv = _pair(send, recv)
    count = blocks(recv, comm.size, "recv") if send.in_place else recv.count
    if not send.in_place:
        equal(send, count * comm.size, "send")
    return (send, recv, count, *reduction(recv, op, datatype)), recv.given


@collective
def reduce_scatter(comm, send, recv, counts, op=Reduce.SUM, datatype=None):
    """The same with a block of counts[r] elements for rank r."""
    send, recv = _pair(send, recv)
    lists = Lists(recv if send.in_place else send, counts, None, comm.size, 1, "recv" if send.in_place else "send")
    if not send.in_place:
        equal(recv, lists.counts[comm.rank], "recv")
    return (send, recv, lists.counts, *reduction(recv, op, datatype)), recv.given


def _gathered(send, recv, number, datatype):
    """The arguments where `send` has one block of each rank, and `recv` all of them."""
    length = blocks(recv, number, "recv") if send.in_place else send.count
    equal(recv, length * number, "recv")
    kind, scale = recv.moved(datatype)
    return send, recv, length * scale, kind


@collective
def allgather(comm, send, recv=None, datatype=None):
    """Every rank receives all ranks' blocks; with one buffer, in place: the own block is in it already."""
    send, recv = _pair(send, recv)
    return _gathered(send, recv, comm.size, datatype), recv.given


@collective
def allgatherv(comm, send, recv, counts, displacements=None, datatype=None):
    """The same with blocks of counts[r] elements, side by side or at displacements[r]."""
    send, recv = _pair(send, recv)
    kind, scale = recv.moved(datatype)
    lists = Lists(recv, counts, displacements, comm.size, scale, "recv")
    return (send, send.count * scale, recv, lists.counts, lists.places, kind), recv.given


@collective
def bcast(comm, buffer, root=0, datatype=None):
    """The root's buffer is copied to all."""
    buffer = Buffer(buffer, "buffer", write=comm.rank != root)
    kind, scale = buffer.moved(datatype)
    return (buffer, buffer.count * scale, kind, root), buffer.given


@collective
def gather(comm, send, recv=None, root=0, datatype=None):
    """The root receives all ranks' blocks. In place at the root: send=IN_PLACE."""
    at_root = comm.rank == root
    send, recv = Buffer(send, "send"), Buffer(recv if at_root else None, "recv", write=at_root)
    alike(send, recv)
    if at_root:
        return (*_gathered(send, recv, comm.size, datatype), root), recv.given
    kind, scale = send.moved(datatype)
    return (send, recv, send.count * scale, kind, root), None


@collective
def gatherv(comm, send, recv=None, counts=None, displacements=None, root=0, datatype=None):
    """The same with blocks of counts[r] elements; recv, counts and displacements matter at the root only."""
    at_root = comm.rank == root
    send, recv = Buffer(send, "send"), Buffer(recv if at_root else None, "recv", write=at_root)
    alike(send, recv)
    kind, scale = (recv if at_root else send).moved(datatype)
    if not at_root:
        return (send, send.count * scale, recv, None, None, kind, root), None
    lists = Lists(recv, counts, displacements, comm.size, scale, "recv")
    return (send, send.count * scale, recv, lists.counts, lists.places, kind, root), recv.given


@collective
def scatter(comm, send, recv, root=0, datatype=None):
    """Rank r receives block r of the root's `send`, which matters there only. In place at the root: recv=IN_PLACE."""
    at_root = comm.rank == root
    send, recv = Buffer(send if at_root else None, "send"), Buffer(recv, "recv", write=recv is not IN_PLACE)
    alike(send, recv)
    if not at_root:
        kind, scale = recv.moved(datatype)
        return (send, recv, recv.count * scale, kind, root), recv.given
    length = blocks(send, comm.size, "send") if recv.in_place else recv.count
    equal(send, length * comm.size, "send")
    kind, scale = send.moved(datatype)
    return (send, recv, length * scale, kind, root), recv.given


@collective
def scatterv(comm, send, recv, counts=None, displacements=None, root=0, datatype=None):
    """The same with blocks of counts[r] elements; send, counts and displacements matter at the root only."""
    at_root = comm.rank == root
    send, recv = Buffer(send if at_root else None, "send"), Buffer(recv, "recv", write=recv is not IN_PLACE)
    alike(send, recv)
    kind, scale = (send if at_root else recv).moved(datatype)
    if not at_root:
        return (send, None, None, recv, recv.count * scale, kind, root), recv.given
    lists = Lists(send, counts, displacements, comm.size, scale, "send")
    return (send, lists.counts, lists.places, recv, recv.count * scale, kind, root), recv.given


def _exchanged(send, recv, number, datatype):
    if not send.in_place:
        equal(send, recv.count, "send")
    kind, scale = recv.moved(datatype)
    return (send, recv, blocks(recv, number, "recv") * scale, kind), recv.given


def _listed(send, recv, number, lists, datatype):
    send_counts, recv_counts, send_places, recv_places = lists
    kind, scale = recv.moved(datatype)
    to = Lists(recv, recv_counts, recv_places, number, scale, "recv")
    if send.in_place:
        return (send, None, None, recv, to.counts, to.places, kind), recv.given
    of = Lists(send, send_counts, send_places, number, scale, "send")
    return (send, of.counts, of.places, recv, to.counts, to.places, kind), recv.given


@collective
def alltoall(comm, send, recv=None, datatype=None):
    """Block r of `send` goes to rank r, block s of `recv` comes from rank s; with one buffer, in place."""
    return _exchanged(*_pair(send, recv), comm.size, datatype)


@collective
def alltoallv(comm, send, send_counts, recv, recv_counts, send_displacements=None, recv_displacements=None, datatype=None):
    """The same with blocks of different lengths."""
    lists = send_counts, recv_counts, send_displacements, recv_displacements
    return _listed(*_pair(send, recv), comm.size, lists, datatype)


@collective
def neighbor_allgather(comm, send, recv, datatype=None):
    """A block from each neighbour in the torus, two per dimension, first the one in the negative direction."""
    return _gathered(*_pair(send, recv), comm.neighbours, datatype), recv


@collective
def neighbor_allgatherv(comm, send, recv, counts, displacements=None, datatype=None):
    """The same with counts[i] elements from neighbour i."""
    send, recv = _pair(send, recv)
    kind, scale = recv.moved(datatype)
    lists = Lists(recv, counts, displacements, comm.neighbours, scale, "recv")
    return (send, send.count * scale, recv, lists.counts, lists.places, kind), recv.given


@collective
def neighbor_alltoall(comm, send, recv, datatype=None):
    """A block for each neighbour, and one from each."""
    return _exchanged(*_pair(send, recv), comm.neighbours, datatype)


@collective
def neighbor_alltoallv(comm, send, send_counts, recv, recv_counts, send_displacements=None, recv_displacements=None,
                       datatype=None):
    """The same with blocks of different lengths."""
    lists = send_counts, recv_counts, send_displacements, recv_displacements
    return _listed(*_pair(send, recv), comm.neighbours, lists, datatype)


@collective
def barrier(comm):
    """Returns when all ranks have entered."""
    return (), None


def _c_arguments(given):
    return [one.address if isinstance(one, Buffer) else one for one in given]


def _blocking(prepare):
    function = getattr(lib, "trefoil_" + prepare.__name__)

    @functools.wraps(prepare)
    def call(comm, *arguments, **named):
        given, result = prepare(comm, *arguments, **named)
        check(function(*_c_arguments(given), comm.handle))
        return result

    return call


def _with_request(prepare, name, what):
    function = getattr(lib, "trefoil_" + name)

    @functools.wraps(prepare)
    def call(comm, *arguments, **named):
        given, result = prepare(comm, *arguments, **named)
        request = Request(result, (comm, given, arguments, named))
        check(function(*_c_arguments(given), comm.handle, ctypes.byref(request._handle)))
        return request

    call.__name__ = name
    call.__doc__ = f"{what} {prepare.__name__}, as a Request."
    return call


def methods():
    """{name: method} of all collectives in their three forms."""
    made = {}
    for name, prepare in PREPARED.items():
        made[name] = _blocking(prepare)
        made["i" + name] = _with_request(prepare, "i" + name, "Begins")
        made[name + "_init"] = _with_request(prepare, name + "_init", "Prepares")
    return made
