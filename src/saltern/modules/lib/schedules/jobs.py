"""One job of the schedule: its keys with their checks and defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from saltern.language.diagnostics import did_you_mean
from saltern.modules.api.params import CONVERTERS, BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.lib.schedules import times

FUNCTION = re.compile(r"[A-Za-z_]\w*\.[A-Za-z_]\w*")
ONCE_FORMAT = "%Y-%m-%dT%H:%M:%S"
UNITS = ("seconds", "minutes", "hours", "days")
MOMENTS = ("when", "cron", "once")
USUAL: Mapping[str, object] = {"maxrunning": 1, "enabled": True, "jid_include": True}

# The users' names, and those in the file.
RENAMED = {"job_args": "args", "job_kwargs": "kwargs"}
INTERNAL = {"_seconds": "seconds"}  # added by Salt's scheduler in memory

Check = Callable[[object, str], object]


def _as(kind: str) -> Check:
    """A check with the conversion of parameters of this type."""

    def check(value: object, what: str) -> object:
        try:
            return CONVERTERS[kind](value)
        except BadArgument as problem:
            raise Refused(f"{what}: {problem}") from None

    return check


def _at_least(least: int) -> Check:
    convert = _as("int")

    def check(value: object, what: str) -> object:
        number = convert(value, what)
        if not isinstance(number, int) or number < least or (isinstance(value, float) and number != value):
            raise Refused(f"{what} must be a whole number from {least} on, not {value!r}")
        return number

    return check


def _list(value: object, what: str) -> object:
    if not isinstance(value, list | tuple):
        raise Refused(f"{what} must be a list, not {value!r}")
    return list(value)


def _texts(check: Callable[[str, str], str]) -> Check:
    """One text or a list of them, each checked."""

    def each(value: object, what: str) -> object:
        many = isinstance(value, list | tuple)
        checked = [check(str(one), what) for one in (value if isinstance(value, list | tuple) else [value])]
        if not checked:
            raise Refused(f"{what} is empty")
        return checked if many else checked[0]

    return each


def _function(value: str, what: str) -> str:
    if not FUNCTION.fullmatch(value):
        raise Refused(f"{what} cannot be {value!r}; use the name of a function such as state.apply")
    return value


def _span(value: object, what: str) -> object:
    """``{start, end, invert}``, each of the first two a time."""
    known = ("start", "end", "invert")
    if not isinstance(value, Mapping) or not {"start", "end"} <= value.keys() <= set(known):
        raise Refused(f"{what} must be a mapping with start and end, and optionally invert; not {value!r}")
    span: dict[str, object] = {key: times.moment(str(value[key]), f"{what}: {key}") for key in known[:2]}
    return span | ({"invert": _as("bool")(value["invert"], what)} if "invert" in value else {})


def _splay(value: object, what: str) -> object:
    """Seconds, or ``{start, end}`` of them."""
    number = _at_least(0)
    if not isinstance(value, Mapping):
        return number(value, what)
    if value.keys() != {"start", "end"}:
        raise Refused(f"{what} must be a number of seconds, or a mapping with start and end; not {value!r}")
    start, end = (number(value[key], f"{what}: {key}") for key in ("start", "end"))
    if start >= end:  # type: ignore[operator]
        raise Refused(f"{what}: end must be greater than start")
    return {"start": start, "end": end}


def _flag_or_word(value: object, what: str) -> object:
    return value if value == "nocache" else _as("bool")(value, what)


# Every key of a job. ``when`` and ``once`` need more than their value, and are checked again below.
KEYS: Mapping[str, Check] = {
    "function": _texts(_function),
    **dict.fromkeys(UNITS, _at_least(1)),
    "when": _texts(lambda value, _: value),
    "cron": lambda value, _: times.cron(str(value)),
    "once": lambda value, _: str(value),
    "once_fmt": _as("str"),
    "range": _span,
    "skip_during_range": _span,
    "run_after_skip_range": _as("bool"),
    "splay": _splay,
    "until": _texts(times.moment),
    "after": _texts(times.moment),
    "run_on_start": _as("bool"),
    "maxrunning": _at_least(1),
    "args": _list,
    "kwargs": _as("dict[str, object]"),
    "name": _as("str"),
    "enabled": _as("bool"),
    "jid_include": _as("bool"),
    "return_job": _flag_or_word,
    "returner": _texts(lambda value, _: value),
    "return_config": _as("str"),
    "return_kwargs": _as("dict[str, object]"),
    "metadata": _as("dict[str, object]"),
}


def job(name: str, given: Mapping[str, object], whens: Collection[str] = ()) -> dict[str, object]:
    """The job in the form of the file. ``whens`` are named times. Raises ``Refused``."""
    if not name:
        raise Refused("a job needs a name")
    made: dict[str, object] = {"name": name, **USUAL}
    for key, value in given.items():
        kept = RENAMED.get(key, key)
        if kept not in KEYS:
            hint = did_you_mean(key, (*KEYS, *RENAMED))
            raise Refused(f"a job has no {key!r}" + (f"; {hint}" if hint else ""))
        made[kept] = KEYS[kept](value, key)
    _check_whole(name, made, whens)
    return made


def _check_whole(name: str, made: Mapping[str, object], whens: Collection[str]) -> None:
    if "function" not in made:
        raise Refused(f"job {name} needs a function")
    units, moments = ([key for key in keys if key in made] for keys in (UNITS, MOMENTS))
    if (units and moments) or len(moments) > 1:
        raise Refused(f"job {name}: {', '.join([*units, *moments])} cannot be combined")
    if not units and not moments and not made.get("run_on_start"):
        choices = ", ".join((*UNITS, *MOMENTS))
        raise Refused(f"job {name} is never run: it needs one of {choices}, or run_on_start")
    if "once" in made:
        times.by_format(str(made["once"]), str(made.get("once_fmt", ONCE_FORMAT)), "once")
    when = made.get("when", [])
    for one in when if isinstance(when, list) else [when]:
        if one not in whens:
            times.moment(str(one), "when")


def plain(kept: Mapping[str, object]) -> dict[str, object]:
    """A stored job, without keys that a scheduler has added, and enabled unless it says otherwise."""
    known = {INTERNAL.get(key, key): value for key, value in kept.items()}
    return {key: value for key, value in known.items() if not key.startswith("_")} | {
        "enabled": known.get("enabled", True)
    }
