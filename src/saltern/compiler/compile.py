"""The stages of compiling, in order, with the reason for the order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from saltern.compiler.gather import gather
from saltern.compiler.lower import lower
from saltern.compiler.options import check_options
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.hidden import labels
from saltern.language.high import Exclusion, High
from saltern.language.requisites import IN_FORMS, WITHOUT_REACTION
from saltern.language.source import SlsRef

if TYPE_CHECKING:
    from saltern.compiler.exclude import Used
    from saltern.compiler.ports import Loader

Reacts = Callable[[str], bool]


class CompilerOptions(Struct, frozen=True, kw_only=True):
    """The options of the configuration for the compiler."""

    auto_order: bool = True
    disabled_requisites: frozenset[str] = frozenset()
    exclude: tuple[Exclusion, ...] = ()  # from the command line
    used: Used = field(default_factory=set)  # the exclusions that have matched so far
    strict: bool = False


class Low(Struct, kw_only=True):
    """The sorted chunks, and the names of all rendered files."""

    chunks: list[Chunk]
    rendered: tuple[str, ...]


def compile_high(
    refs: Sequence[SlsRef], loader: Loader, options: CompilerOptions, found: Diagnostics
) -> High:
    """Files → High. Raises if any file of the run is wrong."""
    high = gather(refs, loader, found, auto_order=options.auto_order)
    found.check()
    return replace(high, exclusions=[*high.exclusions, *options.exclude])


def compile_low(
    high: High,
    options: CompilerOptions,
    reacts: Reacts,
    found: Diagnostics,
    elsewhere: Callable[[str], str] | None = None,
) -> Low:
    """High → Low. ``elsewhere`` finds the scope of a name that no file of the run declares.

    extend before lower: an extension may bring a require_in. reverse before use: only arguments are
    left to copy. exclude last, as in Salt: what still points at an excluded ID is a problem of the plan.
    Stages that the run does not need are not imported.
    """
    rendered = tuple(dict.fromkeys(file.ref.name for file in high.files.values()))
    chunks = shape(high, options, found)
    words = frozenset[str]().union(*(chunk.words for chunk in chunks))
    if not words.isdisjoint(IN_FORMS):
        from saltern.compiler.reverse import reverse

        chunks = reverse(chunks, rendered, found, elsewhere, strict=options.strict)
    found.check()
    if "use" in words or "use_in" in words:
        from saltern.compiler.use import use

        chunks = use(chunks, rendered, found)
    if high.exclusions:
        from saltern.compiler.exclude import exclude

        chunks = exclude(chunks, high.exclusions, found, options.used)
    chunks = [_plain_watch(chunk, reacts) for chunk in chunks]
    chunks.sort(key=_low_order)
    return Low(chunks=chunks, rendered=rendered)


def shape(high: High, options: CompilerOptions, found: Diagnostics) -> list[Chunk]:
    """High → chunks, not yet related to each other. Raises if a shape is wrong."""
    if high.extensions:
        from saltern.compiler.extend import extend

        high = extend(high, found)
    found.check()
    chunks = lower(high.declarations, list(high.files.values()), found, options.disabled_requisites)
    found.conceal(labels(chunks))
    check_options(chunks, found)
    found.check()
    return chunks


def _low_order(chunk: Chunk) -> tuple[float, str, str]:
    """Sort by order; ties by type, name and function joined, as in Salt; then by ID."""
    return chunk.order, chunk.state + chunk.name + chunk.fun, chunk.id


def _plain_watch(chunk: Chunk, reacts: Reacts) -> Chunk:
    """The chunk with watch turned into require, if its module cannot react."""
    if WITHOUT_REACTION.keys().isdisjoint(chunk.words) or reacts(chunk.state):
        return chunk
    args = dict(chunk.args)
    for watch, require in WITHOUT_REACTION.items():
        if watch in args:
            before = args.get(require, [])
            args[require] = [*before, *args.pop(watch)]  # type: ignore[misc]
    requires_first = sorted(chunk.requisites, key=lambda one: one.kind in WITHOUT_REACTION)
    turned = [replace(one, kind=WITHOUT_REACTION.get(one.kind, one.kind)) for one in requires_first]
    words = frozenset(WITHOUT_REACTION.get(word, word) for word in chunk.words)
    return replace(chunk, args=args, words=words, requisites=tuple(turned))
