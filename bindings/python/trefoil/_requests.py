# SPDX-License-Identifier: BSD-3-Clause
"""Requests: calls in flight, and calls that are made again and again."""

import ctypes

from ._library import check, lib


class Request:
    """A call in flight, or a persistent one. It keeps its buffers alive; one that is still under way when the last
    reference goes is waited for."""

    def __init__(self, result, kept):
        self._handle = ctypes.c_void_p()
        self._kept = kept
        #: What the blocking call would have returned.
        self.result = result

    def start(self):
        """Begins a persistent call."""
        check(lib.trefoil_start(ctypes.byref(self._handle)))

    def test(self):
        """Whether the call has ended."""
        done = ctypes.c_int()
        check(lib.trefoil_test(ctypes.byref(self._handle), ctypes.byref(done)))
        return done.value != 0

    def wait(self):
        """Returns the result when the call has ended."""
        check(lib.trefoil_wait(ctypes.byref(self._handle)))
        return self.result

    def free(self):
        """Ends a persistent call for good; one that is under way is waited for."""
        if self._handle:
            self.wait()
        if self._handle:
            check(lib.trefoil_request_free(ctypes.byref(self._handle)))
        self._kept = None

    def __del__(self):
        if getattr(self, "_handle", None):
            try:
                self.free()
            except Exception:  # the communicator has failed, or is gone: nobody writes the buffers any more
                pass


class _Several:
    """The handles of several requests side by side, as the library wants them; handed back at the end."""

    def __init__(self, requests):
        self.requests = list(requests)
        self.handles = (ctypes.c_void_p * len(self.requests))(*(r._handle.value for r in self.requests))

    def call(self, function, *more):
        status = function(len(self.requests), self.handles, *more)
        for request, handle in zip(self.requests, self.handles):
            request._handle = ctypes.c_void_p(handle)
        check(status)


def startall(requests):
    _Several(requests).call(lib.trefoil_startall)


def waitall(requests):
    """Waits for all, also after an error; returns their results."""
    several = _Several(requests)
    several.call(lib.trefoil_waitall)
    return [request.result for request in several.requests]


def testall(requests):
    """Whether all have ended; else none has."""
    done = ctypes.c_int()
    _Several(requests).call(lib.trefoil_testall, ctypes.byref(done))
    return done.value != 0


def waitany(requests):
    """Waits for one, and says which; None: none is under way."""
    index = ctypes.c_int(-1)
    _Several(requests).call(lib.trefoil_waitany, ctypes.byref(index))
    return None if index.value < 0 else index.value
