"""The names and settings of returners in a request, and the line that reports the failure of one."""

from __future__ import annotations

BEGIN = "the returner "


def returner_names(given: object) -> list[str]:
    """The names from a list, or from a text with commas as in Salt; each once, in order."""
    parts = given if isinstance(given, list | tuple) else [given or ""]
    names = [name.strip() for part in parts for name in str(part).split(",")]
    return list(dict.fromkeys(filter(None, names)))


def return_options(config: object, kwargs: object) -> dict[str, object]:
    """Options for returners: Salt's ``ret_config``, the place of their settings in the configuration, and
    ``ret_kwargs``, settings that override those."""
    return {
        **({"ret_config": str(config)} if config else {}),
        **({"ret_kwargs": kwargs} if kwargs else {}),
    }


def failed_line(name: str, why: str) -> str:
    """The line about a failed returner, below the other lines of a job."""
    return f"{BEGIN}{name!r} failed: {' '.join(why.split())}"


def split_failures(why: str) -> tuple[str, tuple[str, ...]]:
    """Split the reason of a job from the lines about its returners."""
    if BEGIN not in why:
        return why, ()
    lines = why.splitlines()
    about = tuple(line for line in lines if line.startswith(BEGIN))
    return "\n".join(line for line in lines if not line.startswith(BEGIN)), about
