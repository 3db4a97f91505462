"""``saltcall``: a real Salt without a master. Each of its states has its own result, reported as it ends.

.. code-block:: yaml

    the old formula:
      saltcall.apply:
        - sls: [legacy, legacy.users]
        - file_roots: {base: [/srv/legacy]}
        - pillar: {stage: live}
"""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.lib.engines.saltcall.run import Call, call


@state
def apply(
    ctx: Context,
    name: str,
    *,
    sls: list[str] | None = None,
    highstate: bool = False,
    saltenv: str | None = None,
    pillarenv: str | None = None,
    pillar: dict[str, object] | None = None,
    exclude: list[str] | None = None,
    test: bool = False,
    queue: bool = False,
    file_roots: dict[str, object] | None = None,
    pillar_roots: dict[str, object] | None = None,
    grains: dict[str, object] | None = None,
    config: dict[str, object] | None = None,
    config_dir: str | None = None,
    log_level: str = "warning",
    cwd: str | None = None,
    bin_dir: str | None = None,
    env: object = None,
    timeout: float | None = None,
) -> Result:
    """Apply states with ``salt-call --local``; each state of Salt is a sub state, in the order they run.

    Salt reads the same trees as this run unless others are given, with its own temporary configuration.
    In test mode it runs with ``test=True``. Sub states of its states are below them. All
    that Salt prints is kept in a log, whose path is in ``data``; pillar values reach Salt in a private
    file, never on a command line.

    Args:
        name: the SLS file, if neither ``sls`` nor ``highstate`` is given.
        sls: the SLS files.
        highstate: apply the states of Salt's top file.
        saltenv, pillarenv: the environments.
        pillar: values that override those of the pillar.
        exclude: SLS files to leave out.
        test: only report what would change, also outside of test mode.
        queue: wait for another state run of Salt instead of failing.
        file_roots, pillar_roots: the trees, by environment; those of this run if not set.
        grains: grains to add to those that Salt finds.
        config: further options of Salt's minion.
        config_dir: a directory with a minion's configuration to start from, such as ``/etc/salt``.
        log_level: how much Salt logs.
        cwd: the directory to run in.
        bin_dir: the directory of ``salt-call``; by default as configured under ``engines``, or on PATH.
        env: variables to add to the environment.
        timeout: seconds after which Salt and all its processes are killed.

    Example:
        ```yaml
        /srv/legacy/motd.sls:
          file.managed:
            - makedirs: True
            - contents: |
                /etc/motd:
                  file.managed:
                    - contents: noon
          saltcall.apply:
            - sls: motd
            - file_roots: {base: [/srv/legacy]}
            - require:
              - file: /srv/legacy/motd.sls
        ```
    """
    given = {
        "mods": None if highstate else sls or [name],
        "saltenv": saltenv,
        "pillarenv": pillarenv,
        "pillar": pillar,
        "exclude": exclude,
        "test": test or ctx.test,
        "queue": queue or None,
    }
    settings = {"file_roots": file_roots, "pillar_roots": pillar_roots, "grains": grains}
    return call(
        ctx,
        Call(
            arguments={key: value for key, value in given.items() if value is not None},
            config={**(config or {}), **{key: value for key, value in settings.items() if value is not None}},
            config_dir=config_dir,
            log_level=log_level,
            cwd=os.path.expanduser(cwd) if cwd else None,
            bin_dir=bin_dir,
            env=env,
            timeout=timeout,
        ),
    )
