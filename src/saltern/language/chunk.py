"""The low chunk: one call the runtime will make."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.delayed import Target
from saltern.language.high import Declaration
from saltern.language.late import Literal, Reference, fill_references
from saltern.language.source import Mark

HIDDEN = "(no_log)"  # the option that hides a state


class Requisite(Struct, frozen=True, gc=False):
    """A reference as written: ``watch: [{file: nginx.conf}]``. ``state`` is empty for a bare ID.

    ``at`` is its index in the list, for messages; -1 if it was not written there.
    """

    kind: str
    state: str
    value: str
    at: int = -1


class Chunk(Struct, kw_only=True, gc=False):
    """One call.

    ``args`` are all arguments as written, including those for the engine, which ``words`` lists. Immutable.
    """

    state: str
    fun: str
    id: str
    name: str
    order: float
    args: dict[str, object]
    requisites: tuple[Requisite, ...] = ()
    words: frozenset[str] = frozenset()
    delayed: tuple[Target, ...] = ()  # rendered and run right after it
    late: tuple[str, ...] = ()  # the registers that its arguments refer to
    literal: bool = False  # contains texts that are data, even if they look like references
    broken: str = ""  # why it cannot be called at all; found while compiling
    declared: Declaration

    @property
    def sls(self) -> str:
        return self.declared.ref.name

    @property
    def env(self) -> str:
        return self.declared.ref.env

    @property
    def function(self) -> str:
        return f"{self.state}.{self.fun}"

    @property
    def hidden(self) -> bool:
        """True if the state has ``no_log``; ``language.hidden`` defines what may be shown of it."""
        return "no_log" in self.words and bool(self.args["no_log"])

    @property
    def label(self) -> str:
        """The ID for messages and reports; for a hidden state, only if it does not contain an argument."""
        if not self.hidden or self.name == HIDDEN:
            return self.id
        return f"(no_log, order {self.order})" if _gives_away(self.id, self.name, self.args) else self.id

    @property
    def tag(self) -> str:
        """Salt's name of the chunk in reports: four parts, joined by ``_|-``."""
        if self.words and self.hidden:
            return f"{self.state}_|-{self.label}_|-{HIDDEN}_|-{self.fun}"
        return f"{self.state}_|-{self.id}_|-{self.name}_|-{self.fun}"

    def mark(self, *path: object) -> Mark:
        return self.declared.mark(*path)

    def low(self) -> dict[str, object]:
        """The chunk in the form that Salt shows."""
        low: dict[str, object] = {
            "name": self.name,
            "state": self.state,
            "__id__": self.id,
            "fun": self.fun,
            "__env__": self.env,
            "__sls__": self.sls,
            "order": self.order,
        }
        if self.args:
            low.update(self.args)
            low["name"] = self.name
            low["order"] = self.order
        if self.declared.included_from:
            low["__sls_included_from__"] = list(self.declared.included_from)
        return low


def _gives_away(id_: str, name: str, args: dict[str, object]) -> bool:
    return name in id_ or _holds(args, id_)


def _holds(value: object, text: str) -> bool:
    if isinstance(value, dict):
        return any(_holds(inner, text) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_holds(inner, text) for inner in value)
    return value == text


def with_values(chunk: Chunk, look: Callable[[Reference], object]) -> Chunk:
    """The chunk with every late reference replaced by the value of ``look`` for it."""
    args = fill_references(chunk.args, look)
    name = fill_references(chunk.name, look)
    targets = tuple(_with_context(target, fill_references(target.context, look)) for target in chunk.delayed)
    assert isinstance(args, dict)
    known = name if isinstance(name, Literal) else str(name)
    return replace(chunk, args=args, name=known, delayed=targets, literal=True)


def _with_context(target: Target, context: object) -> Target:
    assert isinstance(context, dict)
    return replace(target, context=context) if context != target.context else target
