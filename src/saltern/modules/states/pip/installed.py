"""``pip.installed``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.language.result import Result
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import BadArgument, Unused
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.pip.command import Pip, argv_of, forget, install, normal, packages, split
from saltern.modules.lib.pip.words import LISTS, SWITCHES, VALUES, options, requirement_files

# Options of old pip versions; they have no effect today.
MEANINGLESS = frozenset(
    {"pip_bin", "no_use_wheel", "mirrors", "build", "download", "download_cache", "no_install", "no_download"}
    | {"install_options", "allow_all_external", "allow_external", "allow_unverified", "repo", "use_vt"}
    | {"process_dependency_links", "disable_version_check", "freeze_command", "reload_modules"}
)
AGAIN = ("upgrade", "force_reinstall", "ignore_installed", "target")


@state
def installed(
    ctx: Context,
    /,
    name: str,
    *,
    pkgs: object = None,
    requirements: object = None,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    editable: object = None,
    env_vars: object = None,
    upgrade: bool = False,
    force_reinstall: bool = False,
    ignore_installed: bool = False,
    no_deps: bool = False,
    no_index: bool = False,
    pre_releases: bool = False,
    no_cache_dir: bool = False,
    use_wheel: bool = False,
    log: str | None = None,
    proxy: str | None = None,
    timeout: int | None = None,
    index_url: str | None = None,
    target: str | None = None,
    source: str | None = None,
    exists_action: str | None = None,
    cert: str | None = None,
    cache_dir: str | None = None,
    find_links: object = None,
    extra_index_url: object = None,
    trusted_host: object = None,
    no_binary: object = None,
    only_binary: object = None,
    global_options: object = None,
    extra_args: object = None,
    **rest: Unused,
) -> Result:
    """Make sure that Python packages are installed.

    Args:
        name: a requirement in pip's syntax: ``django``, ``django >= 4, < 5``, a URL, a path.
        pkgs: a list of requirements instead of ``name``.
        requirements: a file of requirements, a path or ``salt://``, or a list of them.
        bin_env: a virtual environment, a Python or a pip; the machine's own pip if not given.
        user: the user to install as.
        cwd: the directory pip runs in; relative paths in requirements start there.
        editable: URLs or paths to install as editable.
        env_vars: more environment variables, ``{NAME: value}``.
        upgrade: install the newest version that fits.
        force_reinstall: reinstall installed packages. ignore_installed: install even if they are installed.
        no_deps: do not install dependencies.
        index_url, extra_index_url, find_links, no_index: where to find packages.
        pre_releases: accept prerelease versions.
        target: install into this directory.
        no_binary, only_binary, use_wheel: which package formats are allowed.
        proxy, timeout, cert, trusted_host, cache_dir, no_cache_dir, log, source, exists_action,
            global_options: pip's own options of these names.
        extra_args: further arguments for pip.

    Example:
        ```yaml
        web packages:
          pip.installed:
            - pkgs:
              - django >= 4.2, < 5
              - gunicorn
            - bin_env: /srv/venv
        ```
    """
    given: dict[str, object] = {
        key: value for key, value in locals().items() if key in SWITCHES or key in VALUES or key in LISTS
    }

    ctx.facts = {"name": name}
    ctx.foreseen = dict.fromkeys(_each(pkgs) or _each(requirements) or [name], "Installed")
    wanted = _requirements(name, pkgs, requirements, editable)
    pip = Pip(argv=argv_of(ctx, bin_env), user=user, cwd=cwd, env=environment(env_vars))
    with requirement_files(ctx, requirements, user) as files:
        chosen = options({**given, "extra_args": extra_args})
        edit = [word for one in _each(editable) for word in ("--editable", one)]
        words = [*chosen, *files, *edit, "--", *wanted] if wanted else [*chosen, *files, *edit]
        sure = not files and not edit and not any(given.get(word) for word in AGAIN)
        return _install_wanted(ctx, pip, wanted, words, sure, unused_warnings(rest, MEANINGLESS))


def _each(value: object) -> list[str]:
    if value is None or value == "":
        return []
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _requirements(name: str, pkgs: object, requirements: object, editable: object) -> list[str]:
    if pkgs is not None:
        listed = pkgs if isinstance(pkgs, list) else [pkgs]
        found = [_text(one) for one in listed]
        if not found:
            raise Refused("'pkgs' is an empty list")
    else:
        found = [] if requirements or editable else [name]
    if bad := [one for one in found if one.startswith("-") or not one.strip() or "\n" in one]:
        raise Refused(f"{bad[0]!r} is not a requirement")
    return found


def _text(one: object) -> str:
    """``{django: 4.2}`` is ``django==4.2``, as in ``pkg``."""
    if isinstance(one, Mapping):
        if len(one) != 1:
            raise BadArgument(f"pkgs contains {one!r}, which is neither a requirement nor {{name: version}}")
        [(name, version)] = one.items()
        exact = str(version or "")
        return f"{name}{exact if exact[:1] in '<>=!~' else f'=={exact}'}"
    return str(one).strip()


def _satisfied(requirement: str, present: Mapping[str, str]) -> bool:
    """True if the requirement, which names any or one exact version, is met, without asking pip."""
    name, version = split(requirement)
    if not name or name not in present:
        return False
    return not version or (version.startswith("==") and version[2:].strip() == present[name])


def _install_wanted(
    ctx: Context,
    pip: Pip,
    wanted: Sequence[str],
    words: Sequence[str],
    sure: bool,
    warnings: tuple[str, ...],
) -> Result:
    before = packages(ctx, pip)
    what = f"cannot install {', '.join(wanted) or 'the requirements'}"
    if sure and all(_satisfied(one, before) for one in wanted):
        new: dict[str, str] = {}
    else:
        new = _install(ctx, pip, wanted, words, before, what)
    after = before if ctx.test else packages(ctx, pip)
    names = {name for one in wanted if (name := split(one)[0])} | set(new)
    listed = ", ".join(wanted) or "the requirements"
    return result_of(
        ctx,
        {f"{name}=={version}" if version else name: "Installed" for name, version in new.items()},
        Words(
            f"Python packages already installed: {listed}",
            f"Python packages would be installed: {listed}",
            f"Python packages installed: {listed}",
        ),
        {"packages": {name: after.get(name) for name in sorted(names)}},
        warnings,
    )


def _install(
    ctx: Context,
    pip: Pip,
    wanted: Sequence[str],
    words: Sequence[str],
    before: Mapping[str, str],
    what: str,
) -> dict[str, str]:
    reported = install(ctx, pip, words, dry=ctx.test, what=what)
    if not ctx.test:
        forget(ctx)
    if reported is not None:
        return reported
    if ctx.test:  # an old pip cannot predict what it would do
        names = [split(one)[0] or one for one in wanted]
        return {normal(name): "" for name in names if name not in before}
    pip.out(ctx, "install", "--quiet", *words, what=what)
    after = packages(ctx, pip)
    return {name: version for name, version in after.items() if before.get(name) != version}
