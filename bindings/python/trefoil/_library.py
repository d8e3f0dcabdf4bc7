# SPDX-License-Identifier: BSD-3-Clause
"""Loads the library, says what its functions take, and turns a status into an exception."""

import ctypes
import os
import pathlib
import sys
import sysconfig
from typing import NamedTuple

from ._constants import Evidence, Status
from ._version import VERSION

_SONAME = "libtrefoil.so." + ".".join(VERSION.split(".")[:2] if VERSION.startswith("0.") else VERSION.split(".")[:1])


class Cause(NamedTuple):
    """Why a call has failed, as fields; see trefoil_cause_t of trefoil.h. A rank of -1 is not known."""

    status: Status
    culprit: int = -1
    evidence: Evidence = Evidence.EVIDENCE_NONE
    finder: int = -1
    since: float = 0.0
    before: bool = False


class Error(RuntimeError):
    """A call that did not succeed: `status` says which error, `cause` whose fault it is, the text what happened and what to do."""

    def __init__(self, status, text, cause=None):
        super().__init__(text)
        self.status = Status(status)
        self.cause = cause or Cause(self.status)


def _folders():
    """Where else than the loader looks: beside Python, and where `cmake --install` puts libraries."""
    triple = sysconfig.get_config_var("MULTIARCH") or ""
    for prefix in (sys.prefix, "/usr/local", *(str(p) for p in pathlib.Path(__file__).parents)):
        for folder in ("lib", f"lib/{triple}", "lib64"):
            yield os.path.join(prefix, folder)


def _load():
    try:
        return ctypes.CDLL(_SONAME)
    except OSError as error:
        for folder in _folders():
            path = os.path.join(folder, _SONAME)
            if os.path.exists(path):
                return ctypes.CDLL(path)
        raise ImportError(f"{_SONAME} cannot be loaded ({error}); install Trefoil, or put its folder into "
                          "LD_LIBRARY_PATH") from error


lib = _load()

ALLGATHER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
PROGRESS = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
REDUCE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


class Config(ctypes.Structure):
    """trefoil_config_t"""

    _fields_ = [("size", ctypes.c_size_t), ("rank", ctypes.c_int), ("ranks", ctypes.c_int), ("allgather", ALLGATHER),
                ("context", ctypes.c_void_p), ("torus", ctypes.c_char_p), ("backend", ctypes.c_char_p),
                ("provider", ctypes.c_char_p), ("algorithm", ctypes.c_char_p), ("nics", ctypes.c_char_p),
                ("port_threads", ctypes.c_int), ("timeout_seconds", ctypes.c_double),
                ("coordinates", ctypes.POINTER(ctypes.c_int)), ("dimensions", ctypes.c_int), ("progress", PROGRESS),
                ("log", ctypes.c_char_p), ("log_function", ctypes.c_void_p), ("log_context", ctypes.c_void_p),
                ("token", ctypes.c_char_p), ("flags", ctypes.c_size_t)]


P, Z, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
INTS, SIZES = ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_size_t)

