"""Every message, one frozen struct each, and the table ``MESSAGES``.

A field that a reader does not know is skipped, and one that is missing has its default: so a field can be
added at any time, with a default. ``v`` says how old a reader may be; it grows only if an older one would
misunderstand, and such a reader refuses the message by name.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from saltern.fleet.protocol.message import (
    Count,
    Digest,
    Id,
    Jid,
    Key,
    Message,
    Nonce,
    Seconds,
    Signature,
    Status,
    Text,
    Word,
)
from saltern.fleet.protocol.peer_messages import MineAnswer, MineRequest, PublishAnswer, PublishRequest
from saltern.fleet.protocol.site_messages import SiteCertificate, SiteCertificateRequest

# -- from controllers to agents: always inside a signed envelope -------------------------------


class Job(Message, frozen=True, kw_only=True):
    """Something to run. ``changing`` jobs run one after the other, the rest beside them. ``returners`` are
    called there with what came of it and with ``return_options``, which are Salt's ``ret_config`` and
    ``ret_kwargs``.
    """

    jid: Jid
    function: Word
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    changing: bool = True
    test: bool = False
    environment: Word = "base"
    tree: Digest = ""
    after: Jid | None = None
    parent: Jid | None = None
    on_interrupt: Literal["rerun", "report"] = "rerun"
    splay: Seconds = 0
    time_limit: Seconds = 0
    user: Word = ""
    rule: Word = ""
    returners: list[Word] | UnsetType = UNSET
    return_options: dict[str, Any] | UnsetType = UNSET


class Control(Message, frozen=True, kw_only=True):
    """A short order: cancel a job, ask for a sync, stop taking jobs, read the configuration again."""

    action: Literal["cancel", "kill", "sync", "drain", "reload", "leave"]
    jid: Jid | None = None
    why: Text = ""


class Confirmed(Struct, frozen=True, kw_only=True):
    """How much of a job the controller has stored: its return, and the records before ``records``."""

    jid: Jid
    returned: bool = False
    records: Count = 0


class SyncAnswer(Message, frozen=True, kw_only=True):
    """All that an agent missed, in one answer. ``refused`` says why the agent may not take part;
    ``want_facts``: the controller has other facts than the agent believes, and it should send them again;
    ``events``: those of the request that are stored; ``withdrawn``: the root's withdrawals of removed
    controllers.
    """

    cursor: Count = 0
    jobs: list[Annotated[str, Meta(max_length=1_000_000)]] = []
    more: bool = False
    cancelled: list[Jid] = []
    confirmed: list[Confirmed] = []
    trees: dict[str, Digest] = {}
    credential: str = ""
    servers: list[Word] = []
    now: Seconds = 0
    retry_after: Seconds = 0
    next_sync: Seconds = 600
    refused: Text = ""
    want_facts: bool = False
    events: list[Word] = []
    withdrawn: list[Signed] = []


class PillarAnswer(Message, frozen=True, kw_only=True):
    """The pillar of one system, sealed to its key."""

    sealed: bytes = b""
    digest: Digest = ""
    problem: Text = ""


class RenderAnswer(Message, frozen=True, kw_only=True):
    """The result of rendering a file or block, sealed to the agent's key; or why it was refused."""

    sealed: bytes = b""
    problem: Text = ""


class Received(Message, frozen=True, kw_only=True):
    """Confirms that the message is stored."""

    digest: Digest = ""
    problem: Text = ""


class RenewAnswer(Message, frozen=True, kw_only=True):
    """A new credential for the same key, or why there is none. ``spare`` can only ask for a new
    one, long after the credential has expired.
    """

    credential: str = ""
    spare: str = ""
    problem: Text = ""


class EnrolAnswer(Message, frozen=True, kw_only=True):
    """The answer to a request to join. ``fingerprint`` is what an operator compares before accepting;
    ``spare`` is a credential that can only ask again.
    """

    state: Literal["accepted", "pending", "rejected"]
    fingerprint: Word = ""
    credential: str = ""
    spare: str = ""
    why: Text = ""
    retry_after: Seconds = 0


# -- from agents to controllers ------------------------------------------------------------------


