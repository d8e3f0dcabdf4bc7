# SPDX-License-Identifier: BSD-3-Clause
"""What `scripts/papers` is made of: a module for each paper, and the page that they fill."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KI, MI = 1 << 10, 1 << 20


def size_text(size):
    """131072 as "128 KiB"."""
    for unit, name in ((1 << 30, "GiB"), (MI, "MiB"), (KI, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"
