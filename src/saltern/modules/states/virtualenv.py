"""``virtualenv``: virtual environments of Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from saltern.language.nature import Nature
from saltern.language.result import Result
from saltern.modules.api.commands import environment, list_of_texts
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.programs import output
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.pip.command import Pip, forget, install, packages
from saltern.modules.lib.pip.words import options, requirement_files
from saltern.modules.lib.virtualenvs import Env, is_environment, make, maker_for
from saltern.system.foreign import foreign_directory, name_of

NATURE = Nature(installs=True)
MEANINGLESS = frozenset(
    {"distribute", "use_wheel", "no_use_wheel", "pip_download", "pip_download_cache", "use_vt"}
    | {"process_dependency_links", "extra_search_dir", "never_download", "reload_modules", "runas"}
)


def python_version(ctx: Context, python: str, user: str | None = None) -> str:
    """The version of a Python, such as ``Python 3.11.2``."""
    return output(ctx, [python, "--version"], what=f"cannot run {python}", user=user).strip()


@state
def managed(
    ctx: Context,
    /,
    name: str,
    *,
    venv_bin: str | None = None,
    requirements: object = None,
    system_site_packages: bool = False,
    clear: bool = False,
    python: str | None = None,
    prompt: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    index_url: str | None = None,
    extra_index_url: object = None,
    find_links: object = None,
    no_index: bool = False,
    pre_releases: bool = False,
    no_deps: bool = False,
    pip_exists_action: str | None = None,
    pip_ignore_installed: bool = False,
    proxy: str | None = None,
    env_vars: object = None,
    pip_upgrade: bool = False,
    pip_pkgs: object = None,
    pip_no_cache_dir: bool = False,
    pip_cache_dir: str | None = None,
    no_binary: object = None,
    **rest: Unused,
) -> Result:
    """Make sure that a virtual environment exists, with these packages.

    Args:
        name: the directory of the environment.
        venv_bin: ``virtualenv`` or ``venv``; the first that is installed if not given.
        requirements: a file of requirements, a path or ``salt://``.
        system_site_packages: give it access to the packages of the machine.
        clear: create it again each time.
        python: the Python to create it with.
        prompt: the prompt of the activated environment.
        user: the user who owns it.
        cwd: where pip runs.
        pip_pkgs: requirements to install.
        pip_upgrade: install the newest versions that fit.
        index_url, extra_index_url, find_links, no_index, pre_releases, no_deps, no_binary, proxy,
            pip_exists_action, pip_ignore_installed, pip_no_cache_dir, pip_cache_dir: as in ``pip.installed``.
        env_vars: more environment variables for pip.

    Example:
        ```yaml
        /home/ada/venv:
          virtualenv.managed:
            - requirements: salt://web/requirements.txt
            - user: ada
        ```
    """
    given: dict[str, object] = {
        "index_url": index_url,
        "extra_index_url": extra_index_url,
        "find_links": find_links,
        "no_index": no_index,
        "pre_releases": pre_releases,
        "no_deps": no_deps,
        "no_binary": no_binary,
        "proxy": proxy,
        "exists_action": pip_exists_action,
        "ignore_installed": pip_ignore_installed,
        "no_cache_dir": pip_no_cache_dir,
        "cache_dir": pip_cache_dir,
        "upgrade": pip_upgrade,
    }

    ctx.facts = {"path": name}
    ctx.foreseen = {"new": python or "python3"}
    env = Env(
        path=absolute(name).rstrip("/"),
        python=python or "python3",
        system_site_packages=system_site_packages,
        prompt=prompt,
        user=user,
    )
    with requirement_files(ctx, requirements, user) as named:
        wanted = list_of_texts(pip_pkgs)
        if bad := [one for one in wanted if one.startswith("-") or not one.strip()]:
            raise Refused(f"{bad[0]!r} is not a requirement")
        words = [*options(given), *named, *(["--", *wanted] if wanted else [])]
        how = Pip(
            argv=(os.path.join(env.path, "bin", "python"), "-m", "pip"),
            user=user,
            cwd=cwd,
            env=environment(env_vars),
        )
        todo = words if named or wanted else []
        return _manage(ctx, env, how, venv_bin, todo, clear, unused_warnings(rest, MEANINGLESS))


def _manage(
    ctx: Context,
    env: Env,
    pip: Pip,
    venv_bin: str | None,
    words: Sequence[str],
    clear: bool,
    warnings: tuple[str, ...],
) -> Result:
    check_exposed(ctx, env)
    there = is_environment(env.path)
    if not there and os.path.isdir(env.path) and os.listdir(env.path):
        raise Refused(
            f"{env.path} is not empty and not a virtual environment; remove it, or choose another directory"
        )
    before = packages(ctx, pip, fresh=True) if there else {}
    making = clear or not there
    changes: dict[str, object] = {}
    if making:
        changes["new"] = python_version(ctx, env.python, env.user)
        maker = maker_for(ctx, venv_bin, env.python)
        if there and (old := _requirements(before)):
            changes["cleared_packages"] = old
        if not ctx.test:
            make(ctx, env, maker, there)
    if words:
        changes |= _packages(ctx, env, pip, words, {} if making else before)
    forget(ctx)
    here = is_environment(env.path)
    data: dict[str, object] = {
        "path": env.path,
        "python": python_version(ctx, pip.argv[0], env.user) if here else None,
        "packages": packages(ctx, pip) if here else {},
    }
    return result_of(
        ctx,
        changes,
        Words(
            "virtualenv exists",
            f"Virtualenv {env.path} is set to be {'created' if making else 'changed'}",
            "Created new virtualenv" if making else "Changed the packages of the virtualenv",
        ),
        data,
        warnings,
    )


def check_exposed(ctx: Context, env: Env) -> None:
    """Raise if another user could replace the environment, whose programs root would then run."""
    found = foreign_directory(env.path) if (env.user or ctx.runas) in (None, "root") else None
    if found is not None:
        directory, uid = found
        owner = "all users" if uid < 0 else name_of(uid)
        raise Refused(
            f"{directory} can be changed by {owner}, whose programs root would run from {env.path}; set "
            "user: NAME, or choose a directory that only root can change"
        )


BROUGHT = ("pip", "setuptools", "wheel")  # in every environment by default


def _requirements(found: Mapping[str, str]) -> list[str]:
    return sorted(f"{name}=={version}" for name, version in found.items() if name not in BROUGHT)


def _packages(
    ctx: Context, env: Env, pip: Pip, words: Sequence[str], before: Mapping[str, str]
) -> dict[str, object]:
    """Install packages, or predict it; for an environment that does not exist yet, with its creator's pip."""
    fresh = ctx.test and not is_environment(env.path)
    asked = [*words]
    if fresh:
        pip = Pip(argv=(env.python, "-m", "pip"), user=pip.user, cwd=pip.cwd, env=pip.env)
        asked = ["--ignore-installed", *asked]
    elif ctx.test and not before:  # it would be cleared first
        asked = ["--ignore-installed", *asked]
    what = f"cannot install packages into {env.path}"
    new = install(ctx, pip, asked, dry=ctx.test, what=what)
    if new is None:
        raise Refused(f"{what}: this pip is older than 22.2; add pip to pip_pkgs, or upgrade it")
    changed = {name: version for name, version in new.items() if before.get(name) != version}
    if not changed:
        return {}
    old = {name: before[name] for name in changed if name in before}
    return {
        "packages": {
            "new": sorted(f"{name}=={version}" for name, version in changed.items()),
            "old": _requirements(old),
        }
    }
