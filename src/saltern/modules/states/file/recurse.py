"""``file.recurse``: a whole directory of the tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace as altered

from saltern.language.result import Outcome, Result, would_change
from saltern.modules.api.attempt import attempt
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Variables
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files import sources
from saltern.modules.lib.files.content import Template, render_source, template_of
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.patterns import Matches, path_matcher
from saltern.modules.lib.files.walk import required_paths, superfluous
from saltern.modules.lib.files.write import Wanted, place
from saltern.modules.states.file.directory import Directory, settle_directory
from saltern.modules.states.file.layers import Layers, listing
from saltern.modules.states.file.links import symlink
from saltern.system import files

Mode = str


class CopyPlan(Struct, frozen=True, kw_only=True):
    """How a tree is copied. ``mode`` of ``wanted`` is that of files, ``dir_mode`` that of directories."""

    root: str
    wanted: Wanted
    template: Template
    replace: bool
    force_symlinks: bool
    clean: bool
    removed: tuple[str, ...]


@state(name_is="path", from_file=True)
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
    """Copy a directory of the state tree, and keep the copy up to date.

    Args:
        name: the absolute path of the directory.
        source: ``salt://`` and the directory; of a list, the first that exists.
        clean: remove everything that is not in the source, unless a required file state
            manages it. Links are removed, never followed.
        user, group: the owner of everything.
        owner: an alias of ``user``, as on other systems.
        dir_mode, file_mode: modes; ``file_mode: keep`` uses that of each source file.
        template, context, defaults: render every file, as for ``file.managed``.
        **variables: with ``template``, further arguments are variables of the templates.
        replace: False does not change existing files.
        include_empty: also create empty directories.
        backup: as for ``file.managed``.
        include_pat, exclude_pat: only paths that match, or do not: globs, or ``E@`` and a regular expression.
        maxdepth: how deep to go; 0 means only the files of the directory itself.
        keep_symlinks: copy links as links; otherwise copy their targets.
        force_symlinks: let such a link replace an existing file.
        merge: merge all sources of a list; the first one wins.

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
    ctx.facts = {"path": name}
    if mode is not None:
        raise Refused("'mode' is not allowed in 'file.recurse'; use 'file_mode' and 'dir_mode'")
    root = os.path.normpath(absolute(name))
    found = files.look(root, follow=True)
    if found is not None and files.kind_of(found) != "directory":
        raise Refused(f"{root} is a {files.kind_of(found)} where a directory should be")
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
    chosen = _make_choice(path_matcher(include_pat), path_matcher(exclude_pat), maxdepth)
    urls = _sources(ctx, source, merge)
    layers = Layers()
    for url in urls:
        layers.add(listing(ctx, url, links=keep_symlinks), chosen, include_empty=include_empty)
    removed = _superfluous(ctx, root, layers, exclude_pat) if clean else []
    plan = CopyPlan(
        root=root,
        wanted=wanted,
        template=template_of(template, context, defaults, variables=variables),
        replace=replace,
        force_symlinks=force_symlinks,
        clean=clean,
        removed=tuple(removed),
    )
    return _recurse(ctx, plan, layers)


def _sources(ctx: Context, source: str | list[str], merge: bool) -> list[str]:
    listed = [source] if isinstance(source, str) else list(source)
    for url in listed:
        if not isinstance(url, str) or not url.startswith("salt://"):
            raise Refused(f"Recurse failed: source {url!r} must be a salt:// URL")
    present = [url for url in listed if _is_directory(ctx, url)]
    if not present:
        raise Refused(f"no directory of the state tree is called {' or '.join(map(str, listed))}")
    return present if merge else present[:1]


def _is_directory(ctx: Context, url: str) -> bool:
    name, env = sources.tree_path(ctx, url)
    return not name.strip("/") or name.strip("/") in ctx.files.directories(env)


def _make_choice(include: Matches | None, exclude: Matches | None, maxdepth: int | None) -> Matches:
    def chosen(path: str) -> bool:
        if include is not None and not include(path):
            return False
        if maxdepth is not None and path.count("/") > maxdepth:
            return False
        return exclude is None or not exclude(path)  # a file by its whole path, as in Salt

    return chosen


def _superfluous(ctx: Context, root: str, layers: Layers, exclude_pat: str | list[str] | None) -> list[str]:
    """The paths that are not in the sources, and directories where a file belongs."""
    if files.look(root, follow=True) is None:
        return []
    real = os.path.realpath(root)
    entries = {f"{real}/{path}" for path in (*layers.files, *layers.links)}
    keep = {path for path in entries if not _is_real_directory(path)}
    keep |= {path for path in required_paths(ctx) if path.startswith(f"{root}/")}
    above = {f"{real}/{path}" for path in layers.directories}
    return superfluous(real, keep, path_matcher(exclude_pat), above)


