"""``selinux.fcontext_policy_present`` and others: the labels of files."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.selinux import contexts, mode
from saltern.modules.lib.selinux.contexts import FILE_TYPES, DesiredContext, Entry


@state
def fcontext_policy_present(
    ctx: Context,
    name: str,
    *,
    sel_type: str,
    filetype: str = "a",
    sel_user: str | None = None,
    sel_level: str | None = None,
) -> Result:
    """Make sure that the policy has this label for the files of a path. Labels nothing.

    Args:
        name: the path; it may contain patterns.
        sel_type: the type.
        filetype: only files of this kind: ``f`` regular, ``d`` directories, ``c`` and ``b`` devices,
            ``s`` sockets, ``l`` links, ``p`` pipes; ``a`` for all.
        sel_user: the user.
        sel_level: the level.

    Example:
        ```yaml
        /srv/shop(/.*)?:
          selinux.fcontext_policy_present:
            - sel_type: httpd_sys_content_t
        ```
    """
    want = contexts.desired_context(name, filetype, sel_type, sel_user, sel_level)

    seen: list[Entry | None] = []  # as last read: reading takes time

    def differs() -> Changes:
        now = contexts.find(ctx, want)
        seen.append(now)
        if now is None:
            return {"old": {}, "new": {name: {"filetype": FILE_TYPES[filetype], **want.wanted}}}
        wrong = [part for part, value in want.wanted.items() if now.get(part) != value]
        if not wrong:
            return {}
        return {
            "old": {name: {part: now.get(part) for part in wrong}},
            "new": {name: {part: want.wanted[part] for part in wrong}},
        }

    return bring(
        ctx,
        differs,
        lambda changes: contexts.run(ctx, "modify" if changes["old"] else "add", want),
        facts=lambda: _facts(want, seen[-1]),
        words=_words(name, "already present", "set"),
    )


def _facts(want: DesiredContext, now: Entry | None) -> Changes:
    return {"filespec": want.name, "exists": now is not None, **(now or {})}


def _words(name: str, already: str, verb: str) -> Words:
    what = f"SELinux policy for {name}"
    return Words(f"{what} is {already}", f"{what} would be {verb}", f"{what} was {verb}")


@state
def fcontext_policy_absent(
    ctx: Context,
    name: str,
    *,
    filetype: str = "a",
    sel_type: str | None = None,
    sel_user: str | None = None,
    sel_level: str | None = None,
) -> Result:
    """Make sure that there is no local policy for the labels of the files of a path.

    Args:
        name: the path; it may contain patterns.
        filetype: as in ``fcontext_policy_present``.
        sel_type: only if it is this type.
        sel_user: only if it is this user.
        sel_level: only if it is this level.

    Example:
        ```yaml
        /srv/old(/.*)?:
          selinux.fcontext_policy_absent: []
        ```
    """
    want = contexts.desired_context(name, filetype, sel_type, sel_user, sel_level)

    seen: list[Entry | None] = []

    def differs() -> Changes:
        now = contexts.find(ctx, want, local=True)
        seen.append(now)
        return {"old": {name: now}, "new": {}} if now and want.wanted.items() <= now.items() else {}

    result = bring(
        ctx,
        differs,
        lambda _: contexts.run(ctx, "delete", want),
        facts=lambda: _facts(want, seen[-1]),
        words=_words(name, "absent", "deleted"),
    )
    if result.changes or seen[-1] or not contexts.find(ctx, want):
        return result
    return replace(result, warnings=(f"{name} is part of the policy itself, which stays",))


@state
def fcontext_policy_applied(ctx: Context, name: str, *, recursive: bool = False) -> Result:
    """Make sure that files are labelled as the policy says.

    Args:
        name: the path; of a path with patterns, the part before them.
        recursive: also label everything below it.

    Example:
        ```yaml
        /srv:
          selinux.fcontext_policy_applied:
            - recursive: true
        ```
    """
    path = contexts.path_of(ctx, name)

    def differs() -> Changes:
        if not ctx.host.exists(path):
            return {}
        return {**contexts.wrong_labels(ctx, path, recursive=recursive)}

    there = ctx.host.exists(path)
    off = mode.running_mode(ctx) == mode.DISABLED
    return bring(
        ctx,
        differs,
        lambda _: contexts.restore(ctx, path, recursive=recursive),
        facts=lambda: {"path": path, "exists": ctx.host.exists(path), "running": mode.running_mode(ctx)},
        words=_words(name, "applied", "applied"),
        warnings=(
            *((f"there is no {path} to be labelled",) if not there else ()),
            *(("SELinux is disabled; nothing is labelled",) if off else ()),
        ),
    )
