"""/etc/hosts as a value: lines are kept unchanged, except the names of an address."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused, one_line

USUAL = "/etc/hosts"


class Line(Struct, frozen=True):
    """``text`` is the line in the file; a line without an address is a comment or empty."""

    text: str
    ip: str = ""
    names: tuple[str, ...] = ()
    comment: str = ""


class Hosts(Struct, frozen=True):
    lines: tuple[Line, ...] = ()

    def names_of(self, ip: str) -> list[str]:
        return list(dict.fromkeys(name for line in self.lines if line.ip == ip for name in line.names))

    def addresses_of(self, name: str) -> list[str]:
        return list(dict.fromkeys(line.ip for line in self.lines if name in line.names))

    def comments_of(self, ip: str) -> list[str]:
        return [line.comment for line in self.lines if line.ip == ip and line.comment]

    def asdict(self) -> dict[str, list[str]]:
        return {line.ip: self.names_of(line.ip) for line in self.lines if line.ip}

    def with_name(self, ip: str, name: str) -> Hosts:
        """The name added to the first line of the address, or in its own line."""
        if name in self.names_of(ip):
            return self
        at = next((at for at, line in enumerate(self.lines) if line.ip == ip), None)
        if at is None:
            return Hosts((*self.lines, _make_line(ip, (name,), "")))
        old = self.lines[at]
        return self._with(at, _make_line(ip, (*old.names, name), old.comment))

    def without_name(self, ip: str, name: str) -> Hosts:
        kept = (_without(line, name) if line.ip == ip else line for line in self.lines)
        return Hosts(tuple(line for line in kept if line is not None))

    def with_comment(self, ip: str, comment: str) -> Hosts:
        at = next(at for at, line in enumerate(self.lines) if line.ip == ip)
        return self._with(at, _make_line(ip, self.lines[at].names, comment))

    def with_only(self, ip: str, names: tuple[str, ...]) -> Hosts:
        """Exactly these names, in place of the first line of the address."""
        lines = [line for line in self.lines if line.ip != ip]
        at = next((at for at, line in enumerate(self.lines) if line.ip == ip), len(self.lines))
        comment = next(iter(self.comments_of(ip)), "")
        if names:
            lines.insert(min(at, len(lines)), _make_line(ip, names, comment))
        return Hosts(tuple(lines))

    def _with(self, at: int, line: Line) -> Hosts:
        return replace(self, lines=(*self.lines[:at], line, *self.lines[at + 1 :]))

    def text(self) -> str:
        return "".join(f"{line.text}\n" for line in self.lines)


def _make_line(ip: str, names: tuple[str, ...], comment: str) -> Line:
    text = f"{ip}\t\t{' '.join(names)}" + (f"\t# {comment}" if comment else "")
    return Line(one_line(text, "an entry of hosts"), ip, names, comment)


def _without(line: Line, name: str) -> Line | None:
    if name not in line.names:
        return line
    left = tuple(one for one in line.names if one != name)
    return _make_line(line.ip, left, line.comment) if left else None


def parse(text: str) -> Hosts:
    return Hosts(tuple(map(_line, text.splitlines())))


def _line(text: str) -> Line:
    body, _, comment = text.partition("#")
    words = body.split()
    return Line(text, words[0], tuple(words[1:]), comment.strip()) if len(words) > 1 else Line(text)


# -- the file --------------------------------------------------------------------------------------


def place(ctx: Context) -> str:
    """The path of the file: the option ``hosts.file``, as in Salt."""
    return str(ctx.opts.get("hosts.file") or USUAL)


def read(ctx: Context) -> Hosts:
    return parse(ctx.host.read(place(ctx)) or "")


def write(ctx: Context, hosts: Hosts) -> None:
    ctx.host.write(place(ctx), hosts.text())


def checked_ip(text: str) -> str:
    from ipaddress import ip_address

    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        raise Refused(f"{text!r} is not an IP address") from None
    return text


def checked_name(text: str) -> str:
    if not text or any(sign.isspace() or sign in "#\0" for sign in text):
        raise Refused(f"{text!r} cannot be the name of a host")
    return text
