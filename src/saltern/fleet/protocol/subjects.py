"""``SUBJECTS``: every subject, once, with who may publish and subscribe. Permissions come from it.

A pattern has fields in braces. Each field becomes one token, encoded; ``{tag...}`` becomes several. ``{id}``
is the system: for an agent it is always its own, because the broker puts the name of its credential there.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache

from msgspec import Struct

from saltern.fleet.protocol.ids import BadId, decode_token, encode_token


class Role(Enum):
    """The kind of holder of a credential."""

    AGENT = "agent"
    CONTROLLER = "controller"
    JOINER = "joiner"  # has a join token and nothing else


class Kind(Enum):
    """How a subject is used."""

    CORE = "delivered to who listens now"
    CAPTURED = "delivered to who listens now, and kept in a stream"
    STORED = "kept in a stream, with an acknowledgement"
    SERVICE = "a request with an answer"
    REPLY = "answers"
    BROKER = "a request that the broker answers"


AGENT, CONTROLLER, JOINER = Role.AGENT, Role.CONTROLLER, Role.JOINER
SERVICES = "ctl"  # the queue group in which controllers share requests
_FIELD = re.compile(r"\{(\w+)(\.\.\.)?\}")
_NAMES = {
    Role.AGENT: {"id": "{{name()}}", "me": "{{name()}}", "site": "{{tag(site)}}"},
    Role.CONTROLLER: {"me": "{{name()}}"},
    Role.JOINER: {"me": "{{name()}}"},
}


class Subject(Struct, frozen=True, kw_only=True):
    """One row: the pattern, the rights, the message and the stream that keeps it."""

    pattern: str
    kind: Kind
    publish: tuple[Role, ...] = ()
    subscribe: tuple[Role, ...] = ()
    message: str = ""
    stream: str = ""
    about: str

    def of(self, **fields: str) -> str:
        """The subject with its fields filled in; any text is safe."""
        return _form(self.pattern) % {
            name: _fill_in(fields[name], several) for name, several in _fields(self.pattern)
        }

    def wild(self, **fields: str) -> str:
        """The subject with a wildcard for each field that is not given."""

        def fill(found: re.Match[str]) -> str:
            name, several = found[1], bool(found[2])
            return _fill_in(fields[name], several) if name in fields else ">" if several else "*"

        return _FIELD.sub(fill, self.pattern)

    def parse(self, subject: str) -> dict[str, str] | None:
        """The decoded fields of a subject of this row; None for any other subject."""
        found = _expression(self.pattern).fullmatch(subject)
        if found is None:
            return None
        try:
            return {
                name: "/".join(map(decode_token, text.split("."))) for name, text in found.groupdict().items()
            }
        except BadId:
            return None

    def permission(self, role: Role) -> str:
        """The subject as a permission of this role; the broker fills in the name of the credential."""
        names = _NAMES[role]
        return _FIELD.sub(
            lambda found: names.get(found[1], ">" if found[2] else "*"),
            self.pattern,
        )


@cache
def _fields(pattern: str) -> tuple[tuple[str, bool], ...]:
    """The fields of a pattern, and whether each becomes several tokens."""
    return tuple((found[1], bool(found[2])) for found in _FIELD.finditer(pattern))


@cache
def _form(pattern: str) -> str:
    """The pattern for the operator ``%``."""
    return _FIELD.sub(lambda found: f"%({found[1]})s", pattern.replace("%", "%%"))


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+(?:\.\.\.)?\})", pattern)
    return re.compile("".join(_group(part) if part.startswith("{") else re.escape(part) for part in parts))


def _fill_in(text: str, several: bool) -> str:
    return ".".join(map(encode_token, text.split("/"))) if several else encode_token(text)


def _group(part: str) -> str:
    name = part.strip("{}.")
    return f"(?P<{name}>.+)" if part.endswith("...}") else rf"(?P<{name}>[^.]+)"


SUBJECTS: dict[str, Subject] = {
    "job": Subject(
        pattern="dn.{id}.job",
        kind=Kind.CAPTURED,
        publish=(CONTROLLER,),
        subscribe=(AGENT,),
        message="job",
        stream="JOBS",
        about="a job for one system",
    ),
    "job-all": Subject(
        pattern="dn._all.job",
        kind=Kind.CAPTURED,
        publish=(CONTROLLER,),
        subscribe=(AGENT,),
        message="job",
        stream="JOBS",
        about="a job for many systems: one message, whatever their number",
    ),
    "job-site": Subject(
        pattern="dn._site.{site}.job",
        kind=Kind.CAPTURED,
        publish=(CONTROLLER,),
        subscribe=(AGENT,),
        message="job",
        stream="JOBS",
        about="a job for the systems of one site",
    ),
    "control": Subject(
        pattern="dn.{id}.ctl",
        kind=Kind.CORE,
        publish=(CONTROLLER,),
        subscribe=(AGENT,),
        message="control",
        about="cancel, sync, drain; without data it is a poke. Never kept, so that the broker reports at once"
        " that no agent listens",
    ),
    "answer": Subject(
        pattern="up.{id}.ans.{controller}.{nonce}",
        kind=Kind.REPLY,
        publish=(AGENT,),
        subscribe=(CONTROLLER,),
        message="alive",
        about="answers to `control`: the agent needs no right outside of its own subjects",
    ),
    "return": Subject(
        pattern="up.{id}.ret.{jid}",
        kind=Kind.STORED,
        publish=(AGENT,),
        message="return",
        stream="RETURNS",
        about="how a job ended",
    ),
    "records": Subject(
        pattern="up.{id}.rec.{jid}",
        kind=Kind.STORED,
        publish=(AGENT,),
        message="records",
        stream="RETURNS",
        about="the journal of a job",
    ),
    "progress": Subject(
        pattern="up.{id}.prg.{jid}",
        kind=Kind.CORE,
        publish=(AGENT,),
        subscribe=(CONTROLLER,),
        message="progress",
        about="where a job is",
    ),
    "away": Subject(
        pattern="up.{id}.away",
        kind=Kind.STORED,
        publish=(AGENT,),
        message="away",
        stream="EVENTS",
        about="the system goes down on purpose",
    ),
    "event": Subject(
        pattern="up.{id}.evt.{tag...}",
        kind=Kind.STORED,
        publish=(AGENT,),
        message="event",
        stream="EVENTS",
        about="events and beacons; each part of the tag is a part of the subject",
    ),
    **{
        name: Subject(
            pattern=f"up.{{id}}.svc.{name}",
            kind=Kind.SERVICE,
            publish=(AGENT,),
            subscribe=(CONTROLLER,),
            message=name,
            about=about,
        )
        for name, about in (
            ("sync", "what was missed"),
            ("pillar", "the system's own pillar"),
            ("render", "a file or block that is rendered on the controller"),
            ("mine", "what other systems have published"),
            ("publish", "a function on other systems, or a runner, as far as a controller allows it"),
            ("facts", "what the system says of itself"),
            ("renew", "a new credential"),
        )
    },
    "enrol": Subject(
        pattern="enrol.{key}",
        kind=Kind.SERVICE,
        publish=(JOINER,),
        subscribe=(CONTROLLER,),
        message="enrol",
        about="ask to join, with a new key",
    ),
    "site-certificate": Subject(
        pattern="site.{site}.certificate",
        kind=Kind.SERVICE,
        subscribe=(CONTROLLER,),
        message="site-certificate",
        about="a new certificate for the broker of a site, which has a credential of its own for it",
    ),
    "inbox": Subject(
        pattern="_INBOX.{me}.{rest...}",
        kind=Kind.REPLY,
        subscribe=(AGENT, CONTROLLER, JOINER),
        about="answers to one's own requests",
    ),
    "reply": Subject(
        pattern="_INBOX.{rest...}",
        kind=Kind.REPLY,
        publish=(CONTROLLER,),
        about="answers of services",
    ),
    "blob": Subject(
        pattern="blob.{digest}",
        kind=Kind.STORED,
        publish=(CONTROLLER,),
        stream="BLOBS",
        about="a piece of a file, by its SHA-256",
    ),
    "blob-read": Subject(
        pattern="$JS.API.DIRECT.GET.BLOBS.blob.{digest}",
        kind=Kind.BROKER,
        publish=(AGENT, CONTROLLER),
        about="read a piece of a file; the form that takes the subject in its data is not granted",
    ),
    "site-blob": Subject(
        pattern="up.{id}.blob.{digest}",
        kind=Kind.SERVICE,
        publish=(AGENT,),
        about="a piece of a file from the agent's site, which has a credential of its own for it; it does not"
        " pass the link",
    ),
    "streams": Subject(
        pattern="$JS.API.{rest...}",
        kind=Kind.BROKER,
        publish=(CONTROLLER,),
        about="make and read streams",
    ),
    "acknowledge": Subject(
        pattern="$JS.ACK.{rest...}",
        kind=Kind.BROKER,
        publish=(CONTROLLER,),
        about="what was read from a stream is done",
    ),
}


class Grants(Struct, frozen=True):
    """The rights of a role, as the broker's permission templates."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def grants(role: Role) -> Grants:
    """The rights of a role: exactly what the table says."""
    rows = SUBJECTS.values()
    return Grants(
        publish=tuple(row.permission(role) for row in rows if role in row.publish),
        subscribe=tuple(row.permission(role) for row in rows if role in row.subscribe),
    )


