"""``puppet``: manifests as states. Each resource has its own result, reported as it ends.

.. code-block:: yaml

    the shop:
      puppet.apply:
        - name: /srv/puppet/manifests/site.pp
        - modulepath: [/srv/puppet/modules]
        - tags: [web]
"""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.lib.engines.puppet.run import Wanted, run


@state
def apply(
    ctx: Context,
    name: str,
    *,
    code: str | None = None,
    catalog: str | None = None,
    modulepath: list[str] | None = None,
    hiera_config: str | None = None,
    environment: str | None = None,
    environmentpath: str | None = None,
    confdir: str | None = None,
    vardir: str | None = None,
    certname: str | None = None,
    facts: dict[str, object] | None = None,
    tags: list[str] | None = None,
    skip_tags: list[str] | None = None,
    ordering: str | None = None,
    loadclasses: bool = False,
    noop: bool = False,
    show_diff: bool = True,
    verbose: bool = False,
    debug: bool = False,
    settings: dict[str, object] | None = None,
    cwd: str | None = None,
    bin_dir: str | None = None,
    env: object = None,
    timeout: float | None = None,
) -> Result:
    """Apply a Puppet manifest; every resource is a sub state, reported when Puppet is done with it.

    In test mode Puppet runs with ``--noop``. A resource that is skipped because another one failed is
    reported as a failure, with that reason. ``Sensitive`` values stay hidden. All that Puppet prints is kept
    in a log, whose path is in ``data``.

    Args:
        name: the manifest, or a directory of manifests; also ``salt://…``.
            Any text with ``code`` or ``catalog``.
        code: Puppet code to apply instead; it reaches Puppet in a private file.
        catalog: a compiled catalog to apply instead, as JSON.
        modulepath: directories of modules.
        hiera_config: the configuration of Hiera.
        environment, environmentpath: the environment, and the directory of environments.
        confdir, vardir: the directories of Puppet's configuration and of its files.
        certname: the name of the node.
        facts: further facts, as texts and numbers.
        tags, skip_tags: only resources with, or without, one of these tags.
        ordering: ``manifest``, ``title-hash`` or ``random``.
        loadclasses: also load the classes of the last run, from the agent's class file.
        noop: only report what would change, also outside of test mode.
        show_diff: report the differences in files.
        verbose, debug: how much Puppet logs.
        settings: any other settings of Puppet, by name.
        cwd: the directory to run in.
        bin_dir: the directory of ``puppet``; by default as configured under ``engines``, or on PATH.
        env: variables to add to the environment.
        timeout: seconds after which Puppet and all its processes are killed.

    Example:
        ```yaml
        /srv/puppet/motd.pp:
          file.managed:
            - makedirs: True
            - contents: |
                file { '/etc/motd':
                  content => "noon\\n",
                }
          puppet.apply:
            - require:
              - file: /srv/puppet/motd.pp
        ```
    """
    return run(
        ctx,
        Wanted(
            name=name,
            code=code,
            catalog=catalog,
            given={
                "modulepath": modulepath,
                "hiera_config": hiera_config,
                "environment": environment,
                "environmentpath": environmentpath,
                "confdir": confdir,
                "vardir": vardir,
                "certname": certname,
                "tags": tags,
                "skip_tags": skip_tags,
                "ordering": ordering,
                "loadclasses": loadclasses,
                "noop": noop or ctx.test,
                "show_diff": show_diff,
                "verbose": verbose,
                "debug": debug,
            },
            settings=settings or {},
            facts=facts or {},
            cwd=os.path.expanduser(cwd) if cwd else None,
            bin_dir=bin_dir,
            env=env,
            timeout=timeout,
        ),
    )