class SyncRequest(Message, frozen=True, kw_only=True):
    """What an agent has, so that the controller can send what it lacks.

    ``instance`` is drawn at each start, ``starts`` counts them on disk: two machines with one identity
    differ in both. ``events``: the ids of events that were sent, and not confirmed.
    """

    nonce: Nonce
    instance: Word
    starts: Count = 0
    boot: Word = ""
    version: Word = ""
    cursor: Count = 0
    running: list[Jid] = []
    unconfirmed: list[Jid] = []
    trees: dict[str, Digest] = {}
    facts: Digest = ""
    now: Seconds = 0
    events: list[Word] = []


class Return(Message, frozen=True, kw_only=True):
    """How a job ended on one system. A long body travels in parts, each a message of its own.

    ``function`` and ``by`` are set for a job that the system itself has begun: what, and which schedule.
    """

    jid: Jid
    status: Status
    part: Count = 0
    parts: Annotated[int, Meta(ge=1, le=4096)] = 1
    exit_code: int = 0
    started: Seconds = 0
    ended: Seconds = 0
    changed: Count = 0
    failed: Count = 0
    why: Text = ""
    encoding: Literal["json", "json+zlib"] = "json"
    size: Count = 0
    digest: Digest = ""
    body: bytes = b""
    function: Word = ""
    by: Word = ""


class Records(Message, frozen=True, kw_only=True):
    """Records of a job's journal, from number ``first`` on: the journal is the outbox."""

    jid: Jid
    run: Word
    first: Count
    records: list[Any] = []


class Progress(Message, frozen=True, kw_only=True):
    """The progress of a job: its current state, by number; for the leg of a chain all its steps. Best
    effort.
    """

    jid: Jid
    done: Count = 0
    total: Count = 0
    state: Word = ""
    outcome: Literal["", "ok", "changed", "failed", "would change"] = ""
    failed: Count = 0
    comment: Text = ""
    leg: dict[str, Any] = {}


class Away(Message, frozen=True, kw_only=True):
    """The system or the agent goes down on purpose; and when it should be back."""

    why: Literal["reboot", "update", "stop", "leave"]
    jid: Jid | None = None
    back_by: Seconds = 0


class Event(Message, frozen=True, kw_only=True):
    """Something happened: a tag, as Salt's events have, and data.

    ``uid`` is the agent's own name for it, the same however often it is sent; ``jid`` the job that sent it;
    ``preload`` are keys beside the data.
    """

    tag: Annotated[str, Meta(min_length=1, max_length=512)]
    data: dict[str, Any] = {}
    at: Seconds = 0
    uid: Word = ""
    jid: Jid | None = None
    preload: dict[str, Any] = {}


class Alive(Message, frozen=True, kw_only=True):
    """The answer to a poke."""

    instance: Word
    starts: Count = 0
    running: list[Jid] = []
    version: Word = ""


class PillarRequest(Message, frozen=True, kw_only=True):
    """Ask for the system's own pillar; the subject names the system."""

    nonce: Nonce
    environment: Word = "base"
    digest: Digest = ""
    overrides: dict[str, Any] = {}


class RenderRequest(Message, frozen=True, kw_only=True):
    """Ask the controller to render a file or a delayed block of a job, with what the caller returned.

    ``source`` and ``block`` name what is requested, and ``parent`` the calling state, for people.
    ``question`` is ``render.remote.Question``, packed; it contains what the first version of this message had
    in ``previous`` and ``context``.
    """

    nonce: Nonce
    jid: Jid
    source: Text = ""
    parent: Text = ""
    block: Text = ""
    question: bytes = b""
    previous: dict[str, Any] | None = None
    context: dict[str, Any] = {}


class Facts(Message, frozen=True, kw_only=True):
    """The grains of a system, as it reports them. Stored as its claim, not as the truth."""

    nonce: Nonce
    digest: Digest
    grains: dict[str, Any] = {}


class RenewRequest(Message, frozen=True, kw_only=True):
    """Ask for a new credential before the old one expires."""

    nonce: Nonce
    expires: Seconds = 0


