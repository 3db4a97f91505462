"""``match``: whether a target matches this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from saltern.language.merge import deep
from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, function, make_docstring
from saltern.modules.lib.nested_data import each, fresh, laid_over, merge_data

if TYPE_CHECKING:
    from saltern.targeting.match import Subject


def _subject(ctx: Context, minion_id: str | None = None) -> Subject:
    from saltern.targeting.match import Subject

    nodegroups = ctx.opts.get("nodegroups")
    return Subject(
        id=minion_id or str(ctx.opts.get("id") or ctx.grains.get("id") or ""),
        grains=ctx.grains,
        pillar=ctx.pillar,
        nodegroups=nodegroups if isinstance(nodegroups, Mapping) else {},
    )


def _by_name(how: str, doc: str, target: str) -> Callable[[Context, str, str | None], bool]:
    def match(ctx: Context, tgt: str, minion_id: str | None = None) -> bool:
        from saltern.targeting.match import matches

        return matches(_subject(ctx, minion_id), tgt, how)

    match.__doc__ = make_docstring(doc, f"match.{how} {target}", "True")
    return match


def _by_data(
    how: str, doc: str, target: str, answer: bool = True
) -> Callable[[Context, str, str, str | None], bool]:
    def match(ctx: Context, tgt: str, delimiter: str = ":", minion_id: str | None = None) -> bool:
        from saltern.targeting.match import matches

        return matches(_subject(ctx, minion_id), tgt, how, delimiter=delimiter)

    match.__doc__ = make_docstring(doc, f"match.{how} {target}", str(answer))
    return match


compound = Function(
    _by_name("compound", "True if a compound target matches this machine.", "'G@os:Debian and web*'"),
    "compound",
)
glob = Function(_by_name("glob", "True if the ID matches a glob.", "'web*'"), "glob")
pcre = Function(_by_name("pcre", "True if the ID matches a regular expression.", "'web[0-9]+'"), "pcre")
list_ = Function(_by_name("list", "True if the ID is in a list.", "web1,web2"), "list")
ipcidr = Function(
    _by_name("ipcidr", "True if an address of this machine is this one, or in this network.", "127.0.0.0/8"),
    "ipcidr",
)
nodegroup = Function(
    _by_name("nodegroup", "True if the machine is in a nodegroup of the configuration.", "frontend"),
    "nodegroup",
)
grain = Function(_by_data("grain", "True if a grain matches a glob.", "'os:Deb*'"), "grain")
grain_pcre = Function(
    _by_data("grain_pcre", "True if a grain matches a regular expression.", "'os:(Debian|Ubuntu)'"),
    "grain_pcre",
)
pillar = Function(_by_data("pillar", "True if a pillar value matches a glob.", "'web:names:*.org'"), "pillar")
pillar_pcre = Function(
    _by_data("pillar_pcre", "True if a pillar value matches a regular expression.", "'web:port:80[0-9]+'"),
    "pillar_pcre",
)
pillar_exact = Function(
    _by_data("pillar_exact", "True if a pillar value is exactly this.", "role:web"), "pillar_exact"
)
data = Function(
    _by_data("data", "True if a value of the data store matches.", "colour:blue", answer=False), "data"
)


@function
def filter_by(
    ctx: Context,
    lookup: Mapping[str, object],
    tgt_type: str = "compound",
    minion_id: str | None = None,
    merge: object = None,
    merge_lists: bool = False,
    default: str = "default",
    base: str | None = None,
) -> object:
    """The first entry of ``lookup`` whose key is a target that matches this machine.

    Example:
        ```jinja
        {% set port = salt['match.filter_by']({
            'web* and G@os:Debian': 8080,
            'default': 80,
        }) %}
        {{ port }}
        ```
        ```text
        8080
        ```
    """
    found = next(
        (fresh(lookup[target]) for target in lookup if _matches(ctx, target, tgt_type, minion_id)),
        lookup.get(default),
    )
    if merge and merge_lists and isinstance(found, Mapping) and isinstance(merge, Mapping):
        return fresh(deep(found, merge, True))
    return laid_over(found, merge=merge, base=base, table=lookup)


@function
def search_by(
    ctx: Context, lookup: Mapping[str, object], tgt_type: str = "compound", minion_id: str | None = None
) -> list[str] | None:
    """Every key of ``lookup`` with a target in its list that matches this machine.

    Example:
        ```jinja
        {{ salt['match.search_by']({'web': ['web*'], 'linux': ['G@kernel:Linux'], 'db': ['db*']}) }}
        ```
        ```text
        ['web', 'linux']
        ```
    """
    found = [
        key
        for key, targets in lookup.items()
        if any(_matches(ctx, str(target), tgt_type, minion_id) for target in each(targets))
    ]
    return found or None


@function
def ifelse(
    ctx: Context,
    *args: object,
    tgt_type: str = "compound",
    minion_id: str | None = None,
    merge: object = None,
    merge_lists: bool = False,
    default: object = None,
) -> object:
    """``ifelse(target, value, target, value, …, default)``: the value of the first matching target.

    Example:
        ```jinja
        {{ salt['match.ifelse']('db*', 'database', 'web*', 'web server', 'anything') }}
        ```
        ```text
        web server
        ```
    """
    pairs = list(zip(args[::2], args[1::2], strict=False))
    otherwise = args[-1] if len(args) % 2 else default
    found = next(
        (value for target, value in pairs if _matches(ctx, str(target), tgt_type, minion_id)), otherwise
    )
    if not merge:
        return fresh(found)
    return merge_data(found or {}, merge, merge_lists=merge_lists)


def _matches(ctx: Context, target: str, how: str, minion_id: str | None) -> bool:
    from saltern.targeting.match import matches

    return matches(_subject(ctx, minion_id), target, how)
