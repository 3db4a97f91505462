"""The pages of action chains: the file, from its schema, and the statuses, from their table."""

from __future__ import annotations

import re

from msgspec import UNSET
from msgspec.structs import FieldInfo, fields

from saltern.chains.action_body import Body
from saltern.chains.actions import KINDS, Safety
from saltern.chains.document import Again, Head, Policy
from saltern.chains.inputs import Input
from saltern.chains.statuses import OVERLAYS, ROWS, Leg, Run, Status, Step, Wave
from tools.reference.markdown import code, page, prose, shown, table

SAFETY = {
    Safety.REPEATED: "it is run again",
    Safety.ONCE: "*indeterminate*, unless `creates`, `unless`, `onlyif`, `verify` or `resume` says otherwise",
    Safety.PROVEN: "the machine itself proves whether it happened",
}
WORDS = (
    (r"Annotated\[list\[Any\], Meta\(.*\)\]", "list"),
    (r"Any \| UnsetType", "any value"),
    (r"dict\[Label, Input\]", "mapping of names to inputs"),
    (r"Annotated\[(.*), Meta\(.*\)\]", r"\1"),
    (r"Literal\[['\"](\w+)['\"], ['\"](\w+)['\"]\]", r"\1 or \2"),
    (r"dict\[Text, str \| None\]", "mapping of names to versions"),
    (r"list\[dict\[str, object\]\]", "list of actions"),
    (r"dict\[.*\]|Env", "mapping"),
    (r"Names|list\[\w+\]", "list"),
    (r"Text|str|Label", "text"),
    (r"Seconds", "seconds"),
    (r"float|int", "number"),
    (r"bool", "true or false"),
    (r"Failure", "stop, continue, pause or handler"),
    (r"Given", "an action"),
    (r"Resume", "rerun, skip, fail or ask"),
    (r"Again", "mapping: `attempts`, `wait`, `backoff`"),
    (r" \| None", ""),
    (r" \| ", " or "),
    (r"^Type$", "string, integer, number, boolean, list or mapping"),
)
LEVELS: dict[type[Step] | type[Leg] | type[Wave] | type[Run], str] = {
    Step: "an action on one system",
    Leg: "one system in one run of a chain; what `saltern chain status` shows",
    Wave: "legs of one run that begin together; given by a controller",
    Run: "a chain on all its systems; given by a controller",
}


def chain_file() -> str:
    parts = [
        "A chain file is YAML. Anything that is not on this page is an error, which is reported with its "
        "line."
        " What chains are for: [the guide](../guides/action-chains.md).",
        prose(" ".join((Head.__doc__ or "").split()).partition(". ")[2]),
        _fields(Head),
        "## Inputs\n\n`inputs` is a mapping of names; each has any of these keys. [The guide]"
        "(../guides/action-chains.md#inputs) has an example.",
        prose(" ".join((Input.__doc__ or "").split()).partition(". ")[2]),
        _fields(Input),
        "## Every action\n\nAn action is a mapping with one key for its kind, and any of these:",
        prose(" ".join((Policy.__doc__ or "").split()).partition(". ")[2]),
        _fields(Policy),
        "`retry` takes " + ", ".join(code(field.name) for field in fields(Again)) + ".",
        "## The kinds of actions",
        table(
            ("key", "what it does", "if the machine crashes in it", "cuts the chain"),
            [
                (
                    f"[`{name}`](#{name})",
                    prose((kind.body.__doc__ or "").splitlines()[0]),
                    SAFETY[kind.safety],
                    "yes" if kind.barrier else "",
                )
                for name, kind in KINDS.items()
            ],
        ),
    ]
    for name, kind in KINDS.items():
        short = f" A value that is not a mapping is the value of its `{kind.short}`." if kind.short else ""
        parts.append(f"## {name}\n\n{prose(kind.body.__doc__ or '')}{short}\n\n{_fields(kind.body)}")
    return page("Chain file", *parts)


def _fields(shape: type[Body] | type[Head] | type[Policy] | type[Input]) -> str:
    annotations = {
        name: text for one in shape.__mro__ for name, text in vars(one).get("__annotations__", {}).items()
    }
    rows = [(code(one.encode_name), _type(annotations[one.name]), _default(one)) for one in fields(shape)]
    return table(("key", "value", "default"), rows)


def _type(annotation: str) -> str:
    for pattern, word in WORDS:
        annotation = re.sub(pattern, word, annotation)
    return annotation


def _default(field: FieldInfo) -> str:
    if field.required:
        return "**needed**"
    value = field.default if field.default_factory.__class__.__name__ == "NoDefaultType" else []
    return "" if value in (None, "", [], {}) or value is UNSET else shown(value)


def chain_statuses() -> str:
    parts = [
        "Every status of an action chain, and every move between two of them. No other move is ever made: a"
        " finished status stays until an operator orders *retry* or *skip*, or a result after the deadline "
        "corrects it.",
    ]
    for level, about in LEVELS.items():
        rows = [
            (f"**{row.status.value}**", row.means, _listed(row.to))
            for row in ROWS
            if isinstance(row.status, level)
        ]
        parts.append(f"## {level.__name__}: {about}\n\n" + table(("status", "meaning", "may become"), rows))
    overlays = [(f"**{one.value}**", means) for one, means in OVERLAYS.items()]
    parts.append(
        "## Shown in place of the status of a leg\n\n" + table(("shown", "meaning"), overlays),
    )
    return page("Statuses of action chains", *parts)


def _listed(to: tuple[Status, ...]) -> str:
    return ", ".join(status.value for status in to) or "nothing: it is final"
