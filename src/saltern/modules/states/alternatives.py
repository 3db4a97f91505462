"""``alternatives``: which of several programs a name such as ``editor`` stands for."""

from __future__ import annotations

from collections.abc import Callable

from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.packages import links
from saltern.modules.lib.packages.links import Group, Slave


@state
def install(
    ctx: Context,
    name: str,
    *,
    link: str,
    path: str,
    priority: int,
    slaves: dict[str, object] | None = None,
) -> Result:
    """Register a program as an alternative for a name.

    Args:
        name: the name, such as ``editor``.
        link: the link that stands for it, such as ``/usr/bin/editor``.
        path: the program.
        priority: the program with the highest priority is used, unless another one is set by hand.
        slaves: links that change together with it, such as its manual page: ``{name: {link: …, path: …}}``.
            If not given, the existing ones stay.

    Example:
        ```yaml
        editor:
          alternatives.install:
            - link: /usr/bin/editor
            - path: /opt/nano/bin/nano
            - priority: 50
        ```
    """
    along = _slaves(slaves)
    links.check(name, link, path, along)
    wanted = {one.name: one.path for one in along}

    def offered(group: Group | None) -> bool:
        if group is None or group.choices.get(path) != priority or group.link not in ("", link):
            return False
        return slaves is None or group.followers.get(path, {}) == wanted

    return _settle(
        ctx,
        name,
        offered,
        lambda: links.install(ctx, name, link, path, priority, None if slaves is None else along),
        changes=lambda _: {
            "name": name,
            "link": link,
            "path": path,
            "priority": priority,
            **({"slaves": wanted} if wanted else {}),
        },
        words=("Alternative {} is already installed", "Alternative {} will be installed", "{} was installed"),
    )


@state
def remove(ctx: Context, name: str, *, path: str) -> Result:
    """Remove a program from the alternatives of a name.

    Args:
        name: the name, such as ``editor``.
        path: the program.

    Example:
        ```yaml
        editor:
          alternatives.remove:
            - path: /opt/nano/bin/nano
        ```
    """
    return _settle(
        ctx,
        name,
        lambda group: group is None or path not in group.choices,
        lambda: links.remove(ctx, name, path),
        changes=lambda _: {"path": path},
        words=("{} is not an alternative", "{} will be removed", "{} was removed"),
        what=path,
    )


@state(name="set")
def set_(ctx: Context, name: str, *, path: str) -> Result:
    """Choose the program a name stands for.

    Args:
        name: the name, such as ``editor``.
        path: the program; it must be an alternative for the name (``alternatives.install``).

    Example:
        ```yaml
        editor:
          alternatives.set:
            - path: /opt/nano/bin/nano
        ```
    """

    def refusal(group: Group | None) -> str:
        if group is None:
            return f"Alternative {name} does not exist; create it with alternatives.install"
        if path not in group.choices:
            there = ", ".join(group.choices)
            return f"{path} is not an alternative for {name}; the alternatives are {there}"
        return ""

    return _settle(
        ctx,
        name,
        lambda group: group is not None and group.value == path,
        lambda: links.choose(ctx, name, path),
        changes=lambda _: {"path": path},
        words=("{} is already set", "{} will be set", "{} is now set"),
        what=path,
        refused=refusal,
    )


@state
def auto(ctx: Context, name: str) -> Result:
    """Use the program with the highest priority for a name again.

    Args:
        name: the name, such as ``editor``.

    Example:
        ```yaml
        editor:
          alternatives.auto: []
        ```
    """
    return _settle(
        ctx,
        name,
        lambda group: group is not None and group.mode == "auto",
        lambda: links.auto(ctx, name),
        changes=lambda group: {"mode": {"old": group.mode if group else None, "new": "auto"}},
        words=("{} is already in auto mode", "{} will be put in auto mode", "{} is now in auto mode"),
        refused=lambda group: "" if group else f"Alternative {name} does not exist",
    )


def _slaves(given: dict[str, object] | None) -> tuple[Slave, ...]:
    found = []
    for name, value in (given or {}).items():
        if not isinstance(value, dict) or not {"link", "path"} == {*value}:
            raise Refused(f"slaves needs {{name: {{link: …, path: …}}}}, got {value!r} for {name}")
        found.append(Slave(str(value["link"]), str(name), str(value["path"])))
    return tuple(found)


def _settle(
    ctx: Context,
    name: str,
    good: Callable[[Group | None], bool],
    act: Callable[[], None],
    *,
    changes: Callable[[Group | None], dict[str, object]],
    words: tuple[str, str, str],
    what: str = "",
    refused: Callable[[Group | None], str] = lambda _: "",
) -> Result:
    """Change the group of a name if ``good`` is false, and check that it is true afterwards.

    ``words`` are the comments for nothing to do, would change, and changed.
    """
    nothing, would, done = (text.format(what or name) for text in words)
    group = links.look(ctx, name)
    if why := refused(group):
        raise Refused(why, data=_facts(group))
    if good(group):
        return Result(outcome=Outcome.OK, comment=nothing, data=_facts(group))
    made = changes(group)
    if ctx.test:
        return would_change(would, made, _facts(group))
    act()
    after = links.look(ctx, name)
    if not good(after):
        raise Refused(f"update-alternatives left {name} as it was", data=_facts(after))
    return Result(outcome=Outcome.OK, comment=done, changes=made, data=_facts(after))


def _facts(group: Group | None) -> dict[str, object]:
    return (
        group.asdict() if group else {"link": None, "mode": None, "path": None, "choices": {}, "slaves": {}}
    )
