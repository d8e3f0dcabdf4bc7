# SPDX-License-Identifier: BSD-3-Clause
"""Communicators: made from a launcher, from mpi4py or from each other."""

import ctypes

from . import _collectives
from ._constants import UNDEFINED
from ._library import ALLGATHER, PROGRESS, Config, check, last_cause, lib, refuse


class _Mpi:
    """How ranks meet and go on over a communicator of mpi4py, or of anything with its methods."""

    def __init__(self, mpi_comm):
        from mpi4py import MPI

        self._mpi, self._comm, self.error = MPI, mpi_comm, None
        # Testing a receive that never completes lets MPI's own messages go on.
        self._alone = MPI.COMM_SELF.Dup()
        self._never = self._alone.Irecv([bytearray(1), MPI.BYTE], source=0, tag=0)
        self.allgather = ALLGATHER(self._gather)
        self.progress = PROGRESS(lambda _: self._never.Test() and None)

    def _gather(self, mine, everybodys, length, _):
        try:
            def view(address, size):
                return [(ctypes.c_char * size).from_address(address), self._mpi.BYTE]

            self._comm.Allgather(view(mine, length), view(everybodys, length * self._comm.size))
            return 0
        except BaseException as error:  # told by create()
            self.error = error
            return 1

    def end(self):
        self._never.Cancel()
        self._never.Wait()
        self._alone.Free()


