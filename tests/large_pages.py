"""Pages of 2 MB for what a process keeps: a fork copies the table of its pages, and each has a row there.

A process that has collected all tests has 280 MB. Without this each of the many thousand forks of the tests
takes it 15 ms, to copy the table and to release it again; with this it takes 5 ms.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator

COLLAPSE = 25  # MADV_COLLAPSE, of Linux 6.1; what has none leaves everything as it is
SIZE = 2 << 20


def keep_for_forks() -> None:
    """Let the collector of garbage pass over all that there is now, and put it into large pages."""
    gc.collect()
    gc.freeze()
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for first, end in list(own_memory()):
        advise(first, end - first, COLLAPSE)


def own_memory() -> Iterator[tuple[int, int]]:
    """The first address and the end of each part of the memory that large pages fit into."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        for line in file:
            addresses, rights, _, _, inode, *name = line.split()
            first, end = (int(one, 16) for one in addresses.split("-"))
            first, end = -(-first // SIZE) * SIZE, end // SIZE * SIZE
            if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]) and first < end:
                yield first, end
