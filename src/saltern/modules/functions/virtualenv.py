"""``virtualenv``: virtual environments of Python."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.api.programs import output
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.virtualenvs import Env, is_environment, make, maker_for


@function
def create(
    ctx: Context,
    /,
    path: str,
    venv_bin: str | None = None,
    system_site_packages: bool = False,
    python: str | None = None,
    prompt: str | None = None,
    user: str | None = None,
    **_: object,
) -> bool:
    """Create a virtual environment unless it exists.

    Example:
        ```console
        $ saltern call virtualenv.create /srv/app/venv
        ```
    """
    env = Env(
        path=absolute(path),
        python=python or "python3",
        system_site_packages=system_site_packages,
        prompt=prompt,
        user=user,
    )
    if is_environment(env.path):
        return True
    with explain_errors(path):
        make(ctx, env, maker_for(ctx, venv_bin, env.python), False)
    return True


@function
def get_site_packages(ctx: Context, venv: str) -> str:
    """The directory of the packages of a virtual environment.

    Example:
        ```console
        $ saltern call virtualenv.get_site_packages /srv/venv
        local:
            /srv/venv/lib/python3.11/site-packages
        ```
    """
    return _ask(ctx, venv, "import sysconfig; print(sysconfig.get_path('purelib'))")


@function
def get_distribution_path(ctx: Context, venv: str, distribution: str) -> str:
    """The path of a package in a virtual environment.

    Example:
        ```console
        $ saltern call virtualenv.get_distribution_path /srv/venv gunicorn
        local:
            /srv/venv/lib/python3.11/site-packages
        ```
    """
    asked = "import sys, importlib.metadata as m; print(m.distribution(sys.argv[1]).locate_file(''))"
    return _ask(ctx, venv, asked, distribution)


@function
def get_distribution_version(ctx: Context, venv: str, distribution: str) -> str:
    """The version of a package in a virtual environment.

    Example:
        ```console
        $ saltern call virtualenv.get_distribution_version /srv/venv gunicorn
        local:
            1.0
        ```
    """
    return _ask(ctx, venv, "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))", distribution)


def _ask(ctx: Context, venv: str, asked: str, *words: str) -> str:
    python = os.path.join(absolute(venv), "bin", "python")
    if not is_environment(absolute(venv)):
        raise BadArgument(f"{venv} is not a virtual environment")
    return output(ctx, [python, "-c", asked, *words], what=f"cannot run the Python of {venv}").strip()
