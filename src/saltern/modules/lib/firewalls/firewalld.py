"""firewalld through its own programs: its permanent configuration, and the rules in force.

Where the daemon does not run, as in an image being built, ``firewall-offline-cmd`` does the permanent part.
"""

from __future__ import annotations

import re

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, missing_program, tool
from saltern.modules.api.refused import Refused, one_line
from saltern.system.process import NOT_FOUND

ONLINE, OFFLINE = "firewall-cmd", "firewall-offline-cmd"
# Offline, the plain option belongs to its predecessor, and means something else.
OFFLINE_SAYS = ("--remove-service=", "--remove-service-from-zone=")
NO_SERVICE, NO_ZONE = 101, 112  # exit codes
NAME = re.compile(r"[A-Za-z0-9_][\w.-]*")
Sections = dict[str, dict[str, list[str]]]


class Kind(Struct, frozen=True):
    """A kind of list in a zone: its name as an argument, in ``changes``, in a listing, and as
    an option (``--add-port``). ``lines``: listed one per line, since values may contain blanks."""

    arg: str
    change: str
    listed: str
    option: str
    lines: bool = False


KINDS: dict[str, Kind] = {
    kind.arg: kind
    for kind in (
        Kind("block_icmp", "icmp_types", "icmp-blocks", "icmp-block"),
        Kind("ports", "ports", "ports", "port"),
        Kind("port_fwd", "port_fwd", "forward-ports", "forward-port", lines=True),
        Kind("services", "services", "services", "service"),
        Kind("interfaces", "interfaces", "interfaces", "interface"),
        Kind("sources", "sources", "sources", "source"),
        Kind("rich_rules", "rich_rules", "rich rules", "rich-rule", lines=True),
    )
}


class Zone(Struct, frozen=True):
    """A zone of the permanent configuration; empty if it does not exist."""

    exists: bool
    masquerade: bool
    lists: dict[str, list[str]]  # by the argument of the kind


def is_running(ctx: Context) -> bool:
    """Raises ``Refused`` if there is no firewalld on this machine."""
    ran = ctx.host.run([ONLINE, "--state"], env=PLAIN_WORDS)
    if ran.code == NOT_FOUND:
        raise Refused(missing_program(ONLINE, "firewalld"))
    return ran.code == 0


class Daemon(Struct, frozen=True):
    """How to reach firewalld. Determined once per call: the programs of firewalld start slowly."""

    running: bool

    def permanent(self, ctx: Context, *args: str, accept: tuple[int, ...] = (0,)) -> str:
        """The output of firewalld; empty for an accepted exit code other than 0."""
        program = (ONLINE, "--permanent") if self.running else (OFFLINE,)
        reported = args if self.running else [arg.replace(*OFFLINE_SAYS) for arg in args]
        ran = tool(ctx, *program, *reported, accept=accept)
        return "" if ran.code else ran.out.strip()

    def now(self, ctx: Context, *args: str) -> str:
        if not self.running:
            raise Refused("firewalld is not running; only its permanent configuration is available")
        return tool(ctx, ONLINE, *args).out.strip()

    def either(self, ctx: Context, *args: str) -> str:
        """The output for settings that are the same now and after a restart, such as the default zone."""
        return tool(ctx, ONLINE if self.running else OFFLINE, *args).out.strip()

    def reload(self, ctx: Context) -> None:
        if self.running:
            self.now(ctx, "--reload")


def reach(ctx: Context) -> Daemon:
    return Daemon(is_running(ctx))


def check_name(name: str, what: str) -> str:
    if not NAME.fullmatch(name):
        raise Refused(f"{what} cannot be called {name!r}")
    return name


def value(text: str, what: str) -> str:
    """The value, checked as far as possible before anything is changed."""
    if what == "ports" and "/" not in text:
        raise Refused(f"{text!r} is not a port; write it with its protocol, such as 80/tcp")
    return one_line(text.strip(), what)


def sections(text: str) -> Sections:
    """The sections of a listing: headings, with ``key: value`` lines and plain lines below."""
    found: Sections = {}
    current: dict[str, list[str]] = {}
    key = ""
    for line in text.splitlines():
        if line[:1].strip():
            current = found.setdefault(line.split()[0], {})
        elif line.startswith("\t") and key:
            current[key].append(line.strip())
        elif line.strip():
            key, _, rest = (part.strip() for part in line.partition(":"))
            current[key] = [rest]
    return found


def zone(ctx: Context, daemon: Daemon, name: str) -> Zone:
    listed = daemon.permanent(ctx, f"--zone={name}", "--list-all", accept=(0, NO_ZONE))
    if not listed:
        return Zone(False, False, {arg: [] for arg in KINDS})
    found = sections(listed).get(name, {})
    lists = {arg: values(found.get(kind.listed, []), kind) for arg, kind in KINDS.items()}
    return Zone(True, found.get("masquerade") == ["yes"], lists)


def values(listed: list[str], kind: Kind) -> list[str]:
    if kind.lines:
        return [one for one in listed if one]
    return [word for one in listed for word in one.split()]


def service(ctx: Context, daemon: Daemon, name: str) -> dict[str, list[str]] | None:
    """The ports and protocols of a service; None if there is none."""
    listed = daemon.permanent(ctx, f"--info-service={name}", accept=(0, NO_SERVICE))
    if not listed:
        return None
    found = sections(listed).get(name, {})
    return {key: " ".join(found.get(key, [])).split() for key in ("ports", "protocols")}
