"""The machines that a tree is checked for, each with its grains and pillar.

They are in files, one for each machine, or in the option ``check`` of the configuration:

    machines: fixtures                     a directory, a file, or a list of those
    machines: {web1: {grains: …, pillar: …}}
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.language.source import Mark
from saltern.render.yaml_limits import YamlProblem

MOST_TEXT = 10_000_000  # characters of one file
KEYS = ("id", "grains", "pillar")
ENDINGS = (".yaml", ".yml")
_SHAPE = "a machine is a mapping of id, grains and pillar"


class Machine(Struct, frozen=True, kw_only=True):
    """``grains`` override those of this machine, ``pillar`` overrides the compiled one."""

    name: str
    id: str
    grains: Mapping[str, object] = {}
    pillar: Mapping[str, object] = {}


def read_machines(configured: Mapping[str, object], asked: Sequence[str], base: str) -> list[Machine]:
    """Read the machines at the paths in ``asked``, else those of the configuration, whose paths are
    relative to ``base``. If there are none, the tree is checked for this machine. Raises
    ``OperationError``.
    """
    if asked:
        found = [one for path in asked for one in _at(os.path.abspath(os.path.expanduser(path)))]
    else:
        found = list(_configured_machines(configured.get("machines"), base))
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _wrong(f"two machines are called {twice!r}", "rename one of the files")
    return found


def _configured_machines(given: object, base: str) -> Iterator[Machine]:
    if isinstance(given, Mapping):
        for name, value in given.items():
            yield _machine(str(name), value, base, None)
        return
    paths = given if isinstance(given, list) else [given] if given else []
    for path in paths:
        if not isinstance(path, str):
            raise _wrong(f"'machines' of the option 'check' has {path!r}", "name files and directories")
        yield from _at(os.path.join(base, os.path.expanduser(path)))


def _at(path: str) -> Iterator[Machine]:
    """The machine of a file, or the machines of all YAML files in a directory."""
    if os.path.isdir(path):
        names = sorted(name for name in os.listdir(path) if name.endswith(ENDINGS))
        if not names:
            raise _wrong(f"there is no machine in {path!r}", "put a file NAME.yaml in it for each machine")
        for name in names:
            yield from _at(os.path.join(path, name))
        return
    name = os.path.splitext(os.path.basename(path))[0]
    yield _machine(name, _yaml(path), os.path.dirname(path), Mark(path, 1))


def _machine(name: str, value: object, base: str, where: Mark | None) -> Machine:
    if not isinstance(value, Mapping):
        raise _wrong(f"the machine {name!r} is not a mapping", _SHAPE, where)
    for key in value:
        if key not in KEYS:
            fix = did_you_mean(str(key), KEYS) or f"{_SHAPE}; put grains such as this one below 'grains'"
            raise _wrong(f"a machine has no {key!r}", fix, where)
    return Machine(
        name=name,
        id=str(value.get("id") or name),
        grains=_data(name, "grains", value, base, where),
        pillar=_data(name, "pillar", value, base, where),
    )


def _data(
    name: str, key: str, value: Mapping[str, object], base: str, where: Mark | None
) -> Mapping[str, object]:
    """The mapping itself, or that in the named file."""
    data = value.get(key)
    if isinstance(data, str):
        path = os.path.join(base, os.path.expanduser(data))
        data, where = _yaml(path), Mark(path, 1)
    if data is not None and not isinstance(data, Mapping):
        raise _wrong(f"the {key} of {name!r} are not a mapping", "write 'name: value' lines", where)
    return data or {}


def _yaml(path: str) -> object:
    from saltern.render.yaml import read

    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError(0, "it is not a plain file")
        with open(path, encoding="utf-8") as file:
            return read(file.read(MOST_TEXT))
    except YamlProblem as problem:
        raise _wrong(problem.what, problem.fix, Mark(path, problem.line, problem.column)) from None
    except UnicodeDecodeError:
        raise _wrong("this file is not UTF-8", "", Mark(path)) from None
    except OSError as problem:
        raise _wrong(f"the machine {path!r} cannot be read: {problem.strerror}", "") from None


def _wrong(what: str, fix: str, where: Mark | None = None) -> OperationError:
    return OperationError(Diagnostic(code="check-machines", what=what, fix=fix, where=where))
