"""The options for a worker that reads a tree."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec


def tree_options(directory: str, socket: str, job: str = "") -> dict[str, object]:
    """The options with which the worker of a job reads the tree in this directory."""
    with open(os.path.join(directory, "tree.json"), "rb") as file:
        roots = msgspec.json.decode(file.read())["roots"]
    return {
        "file_roots": {
            environment: [os.path.join(directory, "roots", name) for name in names]
            for environment, names in roots.items()
        },
        "file_tree": directory,
        "agent_socket": socket,
        "agent_job": job,
    }


def names_in(options: Mapping[str, object]) -> dict[str, str]:
    """The names that users know for the directories of a tree: the addresses of its files."""
    roots = options.get("file_roots")
    if "file_tree" not in options or not isinstance(roots, Mapping):
        return {}
    return {str(root): "salt://" for some in roots.values() for root in some}
