"""Salt's arguments of ``pip.installed`` as arguments of pip; one row each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from saltern.modules.api.commands import list_of_texts, words
from saltern.modules.api.context import Context
from saltern.modules.api.programs import owner_for
from saltern.modules.lib.files import sources
from saltern.system.temporary import private_directory

SWITCHES: dict[str, str] = {
    "no_index": "--no-index",
    "upgrade": "--upgrade",
    "force_reinstall": "--force-reinstall",
    "ignore_installed": "--ignore-installed",
    "no_deps": "--no-deps",
    "pre_releases": "--pre",
    "no_cache_dir": "--no-cache-dir",
    "use_wheel": "--prefer-binary",
}
VALUES: dict[str, str] = {
    "log": "--log",
    "proxy": "--proxy",
    "timeout": "--timeout",
    "index_url": "--index-url",
    "target": "--target",
    "source": "--src",
    "exists_action": "--exists-action",
    "cert": "--cert",
    "cache_dir": "--cache-dir",
}
LISTS: dict[str, str] = {
    "find_links": "--find-links",
    "extra_index_url": "--extra-index-url",
    "trusted_host": "--trusted-host",
    "no_binary": "--no-binary",
    "only_binary": "--only-binary",
    "global_options": "--global-option",
}


def options(given: Mapping[str, object]) -> list[str]:
    """The arguments of pip for all given arguments."""
    found = [flag for name, flag in SWITCHES.items() if given.get(name)]
    for name, flag in VALUES.items():
        if given.get(name) not in (None, ""):
            found += [flag, str(given[name])]
    for name, flag in LISTS.items():
        value = given.get(name)
        for one in value.split(",") if isinstance(value, str) else list_of_texts(value):
            found += [flag, one.strip()]
    return found + extra(given.get("extra_args"))


def extra(given: object) -> list[str]:
    """``extra_args``: a text, or a list of texts and ``{option: value}``."""
    if not given:
        return []
    if isinstance(given, str):
        return words(given)
    found: list[str] = []
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, Mapping):
            found += [text for key, value in one.items() for text in (str(key), str(value))]
        else:
            found += words(str(one))
    return found


@contextmanager
def requirement_files(ctx: Context, given: object, user: str | None) -> Iterator[list[str]]:
    """``-r`` and the path of each file; files that are not on disk are written to a private directory
    first.
    """
    paths = (
        list_of_texts(given)
        if not isinstance(given, str)
        else [one.strip() for one in given.split(",") if one]
    )
    with private_directory("pip", owner=owner_for(ctx, user)) as scratch:
        found: list[str] = []
        for number, path in enumerate(paths):
            here = path
            if "://" in path:
                here = os.path.join(scratch, f"requirements-{number}.txt")
                with open(here, "wb") as file:
                    file.write(sources.find(ctx, path, sources.Fetch(skip_verify=True)).data)
            found += ["-r", here]
        yield found
