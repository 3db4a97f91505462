"""``pip``: Python packages."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import re

from saltern.modules.api.commands import environment, list_of_texts
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.file.errors import explain_errors
from saltern.modules.lib.pip.command import Pip, argv_of, forget, normal, packages
from saltern.modules.lib.pip.outdated import outdated_packages
from saltern.modules.lib.pip.words import options


def _pip(
    ctx: Context,
    bin_env: str | None,
    user: str | None = None,
    cwd: str | None = None,
    env_vars: object = None,
) -> Pip:
    with explain_errors(bin_env or "pip"):
        return Pip(argv=argv_of(ctx, bin_env), user=user, cwd=cwd, env=environment(env_vars))


def _names(pkgs: object) -> list[str]:
    return [one.strip() for one in pkgs.split(",")] if isinstance(pkgs, str) else list_of_texts(pkgs)


def _files(requirements: object) -> list[str]:
    """The files of requirements: a text with commas, or a list."""
    return [word for name in _names(requirements) if name for word in ("-r", name)]


@function(name="list")
def list_(
    ctx: Context,
    /,
    prefix: str | None = None,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    env_vars: object = None,
    **_: object,
) -> dict[str, str]:
    """Installed packages and their versions; only those that begin with ``prefix``.

    Example:
        ```console
        $ saltern call pip.list gunicorn bin_env=/srv/venv
        local:
            ----------
            gunicorn:
                1.0
        ```
    """
    found = packages(ctx, _pip(ctx, bin_env, user, cwd, env_vars), fresh=True)
    return {name: version for name, version in found.items() if not prefix or name.startswith(prefix.lower())}


@function
def freeze(
    ctx: Context,
    /,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    use_vt: bool = False,
    env_vars: object = None,
    **_: object,
) -> list[str]:
    """Installed packages as requirements.

    Example:
        ```console
        $ saltern call pip.freeze bin_env=/srv/venv
        local:
            - gunicorn==1.0
        …
        ```
    """
    return _pip(ctx, bin_env, user, cwd, env_vars).out(ctx, "freeze", what="pip freeze failed").splitlines()


@function
def version(ctx: Context, bin_env: str | None = None, cwd: str | None = None, user: str | None = None) -> str:
    """The version of pip.

    Example:
        ```console
        $ saltern call pip.version bin_env=/srv/venv
        ```
    """
    said = _pip(ctx, bin_env, user, cwd).out(ctx, "--version", what="cannot determine the version of pip")
    return said.split(" ")[1]


@function
def is_installed(
    ctx: Context,
    /,
    pkgname: str,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    **_: object,
) -> bool:
    """True if a package is installed.

    Example:
        ```console
        $ saltern call pip.is_installed gunicorn bin_env=/srv/venv
        local:
            True
        ```
    """
    return normal(pkgname) in packages(ctx, _pip(ctx, bin_env, user, cwd), fresh=True)


@function
def list_upgrades(
    ctx: Context,
    /,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    **_: object,
) -> dict[str, str]:
    """Packages with a newer version, and that version.

    Example:
        ```console
        $ saltern call pip.list_upgrades bin_env=/srv/venv
        local:
        …
            gunicorn:
                2.0
        …
        ```
    """
    return {name: row[1] for name, row in outdated_packages(ctx, _pip(ctx, bin_env, user, cwd)).items()}


@function
def install(
    ctx: Context,
    /,
    pkgs: object = None,
    requirements: object = None,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    env_vars: object = None,
    editable: object = None,
    **kwargs: object,
) -> dict[str, object]:
    """Run ``pip install``. Returns ``retcode``, ``stdout`` and ``stderr``.

    Example:
        ```console
        $ saltern call pip.install django==4.2 bin_env=/srv/venv
        local:
        …
            retcode:
                0
        …
        ```
    """
    names = _names(pkgs)
    files = _files(requirements)
    edit = ["--editable", str(editable)] if editable else []
    words = [*options(kwargs), *files, *edit, *(["--", *names] if names else [])]
    return _ran(ctx, _pip(ctx, bin_env, user, cwd, env_vars), "install", words)


@function
def uninstall(
    ctx: Context,
    /,
    pkgs: object = None,
    requirements: object = None,
    bin_env: str | None = None,
    user: str | None = None,
    cwd: str | None = None,
    **_: object,
) -> dict[str, object]:
    """Run ``pip uninstall``. Returns ``retcode``, ``stdout`` and ``stderr``.

    Example:
        ```console
        $ saltern call pip.uninstall gunicorn bin_env=/srv/venv
        local:
        …
            retcode:
                0
        …
        ```
    """
    names = _names(pkgs)
    words = ["--yes", *_files(requirements), *(["--", *names] if names else [])]
    return _ran(ctx, _pip(ctx, bin_env, user, cwd), "uninstall", words)


def _ran(ctx: Context, pip: Pip, verb: str, words: list[str]) -> dict[str, object]:
    ran = pip.ran(ctx, verb, *words)
    forget(ctx)
    return {"pid": ran.pid, "retcode": ran.code, "stdout": ran.out, "stderr": ran.err}


@function
def list_all_versions(
    ctx: Context,
    pkg: str,
    bin_env: str | None = None,
    include_alpha: bool = False,
    include_beta: bool = False,
    include_rc: bool = False,
    user: str | None = None,
    cwd: str | None = None,
    index_url: str | None = None,
    extra_index_url: str | None = None,
) -> list[str] | None:
    """The versions of a package in the index, the oldest first; None if there are none.

    Args:
        pkg: the package.
        include_alpha, include_beta, include_rc: include prereleases.
        index_url, extra_index_url: other indexes to query.

    Example:
        ```console
        $ saltern call pip.list_all_versions gunicorn bin_env=/srv/venv
        local:
        …
        ```
    """
    places = {"index_url": index_url, "extra_index_url": extra_index_url}
    ran = _pip(ctx, bin_env, user, cwd).ran(ctx, "index", "versions", "--pre", *options(places), "--", pkg)
    found = re.search(r"Available versions: (.*)", ran.out)
    kinds = {"a": include_alpha, "b": include_beta, "rc": include_rc}
    left_out = [kind for kind, wanted in kinds.items() if not wanted]
    versions = found[1].split(", ") if found else []
    kept = [one.strip() for one in versions if not any(re.search(rf"\d{kind}\d", one) for kind in left_out)]
    return kept[::-1] or None
