"""The interface to the network files of a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from saltern.language.mask import MASK
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import checks

SECRETS = ("wpa-psk", "wpa-password", "wireless-key", "wpa-private-key-passwd")
SCRIPT_MODE = 0o755


class DesiredInterface(Struct, frozen=True):
    """The specification of an interface. ``settings`` are the user's, by Salt's names."""

    name: str
    kind: str = "eth"
    enabled: bool = True
    settings: Mapping[str, object] = {}


class Route(Struct, frozen=True):
    """A route. ``network`` has its prefix length, or is ``default``; checked, so that it is safe in a
    script.
    """

    network: str
    gateway: str = ""
    metric: str = ""
    label: str = ""

    @property
    def version(self) -> int:
        return 6 if ":" in f"{self.network}{self.gateway}" else 4


class Networking(Protocol):
    """The network files of a system. ``*_lines`` read them; ``wanted_*`` change nothing."""

    def interface_lines(self, name: str, kind: str = "eth") -> list[str]: ...
    def wanted_interface(self, want: DesiredInterface) -> list[str]: ...
    def store_interface(self, want: DesiredInterface, lines: Sequence[str]) -> None: ...

    def route_files(self, name: str) -> list[str]:
        """The files of the routes of an interface."""
        ...

    def wanted_routes(self, name: str, routes: Sequence[Route]) -> dict[str, str]:
        """The text of each of these files; a file with an empty text must not exist."""
        ...

    def settings_lines(self) -> list[str]:
        """The settings of the whole machine, one per line."""
        ...

    def wanted_settings(self, settings: Mapping[str, object]) -> list[str]: ...
    def store_settings(self, lines: Sequence[str]) -> None: ...

    def up(self, name: str) -> str: ...
    def down(self, name: str) -> str: ...
    def restart(self) -> None:
        """Apply all written settings at once."""
        ...


def route(given: object) -> Route:
    """A route as an SLS has it: ``ipaddr``, ``netmask``, ``gateway``, ``metric``, ``name``."""
    from ipaddress import ip_network

    if not isinstance(given, Mapping):
        raise Refused("routes needs a list of mappings with ipaddr, netmask and gateway")
    known = ("name", "ipaddr", "netmask", "gateway", "metric")
    if strange := [str(name) for name in given if name not in known]:
        raise Refused(f"a route has no {', '.join(strange)}; it has {', '.join(known)}")
    where = str(given.get("ipaddr") or "")
    if where not in ("default", "0.0.0.0", "::"):
        mask = given.get("netmask")
        try:
            where = str(ip_network(f"{where}/{mask}" if mask not in (None, "") else where, strict=False))
        except ValueError:
            raise Refused(f"a route needs ipaddr and netmask of a network, got {where!r}, {mask!r}") from None
    else:
        where = "default"
    gateway, metric = given.get("gateway"), given.get("metric")
    return Route(
        network=where,
        gateway=_gateway(gateway) if gateway else "",
        metric=checks.integer("metric", metric) if metric not in (None, "") else "",
        label=checks.word("name", given.get("name") or ""),
    )


def _gateway(value: object) -> str:
    from ipaddress import ip_address

    try:
        return str(ip_address(str(value)))
    except ValueError:
        raise Refused(f"gateway needs an address, got {value!r}") from None


def store_routes(ctx: Context, texts: Mapping[str, str]) -> None:
    """Write the files; remove those with an empty text."""
    for path, text in texts.items():
        if text:
            ctx.host.write(path, text, mode=SCRIPT_MODE if text.startswith("#!") else None)
        else:
            ctx.host.remove(path)


def shown_lines(lines: Sequence[str]) -> list[str]:
    """The lines for display: without line ends, secrets masked."""
    return [_mask_line(line.rstrip("\n")) for line in lines]


def _mask_line(line: str) -> str:
    words = line.split(None, 1)
    return line.replace(words[1], MASK) if len(words) == 2 and words[0] in SECRETS else line


def difference(old: Sequence[str], new: Sequence[str]) -> str:
    """The difference as a diff."""
    from difflib import unified_diff

    return (
        "\n".join(unified_diff(shown_lines(old), shown_lines(new), lineterm=""))
        or f"a secret changed ({MASK})"
    )
