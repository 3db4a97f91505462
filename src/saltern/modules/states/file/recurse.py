"""``file.recurse``: a whole directory of the tree."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace as altered

from saltern.language.result import Outcome, Result
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.params import Variables
from saltern.modules.states.file import sources
from saltern.modules.states.file.answers import Refusal, absolute, facts, guarded
from saltern.modules.states.file.content import Template, render_source, template_of
from saltern.modules.states.file.directory import Directory, settle_directory
from saltern.modules.states.file.links import symlink
from saltern.modules.states.file.patterns import Matches, path_matcher
from saltern.modules.states.file.placing import Wanted, place
from saltern.modules.states.file.walking import required_paths, superfluous
from saltern.system import files

Mode = str


class Plan(Struct, frozen=True, kw_only=True):
    """What a tree becomes. ``mode`` of ``wanted`` is that of its files, ``dir_mode`` that of directories."""

    root: str
    url: str
    wanted: Wanted
    template: Template
    replace: bool
    keep_symlinks: bool
    force_symlinks: bool


@state
def recurse(
    ctx: Context,
    /,
    name: str,
    *,
    source: str | list[str],
    clean: bool = False,
    user: str | None = None,
    group: str | None = None,
    dir_mode: Mode | None = None,
    file_mode: Mode | None = None,
    template: str | None = None,
    context: object = None,
    replace: bool = True,
    defaults: object = None,
    include_empty: bool = False,
    backup: str = "",
    include_pat: str | list[str] | None = None,
    exclude_pat: str | list[str] | None = None,
    maxdepth: int | None = None,
    keep_symlinks: bool = False,
    force_symlinks: bool = False,
    show_changes: bool = True,
    merge: bool = False,
    mode: object = None,
    owner: str | None = None,
    **variables: Variables,
) -> Result:
    """Copy a directory of the tree, and keep it as it is there.

    Args:
        name: the absolute path of the directory.
        source: ``salt://`` and the directory; of a list, the first that exists.
        clean: remove what is in the directory and not in the source, unless a required file state
            manages it. Links are removed, never followed.
        user, group: the owner of everything.
        owner: another word for user, as other systems have it.
        dir_mode, file_mode: modes; ``file_mode: keep`` takes that of each source file.
        template, context, defaults: render every file, as for ``file.managed``.
        **variables: with ``template``, further arguments are variables of the templates.
        replace: False leaves files alone that are there already.
        include_empty: also make directories that hold nothing.
        backup: as for ``file.managed``.
        include_pat, exclude_pat: only paths that match, or do not: globs, or ``E@`` and a regular expression.
        maxdepth: how deep to go; 0 is the files of the directory itself.
        keep_symlinks: make links of links; otherwise files of what they lead to.
        force_symlinks: let such a link replace a file that is in the way.
        merge: of a list of sources take all, the first one winning.

    Example:
        ```yaml
        /var/www/site:
          file.recurse:
            - source: salt://web/files
            - user: www-data
            - dir_mode: '0755'
            - file_mode: '0644'
            - clean: true
        ```
    """

    def work() -> Result:
        if mode is not None:
            raise Refusal("file.recurse has no 'mode'; use file_mode and dir_mode")
        root = os.path.normpath(absolute(name))
        found = files.look(root, follow=True)
        if found is not None and files.kind_of(found) != "directory":
            raise Refusal(f"{root} is a {files.kind_of(found)} where a directory should be")
        wanted = Wanted(
            path=root,
            user=user or owner,
            group=group,
            mode=file_mode,
            makedirs=True,
            dir_mode=dir_mode,
            backup=backup,
            show_changes=show_changes,
        )
        chosen = _chosen(path_matcher(include_pat), path_matcher(exclude_pat), maxdepth)
        urls = _sources(ctx, source, merge)
        entries: dict[str, tuple[str, str]] = {}
        for url in reversed(urls):
            entries |= {path: (kind, url) for path, kind in _entries(ctx, url, chosen, include_empty)}
        plan = Plan(
            root=root,
            url=urls[0],
            wanted=wanted,
            template=template_of(template, context, defaults, variables=variables),
            replace=replace,
            keep_symlinks=keep_symlinks,
            force_symlinks=force_symlinks,
        )
        removed = _superfluous(ctx, root, set(entries), exclude_pat) if clean else []
        return _recurse(ctx, plan, entries, removed)

    return guarded(name, work)


def _sources(ctx: Context, source: str | list[str], merge: bool) -> list[str]:
    listed = [source] if isinstance(source, str) else list(source)
    for url in listed:
        if not isinstance(url, str) or not url.startswith("salt://"):
            raise Refusal(f"Recurse failed: source {url!r} must be a salt:// URL")
    present = [url for url in listed if _is_directory(ctx, url)]
    if not present:
        raise Refusal(f"no directory of the tree is called {' or '.join(map(str, listed))}")
    return present if merge else present[:1]


def _is_directory(ctx: Context, url: str) -> bool:
    name, env = sources.tree_path(ctx, url)
    return not name.strip("/") or name.strip("/") in ctx.files.directories(env)


def _chosen(include: Matches | None, exclude: Matches | None, maxdepth: int | None) -> Matches:
    def chosen(path: str) -> bool:
        if include is not None and not include(path):
            return False
        if maxdepth is not None and path.count("/") > maxdepth:
            return False
        return exclude is None or not exclude(path)  # a file by its whole path, as in Salt

    return chosen


def _prefixes(path: str) -> Iterator[str]:
    """The path and the directories above it."""
    while path:
        yield path
        path = os.path.dirname(path)


def _entries(ctx: Context, url: str, chosen: Matches, include_empty: bool) -> Iterator[tuple[str, str]]:
    """Relative paths with their kind."""
    name, env = sources.tree_path(ctx, url)
    prefix = f"{name.strip('/')}/" if name.strip("/") else ""
    if include_empty:
        for path in ctx.files.directories(env):
            if path.startswith(prefix) and chosen(path[len(prefix) :]):
                yield path[len(prefix) :], "directory"
    for path in ctx.files.names(env):
        if path.startswith(prefix) and chosen(path[len(prefix) :]):
            yield path[len(prefix) :], "file"


def _superfluous(
    ctx: Context, root: str, entries: set[str], exclude_pat: str | list[str] | None
) -> list[str]:
    if files.look(root, follow=True) is None:
        return []
    real = os.path.realpath(root)
    managed = {f"{real}/{path}" for path in entries if not _is_real_directory(f"{real}/{path}")}
    keep = managed | {path for path in required_paths(ctx) if path.startswith(f"{root}/")}
    return superfluous(real, keep, path_matcher(exclude_pat))


def _is_real_directory(path: str) -> bool:
    found = files.look(path)
    return found is not None and files.kind_of(found) == "directory"


def _recurse(ctx: Context, plan: Plan, entries: dict[str, tuple[str, str]], removed: list[str]) -> Result:
    changes: dict[str, object] = {}
    problems: list[str] = []
    for path in removed:
        if not ctx.test:
            files.remove(path)
    for path, result in _results(ctx, plan, entries):
        if result.outcome is Outcome.FAILED:
            problems.append(f"#### {path} ####\n{result.comment}")
        elif result.changes:
            changes[path] = result.changes.get(path, result.changes)
    if removed:
        changes["removed"] = removed
    known = facts(ctx, plan.root, files.look(plan.root, follow=True)) | {"files": len(entries)}
    if problems:
        return Result(outcome=Outcome.FAILED, comment="\n".join(problems), changes=changes, data=known)
    if not changes:
        comment = f"The directory {plan.root} is in the correct state"
        return Result(outcome=Outcome.OK, comment=comment, data=known)
    if ctx.test:
        comment = "\n".join([f"{plan.root} is set to be updated:", *changes])
        return Result(outcome=Outcome.WOULD_CHANGE, comment=comment, changes=changes, data=known)
    comment = f"Recursively updated {plan.root}"
    return Result(outcome=Outcome.OK, comment=comment, changes=changes, data=known)


def _results(ctx: Context, plan: Plan, entries: dict[str, tuple[str, str]]) -> Iterator[tuple[str, Result]]:
    """Directories from the top down, then files."""
    directories = {os.path.dirname(path) for path, (kind, _) in entries.items() if kind == "file"}
    directories |= {path for path, (kind, _) in entries.items() if kind == "directory"}
    needed = {part for path in directories for part in _prefixes(path)}
    for relative in ("", *sorted(needed)):
        path = f"{plan.root}/{relative}".rstrip("/")
        yield path, guarded(path, lambda path=path: _made(ctx, plan, path))  # type: ignore[misc]
    for relative, (kind, url) in sorted(entries.items()):
        if kind == "file":
            path = f"{plan.root}/{relative}"
            place_of = f"{sources.tree_path(ctx, url)[0].rstrip('/')}/{relative}".lstrip("/")
            yield path, _one(ctx, altered(plan, url=url), path, place_of)


def _made(ctx: Context, plan: Plan, path: str) -> Result:
    found = files.look(path, follow=True)
    if found is not None and files.kind_of(found) != "directory":
        raise Refusal(f"{path} is a {files.kind_of(found)} where a directory should be")
    wanted = Directory(
        path=path, user=plan.wanted.user, group=plan.wanted.group, mode=plan.wanted.dir_mode, makedirs=True
    )
    return settle_directory(ctx, wanted, "", [], None)


def _one(ctx: Context, plan: Plan, path: str, name: str) -> Result:
    env = sources.tree_path(ctx, plan.url)[1]
    if plan.keep_symlinks:
        place_of = ctx.files.find(name, env)
        if place_of is not None and os.path.islink(place_of):
            return symlink(
                ctx,
                path,
                target=os.readlink(place_of),
                force=plan.force_symlinks,
                makedirs=True,
                user=plan.wanted.user,
                group=plan.wanted.group,
            )

    def work() -> Result:
        if not plan.replace and files.look(path, follow=True) is not None:
            return place(ctx, altered(plan.wanted, path=path, mode=_octal(plan.wanted.mode, None)), None)
        found = sources.find(ctx, f"salt://{name}?saltenv={env}")
        wanted = altered(plan.wanted, path=path, mode=_octal(plan.wanted.mode, found.mode))
        content = render_source(ctx, path, found, plan.template, wanted.names)
        return place(ctx, wanted, content)

    return guarded(path, work)


def _octal(mode: str | None, of_source: int | None) -> str | None:
    if mode != "keep":
        return mode
    return None if of_source is None else f"{of_source:04o}"
