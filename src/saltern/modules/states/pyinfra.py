"""``pyinfra``: its deploys as states. Each operation on each host has its own result, reported as it ends.

.. code-block:: yaml

    the shop:
      pyinfra.deploy:
        - name: salt://shop/deploy.py
        - inventory: [web1.example.com, web2.example.com]
        - sudo: True
"""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.lib.engines.pyinfra.run import Deploy, locate
from saltern.modules.lib.engines.pyinfra.run import deploy as run


@state
def deploy(
    ctx: Context,
    name: str,
    *,
    files: list[str] | None = None,
    inventory: object = "@local",
    data: dict[str, object] | None = None,
    group_data: list[str] | None = None,
    limit: list[str] | None = None,
    exclude: list[str] | None = None,
    config: str | None = None,
    sudo: bool = False,
    sudo_user: str | None = None,
    use_sudo_login: bool = False,
    su_user: str | None = None,
    shell_executable: str | None = None,
    parallel: int | None = None,
    serial: bool = False,
    no_wait: bool = False,
    fail_percent: int | None = None,
    retry: int | None = None,
    retry_delay: int | None = None,
    ssh_user: str | None = None,
    ssh_port: int | None = None,
    ssh_key: str | None = None,
    ssh_key_password: str | None = None,
    ssh_password: str | None = None,
    diff: bool = False,
    verbosity: int = 0,
    cwd: str | None = None,
    bin_dir: str | None = None,
    env: object = None,
    timeout: float | None = None,
) -> Result:
    """Run pyinfra deploys; every operation on every host is a sub state, reported when it is done.

    In test mode pyinfra runs with ``--dry``, and the changes are the commands it would run. An error that the
    deploy ignores is a success with a note. All that pyinfra prints is kept in a log, whose path is in
    ``data``. Its arguments reach pyinfra in a private file, never on a command line.

    Args:
        name: the deploy: a path, relative to ``cwd`` if that is given, or ``salt://…``.
        files: several deploys, in this order; ``name`` can be any text then.
        inventory: a file, a host, a list of hosts, or a mapping of hosts with their data.
        data: values for ``host.data``, for all hosts.
        group_data: further directories of group data.
        limit, exclude: only these hosts or groups, or all but these.
        config: the configuration file; ``config.py`` if not set.
        sudo, sudo_user, use_sudo_login, su_user: act as another user on the hosts.
        shell_executable: the shell for commands on the hosts.
        parallel: how many hosts to run on at a time.
        serial: run host by host.
        no_wait: do not wait for all hosts before the next operation.
        fail_percent: the percentage of hosts that may fail before the deploy stops.
        retry, retry_delay: how often to repeat a failed operation, and after how many seconds.
        ssh_user, ssh_port, ssh_key, ssh_key_password, ssh_password: how to connect.
        diff: print the differences in files; they are in the log.
        verbosity: the number of ``-v`` options; the output is in the log.
        cwd: the directory to run in; that of the deploy if not set.
        bin_dir: the directory of ``pyinfra``; by default as configured under ``engines``, or on PATH.
        env: variables to add to the environment.
        timeout: seconds after which pyinfra and all its processes are killed.

    Example:
        ```yaml
        /srv/deploys/motd.py:
          file.managed:
            - makedirs: True
            - contents: |
                from io import StringIO

                from pyinfra.operations import files

                files.put(name="show the time", src=StringIO("noon\\n"), dest="/etc/motd")
          pyinfra.deploy:
            - require:
              - file: /srv/deploys/motd.py
        ```
    """
    paths, base = locate(ctx, files or [name], cwd)
    return run(
        ctx,
        Deploy(
            files=paths,
            cwd=base,
            inventory=inventory,
            data=data or {},
            given={
                "group_data": group_data,
                "limit": limit,
                "exclude": exclude,
                "config": config,
                "sudo": sudo,
                "sudo_user": sudo_user,
                "use_sudo_login": use_sudo_login,
                "su_user": su_user,
                "shell_executable": shell_executable,
                "parallel": parallel,
                "serial": serial,
                "no_wait": no_wait,
                "fail_percent": fail_percent,
                "retry": retry,
                "retry_delay": retry_delay,
                "ssh_user": ssh_user,
                "ssh_port": ssh_port,
                "ssh_key": ssh_key,
                "ssh_key_password": ssh_key_password,
                "ssh_password": ssh_password,
                "diff": diff,
            },
            verbosity=verbosity,
            bin_dir=bin_dir,
            env=env,
            timeout=timeout,
        ),
    )