class EnrolRequest(Message, frozen=True, kw_only=True):
    """Ask to join. ``signed`` is the text of an ``EnrolClaim``; the key in it has signed it."""

    signed: Annotated[str, Meta(max_length=65_536)]
    signature: Signature
    proof: Annotated[bytes, Meta(max_length=64)] = b""


class EnrolClaim(Message, frozen=True, kw_only=True):
    """Who asks to join, with which keys, by which token."""

    nonce: Nonce
    fleet: Word
    id: Id
    key: Key
    sealing_key: Key
    token: Word = ""
    at: Seconds = 0
    facts: dict[str, Any] = {}


# -- signatures ------------------------------------------------------------------------------------


class Signed(Struct, frozen=True, kw_only=True):
    """A text and the signature of exactly these bytes: nothing is re-encoded before the check."""

    text: Annotated[str, Meta(max_length=65_536)]
    signature: Signature


class Certificate(Message, frozen=True, kw_only=True):
    """The fleet root's statement that this key signs for this fleet until then."""

    fleet: Word
    serial: Word
    name: Word
    key: Key
    issued: Seconds
    expires: Seconds


class Audience(Struct, frozen=True, kw_only=True):
    """The addressees: some ids, all that a target expression matches, or everyone."""

    ids: list[Id] = []
    expression: Text = ""
    everyone: bool = False


class Envelope(Message, frozen=True, kw_only=True):
    """A signed message: the text of its ``Claims``, the signature, and the certificate of the key."""

    signed: Annotated[str, Meta(max_length=1_000_000)]
    signature: Signature
    certificate: Signed


# -- the table -------------------------------------------------------------------------------------

KIB = 1024


class Row(Struct, frozen=True, kw_only=True):
    """How a message travels: at most ``limit`` bytes, ``signed`` inside an envelope."""

    shape: type[Message]
    limit: int = 64 * KIB
    signed: bool = False
    answers: str | UnsetType = UNSET

    @property
    def about(self) -> str:
        return " ".join((self.shape.__doc__ or "").split())


MESSAGES: dict[str, Row] = {
    "job": Row(shape=Job, limit=700 * KIB, signed=True),
    "control": Row(shape=Control, signed=True),
    "sync": Row(shape=SyncRequest, limit=256 * KIB),
    "sync-answer": Row(shape=SyncAnswer, limit=960 * KIB, signed=True, answers="sync"),
    "return": Row(shape=Return, limit=700 * KIB),
    "records": Row(shape=Records, limit=700 * KIB),
    "progress": Row(shape=Progress, limit=256 * KIB),
    "away": Row(shape=Away),
    "event": Row(shape=Event, limit=256 * KIB),
    "alive": Row(shape=Alive),
    "pillar": Row(shape=PillarRequest),
    "pillar-answer": Row(shape=PillarAnswer, limit=700 * KIB, signed=True, answers="pillar"),
    "render": Row(shape=RenderRequest, limit=512 * KIB),
    "render-answer": Row(shape=RenderAnswer, limit=700 * KIB, signed=True, answers="render"),
    "mine": Row(shape=MineRequest, limit=256 * KIB),
    "mine-answer": Row(shape=MineAnswer, limit=700 * KIB, signed=True, answers="mine"),
    "publish": Row(shape=PublishRequest, limit=256 * KIB),
    "publish-answer": Row(shape=PublishAnswer, limit=700 * KIB, signed=True, answers="publish"),
    "facts": Row(shape=Facts, limit=512 * KIB),
    "received": Row(shape=Received, signed=True, answers="facts"),
    "renew": Row(shape=RenewRequest),
    "renew-answer": Row(shape=RenewAnswer, signed=True, answers="renew"),
    "enrol": Row(shape=EnrolRequest),
    "enrol-claim": Row(shape=EnrolClaim),
    "enrol-answer": Row(shape=EnrolAnswer, signed=True, answers="enrol"),
    "envelope": Row(shape=Envelope, limit=1000 * KIB),
    "certificate": Row(shape=Certificate),
    "site-certificate": Row(shape=SiteCertificateRequest),
    "site-certificate-answer": Row(shape=SiteCertificate, answers="site-certificate"),
}
KINDS: dict[type[Message], str] = {row.shape: kind for kind, row in MESSAGES.items()}
