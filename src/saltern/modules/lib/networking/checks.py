"""Checks for network settings; each returns the text to write, or raises ``Refused`` with the setting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from saltern.modules.api.params import FALSE_WORDS, TRUE_WORDS
from saltern.modules.api.refused import Refused, one_line

Check = Callable[[str, object], str]

# Valid names of interfaces, and of aliases (eth0:1); they become part of file names, too.
INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,31}(:[A-Za-z0-9_]{1,10})?")
MAC = re.compile(r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}")


def interface(name: str) -> str:
    if INTERFACE.fullmatch(name) is None or ".." in name:
        raise Refused(f"{name!r} cannot be the name of an interface")
    return name


def word(name: str, value: object) -> str:
    """Any text of one line."""
    if isinstance(value, dict | list) or value is None:
        raise Refused(f"{name} needs a text")
    return one_line(str(value).strip(), name)


def list_of_words(value: object) -> list[str]:
    """A list, or a text with spaces between."""
    found = value if isinstance(value, list | tuple) else str(value).split()
    return [str(one) for one in found]


def each(check: Check) -> Check:
    """A check for settings with several values on one line."""
    return lambda name, value: " ".join(check(name, one) for one in list_of_words(value))


def one_of(*allowed: str) -> Check:
    def check(name: str, value: object) -> str:
        if str(value) not in allowed:
            raise Refused(f"{name} cannot be {value!r}; it must be one of {', '.join(allowed)}")
        return str(value)

    return check


def integer(name: str, value: object) -> str:
    text = str(value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdecimal()):
        raise Refused(f"{name} needs a number, got {value!r}")
    return text


def hexadecimal(name: str, value: object) -> str:
    """YAML reads ``0x020`` as the number 32."""
    text = f"0x{value:03x}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    try:
        int(text.removeprefix("0x"), 16)
    except ValueError:
        raise Refused(f"{name} needs a hexadecimal number such as 0x020, got {value!r}") from None
    return text


def mapping(name: str, value: object) -> Mapping[object, object]:
    if not isinstance(value, Mapping | None):
        raise Refused(f"{name} needs a mapping, got {value!r}")
    return value or {}


def number(name: str, value: object) -> str:
    try:
        float(str(value))
    except ValueError:
        raise Refused(f"{name} needs a number, got {value!r}") from None
    return str(value)


def is_on(name: str, value: object) -> bool:
    text = str(value).lower()
    if text not in TRUE_WORDS | FALSE_WORDS - {""}:
        raise Refused(f"{name} needs true or false, got {value!r}")
    return text in TRUE_WORDS


def flag(yes: str, no: str) -> Check:
    return lambda name, value: yes if is_on(name, value) else no


yes_no = flag("yes", "no")
on_off = flag("on", "off")


def mac(name: str, value: object) -> str:
    if MAC.fullmatch(str(value)) is None:
        raise Refused(f"{name} needs a MAC address such as 00:11:22:33:44:55, got {value!r}")
    return str(value)


def address(version: int) -> Check:
    """An address of this IP version; a prefix length may follow."""

    def check(name: str, value: object) -> str:
        from ipaddress import ip_interface

        try:
            if isinstance(value, str) and ip_interface(value).version == version:
                return value
        except ValueError:
            pass
        raise Refused(f"{name} needs an IPv{version} address, got {value!r}")

    return check


address4, address6 = address(4), address(6)


def netmask4(name: str, value: object) -> str:
    """``255.255.255.0`` or ``24``."""
    from ipaddress import ip_network

    try:
        ip_network(f"0.0.0.0/{value}")
    except ValueError:
        raise Refused(f"{name} needs a netmask such as 255.255.255.0 or 24, got {value!r}") from None
    return str(value)


def netmask6(name: str, value: object) -> str:
    if not 0 <= int(integer(name, value)) <= 128:
        raise Refused(f"{name} needs a prefix length up to 128, got {value!r}")
    return str(value)


def commands(name: str, value: object) -> list[str]:
    """Commands for the system to run, one per line; a list, or one."""
    found: Iterable[object] = value if isinstance(value, list | tuple) else [value]
    return [word(name, one) for one in found]
