"""Returners as people name them, with their settings; and what went wrong with one, as a line of its own."""

from __future__ import annotations

BEGIN = "the returner "


def returner_names(given: object) -> list[str]:
    """A list, or a text with commas as Salt has it; each name once, in its order."""
    parts = given if isinstance(given, list | tuple) else [given or ""]
    names = [name.strip() for part in parts for name in str(part).split(",")]
    return list(dict.fromkeys(filter(None, names)))


def return_options(config: object, kwargs: object) -> dict[str, object]:
    """What returners find beside the return: Salt's ``ret_config``, the place of their settings in the
    configuration, and ``ret_kwargs``, settings that win over those."""
    return {
        **({"ret_config": str(config)} if config else {}),
        **({"ret_kwargs": kwargs} if kwargs else {}),
    }


def failed_line(name: str, why: str) -> str:
    """One line, below whatever else is said of a job."""
    return f"{BEGIN}{name!r} failed: {' '.join(why.split())}"


def split_failures(why: str) -> tuple[str, tuple[str, ...]]:
    """What is said of a job itself, and the lines about its returners."""
    if BEGIN not in why:
        return why, ()
    lines = why.splitlines()
    about = tuple(line for line in lines if line.startswith(BEGIN))
    return "\n".join(line for line in lines if not line.startswith(BEGIN)), about
