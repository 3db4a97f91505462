"""The interface for files that are rendered elsewhere. ``remote`` has the data that is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.sources.tree import SlsSource

if TYPE_CHECKING:
    from typing import Protocol

    from saltern.language.delayed import BlockScope, Target
    from saltern.render.document import Document
else:
    Protocol = object


class RemoteHome(Struct, frozen=True):
    """The home of blocks whose text is elsewhere: the stub of their file, and the name of their scope."""

    source: SlsSource
    scope: str


class Remote(Protocol):
    """Renders files elsewhere."""

    def sls(self, source: SlsSource, values: Mapping[str, object], rendered: Sequence[str]) -> Document:
        """The file that a stub stands for. Raises ``CompileError``."""

    def frame(
        self, target: Target, previous: Mapping[str, object], parent: str, rendered: Sequence[str]
    ) -> Document:
        """A delayed target that is rendered elsewhere. Raises ``CompileError``."""

    def variables(self, scope: BlockScope) -> dict[str, object]:
        """The variables of a scope that are plain data. Raises ``CompileError``."""
