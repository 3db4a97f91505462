"""What a worker gets of the agent: options for its configuration, and answers to its questions."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.fetch import NotFetched


def tree_options(directory: str, socket: str) -> dict[str, object]:
    """The options with which a worker reads the tree in this directory."""
    with open(os.path.join(directory, "tree.json"), "rb") as file:
        roots = msgspec.json.decode(file.read())["roots"]
    return {
        "file_roots": {
            environment: [os.path.join(directory, "roots", name) for name in names]
            for environment, names in roots.items()
        },
        "file_tree": directory,
        "agent_socket": socket,
    }


async def answer_file(files: AgentFiles, question: dict[str, Any]) -> dict[str, Any]:
    """Fetch a file that a worker asks for; ``problem`` in the answer says why it cannot be had."""
    try:
        await files.fetch_path(str(question.get("tree", "")), str(question.get("path", "")))
    except (NotFetched, ValueError) as problem:
        return {"problem": str(problem)}
    except OSError as problem:
        return {"problem": f"it cannot be written: {problem.strerror}"}
    return {}
