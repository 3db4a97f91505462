"""Where callbacks may go: never to addresses that only the controller may reach. Pure, except for name
lookups.

``allow`` takes precedence over ``deny``; an address in neither is allowed. The address that was checked is
the one that is connected to, so a DNS change in between has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address
# This machine, link-local (where clouds keep the credentials of a machine), multicast, reserved.
DENIED = (
    "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "100.100.100.200/32", "224.0.0.0/4", "240.0.0.0/4",
    "::/128", "::1/128", "fe80::/10", "fd00:ec2::254/128", "ff00::/8",
)  # fmt: skip
EMBEDDED = (ip_network("64:ff9b::/96"), ip_network("::/96"))  # IPv6 addresses that contain an IPv4 address


class Destinations(Struct, frozen=True):
    """Networks that callbacks may reach, and those that they may not."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = DENIED

    def refusal(self, text: str) -> str:
        """Why an address may not be reached; empty if it may."""
        address = plain_address(text)
        if _within(address, self.allowed):
            return ""
        rule = next((one for one in self.denied if _within(address, (one,))), "")
        return f"{address} is in {rule}, which callbacks may not reach" if rule else ""


def plain_address(text: str) -> Address:
    """The address that is meant: the IPv4 address within an IPv6 one, or the address itself."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        if (inner := address.ipv4_mapped or address.sixtofour) is not None:
            return inner
        if any(address in network for network in EMBEDDED) and int(address) > 1:
            return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _within(address: Address, networks: Sequence[str]) -> bool:
    return any(address in ip_network(one, strict=False) for one in networks)


def check_url(text: str, reach: Destinations) -> SplitResult:
    """The parts of a web address that callbacks may go to, checked as far as possible without a lookup."""
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise wrong_address(text, "it cannot be read", "write it as https://HOST/PATH") from None
    if url.scheme not in ("http", "https") or not url.hostname or port == 0 or not text.isprintable():
        raise wrong_address(text, "it does not have the form https://HOST/PATH", "write it so")
    if url.username or url.password:
        raise wrong_address(
            f"{url.scheme}://…@{url.hostname}", "it has a password in it", "every request is signed instead"
        )
    try:
        why = reach.refusal(url.hostname)
    except ValueError:
        return url  # a name: checked when it is looked up
    if why:
        raise wrong_address(masked_url(text), why, "callbacks.allow in controller.yaml names exceptions")
    return url


def masked_url(text: str) -> str:
    """A web address without its path and query, which are secrets of many receivers."""
    url = urlsplit(text)
    rest = "/…" if url.path not in ("", "/") or url.query else url.path
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{rest}"


def wrong_address(text: str, why: str, fix: str) -> OperationError:
    what = f"callbacks cannot go to {text[:200]}: {why}"
    return OperationError(Diagnostic(code="subscription-address", what=what, fix=fix))
