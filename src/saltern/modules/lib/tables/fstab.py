"""/etc/fstab as a value. Lines that are not entries are kept unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused

USUAL = "/etc/fstab"
BY_DEVICE = frozenset({"none", "swap", ""})  # mount points that many entries share
SECRET = frozenset({"password", "passwd", "pass", "passphrase"})
MATCHES = ("auto", "name", "device", "fstype", "opts", "dump", "pass_num")
KERNEL = {"none", "tmpfs", "sysfs", "proc", "fusectl", "debugfs", "securityfs", "devtmpfs", "cgroup"}
BY_NAME = KERNEL | {"nfs", "nfs4", "glusterfs", "btrfs", "ceph"}  # many entries may have the same device


class Entry(Struct, frozen=True, kw_only=True):
    device: str
    name: str
    fstype: str
    opts: str = "defaults"
    dump: str = "0"
    pass_num: str = "0"
    text: str = ""  # the line in the file; empty for a new one

    def line(self) -> str:
        values = (self.device, self.name, self.fstype, self.opts, self.dump, self.pass_num)
        return self.text or "\t\t".join(map(escape, values))

    def same(self, other: Entry) -> bool:
        return replace(self, text="") == replace(other, text="")

    def asdict(self) -> dict[str, object]:
        return {
            "device": self.device,
            "fstype": self.fstype,
            "opts": self.opts.split(","),
            "dump": self.dump,
            "pass": self.pass_num,
        }


Line = Entry | str
Match = str | Sequence[str]


class Fstab(Struct, frozen=True):
    lines: tuple[Line, ...] = ()

    @property
    def entries(self) -> list[Entry]:
        return [line for line in self.lines if isinstance(line, Entry)]

    def find(self, wanted: Entry, match_on: Match = "auto") -> Entry | None:
        """The entry that ``wanted`` would replace."""
        for keys in _keys(wanted, match_on):
            asked = [getattr(wanted, key) for key in keys]
            for one in self.entries:
                if [getattr(one, key) for key in keys] == asked:
                    return one
        return None

    def with_entry(self, entry: Entry, instead_of: Entry | None) -> Fstab:
        if instead_of is None:
            return Fstab((*self.lines, entry))
        return Fstab(tuple(entry if line is instead_of else line for line in self.lines))

    def without(self, entry: Entry) -> Fstab:
        return Fstab(tuple(line for line in self.lines if line is not entry))

    def text(self) -> str:
        return "".join(f"{line if isinstance(line, str) else line.line()}\n" for line in self.lines)


def _keys(wanted: Entry, match_on: Match) -> list[list[str]]:
    """The fields that are compared; the next list of them, if no entry has the same ones."""
    given = [match_on] if isinstance(match_on, str) else list(match_on)
    if unknown := [one for one in given if one not in MATCHES]:
        raise Refused(f"match_on cannot be {unknown[0]!r}; it must be one of {', '.join(MATCHES)}")
    if given != ["auto"]:
        return [given]
    if wanted.name in BY_DEVICE:
        return [["device"]]
    return [["name"]] if wanted.fstype in BY_NAME else [["device"], ["name"]]


ESCAPES = {" ": "\\040", "\t": "\\011", "\n": "\\012", "\r": "\\015", "\\": "\\134"}


def shown_option(opt: str) -> str:
    """The option, without a secret value."""
    key, _, value = opt.partition("=")
    return f"{key}=XXX-REDACTED-XXX" if value and key in SECRET else opt


def escape(text: str) -> str:
    return "".join(ESCAPES.get(sign, sign) for sign in text)


def plain(text: str) -> str:
    for sign, code in ESCAPES.items():
        text = text.replace(code, sign)
    return text


def parse(text: str) -> Fstab:
    return Fstab(tuple(map(_line, text.splitlines())))


def _line(text: str) -> Line:
    words = [plain(word) for word in text.split()]
    if len(words) < 3 or words[0].startswith("#"):
        return text
    usual = ("", "", "", "defaults", "0", "0")
    device, name, fstype, opts, dump, number = (*words, *usual[len(words) :])[:6]
    return Entry(device=device, name=name, fstype=fstype, opts=opts, dump=dump, pass_num=number, text=text)


def read(ctx: Context, config: str = USUAL) -> Fstab:
    return parse(ctx.host.read(config) or "")


def write(ctx: Context, table: Fstab, config: str = USUAL) -> None:
    ctx.host.write(config, table.text())


def settle(table: Fstab, wanted: Entry, match_on: Match = "auto", *, keep: bool = False) -> str:
    """What to do for an entry: ``new``, ``update``, or nothing. ``keep`` leaves a differing entry."""
    have = table.find(wanted, match_on)
    if have is None:
        return "new"
    return "" if keep or have.same(wanted) else "update"
