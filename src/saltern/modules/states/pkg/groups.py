"""``pkg.group_installed``."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.groups import rest_of
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.packages.choose import manager as manager_of
from saltern.modules.lib.packages.desired_packages import read_wanted
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.whole_group import whole
from saltern.modules.states.pkg.install_plan import Job, Terms, Wording, bring
from saltern.modules.states.pkg.words import MEANINGLESS, RepositoryArguments, how_from

WORDS = Wording(
    nothing="Group is already installed: {}",
    done="The following packages of the group were installed: {}",
    would="The following packages of the group would be installed: {}",
)


@state
def group_installed(
    ctx: Context,
    /,
    name: str,
    *,
    skip: list[str] | None = None,
    include: list[str] | None = None,
    refresh: bool | None = None,
    **origin: Unpack[RepositoryArguments],
) -> Result:
    """Install the packages of a group or an environment (dnf, yum), a pattern (zypper), or a pacman group.

    Args:
        name: the group.
        skip: packages of the group to leave out; mandatory ones cannot be skipped.
        include: optional packages of the group to install, too.
        refresh: as for ``pkg.installed``.

    Example:
        ```yaml
        Development Tools:
          pkg.group_installed:
            - skip: [cvs]
        ```
    """
    manager = manager_of(ctx)
    group = whole(manager, name)
    if fixed := sorted({*(skip or ())} & {*group.mandatory}):
        raise PackageError(f"{', '.join(fixed)} is mandatory in the group {name!r}; do not skip it")
    names = {*group.mandatory, *group.default, *(include or ())} - {*(skip or ())}
    wants = read_wanted(name, sorted(names))
    how = how_from(origin)
    terms = Terms(how=how, refresh=refresh)
    notes = unused_warnings(rest_of(origin, RepositoryArguments), MEANINGLESS, ("skip", "include"))
    return bring(Job(ctx=ctx, manager=manager, wants=wants, terms=terms, words=WORDS, notes=notes))