class Comm:
    """A communicator: the ranks of a job, wired as a torus. Rank, number of ranks and torus come from the launcher,
    from an mpi4py communicator (`mpi`), or from a caller who knows (`rank`, `ranks`, `allgather`).

    allgather(mine: bytes) -> sequence of all ranks' bytes. Usable as a context manager: it ends with a barrier."""

    def __init__(self, mpi=None, *, rank=None, ranks=None, allgather=None, torus=None, backend=None, provider=None,
                 algorithm=None, nics=None, port_threads=0, timeout=0.0, coordinates=None, log=None, token=None):
        self._handle, self._mpi, self._error = ctypes.c_void_p(), None, None
        config = Config(size=ctypes.sizeof(Config), port_threads=port_threads, timeout_seconds=timeout)
        for name, text in (("torus", torus), ("backend", backend), ("provider", provider), ("algorithm", algorithm),
                           ("nics", nics), ("log", log), ("token", token)):
            if text is not None:
                setattr(config, name, text.encode())
        if coordinates is not None:
            config.coordinates = (ctypes.c_int * len(coordinates))(*coordinates)
            config.dimensions = len(coordinates)
        if mpi is not None:
            self._mpi = _Mpi(mpi)
            config.rank, config.ranks = mpi.rank, mpi.size
            config.allgather, config.progress = self._mpi.allgather, self._mpi.progress
        elif allgather is not None:
            config.rank, config.ranks, config.allgather = rank, ranks, self._own_gather(allgather)
        status = lib.trefoil_comm_create(ctypes.byref(config), ctypes.byref(self._handle))
        error = self._error or (self._mpi and self._mpi.error)
        if status != 0 and self._mpi:
            self._mpi.end()
            self._mpi = None
        if error:
            raise error
        check(status)
        self._learn()

    def _own_gather(self, allgather):
        def gather(mine, everybodys, length, _):
            try:
                joined = b"".join(allgather(ctypes.string_at(mine, length)))
                ctypes.memmove(everybodys, joined, len(joined))
                return 0
            except BaseException as error:  # told by __init__
                self._error = error
                return 1

        self._kept_gather = ALLGATHER(gather)
        return self._kept_gather

    def _learn(self):
        number = ctypes.c_int()
        check(lib.trefoil_comm_rank(self._handle, ctypes.byref(number)))
        self.rank = number.value
        check(lib.trefoil_comm_size(self._handle, ctypes.byref(number)))
        self.size = number.value
        check(lib.trefoil_comm_torus(self._handle, ctypes.byref(number), None, 0))
        sizes = (ctypes.c_int * number.value)()
        check(lib.trefoil_comm_torus(self._handle, ctypes.byref(number), sizes, len(sizes)))
        #: The sizes of the torus's dimensions.
        self.torus = tuple(sizes)
        check(lib.trefoil_comm_ranks_per_node(self._handle, ctypes.byref(number)))
        #: More than 1: the last dimension of the torus is the ranks of a node.
        self.ranks_per_node = number.value
        #: How many blocks a neighbour collective has.
        self.neighbours = 2 * len(self.torus)

    @property
    def handle(self):
        """For the C interface."""
        if not self._handle:
            refuse("this communicator was destroyed")
        return self._handle

    def destroy(self):
        """Peers must not need this rank any more: call barrier() before."""
        if self._handle:
            lib.trefoil_comm_destroy(self._handle)
            self._handle = ctypes.c_void_p()
        if self._mpi is not None:
            self._mpi.end()
            self._mpi = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.barrier()
        self.destroy()

    def coordinates(self, rank=None):
        """The place of a rank in the torus; of this one by default."""
        place = (ctypes.c_int * len(self.torus))()
        check(lib.trefoil_comm_coordinates(self.handle, self.rank if rank is None else rank, place, len(place)))
        return tuple(place)

    @property
    def transport(self):
        """The backend and its provider."""
        backend, provider = ctypes.c_char_p(), ctypes.c_char_p()
        check(lib.trefoil_comm_transport(self.handle, ctypes.byref(backend), ctypes.byref(provider)))
        return backend.value.decode(), provider.value.decode()

    # Communicators that are made from this one.

    def _made(self, function, *arguments):
        made = object.__new__(Comm)
        # What carries the first communicator's exchange carries those made from it.
        made._handle, made._mpi, made._error, made._parent = ctypes.c_void_p(), None, None, self
        check(function(self.handle, *arguments, ctypes.byref(made._handle)))
        if not made._handle:
            return None
        made._learn()
        return made

    def dup(self):
        return self._made(lib.trefoil_comm_dup)

    def split(self, colour, key=0):
        """None for a rank whose colour is UNDEFINED (or None)."""
        return self._made(lib.trefoil_comm_split, UNDEFINED if colour is None else colour, key)

    def sub(self, keep):
        """A row, a plane or another part of the torus: a flag for each dimension of `torus`."""
        if len(keep) != len(self.torus):
            refuse(f"'keep' has {len(keep)} flags, and the torus {len(self.torus)} dimensions")
        return self._made(lib.trefoil_comm_sub, (ctypes.c_int * len(keep))(*(bool(flag) for flag in keep)))

    def create_group(self, ranks, tag=0):
        return self._made(lib.trefoil_comm_create_group, (ctypes.c_int * len(ranks))(*ranks), len(ranks), tag)

    def shrink(self):
        """A communicator of the ranks that are left after this one has failed."""
        return self._made(lib.trefoil_comm_shrink)

    def abort(self, text=""):
        """Ends the communicator on all ranks."""
        check(lib.trefoil_comm_abort(self.handle, text.encode()))

    def status(self):
        """A text about what this rank's calls in flight wait for."""
        room = ctypes.create_string_buffer(1 << 16)
        check(lib.trefoil_comm_status(self.handle, room, len(room)))
        return room.value.decode(errors="replace")

    def failure(self):
        """Why this communicator has failed; "": it has not."""
        text = ctypes.c_char_p()
        check(lib.trefoil_comm_failure(self.handle, ctypes.byref(text)))
        return text.value.decode(errors="replace")

    def cause(self):
        """The same as a Cause; None: it has not failed."""
        return last_cause(self.handle) if self.failure() else None

    def set_algorithm(self, collective, name):
        check(lib.trefoil_comm_set_algorithm(self.handle, collective.encode(), name.encode()))

    def algorithm(self, collective, count, datatype):
        """The algorithm that a call of `count` elements would use."""
        name = ctypes.c_char_p()
        check(lib.trefoil_comm_algorithm(self.handle, collective.encode(), count, int(datatype), ctypes.byref(name)))
        return name.value.decode()

    def set_schedule(self, collective, json):
        check(lib.trefoil_comm_set_schedule(self.handle, collective.encode(), json.encode()))

    def progress(self):
        """Moves calls in flight on for a moment, where there are no port threads."""
        check(lib.trefoil_progress(self.handle))

    def in_flight(self):
        calls = ctypes.c_int()
        check(lib.trefoil_comm_in_flight(self.handle, ctypes.byref(calls)))
        return calls.value


for _name, _method in _collectives.methods().items():
    _method.__qualname__ = f"Comm.{_method.__name__}"
    setattr(Comm, _name, _method)
