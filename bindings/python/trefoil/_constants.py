# SPDX-License-Identifier: BSD-3-Clause
"""Constants of trefoil.h, without its TREFOIL_ (tests/bindings compares)."""

from enum import IntEnum


class Status(IntEnum):
    """The result of a call."""

    SUCCESS = 0
    ERROR_INVALID_ARGUMENT = 1
    ERROR_UNSUPPORTED = 2
    ERROR_NOT_FOUND = 3
    ERROR_MISMATCH = 4
    ERROR_TIMEOUT = 5
    ERROR_PEER_LOST = 6
    ERROR_BUSY = 7
    ERROR_OUT_OF_MEMORY = 8
    ERROR_SYSTEM = 9
    ERROR_INTERNAL = 10
    ERROR_ABORTED = 11


class Evidence(IntEnum):
    """The evidence against the culprit of an error."""

    EVIDENCE_NONE = 0
    EVIDENCE_OWN = 1
    EVIDENCE_ENDED = 2
    EVIDENCE_STOPPED = 3
    EVIDENCE_LEFT = 4
    EVIDENCE_UNREACHABLE = 5
    EVIDENCE_SILENT = 6
    EVIDENCE_DISAGREES = 7
    EVIDENCE_ABORTED = 8


class Datatype(IntEnum):
    """Types of elements."""

    INT8 = 0
    INT16 = 1
    INT32 = 2
    INT64 = 3
    UINT8 = 4
    UINT16 = 5
    UINT32 = 6
    UINT64 = 7
    FLOAT16 = 8
    BFLOAT16 = 9
    FLOAT = 10
    DOUBLE = 11
    COMPLEX_FLOAT = 12
    COMPLEX_DOUBLE = 13
    FLOAT_INT = 14
    DOUBLE_INT = 15
    LONG_INT = 16
    # A name cannot begin with a digit.
    TWO_INT = 17
    SHORT_INT = 18
    ELEMENT = 1000


class Reduce(IntEnum):
    """Operations of reductions."""

    SUM = 0
    PROD = 1
    MIN = 2
    MAX = 3
    BAND = 4
    BOR = 5
    BXOR = 6
    LAND = 7
    LOR = 8
    LXOR = 9
    MINLOC = 10
    MAXLOC = 11
    AVG = 12


UNDEFINED = -1
