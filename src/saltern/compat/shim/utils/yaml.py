"""``salt.utils.yaml``: reads YAML like SLS files, and writes it like Salt."""

from __future__ import annotations

from typing import Any


class YAMLError(Exception):
    """The text is not valid YAML."""


ParserError = ScannerError = MarkedYAMLError = YAMLError


def safe_load(stream: Any, Loader: object = None) -> Any:  # noqa: ARG001
    from saltern.render.filters.serialize import load_yaml

    text = stream.read() if hasattr(stream, "read") else stream
    try:
        return load_yaml(text.decode() if isinstance(text, bytes) else text)
    except ValueError as problem:
        raise YAMLError(str(problem)) from None


def safe_dump(data: Any, stream: Any = None, **kwargs: Any) -> str | None:
    from saltern.render.filters.serialize import to_yaml

    text = str(to_yaml(data, bool(kwargs.get("default_flow_style", True))))
    text = text if text.endswith("\n") else text + "\n"
    if stream is None:
        return text
    stream.write(text)
    return None


load = safe_load
dump = safe_dump
