"""The events of a YAML text without their places: texts of the same meaning have the same events."""

from __future__ import annotations

import yaml


def events(text: str) -> list[tuple[str, ...]] | None:
    """The events; None if the text is not YAML."""
    try:
        parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return [_plain(event) for event in yaml.parse(text, parser)]
    except (yaml.YAMLError, UnicodeEncodeError):
        return None


def _plain(event: yaml.Event) -> tuple[str, ...]:
    names = ("anchor", "tag", "value", "implicit")
    return (type(event).__name__, *(repr(getattr(event, name, None)) for name in names))
