"""A tree that an agent has fetched: a missing file is requested from the agent when it is needed.

Such a file is a link to the place in the agent's cache for its content. Everything else is as in any tree;
``fleet/files/materialise.py`` writes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.source import SlsRef
from saltern.sources.agent_socket import WAIT, ask
from saltern.sources.stub import STUB
from saltern.sources.tree import Tree, inside

MOST_LINKS = 40  # as many as the kernel follows


class Description(Struct, frozen=True, kw_only=True):
    """``tree.json``: the directories of each environment, and the links that each had.

    ``complete``: every file of the tree has a link; if not, names without a link are requested, too.
    """

    digest: str
    objects: str
    roots: dict[str, list[str]]
    links: dict[str, dict[str, str]]
    complete: bool = True


class PublishedTree(Tree):
    """The tree in a directory of the agent, and the socket of the agent."""

    def __init__(
        self,
        roots: Mapping[str, Sequence[str]],
        directory: str,
        agent: str,
        *,
        max_size: int,
        wait: float = WAIT,
    ) -> None:
        super().__init__(roots, max_size=max_size)
        self._directory = os.path.join(directory, "roots")
        self._agent = agent
        self._wait = wait
        self._about = os.path.join(directory, "tree.json")
        self._missing: set[str] = set()

    @cached_property
    def _description(self) -> Description:
        try:
            with open(self._about, "rb") as file:
                return msgspec.json.decode(file.read(), type=Description)
        except (OSError, msgspec.DecodeError) as problem:
            raise _gone_error(self._about, problem) from None

    def text(self, path: str) -> str | None:
        self._is_file(path)
        return super().text(path)

    def find(self, path: str, env: str) -> str | None:
        """The file on disk. Raises for a file whose text only the controller has."""
        found = super().find(path, env)
        if found is not None and _is_stub(found):
            raise _hidden_error(path)
        return found

    def place(self, ref: SlsRef) -> str | None:
        base = inside(ref.name.replace(".", "/"))
        names = (f"{base}.sls", f"{base}/init.sls") if base else ()
        return next(
            (found for name in names if (found := super(PublishedTree, self).find(name, ref.env))), None
        )

    def _is_file(self, path: str) -> bool:
        """True if the path is a file; it is fetched if it was missing."""
        if os.path.isfile(path):
            return True
        if (place := self._absent(path)) is None:
            return not self._description.complete and self._is_new_file(path)
        self._fetch(place)
        return os.path.isfile(path)

    def _is_new_file(self, path: str) -> bool:
        """Request a name that the tree does not have, once; True if it is a file, which was then fetched."""
        if path in self._missing or os.path.isdir(path):
            return False
        self._missing.add(path)
        self._fetch(path)
        return os.path.isfile(path)

    def _kind(self, entry: os.DirEntry[str]) -> str:
        kind = super()._kind(entry)
        return "file" if not kind and entry.is_symlink() and self._absent(entry.path) else kind

    def _links(self, root: str) -> Iterable[tuple[str, str]]:
        return self._description.links.get(os.path.basename(root), {}).items()

    def _absent(self, path: str) -> str | None:
        """The path in the tree of the file that this path leads to, if it was not fetched yet."""
        for _ in range(MOST_LINKS):
            folder, name = os.path.split(path)
            place = os.path.join(os.path.realpath(folder), name)
            try:
                text = os.readlink(place)
            except OSError:
                return None
            if text.startswith(f"{self._description.objects}/"):
                return place
            path = os.path.join(os.path.dirname(place), text)
        return None

    def _fetch(self, place: str) -> None:
        if not self._agent:
            raise _too_large(place)
        name = os.path.relpath(os.path.realpath(os.path.dirname(place)), os.path.realpath(self._directory))
        name = os.path.normpath(os.path.join(name, os.path.basename(place)))
        answer = ask(
            self._agent, {"ask": "file", "tree": self._description.digest, "path": name}, wait=self._wait
        )
        if problem := answer.get("problem"):
            raise OperationError(
                Diagnostic(
                    code="file-not-fetched",
                    what=f"{place} cannot be fetched: {problem}",
                    fix=answer.get("fix")
                    or "check the connection of the agent (saltern agent status), then run it again",
                )
            )


def _is_stub(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(STUB)) == STUB.encode()


def _hidden_error(path: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="file-hidden",
            what=f"salt://{path.lstrip('/')} is rendered on the controller, and its text stays there",
            fix="to copy it to systems, remove its #!controller line, or remove it from render_files in"
            " controller.yaml",
        )
    )


def _too_large(place: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="file-not-fetched",
            what=f"{place} is too large for templates that are rendered on the controller",
            fix="read a smaller file, or put what the template needs into the pillar",
        )
    )


def _gone_error(path: str, problem: Exception) -> OperationError:
    return OperationError(
        Diagnostic(
            code="tree-gone",
            what=f"the tree of this run cannot be read: {path}: {problem}",
            fix="run the job again; the agent fetches the tree anew",
        )
    )
