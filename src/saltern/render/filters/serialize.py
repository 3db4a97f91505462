"""Filters that write data as text and read it back, and how a mapping prints in a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from saltern.language import numbers
from saltern.language.ordered import Ordered

if TYPE_CHECKING:
    import yaml

ENDLESS = 10**9  # a line width that is never reached
SORT_KEYS = True  # of `yaml`, except for `Ordered`: as in Salt, so that files do not change


class _FoundUndefined(Exception):
    """The data contains an undefined name; the filter passes it on, and printing it is the error."""

    def __init__(self, undefined: object) -> None:
        super().__init__()
        self.undefined = undefined


def _or_undefined(write: Callable[[], str]) -> object:
    try:
        return write()
    except _FoundUndefined as found:
        return found.undefined


def _plain(value: object) -> object:
    """Convert a value to a type of JSON and YAML."""
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        raise _FoundUndefined(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be written: {value!r}")


def to_json(value: object, sort_keys: bool = True, indent: int | None = None) -> object:
    """The filter ``json``."""
    return _or_undefined(lambda: _dumps(value, sort_keys, indent=indent, ensure_ascii=False))


def _dumps(value: Any, sort_keys: bool, **options: Any) -> str:
    import json

    try:
        return json.dumps(value, sort_keys=sort_keys, default=_plain, **options)
    except TypeError:
        if not sort_keys:
            raise
        return json.dumps(value, default=_plain, **options)  # keys that cannot be sorted, such as 1 and 'a'


_IN_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027", "\x7f": "\\u007f"})
_HALVES = re.compile(r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")


def _whole(found: re.Match[str]) -> str:
    """The character of a surrogate pair; not if a backslash precedes it."""
    if len(found[0]) == 2:
        return found[0]
    high, low = (int(half, 16) for half in found[0][2:].split("\\u"))
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def tojson(
    val: object,
    indent: int | None = None,
    *,
    sort_keys: bool = False,
    ensure_ascii: bool = True,
    separators: tuple[str, str] | None = None,
) -> object:
    """JSON that is also safe in HTML: ``<``, ``>``, ``&`` and ``'`` are written as ``\\u…``.

    It is also safe in YAML, which has no surrogate pairs.
    """

    def write() -> str:
        text = _dumps(val, sort_keys, indent=indent, ensure_ascii=ensure_ascii, separators=separators)
        return _HALVES.sub(_whole, text).translate(_IN_HTML)

    return _or_undefined(write)


@cache
def _dumper() -> type[yaml.SafeDumper]:
    import yaml

    fast: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(fast):  # type: ignore[misc,valid-type]
        """PyYAML's safe dumper, extended to subclasses of plain types and to other mappings."""

    Dumper.add_multi_representer(str, lambda dumper, value: dumper.represent_str(str(value)))
    Dumper.add_representer(Ordered, lambda dumper, value: dumper.represent_dict(list(value.items())))
    for kind in (int, float, list, tuple, dict):
        Dumper.add_multi_representer(kind, yaml.SafeDumper.yaml_representers[kind])
    Dumper.add_representer(set, lambda dumper, value: dumper.represent_data(_plain(value)))
    Dumper.add_multi_representer(object, lambda dumper, value: dumper.represent_data(_plain(value)))
    return Dumper


def dump(value: Any, **options: Any) -> str:
    """Dump as YAML; ``options`` are those of PyYAML."""
    import yaml

    text: str = yaml.dump(value, Dumper=_dumper(), **{"sort_keys": SORT_KEYS, **options})
    return text.removesuffix("\n").removesuffix("\n...")


def to_yaml(value: object, flow_style: bool | None = True) -> object:
    """The filter ``yaml``: on one line, or as a block with ``flow_style=False``.

    With None only the innermost collections are on one line.
    """
    return _or_undefined(lambda: dump(value, default_flow_style=flow_style, allow_unicode=True))


def dict_to_sls_yaml_params(value: Mapping[Any, object], flow_style: bool = False) -> object:
    """The arguments of a state, each a list item."""
    if not isinstance(value, Mapping):
        raise TypeError(f"needs a mapping, not {type(value).__name__}")
    return to_yaml([{key: item} for key, item in value.items()], flow_style)


