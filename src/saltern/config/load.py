"""File, environment and flags become one ``Settings``; the later of these wins."""

from __future__ import annotations

import os
from collections.abc import Mapping

from saltern.config import files
from saltern.config.files import Read
from saltern.config.options import NUMBER_OR_NONE, OPTIONS, Option
from saltern.config.settings import Settings
from saltern.config.shapes import SHAPES, place
from saltern.language.diagnostics import Diagnostic, OperationError, Severity, did_you_mean
from saltern.language.source import Mark


def load(
    path: str | None, overrides: Mapping[str, object], environ: Mapping[str, str]
) -> tuple[Settings, list[Diagnostic]]:
    """Load the settings; also return warnings about unused keys.

    ``path`` is a file, or a directory with ``saltern.yaml`` or ``minion`` in it; without it the
    current directory and then the default places are tried. ``overrides`` are options given by hand;
    None means not given.
    Raises ``OperationError`` for a file that cannot be read and a value of the wrong shape.
    """
    found, ignored = files.find(path, environ)
    values, extra, warnings = _from_file(files.read(found)) if found else ({}, {}, [])
    warnings = [*ignored, *warnings]
    values |= from_environment(environ)
    values |= _from_overrides(overrides)
    if found and "id" not in values and (own := _minion_id(found)):
        values["id"] = own
    _name_of_grains(values, environ, overrides)
    settings = Settings(**values, extra={**_of_minion(values), **extra})  # type: ignore[arg-type]
    return settings, warnings


def _name_of_grains(
    values: dict[str, object], environ: Mapping[str, str], overrides: Mapping[str, object]
) -> None:
    """``id`` from a grains file; it overrides the configuration if the file is given explicitly."""
    by_hand = overrides.get("grains_file") is not None
    chosen = overrides.get("id") is not None or "SALTERN_ID" in environ
    file = values.get("grains_file")
    if chosen or ("id" in values and not by_hand) or not file or not os.path.isfile(str(file)):
        return
    if isinstance(name := files.mapping(str(file)).get("id"), str) and name:
        values["id"] = name


def _from_file(read: Read) -> tuple[dict[str, object], dict[str, object], list[Diagnostic]]:
    from saltern.config.foreign import is_foreign

    values: dict[str, object] = {"files": read.files}
    extra: dict[str, object] = {}
    problems: list[Diagnostic] = []
    for name, value in read.values.items():
        option = OPTIONS.get(name)
        if option is None:
            extra[name] = value
        elif value is not None or option.shape == NUMBER_OR_NONE:
            try:
                values[name] = _read_value(option, value, read)
            except OperationError as problem:
                problems += problem.diagnostics
    if problems:
        raise OperationError(*problems)
    unknown = [name for name, value in extra.items() if not is_foreign(name) and not _is_profile(value)]
    return values, extra, [_unused_keys(unknown, read)] if unknown else []


def _of_minion(values: Mapping[str, object]) -> dict[str, object]:
    """Options of a Salt minion that are not options of saltern."""
    given = values.get("minion_options")
    return (
        {name: value for name, value in given.items() if name not in OPTIONS}
        if isinstance(given, dict)
        else {}
    )


def _read_value(option: Option, value: object, read: Read) -> object:
    base = os.path.dirname(os.path.abspath(read.origins[option.name]))
    try:
        return _check_shape(option, value, base)
    except ValueError as problem:
        raise _wrong(option, value, str(problem), read.mark(option.name)) from None


def from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """The options set by ``SALTERN_…`` variables."""
    values: dict[str, object] = {}
    problems: list[Diagnostic] = []
    for variable, text in environ.items():
        option = OPTIONS.get(variable[8:].lower()) if variable.startswith("SALTERN_") else None
        if option is None:
            continue
        try:
            values[option.name] = _check_shape(option, text, os.getcwd())
        except ValueError as problem:
            problems += _wrong(option, text, str(problem), Mark(f"${variable}")).diagnostics
    if problems:
        raise OperationError(*problems)
    return values


MOST_NAMED = 100  # unknown keys in one warning


def _from_overrides(overrides: Mapping[str, object]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, value in overrides.items():
        if value is None:
            continue
        option = OPTIONS.get(name)
        if option is None:
            raise OperationError(
                Diagnostic(
                    code="unknown-option",
                    what=f"no option is called {name!r}",
                    fix=did_you_mean(name, OPTIONS),
                )
            )
        try:
            values[name] = _check_shape(option, value, os.getcwd())
        except ValueError as problem:
            raise _wrong(option, value, str(problem), None) from None
    return values


def _check_shape(option: Option, value: object, base: str) -> object:
    """The value in the option's shape. Raises ``ValueError``, with a hint where there is one."""
    try:
        shaped = SHAPES[option.shape](value)
    except (ValueError, TypeError):
        raise ValueError from None
    if not option.allows(shaped):
        raise ValueError(did_you_mean(str(shaped), option.choices))
    return place(shaped, option.shape, base)


def _wrong(option: Option, value: object, hint: str, where: Mark | None) -> OperationError:
    needed = f"one of {', '.join(filter(None, option.choices))}" if option.choices else option.shape
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return OperationError(
        Diagnostic(
            code="bad-option",
            what=f"the option {option.name!r} needs {needed}, not {shown}",
            where=where,
            fix=hint,
        )
    )


def _is_profile(value: object) -> bool:
    """True if the value describes an ``sdb`` store."""
    return isinstance(value, dict) and isinstance(value.get("driver"), str)


def _unused_keys(names: list[str], read: Read) -> Diagnostic:
    """One warning for all keys that are not options."""
    marks = {name: read.mark(name) for name in names[:MOST_NAMED]}
    keys = []
    for name, mark in marks.items():
        near = did_you_mean(name, OPTIONS)
        keys.append(f"{name} ({mark}{f', {near}' if near else ''})")
    if len(names) > MOST_NAMED:
        keys.append(f"and {len(names) - MOST_NAMED} more")
    return Diagnostic(
        severity=Severity.WARNING,
        code="unused-configuration",
        what=f"saltern does not use {'this key' if len(names) == 1 else 'these keys'}: {', '.join(keys)}",
        where=marks[names[0]],
        fix="correct or remove the keys meant for saltern; `config.get` still finds the others",
    )


def _minion_id(config: str) -> str:
    """The machine's name from ``minion_id``, which Salt keeps beside its configuration."""
    try:
        with open(os.path.join(os.path.dirname(config), "minion_id"), encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""
