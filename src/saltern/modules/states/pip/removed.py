"""``pip.removed`` and ``pip.uptodate``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.pip.command import Pip, argv_of, forget, install, packages, split
from saltern.modules.lib.pip.outdated import outdated_packages

MEANINGLESS = frozenset({"log", "proxy", "timeout", "use_vt"})


@state(removes=True)
def removed(
    ctx: Context,
    /,
    name: str,
    *,
    pkgs: object = None,
    requirements: str | None = None,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    **rest: Unused,
) -> Result:
    """Make sure that Python packages are not installed.

    Args:
        name: the package.
        pkgs: a list of packages instead of ``name``.
        requirements: a file whose packages to remove instead.
        bin_env: a virtual environment, a Python or a pip.
        user: the user whose packages they are.
        cwd: the directory pip runs in.

    Example:
        ```yaml
        gunicorn:
          pip.removed:
            - bin_env: /srv/venv
        ```
    """
    ctx.facts = {"name": name}
    listed = [str(one) for one in pkgs] if isinstance(pkgs, list) else [name]
    if requirements:
        listed = _in_file(ctx, requirements)
    names = {split(one)[0]: one for one in listed}
    if "" in names:
        raise Refused(f"{names['']!r} is not the name of a package")
    pip = Pip(argv=argv_of(ctx, bin_env), user=user, cwd=cwd)
    there = [one for one in names if one in packages(ctx, pip)]
    if there and not ctx.test:
        pip.out(ctx, "uninstall", "--yes", "--quiet", *there, what=f"cannot remove {', '.join(there)}")
        forget(ctx)
        if left := [one for one in there if one in packages(ctx, pip)]:
            raise Refused(f"pip could not remove {', '.join(left)}")
    present = packages(ctx, pip)
    return result_of(
        ctx,
        dict.fromkeys(there, "Removed"),
        Words(
            "Package is not installed.",
            f"Package(s) {', '.join(there)} will be removed",
            "Package was successfully removed.",
        ),
        {"packages": {one: present.get(one) for one in names}},
        unused_warnings(rest, MEANINGLESS),
    )


def _in_file(ctx: Context, path: str) -> list[str]:
    from saltern.modules.lib.files import sources

    lines = (
        sources.find(ctx, path, sources.Fetch(skip_verify=True)).data.decode("utf-8", "replace").splitlines()
    )
    bare = [line.partition("#")[0].strip() for line in lines]
    return [line for line in bare if line and not line.startswith("-")]


@state
def uptodate(
    ctx: Context,
    /,
    name: str,
    *,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    **rest: Unused,
) -> Result:
    """Make sure that all Python packages have the newest version.

    Args:
        name: any text.
        bin_env: a virtual environment, a Python or a pip.
        user: the user whose packages they are.
        cwd: the directory pip runs in.

    Example:
        ```yaml
        newest:
          pip.uptodate:
            - bin_env: /srv/venv
        ```
    """
    ctx.facts = {"name": name}
    pip = Pip(argv=argv_of(ctx, bin_env), user=user, cwd=cwd)
    old = outdated_packages(ctx, pip)
    changes = {key: {"old": row[0], "new": row[1]} for key, row in old.items()}
    if old and not ctx.test:
        words = ["--upgrade", "--", *(f"{key}=={row[1]}" for key, row in old.items())]
        install(ctx, pip, words, dry=False, what="cannot upgrade")
        forget(ctx)
    return result_of(
        ctx,
        changes,
        Words(
            "System is already up-to-date.",
            f"{len(old)} packages would be upgraded",
            "Upgrade ran successfully.",
        ),
        {"packages": packages(ctx, pip)},
        unused_warnings(rest, MEANINGLESS),
    )