# What stands before the communicator, of each collective.
COLLECTIVES = {
    "allreduce": [P, P, Z, I, I],
    "reduce": [P, P, Z, I, I, I],
    "scan": [P, P, Z, I, I],
    "exscan": [P, P, Z, I, I],
    "reduce_scatter_block": [P, P, Z, I, I],
    "reduce_scatter": [P, P, SIZES, I, I],
    "allgather": [P, P, Z, I],
    "allgatherv": [P, Z, P, SIZES, SIZES, I],
    "bcast": [P, Z, I, I],
    "gather": [P, P, Z, I, I],
    "gatherv": [P, Z, P, SIZES, SIZES, I, I],
    "scatter": [P, P, Z, I, I],
    "scatterv": [P, SIZES, SIZES, P, Z, I, I],
    "alltoall": [P, P, Z, I],
    "alltoallv": [P, SIZES, SIZES, P, SIZES, SIZES, I],
    "neighbor_allgather": [P, P, Z, I],
    "neighbor_allgatherv": [P, Z, P, SIZES, SIZES, I],
    "neighbor_alltoall": [P, P, Z, I],
    "neighbor_alltoallv": [P, SIZES, SIZES, P, SIZES, SIZES, I],
    "barrier": [],
}
_OTHERS = {
    "comm_create": [ctypes.POINTER(Config), P],
    "comm_destroy": [P],
    "comm_rank": [P, INTS],
    "comm_size": [P, INTS],
    "comm_torus": [P, INTS, INTS, I],
    "comm_ranks_per_node": [P, INTS],
    "comm_coordinates": [P, I, INTS, I],
    "comm_transport": [P, P, P],
    "comm_set_algorithm": [P, ctypes.c_char_p, ctypes.c_char_p],
    "comm_set_schedule": [P, ctypes.c_char_p, ctypes.c_char_p],
    "comm_algorithm": [P, ctypes.c_char_p, Z, I, P],
    "comm_dup": [P, P],
    "comm_split": [P, I, I, P],
    "comm_sub": [P, INTS, P],
    "comm_create_group": [P, INTS, I, I, P],
    "comm_shrink": [P, P],
    "comm_abort": [P, ctypes.c_char_p],
    "comm_failure": [P, P],
    "last_cause": [P, P],
    "comm_status": [P, ctypes.c_char_p, Z],
    "comm_in_flight": [P, INTS],
    "progress": [P],
    "test": [P, INTS],
    "wait": [P],
    "waitall": [I, P],
    "waitany": [I, P, INTS],
    "testall": [I, P, INTS],
    "start": [P],
    "startall": [I, P],
    "request_free": [P],
    "op_create": [REDUCE, P, Z, I, P],
    "op_free": [I],
    "reduce_local": [P, P, Z, I, I],
}


def _declare():
    for name, arguments in COLLECTIVES.items():
        for form, more in ((name, []), ("i" + name, [P]), (name + "_init", [P])):
            getattr(lib, "trefoil_" + form).argtypes = [*arguments, P, *more]
    for name, arguments in _OTHERS.items():
        getattr(lib, "trefoil_" + name).argtypes = arguments
    lib.trefoil_last_error.argtypes = [P]
    lib.trefoil_datatype_size.argtypes = [I]
    lib.trefoil_datatype_size.restype = Z
    for name in ("last_error", "version_string", "status_string"):
        getattr(lib, "trefoil_" + name).restype = ctypes.c_char_p


_declare()


class _Cause(ctypes.Structure):
    _fields_ = [("size", Z), ("since", ctypes.c_double),
                *((name, I) for name in ("status", "culprit", "evidence", "finder", "before", "reserved"))]


def last_cause(handle=None):
    """The Cause of a communicator that has failed, or of this thread's last call that did."""
    told = _Cause(size=ctypes.sizeof(_Cause))
    if lib.trefoil_last_cause(handle, ctypes.byref(told)) != 0:
        return None
    known = told.evidence in Evidence._value2member_map_  # a newer library may have more
    return Cause(Status(told.status), told.culprit, Evidence(told.evidence if known else 0), told.finder, told.since,
                 told.before != 0)


def check(status):
    """Raises Error unless `status` is success."""
    if status != 0:
        text = lib.trefoil_last_error(None) or lib.trefoil_status_string(status)
        raise Error(status, text.decode(errors="replace"), last_cause())


def refuse(text):
    """Arguments that are wrong before the library sees them."""
    raise Error(Status.ERROR_INVALID_ARGUMENT, text)


def constant(kind, given, name):
    """The member of that enumeration."""
    try:
        return kind(given)
    except ValueError:
        word = str(given).upper()
        known = [word] if word in kind.__members__ else kind.__members__
        refuse(f"{name} is {given!r}; give {', '.join('trefoil.' + member for member in known)}")


def version():
    """The version of the library that is loaded."""
    return lib.trefoil_version_string().decode()
