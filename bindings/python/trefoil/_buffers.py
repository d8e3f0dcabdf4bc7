# SPDX-License-Identifier: BSD-3-Clause
"""Python's objects as buffers of the C interface: whatever has the buffer protocol (numpy, array, bytearray, ...)."""

import ctypes
import operator
import re

from ._constants import Datatype
from ._library import constant, lib, refuse


class _InPlace:
    def __repr__(self):
        return "trefoil.IN_PLACE"


IN_PLACE = _InPlace()
_IN_PLACE_ADDRESS = ctypes.c_size_t(-1).value


class _PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


_get, _release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
_get.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_release.argtypes = [ctypes.POINTER(_PyBuffer)]
_FORMAT, _ANY_CONTIGUOUS, _WRITABLE = 0x4, 0x80 | 0x10 | 0x8, 0x1

_INTEGERS = {("i", 1): Datatype.INT8, ("i", 2): Datatype.INT16, ("i", 4): Datatype.INT32, ("i", 8): Datatype.INT64,
             ("u", 1): Datatype.UINT8, ("u", 2): Datatype.UINT16, ("u", 4): Datatype.UINT32, ("u", 8): Datatype.UINT64}
_FLOATS = {"e": Datatype.FLOAT16, "f": Datatype.FLOAT, "d": Datatype.DOUBLE, "Zf": Datatype.COMPLEX_FLOAT,
           "Zd": Datatype.COMPLEX_DOUBLE}


def _datatype_of(code, size):
    """None for what Trefoil has no type for: it is moved as bytes."""
    if code.startswith((">", "!")) and size > 1:
        return None  # of the other byte order
    code = code.lstrip("@=<>!")
    if code in _FLOATS:
        return _FLOATS[code]
    if len(code) == 1 and code in "bhilqn":
        return _INTEGERS[("i", size)]
    if len(code) == 1 and code in "BHILQN?c":
        return _INTEGERS[("u", size)]
    return None


# Objects, and the pointers of ctypes: they mean nothing in another process. Names of fields stand between colons.
_NAME, _POINTER = re.compile(":[^:]*:"), re.compile("[OPz&X]|Z(?![fdg])")


def _order_of(view):
    """In which order the elements of an array of several dimensions lie; "": in either."""
    if view.ndim < 2 or not view.shape or not view.strides:
        return ""
    shape, strides = ((ctypes.c_ssize_t * view.ndim).from_address(place)[:] for place in (view.shape, view.strides))

    def lies(dimensions):
        step = view.itemsize
        for d in dimensions:
            if shape[d] > 1 and strides[d] != step:
                return False
            step *= shape[d]
        return True

    in_c, in_fortran = lies(range(view.ndim)[::-1]), lies(range(view.ndim))
    return "" if in_c == in_fortran else "C" if in_c else "Fortran"


class Buffer:
    """Memory of an object, which stays where it is as long as this lives."""

    def __init__(self, given, name, write=False):
        self.given = given
        self._view = _PyBuffer()
        self._held = False
        self.in_place = given is IN_PLACE
        if self.in_place or given is None:
            self.address = _IN_PLACE_ADDRESS if self.in_place else None
            self.count, self.itemsize, self.datatype = 0, 0, None
            self.order, self.is_bool = "", False
            return
        if getattr(getattr(given, "dtype", None), "kind", "") in ("m", "M"):
            refuse(f"'{name}' has elements of {given.dtype}, which Python's buffers cannot show; give {name}.view('int64')")
        flags = _FORMAT | _ANY_CONTIGUOUS | (_WRITABLE if write else 0)
        try:
            _get(given, ctypes.byref(self._view), flags)
        except TypeError:
            refuse(f"'{name}' is of {type(given)}, which has not Python's buffer protocol; give an array: numpy.array(...)")
        except (BufferError, ValueError) as error:
            refuse(f"'{name}' must be contiguous{' and writable' if write else ''}: {error}")
        self._held = True
        self.itemsize = self._view.itemsize
        self.count = self._view.len // self.itemsize if self.itemsize else 0
        self.address = self._view.buf
        code = (self._view.format or b"B").decode()
        if _POINTER.search(_NAME.sub("", code)):
            refuse(f"'{name}' holds objects or pointers (format '{code}'), which mean nothing in another process; give the "
                   "values themselves")
        self.datatype = _datatype_of(code, self.itemsize)
        self.is_bool = code == "?"
        self.order = _order_of(self._view)

    def __del__(self):
        if getattr(self, "_held", False):
            _release(ctypes.byref(self._view))
            self._held = False

    def moved(self, datatype):
        """(type, how many of it are an element) for a call that moves elements."""
        if datatype is not None:
            return self._fitting(datatype), 1
        return (self.datatype, 1) if self.datatype is not None else (Datatype.UINT8, self.itemsize)

    def reduced(self, datatype):
        """The type for a reduction."""
        if datatype is not None:
            return self._fitting(datatype)
        if self.datatype is None:
            refuse("elements of this type need `datatype`, or an operation of trefoil.Op")
        return self.datatype

    def _fitting(self, given):
        datatype = constant(Datatype, given, "datatype")
        size = lib.trefoil_datatype_size(datatype)
        if size != self.itemsize:
            refuse(f"the datatype has elements of {size} bytes, and the buffer of {self.itemsize}")
        return datatype


def alike(send, recv):
    """Refuses buffers whose elements differ, or would change places."""
    if send.order and recv.order and send.order != recv.order:
        refuse(f"one array lies in {send.order} order and the other in {recv.order} order, so elements would change places; "
               "make them alike, as by numpy.ascontiguousarray")
    one_lacks = send.itemsize == 0 or recv.itemsize == 0
    if not one_lacks and (send.itemsize != recv.itemsize or send.datatype != recv.datatype):
        refuse("the elements of both buffers must be of one type")


def equal(buffer, needed, name):
    if buffer.count != needed:
        refuse(f"'{name}' has {buffer.count} elements, but needs {needed}")


def blocks(buffer, number, name):
    """The length of each of that many equal blocks."""
    if buffer.count % number != 0:
        refuse(f"'{name}' has {buffer.count} elements, but needs a multiple of {number}")
    return buffer.count // number


class Lists:
    """Counts and displacements of the blocks in one buffer."""

    def __init__(self, buffer, counts, displacements, number, scale, name):
        self.counts = self._list(counts, number, scale, "counts")
        self.places = None if displacements is None else self._list(displacements, number, scale, "displacements")
        end = 0
        for b in range(number):
            if self.counts[b] > 0:
                end = max(end, (end if self.places is None else self.places[b]) + self.counts[b])
        if buffer.count * scale < end:
            refuse(f"'{name}' has {buffer.count} elements, but its blocks end at {end // scale}")

    @staticmethod
    def _list(given, number, scale, name):
        try:
            values = [operator.index(value) for value in given]
        except TypeError:
            values = ()
        if len(values) != number or any(value < 0 for value in values):
            refuse(f"'{name}' must have {number} entries, whole numbers of at least 0")
        return (ctypes.c_size_t * number)(*(value * scale for value in values))
