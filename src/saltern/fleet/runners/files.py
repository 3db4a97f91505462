"""``fileserver`` and ``saltutil``: the files of the fleet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saltern.fleet.runners.ports import Around, local_of

KINDS = (
    "all",
    "clouds",
    "grains",
    "modules",
    "pillar",
    "renderers",
    "returners",
    "runners",
    "states",
    "wheel",
)


def update(around: Around, backend: object = None, **_: object) -> bool:  # noqa: ARG001
    """Publish the roots as they are now."""
    around.ask.trees.publish()
    return True


def envs(around: Around, backend: object = None, sources: bool = False) -> list[str]:  # noqa: ARG001
    """The environments."""
    return sorted(row["environment"] for row in around.ask.trees.list())


def _listing(function: str) -> Callable[..., object]:
    def list_names(around: Around, saltenv: str = "base", backend: object = None) -> object:  # noqa: ARG001
        """The files, or directories, of an environment."""
        return local_of(around, f"fileserver.{function}").function(
            f"cp.list_{LISTS[function]}", (saltenv,), {}
        )

    return list_names


LISTS = {"file_list": "master", "dir_list": "master_dirs", "symlink_list": "master_symlinks"}


def _sync(_around: Around, *_args: object, **_kwargs: object) -> list[Any]:
    """Nothing to do: modules are read when they are used."""
    return []


RUNNERS: dict[str, Callable[..., object]] = {
    "fileserver.update": update,
    "fileserver.clear_cache": update,
    "fileserver.envs": envs,
    **{f"fileserver.{name}": _listing(name) for name in LISTS},
    **{f"saltutil.sync_{name}": _sync for name in KINDS},
}
