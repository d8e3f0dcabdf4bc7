# SPDX-License-Identifier: BSD-3-Clause
"""Operations that the program defines."""

import ctypes
import struct
import sys
import traceback

from ._library import REDUCE, check, lib


class Op:
    """function(a, b) -> None changes b: b[i] = a[i] op b[i], where a comes from lower ranks. Both are memoryviews of
    `format` (as in struct; numpy.asarray makes arrays of them), of any length. Threads of the library may run it."""

    def __init__(self, function, format="d", commutes=True):  # the name that memoryview.cast uses
        self._format, size = format, struct.calcsize(format)

        def run(a, b, count, _):
            try:
                views = [memoryview((ctypes.c_char * (count * size)).from_address(address)).cast("B").cast(self._format)
                         for address in (a, b)]
                function(*views)
            except BaseException:  # nobody above could catch it
                traceback.print_exc()
                sys.stderr.flush()

        self._run = REDUCE(run)
        made = ctypes.c_int()
        check(lib.trefoil_op_create(self._run, None, size, int(commutes), ctypes.byref(made)))
        self.handle = made.value

    def free(self):
        """No call may use it any more."""
        if self.handle is not None:
            check(lib.trefoil_op_free(self.handle))
            self.handle = None

    def __del__(self):
        if getattr(self, "handle", None) is not None:
            lib.trefoil_op_free(self.handle)
