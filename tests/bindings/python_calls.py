# SPDX-License-Identifier: BSD-3-Clause
"""Calls everything of the Python bindings on a ring of three ranks or more, and says whether it is right. With `mpi` the
ranks are those of mpi4py."""

import array
import ctypes
import sys

import numpy as np

import trefoil
from trefoil import IN_PLACE, MAX, SUM

MPI_COMM = None
if "mpi" in sys.argv:
    from mpi4py import MPI

    MPI_COMM = MPI.COMM_WORLD
comm = trefoil.Comm(MPI_COMM, torus="1d")
rank, n = comm.rank, comm.size
left, right = (rank - 1) % n, (rank + 1) % n
failures = 0


def check(good, what):
    global failures
    if not np.all(good):
        failures += 1
        print(f"rank {rank}: WRONG: {what}", flush=True)


def refused(call, word, status=trefoil.Status.ERROR_INVALID_ARGUMENT):
    try:
        call()
        check(False, f"no error: {word}")
    except trefoil.Error as error:
        check(error.status == status and word in str(error), f"'{error}' instead of '{word}'")
        check(error.cause.status == status, f"the cause of '{error}' is {error.cause}")


def types():
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"):
        values = np.arange(5).astype(dtype)
        check(comm.allreduce(values, np.empty_like(values)) == n * np.arange(5), f"allreduce of {dtype}")
    flags = np.array([rank == 0, True, False])
    check(comm.allreduce(flags, op=trefoil.LAND) == [n == 1, True, False], "bool")
    square = np.asfortranarray(np.full((3, 4), float(rank)))
    check(comm.allreduce(square, op=MAX) is square and square == n - 1, "an array in Fortran's order")
    check(comm.allreduce(array.array("d", [1, 2]))[1] == 2 * n, "array.array")
    check(bytes(comm.allreduce(bytearray([1, 2]))) == bytes([n, 2 * n]), "bytearray")
    pairs = np.zeros(2, dtype=np.dtype([("value", "f8"), ("index", "i4")], align=True))
    pairs["value"], pairs["index"] = rank, rank
    comm.allreduce(pairs, op=trefoil.MAXLOC, datatype=trefoil.DOUBLE_INT)
    check(pairs["index"] == n - 1, "pairs")
    half = np.full(4, 0x3F80, "u2")  # 1 as bfloat16
    comm.allreduce(half, op=trefoil.MAX, datatype=trefoil.BFLOAT16)
    check(half == 0x3F80, "bfloat16")
    swapped = np.arange(3, dtype=">f8")
    check(comm.bcast(swapped, root=1) == [0, 1, 2], "bytes of another order are moved")
    refused(lambda: comm.allreduce(swapped), "elements of this type")


