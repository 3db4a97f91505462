"""``idem``: runs of Idem as states. Each of its states has its own result.

.. code-block:: yaml

    the cloud:
      idem.state:
        - sls: [network, machines]
        - source_dir: /srv/idem
        - acct_file: /srv/idem/credentials.yaml.fernet
"""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state as declared
from saltern.modules.lib.engines.idem.run import Wanted, run
from saltern.modules.lib.engines.scratch import path_on_disk


@declared
def state(
    ctx: Context,
    name: str,
    *,
    sls: list[str] | None = None,
    source_dir: str | None = None,
    sls_sources: list[str] | None = None,
    params: list[str] | None = None,
    param_sources: list[str] | None = None,
    target: str | None = None,
    invert: bool = False,
    acct_file: str | None = None,
    acct_key: str | None = None,
    acct_profile: str | None = None,
    render: str | None = None,
    runtime: str | None = None,
    batch_size: int | None = None,
    reconciler: str | None = None,
    max_pending_reruns: int | None = None,
    hard_fail: bool = False,
    esm_plugin: str | None = None,
    esm_profile: str | None = None,
    run_name: str | None = None,
    root_dir: str | None = None,
    cache_dir: str | None = None,
    config: str | None = None,
    log_level: str | None = None,
    test: bool = False,
    cwd: str | None = None,
    bin_dir: str | None = None,
    env: object = None,
    timeout: float | None = None,
) -> Result:
    """Run Idem's states; each is a sub state, reported when Idem is done with it.

    In test mode Idem runs with ``--test``. Otherwise Idem repeats a state that has failed or changed
    something, seconds apart, until its result is final: it is reported then. ``reconciler: none`` turns
    that off. A failed state fails this one, although Idem itself exits with 0. All that Idem prints is kept
    in a log, whose path is in ``data``; its arguments are in a private file, never on a command line.

    Args:
        name: the SLS file or reference, if ``sls`` is not given; also ``salt://…``.
        sls: the SLS files or references.
        source_dir: the directory of SLS files and parameters.
        sls_sources, param_sources: further sources of SLS and parameter files, such as ``file:///srv/idem``.
        params: parameter files.
        target: run only the state with this ID, and all it requires.
        invert: use ``absent`` instead of ``present``, and the other way round.
        acct_file, acct_key, acct_profile: the encrypted credentials, their key, and the profile to use.
        render: the render pipe; ``jinja|yaml|replacements`` if not set.
        runtime: ``parallel``, or ``serial``.
        batch_size: how many states to run at a time.
        reconciler: ``basic``, or ``none``.
        max_pending_reruns: how often a pending state is repeated.
        hard_fail: stop at the first error.
        esm_plugin, esm_profile: where Idem stores what it has created.
        run_name: Idem's name for this run.
        root_dir, cache_dir: where Idem keeps its files.
        config: a configuration file of Idem.
        log_level: how much Idem logs.
        test: only report what would change, also outside of test mode.
        cwd: the directory to run in.
        bin_dir: the directory of ``idem``; by default as configured under ``engines``, or on PATH.
        env: variables to add to the environment.
        timeout: seconds after which Idem and all its processes are killed.

    Example:
        ```yaml
        /srv/idem/wait.sls:
          file.managed:
            - makedirs: True
            - contents: |
                a moment:
                  time.sleep:
                    - duration: 1
          idem.state:
            - require:
              - file: /srv/idem/wait.sls
        ```
    """
    return run(
        ctx,
        Wanted(
            sls=[path_on_disk(ctx, one) for one in sls or [name]],
            cwd=os.path.expanduser(cwd) if cwd else None,
            given={
                "tree": source_dir,
                "sls_sources": sls_sources,
                "params": params,
                "param_sources": param_sources,
                "target": target,
                "invert": invert,
                "acct_file": acct_file,
                "acct_key": acct_key,
                "acct_profile": acct_profile,
                "render": render,
                "runtime": runtime,
                "batch_size": batch_size,
                "reconciler": reconciler,
                "max_pending_reruns": max_pending_reruns,
                "hard_fail": hard_fail,
                "esm_plugin": esm_plugin,
                "esm_profile": esm_profile,
                "run_name": run_name,
                "root_dir": root_dir,
                "cache_dir": cache_dir,
                "config": config,
                "log_level": log_level,
            },
            test=test or ctx.test,
            bin_dir=bin_dir,
            env=env,
            timeout=timeout,
        ),
    )
