"""Kernel parameters: in /proc/sys now, and in a file for the next boot."""

from __future__ import annotations

import errno
import os

from saltern.modules.api.context import Context
from saltern.modules.api.refused import REASONS, Refused

ROOT = "/proc/sys"
FILE = "/etc/sysctl.conf"
WITH_SYSTEMD = "/etc/sysctl.d/99-salt.conf"


def usual_config() -> str:
    """Salt's file for parameters: systemd does not read /etc/sysctl.conf."""
    return WITH_SYSTEMD if os.path.isdir("/run/systemd/system") else FILE


def path_of(name: str) -> str:
    """The path of a parameter; ``net.ipv4.conf.eth0/1.mtu`` and ``net/ipv4/conf/eth0.1/mtu`` are the same."""
    if not name or name.startswith(("/", ".", "-")) or ".." in name or any(sign.isspace() for sign in name):
        raise Refused(f"{name!r} cannot be the name of a kernel parameter")
    first = next((sign for sign in name if sign in "./"), ".")
    inner = name if first == "/" else name.translate(str.maketrans("./", "/."))
    return f"{ROOT}/{inner}"


def normal(value: object) -> str:
    """The value with single blanks; the kernel writes tabs."""
    text = {True: "1", False: "0"}.get(value, value) if isinstance(value, bool) else value
    return " ".join(str(text).split())


def running_value(name: str) -> str | None:
    """The current value; None if there is no such parameter. Raises ``OSError`` if it cannot be read."""
    try:
        with open(path_of(name), encoding="utf-8") as file:
            return normal(file.read())
    except FileNotFoundError:
        return None


def assign(name: str, value: str) -> None:
    path = path_of(name)
    try:
        fd = os.open(path, os.O_WRONLY)
        try:
            os.write(fd, f"{value}\n".encode())
        finally:
            os.close(fd)
    except FileNotFoundError:
        raise Refused(f"the kernel has no parameter {name!r}; is its module loaded?") from None
    except OSError as problem:
        why = REASONS[errno.EACCES] if problem.errno == errno.EACCES else problem.strerror
        raise Refused(f"the kernel does not take {name} = {value}: {why}") from None


def every(ctx: Context) -> dict[str, str]:  # noqa: ARG001 - asked like the others
    """Every parameter that can be read."""
    found: dict[str, str] = {}
    for place, _, names in os.walk(ROOT):
        for name in names:
            path = os.path.join(place, name)
            try:
                with open(path, encoding="utf-8") as file:
                    value = normal(file.read())
            except (OSError, UnicodeError):
                continue
            found[path.removeprefix(f"{ROOT}/").translate(str.maketrans("./", "/."))] = value
    return found
