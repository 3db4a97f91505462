"""Checks a submission, and turns it into a job. Pure."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from saltern.fleet.chains.amounts import is_amount
from saltern.fleet.controller.target import is_local
from saltern.fleet.protocol.batch import Batch
from saltern.fleet.protocol.codec import MAX_DEPTH, BadMessage, check_depth
from saltern.fleet.protocol.ids import is_jid
from saltern.fleet.protocol.messages import Audience, Job
from saltern.fleet.protocol.verbs import STATE_LIFE, verb_of
from saltern.language.diagnostics import Diagnostic, OperationError

SEPARATELY = 500  # number of systems up to which each gets its own message
LARGEST = 600 * 1024  # bytes of the arguments of a job, as encoded in an answer
LONGEST = 7 * 86_400.0  # seconds that a job may wait for systems that are away
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")
_DIGEST = re.compile(r"([0-9a-f]{64})?")
_WORD = 255
LONGEST_EXPRESSION = 8192
RETURN_OPTIONS = frozenset({"ret_config", "ret_kwargs"})


class Submission(Struct, kw_only=True, frozen=True):
    """What to run where. ``life``: seconds for which the job is offered to systems that are away; ``wait``:
    the same, and 0 leaves out systems that are away. ``batch``: on how many systems it runs at a time, as a
    number or a percentage; ``batch_wait``: seconds between the end on one system and the start on the next;
    ``batch_failures``: if more fail than this, those that have not begun are left out. ``returners``: what
    each system calls with its return; ``return_options``: their settings. ``request``: the digest of the
    request that has this client token.
    """

    function: str
    target: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    test: bool = False
    environment: str = "base"
    life: float | None = None
    wait: float | None = None
    changing: bool | None = None
    time_limit: float = 0
    splay: float = 0
    parent: str | None = None
    client_token: str | None = None
    request: str = ""
    tree: str = ""
    batch: str = ""
    batch_wait: float = 0
    batch_failures: str = ""
    returners: list[str] = []
    return_options: dict[str, Any] = {}


class Submitted(Struct, kw_only=True, frozen=True):
    """A stored job. ``away``: the systems that will get it later, and since when they are away; one that is
    not expected was left out.

    ``known``: this is the job of an earlier submission with the same client token, and of ``request``.
    ``cursor``: to follow the job from its beginning.
    """

    jid: str
    expected: list[str]
    away: dict[str, float | None] = {}
    expires: float
    known: bool = False
    cursor: int = 0
    request: str = ""


def check(ask: Submission) -> None:
    """Refuse a submission that no agent would accept, with all reasons at once."""
    problems = [
        (not _FUNCTION.fullmatch(ask.function), f"{ask.function!r} is not the name of a function"),
        (len(ask.function) > _WORD, "the name of the function is too long"),
        (not ask.target.strip(), "the target is empty; '*' means every system"),
        (
            len(ask.target) > LONGEST_EXPRESSION,
            "the target is longer than 8192 characters; make a group of it",
        ),
        (not 0 < len(ask.environment) <= _WORD, "the environment is empty or too long"),
        (not _is_duration(ask.life, least=1), f"life must be between 1 and {LONGEST:.0f} seconds"),
        (not _is_duration(ask.wait), f"wait must be between 0 and {LONGEST:.0f} seconds"),
        (not _is_duration(ask.time_limit), f"time_limit must be between 0 and {LONGEST:.0f} seconds"),
        (not _is_duration(ask.splay), f"splay must be between 0 and {LONGEST:.0f} seconds"),
        (ask.parent is not None and not is_jid(ask.parent), f"{ask.parent!r} is not the id of a job"),
        (not _DIGEST.fullmatch(ask.tree), "tree must be the digest of a tree, or empty"),
        (ask.client_token is not None and not 0 < len(ask.client_token) <= _WORD, "client_token is too long"),
        *[(not _is_returner(name), f"{name!r} is not the name of a returner") for name in ask.returners],
        *_option_problems(ask.return_options),
        *_batch_problems(ask),
        *_argument_problems(ask),
    ]
    found = [
        Diagnostic(code="fleet-submission", what=what, fix="correct the request and submit it again")
        for wrong, what in problems
        if wrong
    ]
    if found:
        raise OperationError(*found)


def _is_returner(name: str) -> bool:
    return name.isidentifier() and len(name) <= _WORD


def _option_problems(options: dict[str, Any]) -> list[tuple[bool, str]]:
    kwargs = options.get("ret_kwargs", {})
    names = isinstance(kwargs, dict) and all(isinstance(name, str) for name in kwargs)
    return [
        *[(True, f"returners have no option {name!r}") for name in sorted(options.keys() - RETURN_OPTIONS)],
        (not isinstance(options.get("ret_config", ""), str), "ret_config must be a text"),
        (not names, "ret_kwargs must be a mapping of names to values"),
    ]


def _is_duration(value: float | None, least: float = 0) -> bool:
    return value is None or least <= value <= LONGEST  # also false for NaN


def _batch_problems(ask: Submission) -> list[tuple[bool, str]]:
    options = bool(ask.batch_failures or ask.batch_wait)
    return [
        (
            not is_amount(ask.batch, least=1),
            f"batch must be a number from 1 on or a percentage: {ask.batch!r}",
        ),
        (
            not is_amount(ask.batch_failures),
            f"batch_failures must be a number or a percentage: {ask.batch_failures!r}",
        ),
        (not _is_duration(ask.batch_wait), f"batch_wait must be between 0 and {LONGEST:.0f} seconds"),
        (options and not ask.batch, "batch_wait and batch_failures are for jobs with a batch"),
    ]


def batch_of(ask: Submission) -> Batch | None:
    """The batch of the job; None: it goes to all systems at once."""
    if not ask.batch:
        return None
    patience = verb_of(ask.function, test=ask.test).life
    return Batch(size=ask.batch, wait=ask.batch_wait, failures=ask.batch_failures, patience=patience)


def _argument_problems(ask: Submission) -> list[tuple[bool, str]]:
    try:
        check_depth(msgspec.json.encode([ask.args, ask.kwargs, ask.return_options]))
    except BadMessage:
        return [(True, f"the arguments are nested deeper than {MAX_DEPTH - 2} levels")]
    except (TypeError, ValueError, RecursionError):
        return [(True, "the arguments cannot be written as JSON")]
    size = written_size([ask.args, ask.kwargs, ask.return_options])
    what = f"the arguments take {size} bytes on their way to an agent, and {LARGEST} are allowed"
    return [(size > LARGEST, f"{what}; put them into a file of the tree or into pillar")]


def written_size(content: object) -> int:
    """The size of a value inside a sync answer: three nested texts, each of which escapes the quotes."""
    text = msgspec.json.encode(content)
    for _ in range(3):
        text = msgspec.json.encode(text.decode())
    return len(text)


def lifetime(ask: Submission) -> float:
    """Seconds for which the job is offered: as requested, or the default of its function. The last systems of
    a batch wait long for their turn.
    """
    usual = STATE_LIFE if ask.batch else verb_of(ask.function, test=ask.test).life
    life = ask.life if ask.life is not None else usual
    return min(life, ask.wait) if ask.wait else life


def functions_of(ask: Submission) -> tuple[str, ...]:
    """What the policy must allow. Settings decide where a returner writes: with some, it counts as called."""
    return (ask.function, *(f"{name}.returner" for name in ask.returners if ask.return_options))


def make_job(ask: Submission, jid: str, *, user: str, rule: str, tree: str) -> Job:
    verb = verb_of(ask.function, test=ask.test)
    return Job(
        jid=jid,
        function=ask.function,
        args=ask.args,
        kwargs=ask.kwargs,
        changing=verb.changing if ask.changing is None else ask.changing,
        test=ask.test,
        environment=ask.environment,
        tree=tree,
        parent=ask.parent,
        on_interrupt=verb.on_interrupt,
        splay=ask.splay,
        time_limit=ask.time_limit,
        user=user[:_WORD],
        rule=rule[:_WORD],
        returners=ask.returners or UNSET,
        return_options=ask.return_options or UNSET,
    )


Delivery = Literal["each", "all"]


def delivery(expected: int, expression: str) -> Delivery:
    """How to send it: one message for each system; or, for many, one for all if they can evaluate the
    target.
    """
    few = expected <= SEPARATELY
    return "each" if few or len(expression) > LONGEST_EXPRESSION or is_local(expression) else "all"


def audience(how: Delivery, systems: list[str], expression: str) -> Audience:
    return Audience(ids=systems) if how == "each" else Audience(expression=expression)
