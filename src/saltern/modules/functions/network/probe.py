"""``network``: probe other machines, and wake them."""

from __future__ import annotations

import re

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import PLAIN_WORDS, tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import checks

HOP = re.compile(r"\s*(\d+)\s+(.*)")
NAMED = re.compile(r"(\S+) \(([^)]+)\)")
DELAY = re.compile(r"([\d.]+) ms")
PATIENCE = 120


def _host(host: str) -> str:
    """A name or an address that no program can take as an option."""
    text = str(host)
    if not re.fullmatch(r"[A-Za-z0-9_:][A-Za-z0-9_.:%-]*", text):
        raise Refused(f"{text!r} cannot be the name of a host")
    return text


@function
def connect(
    ctx: Context,  # noqa: ARG001 - every function has it
    /,
    host: str,
    port: int | None = None,
    proto: str = "tcp",
    timeout: float = 5,
    **_: object,
) -> dict[str, object]:
    """Connect to a port of a host. Returns whether that worked.

    Args:
        host: the host.
        port: the port.
        proto: ``tcp`` or ``udp``.
        timeout: for how many seconds to try.

    Example:
        ```console
        $ saltern call network.connect localhost 8000
        local:
            ----------
            comment:
                Successfully connected to localhost on tcp port 8000
            result:
                True
        ```
    """
    import socket

    if port is None:
        return {"result": False, "comment": "network.connect needs a port"}
    kind = socket.SOCK_DGRAM if proto == "udp" else socket.SOCK_STREAM
    try:
        family, _kind, _proto, _name, where = socket.getaddrinfo(host, int(port), 0, kind)[0]
        with socket.socket(family, kind) as line:
            line.settimeout(float(timeout))
            line.connect(where)
    except (OSError, ValueError) as problem:
        return {"result": False, "comment": f"Unable to connect to {host} on {proto} port {port}: {problem}"}
    return {"result": True, "comment": f"Successfully connected to {host} on {proto} port {port}"}


@function
def ping(ctx: Context, host: str, timeout: object = False, return_boolean: bool = False) -> object:
    """Ping a host four times. Returns the output of ``ping``.

    Args:
        host: the host.
        timeout: how many seconds to wait for a response.
        return_boolean: return only whether it responds.

    Example:
        ```console
        $ saltern call network.ping 127.0.0.1 return_boolean=True
        local:
            True
        ```
    """
    patience = ["-W", checks.integer("timeout", timeout)] if timeout else []
    argv = ["ping", "-c", "4", *patience, _host(host)]
    if return_boolean:
        return ctx.host.run(argv, env=PLAIN_WORDS).code == 0
    return tool(ctx, *argv, accept=(0, 1, 2)).out.rstrip()


@function
def dig(ctx: Context, host: str) -> str:
    """The output of ``dig`` for a name.

    Args:
        host: the name.

    Example:
        ```console
        $ saltern call network.dig example.org
        ```
    """
    return tool(ctx, "dig", _host(host)).out.rstrip()


@function
def traceroute(ctx: Context, host: str) -> list[dict[str, object]]:
    """The route to a host: every hop with its delays in milliseconds.

    Args:
        host: the host.

    Example:
        ```console
        $ saltern call network.traceroute 127.0.0.1
        ```
    """
    target = _host(host)
    ran = ctx.host.run(["traceroute", target], env=PLAIN_WORDS, timeout=PATIENCE)
    if ran.code and not ran.timed_out:
        ran = tool(ctx, "traceroute", target)  # reports what is wrong
    return [_hop(found[1], found[2]) for line in ran.out.splitlines() if (found := HOP.fullmatch(line))]


def _hop(number: str, rest: str) -> dict[str, object]:
    delays = {f"ms{at}": float(ms) for at, ms in enumerate(DELAY.findall(rest), 1)}
    named = NAMED.search(rest)
    if named is None:
        return {"count": int(number), "hostname": "*", **delays}
    return {"count": int(number), "hostname": named[1], "ip": named[2], **delays}


@function
def wol(ctx: Context, mac: str, bcast: str = "255.255.255.255", destport: int = 9) -> bool:  # noqa: ARG001
    """Wake a machine through its network card.

    Args:
        mac: the MAC address of the card.
        bcast: the broadcast address of its network.
        destport: the port to send to.

    Example:
        ```console
        $ saltern call network.wol 08:00:27:13:69:77 127.255.255.255
        ```
    """
    import socket

    card = bytes.fromhex(checks.mac("mac", mac).replace(":", "").replace("-", ""))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        try:
            line.sendto(b"\xff" * 6 + card * 16, (bcast, int(destport)))
        except OSError as problem:
            raise Refused(f"cannot send to {bcast}: {problem.strerror or problem}") from None
    return True
