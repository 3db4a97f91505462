"""``salt.utils.json``."""

from __future__ import annotations

import json
from typing import Any

JSONDecodeError = json.JSONDecodeError


def loads(s: Any, **kwargs: Any) -> Any:
    kwargs.pop("encoding", None)
    return json.loads(s, **kwargs)


def load(fp: Any, **kwargs: Any) -> Any:
    return loads(fp.read(), **kwargs)


def dumps(obj: Any, **kwargs: Any) -> str:
    kwargs.pop("_json_module", None)
    kwargs.setdefault("ensure_ascii", False)
    return json.dumps(obj, **kwargs)


def dump(obj: Any, fp: Any, **kwargs: Any) -> None:
    fp.write(dumps(obj, **kwargs))


def find_json(s: str) -> Any:
    """The first JSON value in a text that begins at the start of a line."""
    for at, line in enumerate(s.splitlines()):
        if line.lstrip().startswith(("{", "[")):
            rest = "\n".join(s.splitlines()[at:]).lstrip()
            try:
                return json.JSONDecoder().raw_decode(rest)[0]
            except ValueError:
                continue
    raise ValueError("this text contains no JSON")