def _is_real_directory(path: str) -> bool:
    found = files.look(path)
    return found is not None and files.kind_of(found) == "directory"


def _recurse(ctx: Context, plan: CopyPlan, layers: Layers) -> Result:
    changes: dict[str, object] = {}
    problems: list[str] = []
    for path in plan.removed:
        if not ctx.test:
            files.remove(path)
    for path, result in _results(ctx, plan, layers):
        if result.outcome is Outcome.FAILED:
            problems.append(f"#### {path} ####\n{result.comment}")
        elif result.changes:
            changes[path] = result.changes.get(path, result.changes)
    if plan.removed:
        changes["removed"] = list(plan.removed)
    count = len(layers.files) + len(layers.links)
    known = facts(ctx, plan.root, files.look(plan.root, follow=True)) | {"files": count}
    if problems:
        return Result(outcome=Outcome.FAILED, comment="\n".join(problems), changes=changes, data=known)
    words = Words(
        f"The directory {plan.root} is in the correct state",
        "\n".join([f"{plan.root} is set to be updated:", *changes]),
        f"Recursively updated {plan.root}",
    )
    return result_of(ctx, changes, words, known)


def _results(ctx: Context, plan: CopyPlan, layers: Layers) -> Iterator[tuple[str, Result]]:
    """The result of each path. A refused path does not stop the others."""
    for path, make in _parts(plan, layers):
        part = ctx.about(path=path)
        yield path, attempt(part, partial(make, part))


def _parts(plan: CopyPlan, layers: Layers) -> Iterator[tuple[str, Callable[[Context], Result]]]:
    """Directories from the top down, then files, then links."""
    for relative in ("", *sorted(layers.directories)):
        path = f"{plan.root}/{relative}".rstrip("/")
        yield path, partial(_make_directory, plan=plan, path=path)
    for relative, url in sorted(layers.files.items()):
        path = f"{plan.root}/{relative}"
        yield path, partial(_one, plan=plan, path=path, relative=relative, url=url)
    for relative, target in sorted(layers.links.items()):
        path = f"{plan.root}/{relative}"
        yield path, partial(_link, plan=plan, path=path, target=target)


def _make_directory(ctx: Context, plan: CopyPlan, path: str) -> Result:
    found = files.look(path, follow=True) or files.look(path)
    obstacle = "" if found is None or files.kind_of(found) == "directory" else files.kind_of(found)
    if obstacle and not plan.clean:
        raise Refused(f"{path} is a {obstacle} where a directory should be")
    wanted = Directory(
        path=path, user=plan.wanted.user, group=plan.wanted.group, mode=plan.wanted.dir_mode, makedirs=True
    )
    return settle_directory(ctx, wanted, obstacle, [], None)


def _is_blocked(plan: CopyPlan, path: str) -> bool:
    """True if a file is at the path that cleaning will have removed by then."""
    if not plan.clean:
        return False
    parent = files.look(os.path.dirname(path), follow=True)
    return path in plan.removed or (parent is not None and files.kind_of(parent) != "directory")


def _link(ctx: Context, plan: CopyPlan, path: str, target: str) -> Result:
    if ctx.test and _is_blocked(plan, path):
        return would_change("", {"new": path})
    return symlink(
        ctx,
        path,
        target=target,
        force=plan.force_symlinks,
        makedirs=True,
        user=plan.wanted.user,
        group=plan.wanted.group,
    )


def _one(ctx: Context, plan: CopyPlan, path: str, relative: str, url: str) -> Result:
    if ctx.test and _is_blocked(plan, path):
        return would_change("", {"diff": "New file"})
    if not plan.replace and files.look(path, follow=True) is not None:
        return place(ctx, altered(plan.wanted, path=path, mode=_octal(plan.wanted.mode, None)), None)
    name, env = sources.tree_path(ctx, url)
    full = f"{name.strip('/')}/{relative}".lstrip("/")
    found = sources.find(ctx, f"salt://{full}?saltenv={env}")
    wanted = altered(plan.wanted, path=path, mode=_octal(plan.wanted.mode, found.mode))
    content = render_source(ctx, path, found, plan.template, wanted.names)
    return place(ctx, wanted, content)


def _octal(mode: str | None, of_source: int | None) -> str | None:
    if mode != "keep":
        return mode
    return None if of_source is None else f"{of_source:04o}"
