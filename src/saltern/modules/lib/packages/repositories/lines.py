"""Entries of apt, from lines (``deb …``) and deb822 stanzas."""

from __future__ import annotations

import re

from msgspec import Struct

from saltern.modules.api.params import BadArgument

Options = tuple[tuple[str, str], ...]


class Entry(Struct, frozen=True, kw_only=True):
    """One repository. ``options`` are those in brackets, sorted."""

    type: str
    uri: str
    dist: str
    comps: tuple[str, ...] = ()
    options: Options = ()
    disabled: bool = False

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The identity of the repository."""
        return self.type, self.uri.rstrip("/"), self.dist, dict(self.options).get("arch", "")

    @property
    def signed_by(self) -> str:
        return dict(self.options).get("signed-by", "")

    def line(self) -> str:
        options = " ".join(f"{key}={value}" for key, value in self.options)
        words = [self.type, *([f"[{options}]"] if options else []), self.uri, self.dist, *self.comps]
        return ("# " if self.disabled else "") + " ".join(words)

    def stanza(self) -> str:
        rows = [
            ("Types", self.type),
            ("URIs", self.uri),
            ("Suites", self.dist),
            ("Components", " ".join(self.comps)),
            *((FIELDS.get(key, key.title()), value.replace(",", " ")) for key, value in self.options),
            ("Enabled", "no" if self.disabled else ""),
        ]
        return "".join(f"{key}: {value}\n" for key, value in rows if value)


FIELDS = {
    "arch": "Architectures",
    "lang": "Languages",
    "target": "Targets",
    "signed-by": "Signed-By",
    "pdiffs": "PDiffs",
    "by-hash": "By-Hash",
    "allow-insecure": "Allow-Insecure",
    "allow-weak": "Allow-Weak",
    "check-valid-until": "Check-Valid-Until",
}
OPTIONS = {field.lower(): option for option, field in FIELDS.items()}
LINE = re.compile(r"(deb|deb-src)\s+(?:\[\s*([^\]]*?)\s*\]\s+)?(\S+:\S*)\s+(\S+)((?:\s+[^\s#]+)*)\s*(#.*)?")
COMMENT = re.compile(r"\s*#+\s*(?=deb)")


def parse_line(text: str) -> Entry | None:
    """``[# ]deb [options] uri dist comps``; None for any other line."""
    bare = COMMENT.sub("", text, count=1).strip()
    match = LINE.fullmatch(bare)
    if match is None:
        return None
    pairs = [word.partition("=") for word in (match[2] or "").split()]
    return Entry(
        type=match[1],
        uri=match[3],
        dist=match[4],
        comps=tuple(match[5].split()),
        options=tuple(sorted((key, value) for key, _, value in pairs)),
        disabled=bool(COMMENT.match(text)),
    )


def _remark(text: str) -> str:
    """The remark behind an entry, as it is put behind another one."""
    match = LINE.fullmatch(COMMENT.sub("", text, count=1).strip())
    return f" {match[6]}" if match and match[6] else ""


def wanted_entry(name: str) -> Entry:
    """The entry in the name of a state."""
    entry = parse_line(name)
    if entry is None:
        raise BadArgument(
            f"{name!r} is not a repository of apt; write it as 'deb [options] uri distribution components'"
        )
    if not entry.dist.endswith("/") and not entry.comps:
        raise BadArgument(f"{name!r} names no components; a distribution without any ends in a slash")
    return entry


# -- files -------------------------------------------------------------------------------------


def parse(text: str, path: str) -> list[Entry]:
    """All entries of a file, whose name determines the form."""
    if path.endswith(".sources"):
        return [entry for stanza in stanzas(text) for entry in _of_stanza(stanza)]
    return [entry for entry in map(parse_line, text.splitlines()) if entry]


def stanzas(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text) if part.strip()]


def _of_stanza(text: str) -> list[Entry]:
    fields = _fields(text)
    types, uris, dists = (fields.get(key, "").split() for key in ("types", "uris", "suites"))
    options = tuple(
        sorted(
            (OPTIONS.get(key, key), value if "\n" in value else ",".join(value.split()))
            for key, value in fields.items()
            if key not in ("types", "uris", "suites", "components", "enabled", "x-repolib-name")
        )
    )
    return [
        Entry(
            type=type_,
            uri=uri,
            dist=dist,
            comps=tuple(fields.get("components", "").split()),
            options=options,
            disabled=fields.get("enabled", "yes").lower() in ("no", "false", "0"),
        )
        for type_ in types
        for uri in uris
        for dist in dists
    ]


def _fields(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    key = ""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t"):
            found[key] = f"{found.get(key, '')}\n{line.strip()}"
        elif ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            found[key] = value.strip()
    return found


def find_entry(entries: list[Entry], entry: Entry) -> Entry | None:
    """The entry of the same repository. An entry for all architectures matches one for some, and vice versa;
    lines for other architectures stay separate."""
    exact = next((one for one in entries if one.key == entry.key), None)
    if exact is not None:
        return exact
    *same, arch = entry.key
    near = [one for one in entries if [*one.key[:-1]] == same and not (one.key[-1] and arch)]
    return near[0] if len(near) == 1 else None


def with_entry(text: str, path: str, entry: Entry, old: Entry | None = None) -> str:
    """The file with this entry in place of the same repository (of ``old``, if given), or at its end."""
    key = (old or entry).key
    if path.endswith(".sources"):
        return _with_stanza(text, entry, key)
    lines = text.splitlines()
    same = [at for at, line in enumerate(lines) if (one := parse_line(line)) and one.key == key]
    kept = [line for at, line in enumerate(lines) if at not in same[1:]]
    if same:
        kept[same[0]] = entry.line() + _remark(lines[same[0]])
    else:
        kept.append(entry.line())
    return "\n".join(kept) + "\n"


def _with_stanza(text: str, entry: Entry, key: tuple[str, str, str, str]) -> str:
    parts = stanzas(text)
    same = [at for at, part in enumerate(parts) if any(one.key == key for one in _of_stanza(part))]
    if same and len(_of_stanza(parts[same[0]])) > 1:
        raise BadArgument(
            f"{entry.uri} {entry.dist} is part of a stanza with other repositories; give each its own stanza"
        )
    kept = [part.strip("\n") for at, part in enumerate(parts) if at not in same[1:]]
    new = entry.stanza().strip("\n")
    if same:
        remarks = [line for line in parts[same[0]].splitlines() if line.startswith("#")]
        kept[same[0]] = "\n".join([*remarks, new])
    else:
        kept.append(new)
    return "\n\n".join(kept) + "\n"


def without_entry(text: str, path: str, entry: Entry) -> str:
    """The file without this repository."""
    if path.endswith(".sources"):
        parts = [part for part in stanzas(text) if all(one.key != entry.key for one in _of_stanza(part))]
        return "\n\n".join(part.strip("\n") for part in parts) + "\n" if parts else ""
    lines = [line for line in text.splitlines() if not (one := parse_line(line)) or one.key != entry.key]
    return "\n".join(lines) + "\n" if lines else ""
