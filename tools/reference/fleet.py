"""The pages of the fleet: messages and subjects, from their tables."""

from __future__ import annotations

import re

from msgspec.structs import fields

from saltern.fleet.protocol.codec import MAX_DEPTH
from saltern.fleet.protocol.message import VERSION, Message
from saltern.fleet.protocol.messages import KIB, MESSAGES
from saltern.fleet.protocol.streams import DAY, MIB, STREAMS, Stream
from saltern.fleet.protocol.subjects import SUBJECTS, Role, grants, subjects_of
from tools.reference.markdown import code, page, prose, shown, table

WORDS = (
    (r"Annotated\[(\w+), Meta\(.*?\)\]", r"\1"),
    (r"list\[(\w+)\]", r"list of \1"),
    (r"dict\[str, Any\]|dict\[str, Digest\]", "mapping"),
    (r"Literal\[(.*)\]", r"\1"),
    (r"\bAny\b", "any"),
    (r"\bbytes\b|\bKey\b|\bSignature\b", "bytes (base64)"),
    (r"\bId\b|\bWord\b|\bText\b|\bNonce\b|\bstr\b", "text"),
    (r"\bJid\b", "job id"),
    (r"\bDigest\b", "SHA-256"),
    (r"\bCount\b|\bint\b", "number"),
    (r"\bSeconds\b", "seconds"),
    (r"\bbool\b", "true or false"),
    (r"\bStatus\b", "status"),
    (r" \| None", ""),
    (r" \| ", " or "),
)


def messages() -> str:
    parts = [
        "The messages between controllers and agents, as JSON. Unknown fields are ignored. A message is "
        f"refused if its `v` is greater than the reader's ({VERSION}), or if it is longer than its limit or "
        f"nested deeper than {MAX_DEPTH} levels."
        " [How they are used](../concepts/fleet.md), [where they are sent](subjects.md).",
        table(
            ("message", "at most", "signed", "what it is"),
            [
                (
                    f"[`{kind}`](#{kind})",
                    f"{row.limit // KIB} KiB",
                    "by a controller" if row.signed else "",
                    prose(row.about),
                )
                for kind, row in MESSAGES.items()
            ],
        ),
    ]
    parts += [f"## {kind}\n\n{prose(row.about)}\n\n{_fields(row.shape)}" for kind, row in MESSAGES.items()]
    return page("Messages", *parts)


def _fields(shape: type[Message]) -> str:
    annotations = {
        name: text for one in shape.__mro__ for name, text in vars(one).get("__annotations__", {}).items()
    }
    rows = [
        (
            code(one.encode_name),
            _type(annotations[one.name]),
            "**needed**" if one.required else _default(one.default),
        )
        for one in fields(shape)
    ]
    return table(("field", "value", "default"), rows)


def _default(value: object) -> str:
    return "" if value in (None, "", b"") or type(value).__name__ == "NoDefaultType" else shown(value)


def _type(annotation: str) -> str:
    for pattern, word in WORDS:
        annotation = re.sub(pattern, word, annotation)
    return annotation


def subjects() -> str:
    return page(
        "Subjects",
        "Every subject on the broker, with the roles that may publish and subscribe there. The"
        " broker enforces it: the permissions of each credential are made from this table. `{id}` is the id"
        " of a system, encoded: letters, digits, `-` and `_` stay, every other byte becomes `=XX`, and so"
        " does a leading `_`.",
        table(
            ("subject", "publish", "subscribe", "message", "how", "what for"),
            [
                (
                    code(row.pattern),
                    _roles(row.publish),
                    _roles(row.subscribe),
                    f"[`{row.message}`](messages.md#{row.message})" if row.message else "",
                    row.kind.value + (f" (`{row.stream}`)" if row.stream else ""),
                    row.about,
                )
                for row in SUBJECTS.values()
            ],
        ),
        "## Rights\n\nThe same by role, in the form of the broker, which inserts the name of the "
        "credential: that of an agent is its own encoded id.",
        *(f"### {role.value}\n\n{_rights(role)}" for role in Role),
        "## Streams\n\nThe data that the broker stores. The database of the controller is authoritative: if"
        " streams are lost, the data is sent again.",
        table(
            ("stream", "subjects", "for", "at most", "synced with each message", "what for"),
            [
                (
                    code(name),
                    ", ".join(map(code, subjects_of(name))),
                    _age(row),
                    f"{row.max_bytes // MIB} MiB",
                    "yes" if row.synced else "no",
                    row.about,
                )
                for name, row in STREAMS.items()
            ],
        ),
    )


def _roles(roles: tuple[Role, ...]) -> str:
    return ", ".join(role.value for role in roles)


def _rights(role: Role) -> str:
    rights = grants(role)
    rows = [("publish", *rights.publish), ("subscribe", *rights.subscribe)]
    return table(("right", "subjects"), [(name, ", ".join(map(code, ones))) for name, *ones in rows])


def _age(row: Stream) -> str:
    return f"{row.max_age / DAY:g} days" if row.max_age else "ever"
