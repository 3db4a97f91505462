"""Answers of an agent to its workers' requests for files."""

from __future__ import annotations

from typing import Any

from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.manifest import BadManifest
from saltern.fleet.files.problems import NotFetched


async def answer_file(files: AgentFiles, question: dict[str, Any]) -> dict[str, Any]:
    """Fetch a file that a worker asks for; ``problem`` in the answer says why it cannot be fetched."""
    try:
        await files.fetch_path(str(question.get("tree", "")), str(question.get("path", "")))
    except (NotFetched, BadManifest, ValueError) as problem:
        return {"problem": str(problem)}
    except OSError as problem:
        return {"problem": f"it cannot be written: {problem.strerror}"}
    return {}
