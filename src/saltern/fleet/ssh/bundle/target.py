"""``Target``: the interpreter and the platform that a bundle is for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import MAGIC_NUMBER

from msgspec import Struct
from msgspec.structs import replace


class Target(Struct, frozen=True):
    """``python`` is such as 3.12, ``machine`` such as x86_64, ``libc`` glibc or musl."""

    python: str
    machine: str
    libc: str = "glibc"
    agent: bool = False  # with all that an agent needs
    odd: bool = False  # a build of the same version that cannot read code compiled here

    @property
    def name(self) -> str:
        name = f"{'agent-' if self.agent else ''}python{self.python}-{self.machine}-{self.libc}"
        return f"{name}-odd" if self.odd else name

    @property
    def runs_our_code(self) -> bool:
        """True if modules that are compiled here can be imported there."""
        return self.python == local_target().python and not self.odd

    @property
    def tag(self) -> str:
        """The beginning of the version tag of wheels, such as cp312."""
        return f"cp{self.python.replace('.', '')}"

    @property
    def platforms(self) -> tuple[str, ...]:
        """Platforms of wheels that run there, newest first."""
        if self.libc == "musl":
            return tuple(f"musllinux_1_{minor}_{self.machine}" for minor in (2, 1))
        newer = [f"manylinux_2_{minor}_{self.machine}" for minor in (28, 26, 24, 17, 12, 5)]
        return (*newer, f"manylinux2014_{self.machine}", f"manylinux1_{self.machine}")


def target_of(python: Sequence[int], machine: str, libc: str, code: str = "") -> Target:
    """``code`` says which compiled modules it can read, in hexadecimal digits."""
    found = Target(f"{python[0]}.{python[1]}", machine, libc.split("-")[0])
    return replace(found, odd=bool(code) and found.runs_our_code and code != MAGIC_NUMBER.hex())


def local_target() -> Target:
    """This machine and this interpreter."""
    try:
        kind = "glibc" if os.confstr("CS_GNU_LIBC_VERSION") else "musl"
    except (ValueError, OSError):
        kind = "musl"
    return target_of(sys.version_info[:2], os.uname().machine, kind)