def inbox_of(name: str) -> str:
    """The prefix of all answers to the holder of a credential with this name."""
    return f"_INBOX.{name}"


def is_own_reply(reply: str, name: str) -> bool:
    """True if a request may be answered there: only inside the inbox of the sender.

    The broker checks where a client publishes, not the reply subject it asks for; without this check a
    service would send its answer to any subject, with the service's own rights.
    """
    return reply.startswith(f"{inbox_of(name)}.") and not set(reply) & set("*> \t\r\n")


def subjects_of(stream: str) -> tuple[str, ...]:
    """The subjects of a stream. The broker accepts no subject that another one of the same stream covers."""
    all_of_it = [row.wild() for row in SUBJECTS.values() if row.stream == stream]
    return tuple(
        one for one in all_of_it if not any(other != one and covers(other, one) for other in all_of_it)
    )


def covers(pattern: str, subject: str) -> bool:
    """True if a pattern with wildcards matches the subject, or all that the subject's own wildcards match."""
    wanted, tokens = pattern.split("."), subject.split(".")
    for index, token in enumerate(wanted):
        if token == ">":
            return len(tokens) > index
        if index >= len(tokens) or tokens[index] == ">":
            return False
        if token not in ("*", tokens[index]):
            return False
    return len(tokens) == len(wanted)