def reductions():
    sums = comm.reduce(np.array([rank, 1]), np.empty(2, int) if rank == 0 else None)
    check(sums is None if rank else sums == [n * (n - 1) // 2, n], "reduce")
    check(comm.scan(np.array([rank]), np.empty(1, int)) == rank * (rank + 1) // 2, "scan")
    before = comm.exscan(np.array([rank]), np.full(1, -1))
    check(before == (rank * (rank - 1) // 2 if rank else -1), "exscan")
    check(comm.reduce_scatter_block(np.arange(2 * n), np.empty(2, int)) == [n * 2 * rank, n * (2 * rank + 1)], "blocks")
    counts = np.arange(1, n + 1)
    mine = comm.reduce_scatter(np.ones(counts.sum()), np.empty(rank + 1), counts)
    check(mine == n, "reduce_scatter")


def movements():
    ranks = np.arange(n)
    check(comm.allgather(np.array([rank]), np.empty(n, int)) == ranks, "allgather")
    all_words = comm.gather(b"ab%d" % rank, bytearray(3 * n) if rank == 1 else None, root=1)
    check(rank != 1 or bytes(all_words[-3:]) == b"ab%d" % (n - 1), "gather of bytes")
    check(comm.scatter(np.arange(2 * n) if rank == 0 else None, np.empty(2, int)) == [2 * rank, 2 * rank + 1], "scatter")
    records = np.zeros(n, dtype=[("name", "S5"), ("place", "f4", 3)])
    records["name"][rank] = b"r%d" % rank
    comm.allgather(records)
    check(records["name"][n - 1] == b"r%d" % (n - 1), "allgather of records, in place")
    check(comm.alltoall(np.full(n, rank), np.empty(n, int)) == ranks, "alltoall")
    check(comm.alltoall(np.full(n, rank)) == ranks, "alltoall in place")
    counts, places = np.arange(1, n + 1), [r * (r + 1) // 2 + r for r in range(n)]
    room = np.full(n * (n + 1) // 2 + n, -1.0)
    comm.allgatherv(np.full(rank + 1, float(rank)), room, counts, places)
    check([room[place] for place in places] == ranks, "allgatherv")
    check(room[1] == -1, "the gaps of allgatherv")
    room = comm.gatherv(np.full(rank + 1, rank), np.empty(counts.sum(), int) if rank == 0 else None, counts)
    check(rank or (room[-1] == n - 1 and room.sum() == sum(r * (r + 1) for r in range(n))), "gatherv")
    mine = comm.scatterv(room, np.empty(rank + 1, int), counts)
    check(mine == rank, "scatterv")
    ones = [1] * n
    check(comm.alltoallv(np.full(n, rank), ones, np.empty(n, int), ones) == ranks, "alltoallv")
    if rank == 0:
        comm.scatter(np.arange(n), IN_PLACE)
    else:
        check(comm.scatter(None, np.empty(1, int)) == rank, "scatter in place at the root")


def neighbours():
    check(comm.neighbor_allgather(np.array([rank]), np.empty(2, int)) == [left, right], "neighbor_allgather")
    check(comm.neighbor_allgatherv(np.array([rank]), np.empty(2, int), [1, 1]) == [left, right], "neighbor_allgatherv")
    sent = np.array([10 * rank, 10 * rank + 1])
    check(comm.neighbor_alltoall(sent, np.empty(2, int)) == [10 * left + 1, 10 * right], "neighbor_alltoall")
    got = comm.neighbor_alltoallv(sent, [1, 1], np.empty(2, int), [1, 1])
    check(got == [10 * left + 1, 10 * right], "neighbor_alltoallv")


def requests():
    first = comm.iallreduce(np.arange(4.0), np.empty(4))
    second = comm.iallgather(np.array([rank]), np.empty(n, int))
    third = comm.ibcast(np.full(2, 7 * (rank == 0)))
    ended = set()
    while (index := trefoil.waitany([first, second, third])) is not None:
        ended.add(index)
    check(ended == {0, 1, 2}, "waitany")
    check(first.result == n * np.arange(4.0), "iallreduce")
    check(second.result == np.arange(n), "iallgather")
    check(third.result == 7, "ibcast")
    barrier = comm.ibarrier()
    while not barrier.test():
        comm.progress()
    check(comm.in_flight() == 0, "in_flight")
    values, sums = np.zeros(3), np.zeros(3)
    again = comm.allreduce_init(values, sums)
    for i in range(3):
        values[:] = i
        again.start()
        check(again.wait() == n * i, "a persistent call")
    pair = [again, comm.bcast_init(np.full(1, rank), root=2)]
    trefoil.startall(pair)
    while not trefoil.testall(pair):
        pass
    check(pair[1].result == 2, "startall and testall")
    trefoil.startall(pair)
    refused(lambda: trefoil.startall(pair), "under way already")
    check(trefoil.waitall(pair)[0] is sums, "waitall")
    comm.iallreduce(np.ones(1000), np.empty(1000))  # nobody keeps it: it ends all the same
    again.free()
    pair[1].free()


def operations():
    def farther(a, b):
        a, b = np.asarray(a), np.asarray(b)
        np.copyto(b, a, where=np.abs(a) > np.abs(b))

    op = trefoil.Op(farther, "d")
    check(comm.allreduce(np.array([rank, -rank, 0.5]), np.empty(3), op) == [n - 1, 1 - n, 0.5], "an operation in Python")
    op.free()
    last = trefoil.Op(lambda a, b: None, "i", commutes=False)  # the higher rank's
    check(comm.allreduce(np.array([rank], "i"), np.empty(1, "i"), last) == n - 1, "one that does not commute")
    check(trefoil.reduce_local(np.array([1, 2]), np.array([10, 20])) == [11, 22], "reduce_local")


def others():
    check(comm.torus == (n,) and comm.coordinates() == (rank,) and comm.transport[0] != "" and comm.ranks_per_node == 1, "what it says of itself")
    check("auto" not in comm.algorithm("allreduce", 8, trefoil.DOUBLE), "algorithm")
    with comm.dup() as made:
        made.set_algorithm("allreduce", "ring")
        check(made.algorithm("allreduce", 8, trefoil.DOUBLE).startswith("ring"), "set_algorithm")
        check(isinstance(made.status(), str) and made.failure() == "", "status")
        part = made.split(None if rank == 0 else 1, -rank)
        check((part is None) == (rank == 0), "split")
        if part:
            with part:
                check(part.rank == n - 1 - rank, "the order of split's ranks")
                check(part.allreduce(np.array([rank])) == n * (n - 1) // 2, "split's sum")
        with made.sub([True]) as kept:
            check(kept.size == n, "sub")
        if rank < 2:
            with made.create_group([1, 0]) as two:
                check(two.rank == 1 - rank, "create_group")
        ended = made.dup()
        if rank == 0:
            ended.abort("enough")
        refused(ended.barrier, "enough", trefoil.Status.ERROR_ABORTED)
        cause = ended.cause()
        check((cause.culprit, cause.evidence) == (0, trefoil.Evidence.EVIDENCE_ABORTED), f"cause: {cause}")
        check(made.cause() is None, "the cause of nothing")
        with ended.shrink() as rest:
            check(rest.size == n, "shrink")
        ended.destroy()
        refused(ended.barrier, "was destroyed")


def errors():
    refused(lambda: comm.allreduce(np.ones(3), np.ones(2)), "'send' has 3 elements")
    refused(lambda: comm.allreduce(np.ones(3), np.ones(3, "f4")), "one type")
    refused(lambda: comm.allreduce(np.ones((4, 4))[:, 1]), "contiguous")
    refused(lambda: comm.allreduce(b"abc"), "writable")
    refused(lambda: comm.bcast(np.ones(3), root=n), "root")
    refused(lambda: comm.allgatherv(np.ones(1), np.ones(n), [1]), "entries")
    refused(lambda: comm.allreduce(np.ones(3), datatype=trefoil.FLOAT), "bytes")
    refused(lambda: comm.allgatherv(np.ones(1), np.ones(n), [1.5] * n), "whole numbers")
    refused(lambda: comm.gatherv(np.ones(1), np.ones(n), root=rank), "'counts' must have")
    refused(lambda: comm.allreduce([1, 2]), "numpy.array")
    refused(lambda: comm.allreduce(np.ones(2), op="sum"), "give trefoil.SUM")
    refused(lambda: comm.allreduce(np.ones(2), op="plus"), "trefoil.MAX")
    refused(lambda: comm.allreduce(np.ones(2), datatype="double"), "give trefoil.DOUBLE")
    # Objects and pointers of this process.
    refused(lambda: comm.bcast(np.array([1, "a"], dtype=object)), "objects or pointers")
    refused(lambda: comm.bcast(np.zeros(2, dtype=[("O", "i4"), ("thing", "O")])), "objects or pointers")
    refused(lambda: comm.bcast((ctypes.c_char_p * 2)()), "objects or pointers")
    refused(lambda: comm.bcast((ctypes.POINTER(ctypes.c_int) * 2)()), "objects or pointers")
    refused(lambda: comm.bcast((ctypes.c_void_p * 2)()), "objects or pointers")
    check(comm.bcast(np.full(2, (7,), dtype=[("PO", "i4")]))["PO"] == 7, "a field's name is no pointer")
    # What would be wrong without a word.
    in_c, in_fortran = np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))
    refused(lambda: comm.allreduce(in_fortran, in_c), "lies in Fortran order and the other in C order")
    refused(lambda: comm.allgather(in_fortran, np.empty((n, 2, 3))), "order")
    check(comm.allreduce(in_fortran, np.empty((2, 3), order="F")) == n, "both in Fortran's order")
    check(comm.allreduce(in_fortran[:1].copy(), np.empty((1, 3))) == n, "an order that is either")
    refused(lambda: comm.allreduce(np.array([True, False])), "the sum of bools")
    refused(lambda: comm.bcast(np.zeros(2, "M8[s]")), "view('int64')")
    check(comm.allreduce(np.ones(2)) == n, "a call after errors")


for part in (types, reductions, movements, neighbours, requests, operations, others, errors):
    part()
comm.barrier()
comm.destroy()
check(trefoil.__version__ == trefoil.version(), "the version")
if failures:
    sys.exit(1)
print(f"rank {rank} of {n} is right", flush=True)
