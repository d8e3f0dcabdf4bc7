# SPDX-License-Identifier: BSD-3-Clause
"""The version of trefoil.h that these bindings were written for (tests/bindings compares)."""

VERSION = "0.1.0"
