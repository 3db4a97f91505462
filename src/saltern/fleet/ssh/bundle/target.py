"""``Target``: the interpreter and the platform that a bundle is for."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Sequence

from msgspec import Struct


class Target(Struct, frozen=True):
    """``python`` is such as 3.12, ``machine`` such as x86_64, ``libc`` glibc or musl."""

    python: str
    machine: str
    libc: str = "glibc"
    agent: bool = False  # with all that an agent needs

    @property
    def name(self) -> str:
        return f"{'agent-' if self.agent else ''}python{self.python}-{self.machine}-{self.libc}"

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


def target_of(python: Sequence[int], machine: str, libc: str) -> Target:
    return Target(f"{python[0]}.{python[1]}", machine, libc.split("-")[0])


def local_target() -> Target:
    """This machine and this interpreter."""
    import sys

    kind = "musl" if "musl" in str(sysconfig.get_config_var("SOABI")) else "glibc"
    return target_of(sys.version_info[:2], os.uname().machine, kind)