def yaml_dquote(text: object) -> str:
    return dump(str(text), default_style='"', width=ENDLESS)


def yaml_squote(text: object) -> str:
    return dump(str(text), default_style="'", width=ENDLESS, allow_unicode=True)


def yaml_encode(data: object) -> str:
    """One scalar that YAML reads back as the same value; text in double quotes."""
    if isinstance(data, str):
        return yaml_dquote(data)
    if data is None or isinstance(data, bool | int | float):
        return dump(data)
    raise TypeError(
        f"needs a single value, not {type(data).__name__}; for lists and mappings there is 'yaml'"
    )


def to_python(value: object) -> object:
    """The filters ``python`` and ``pprint``: as Python would write it, long ones over several lines."""
    import pprint

    from jinja2 import Undefined

    return value if isinstance(value, Undefined) else pprint.pformat(_sort_keys(value), sort_dicts=False)


def _sort_keys(value: Any) -> Any:
    """Plain mappings with sorted keys, and ``Ordered`` ones as plain mappings in their own order."""
    if isinstance(value, Ordered):
        return {key: _sort_keys(inner) for key, inner in value.items()}
    if type(value) is dict:
        return {key: _sort_keys(value[key]) for key in _by_order(value)}
    if type(value) in (list, tuple):
        return type(value)(map(_sort_keys, value))
    return value


def _by_order(keys: Iterable[Any]) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=lambda key: (type(key).__name__, str(key)))


class WrongText(ValueError):
    """Text that cannot be parsed: what is wrong, and its line and column."""

    def __init__(self, what: str, line: int, column: int, fix: str = "") -> None:
        super().__init__(what, line, column, fix)
        self.what, self.line, self.column, self.fix = what, line, column, fix

    def sentence(self, of: str) -> str:
        place = f"line {self.line}, column {self.column} of {of}"
        return f"{self.what} ({place})" + (f"; {self.fix}" if self.fix else "")

    def __str__(self) -> str:
        return self.sentence("the text")


def load_yaml(value: Any) -> Any:
    from saltern.language.diagnostics import CompileError
    from saltern.language.source import Mark
    from saltern.render.yaml import parse

    if not _is_text(value):
        return value
    try:
        return parse(value)
    except CompileError as problem:
        first = problem.diagnostics[0]
        where = first.where or Mark("")
        raise WrongText(first.what, where.line, where.column, first.fix) from None


def load_json(value: Any) -> Any:
    import json

    if not _is_text(value):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as problem:
        raise WrongText(f"not JSON: {problem.msg}", problem.lineno, problem.colno) from None
    except ValueError as problem:
        if not numbers.was_refused(problem):
            raise
        line, column, length = numbers.written_in(value)
        raise WrongText(numbers.what(length), line, column, numbers.FIX) from None


def load_text(value: object) -> object:
    return value


def _is_text(value: object) -> bool:
    """False for an undefined name, which is passed on; raises for anything else that is not text."""
    from jinja2 import Undefined

    if not isinstance(value, str | Undefined):
        raise TypeError(f"needs text, not {type(value).__name__}")
    return isinstance(value, str)


def salt_repr(value: object) -> str:
    """How a value prints in a template: as in Python, but mappings so that YAML can read them back."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_member(item)}" for key, item in value.items()) + "}"
    if type(value) is list:
        return "[" + ", ".join(map(salt_repr, value)) + "]"
    if type(value) is tuple:
        return "(" + ", ".join(map(salt_repr, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def _member(value: object) -> str:
    """Text that Python prints with escapes is put in double quotes, which YAML understands.

    A lone backslash is doubled within single quotes, as in Salt.
    """
    if isinstance(value, str) and not _reads_back(value):
        return dump(str(value), default_style='"', width=ENDLESS, allow_unicode=True)
    if type(value) not in _PLAIN_TYPES:
        _complain_if_undefined(value)
    return salt_repr(str(value) if isinstance(value, str) else value)


_PLAIN_TYPES = frozenset({str, int, bool, float, type(None), list, tuple, dict})


def _complain_if_undefined(value: object) -> None:
    """Raise for an undefined value in a mapping that is printed."""
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        str(value)


def _reads_back(text: str) -> bool:
    return text.isprintable() and not ("'" in text and '"' in text)
