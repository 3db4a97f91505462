"""``chef``: runs of Chef as states. Each resource has its own result, reported as it ends.

.. code-block:: yaml

    the shop:
      chef.client:
        - localmode: True
        - config: /srv/chef/client.rb
        - override_runlist: ['recipe[shop]']
"""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.lib.engines.chef.run import Wanted, run, with_dashes


@state
def client(
    ctx: Context,
    /,
    name: str,  # noqa: ARG001
    *,
    config: str | None = None,
    json_attributes: object = None,
    runlist: object = None,
    override_runlist: object = None,
    environment: str | None = None,
    node_name: str | None = None,
    localmode: bool = False,
    recipes: list[str] | None = None,
    server: str | None = None,
    validation_key: str | None = None,
    client_key: str | None = None,
    named_run_list: str | None = None,
    config_file_jail: str | None = None,
    pid: str | None = None,
    log_level: str | None = None,
    logfile: str | None = None,
    user: str | None = None,
    group: str | None = None,
    run_lock_timeout: int | None = None,
    chef_license: str | None = None,
    whyrun: bool = False,
    cwd: str | None = None,
    bin_dir: str | None = None,
    env: object = None,
    timeout: float | None = None,
    **more: object,
) -> Result:
    """Run ``chef-client`` once; every resource is a sub state, reported when Chef is done with it.

    In test mode Chef runs with ``--why-run``. The parts of a resource are below it. A failure that a recipe
    ignores is a success with a note, and a resource that Chef had planned but did not reach is reported as a
    failure. ``sensitive`` values stay hidden. All that Chef prints is kept in a log, whose path is in
    ``data``.

    Args:
        name: any text.
        config: the configuration file, also ``salt://…``; ``/etc/chef/client.rb`` if not set.
        json_attributes: a mapping, which reaches Chef in a private file, or a file, or an address.
        runlist, override_runlist: the run list from now on, or for this run only; a list, or text with
            commas.
        environment: Chef's environment.
        node_name: the name of the node.
        localmode: run without a server.
        recipes: recipe files to run, with ``localmode``; also ``salt://…``.
        server, validation_key, client_key: the server, and the keys for it.
        named_run_list: a run list of a Policyfile.
        config_file_jail: the directory in which Chef may look for configuration files.
        pid: the file to which Chef writes its process ID.
        log_level, logfile: how much Chef logs, and the file to log to instead of the log that is kept here.
        user, group: the user and group that Chef switches to after it has started.
        run_lock_timeout: seconds to wait for another run of Chef.
        chef_license: accepts the licence of Chef, with one of Chef's own values.
        whyrun: only report what would change, also outside of test mode.
        cwd: the directory to run in.
        bin_dir: the directory of ``chef-client``; by default as configured under ``engines``, or on PATH.
        env: variables to add to the environment.
        timeout: seconds after which Chef and all its processes are killed.
        more: the same arguments with dashes in their names, as Salt has them.

    Example:
        ```yaml
        /srv/chef/motd.rb:
          file.managed:
            - makedirs: True
            - contents: |
                file '/etc/motd' do
                  content "noon\\n"
                end
          chef.client:
            - localmode: True
            - recipes: [/srv/chef/motd.rb]
            - require:
              - file: /srv/chef/motd.rb
        ```
    """
    given = with_dashes(
        {
            "runlist": runlist,
            "override_runlist": override_runlist,
            "environment": environment,
            "node_name": node_name,
            "localmode": localmode,
            "server": server,
            "validation_key": validation_key,
            "client_key": client_key,
            "named_run_list": named_run_list,
            "config_file_jail": config_file_jail,
            "pid": pid,
            "log_level": log_level,
            "logfile": logfile,
            "user": user,
            "group": group,
            "run_lock_timeout": run_lock_timeout,
            "chef_license": chef_license,
            "whyrun": whyrun,
            "json_attributes": json_attributes,
        },
        more,
    )
    return run(
        ctx,
        Wanted(
            mode="client",
            given={**given, "whyrun": bool(given["whyrun"]) or ctx.test},
            config=config,
            attributes=given["json_attributes"],
            recipes=recipes or [],
            cwd=os.path.expanduser(cwd) if cwd else None,
            bin_dir=bin_dir,
            env=env,
            timeout=timeout,
        ),
    )


@state
def solo(
    ctx: Context,
    /,
    name: str,  # noqa: ARG001
    *,
    config: str | None = None,
    json_attributes: object = None,
    runlist: object = None,
    override_runlist: object = None,
    environment: str | None = None,
    node_name: str | None = None,
    recipe_url: str | None = None,
    legacy_mode: bool = False,
    log_level: str | None = None,
    logfile: str | None = None,
    user: str | None = None,
    group: str | None = None,
    run_lock_timeout: int | None = None,
    chef_license: str | None = None,
    whyrun: bool = False,
    cwd: str | None = None,
    bin_dir: str | None = None,
    env: object = None,
    timeout: float | None = None,
    **more: object,
) -> Result:
    """Run ``chef-solo``; every resource is a sub state, reported when Chef is done with it.

    Works like ``client``.

    Args:
        name: any text.
        config: the configuration file, also ``salt://…``; ``/etc/chef/solo.rb`` if not set.
        json_attributes: a mapping, which reaches Chef in a private file, or a file, or an address.
        runlist, override_runlist: the run list from now on, or for this run only; a list, or text with
            commas.
        environment: Chef's environment.
        node_name: the name of the node.
        recipe_url: an archive of cookbooks to fetch first.
        legacy_mode: run as Chef 11 did, without a server in memory.
        log_level, logfile: how much Chef logs, and the file to log to instead of the log that is kept here.
        user, group: the user and group that Chef switches to after it has started.
        run_lock_timeout: seconds to wait for another run of Chef.
        chef_license: accepts the licence of Chef, with one of Chef's own values.
        whyrun: only report what would change, also outside of test mode.
        cwd: the directory to run in.
        bin_dir: the directory of ``chef-solo``; by default as configured under ``engines``, or on PATH.
        env: variables to add to the environment.
        timeout: seconds after which Chef and all its processes are killed.
        more: the same arguments with dashes in their names, as Salt has them.

    Example:
        ```yaml
        /srv/chef/cookbooks/shop/recipes/default.rb:
          file.managed:
            - makedirs: True
            - contents: |
                file '/etc/motd' do
                  content "noon\\n"
                end
        /srv/chef/cookbooks/shop/metadata.rb:
          file.managed:
            - contents: name 'shop'
        /srv/chef/solo.rb:
          file.managed:
            - contents: cookbook_path '/srv/chef/cookbooks'
        the shop:
          chef.solo:
            - config: /srv/chef/solo.rb
            - override_runlist: ['recipe[shop]']
            - require:
              - file: /srv/chef/*
        ```
    """
    given = with_dashes(
        {
            "runlist": runlist,
            "override_runlist": override_runlist,
            "environment": environment,
            "node_name": node_name,
            "recipe_url": recipe_url,
            "legacy_mode": legacy_mode,
            "log_level": log_level,
            "logfile": logfile,
            "user": user,
            "group": group,
            "run_lock_timeout": run_lock_timeout,
            "chef_license": chef_license,
            "whyrun": whyrun,
            "json_attributes": json_attributes,
        },
        more,
    )
    return run(
        ctx,
        Wanted(
            mode="solo",
            given={**given, "whyrun": bool(given["whyrun"]) or ctx.test},
            config=config,
            attributes=given["json_attributes"],
            cwd=os.path.expanduser(cwd) if cwd else None,
            bin_dir=bin_dir,
            env=env,
            timeout=timeout,
        ),
    )
