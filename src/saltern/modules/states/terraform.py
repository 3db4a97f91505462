"""``terraform``: configurations of Terraform and OpenTofu as states. Each resource has its own result.

.. code-block:: yaml

    the network:
      terraform.apply:
        - name: /srv/terraform/network
        - vars: {region: eu-central-1}
        - targets: [module.vpc]
"""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.lib.engines.terraform.run import Wanted, run


@state
def apply(
    ctx: Context,
    name: str,
    *,
    directory: str | None = None,
    vars: dict[str, object] | None = None,
    var_files: list[str] | None = None,
    targets: list[str] | None = None,
    replace: list[str] | None = None,
    destroy: bool = False,
    init: bool = True,
    upgrade: bool = False,
    reconfigure: bool = False,
    backend_config: list[str] | None = None,
    workspace: str | None = None,
    refresh: bool = True,
    refresh_only: bool = False,
    lock: bool = True,
    lock_timeout: str | None = None,
    parallelism: int | None = None,
    program: str | None = None,
    bin_dir: str | None = None,
    env: object = None,
    timeout: float | None = None,
) -> Result:
    """Apply a configuration of Terraform or OpenTofu; every resource is a sub state, reported when done.

    A plan is made first, and exactly that plan is applied; in test mode it is only shown. Changed outputs are
    sub states, too, and the values of all outputs are in ``data``. Sensitive values are hidden,
    and so are their copies. All output is kept in logs, whose paths are in ``data``.

    Args:
        name: the directory of the configuration; any text if ``directory`` is given.
        directory: the directory of the configuration.
        vars: values for variables; they reach the program in a private file.
        var_files: files of variables, relative to the directory, or ``salt://…``.
        targets: only these resources or modules, with their dependencies.
        replace: replace these resources even if nothing has changed.
        destroy: destroy everything that the configuration has created.
        init: initialize the directory first, also in test mode: there is no plan without it.
        upgrade, reconfigure, backend_config: options of ``init``.
        workspace: the workspace.
        refresh: read the current state of resources before planning.
        refresh_only: only update the state with changes that were made elsewhere.
        lock, lock_timeout: lock the state; how long to wait for it, such as ``30s``.
        parallelism: how many resources to change at a time.
        program: ``terraform`` or ``tofu``; if not set, the first that is installed.
        bin_dir: the directory of the program; by default as configured under ``engines``, or on PATH.
        env: variables to add to the environment.
        timeout: seconds after which each of its commands is killed, with all its processes.

    Example:
        ```yaml
        /srv/terraform/main.tf:
          file.managed:
            - makedirs: True
            - contents: |
                resource "terraform_data" "word" {
                  input = "noon"
                }
          terraform.apply:
            - directory: /srv/terraform
            - require:
              - file: /srv/terraform/main.tf
        ```
    """
    return run(
        ctx,
        Wanted(
            directory=os.path.expanduser(directory or name),
            given={
                "targets": targets,
                "replace": replace,
                "destroy": destroy,
                "refresh_only": refresh_only,
                "upgrade": upgrade,
                "reconfigure": reconfigure,
                "backend_config": backend_config,
                "lock_timeout": lock_timeout,
                "parallelism": parallelism,
            },
            variables=vars or {},
            var_files=var_files or [],
            program=program,
            init=init,
            workspace=workspace,
            refresh=refresh,
            lock=lock,
            bin_dir=bin_dir,
            env=env,
            timeout=timeout,
        ),
    )
