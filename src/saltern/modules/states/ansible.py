"""``ansible``: playbooks as states. Each task on each host has its own result, reported as it ends.

.. code-block:: yaml

    the shop:
      ansible.playbooks:
        - name: site.yml
        - rundir: /srv/plays
        - inventory: hosts.ini
        - tags: [web]
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from saltern.config.settings import cache_directory
from saltern.language.mask import mask
from saltern.language.result import Outcome, Result, SubResult, would_change
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import BadArgument, bind
from saltern.modules.api.refused import Refused
from saltern.modules.api.registry import schema
from saltern.modules.lib.engines.ansible.command import merge_arguments
from saltern.modules.lib.engines.ansible.run import Playbook, locate, missing_playbook, play
from saltern.modules.lib.engines.steps import Steps


@state
def playbooks(
    ctx: Context,
    name: str,
    *,
    rundir: str | None = None,
    git_repo: str | None = None,
    git_kwargs: dict[str, object] | None = None,
    ansible_kwargs: dict[str, object] | None = None,
    inventory: object = None,
    limit: object = None,
    tags: object = None,
    skip_tags: object = None,
    extra_vars: object = None,
    vault_password_file: object = None,
    vault_id: object = None,
    forks: object = None,
    become: bool | None = None,
    become_user: str | None = None,
    become_method: str | None = None,
    become_password_file: str | None = None,
    connection: str | None = None,
    connection_password_file: str | None = None,
    remote_user: str | None = None,
    private_key: str | None = None,
    module_path: object = None,
    start_at_task: str | None = None,
    flush_cache: bool | None = None,
    force_handlers: bool | None = None,
    check: bool | None = None,
    diff: bool = True,
    verbosity: int | None = None,
    bin_dir: str | None = None,
    env: object = None,
    timeout: float | None = None,
) -> Result:
    """Run an Ansible playbook; every task on every host is a sub state, and the items of a loop below it.

    In test mode Ansible runs with ``--check --diff``. Handlers are reported like tasks; a failure that the
    playbook ignores or rescues is a success with a note; a host that failed fails the state. All that
    Ansible prints is kept in a log, whose path is in ``data``. Variables and inventories given as
    mappings reach Ansible in private files, never on a command line.

    Args:
        name: the playbook: a path, relative to ``rundir`` if that is given, or ``salt://…``.
        rundir: the directory to run in, where Ansible looks for ``ansible.cfg``; that of the playbook if not
            set.
        git_repo: a repository to fetch the playbooks from, into ``rundir`` or the cache.
        git_kwargs: further arguments for ``git.latest``.
        ansible_kwargs: any of the arguments below, as Salt has them.
        inventory: files, ``salt://`` files or ``host,host,`` lists, or a mapping as in a YAML inventory.
        limit: only hosts that match this pattern, or one of a list.
        tags, skip_tags: only tasks with, or without, one of these tags.
        extra_vars: a mapping, ``key=value …``, ``@file``, or a list of these.
        vault_password_file, vault_id: where to find the passwords of vaults.
        forks: how many hosts at a time.
        become, become_user, become_method, become_password_file: act as another user on the hosts.
        connection, connection_password_file, remote_user, private_key: how to connect.
        module_path: further directories of modules.
        start_at_task: begin with the task that has this name.
        flush_cache: clear cached facts first.
        force_handlers: run handlers even if a task fails.
        check: only report what would change, also outside of test mode.
        diff: report the differences in files.
        verbosity: the number of ``-v`` options; the output is in the log.
        bin_dir: the directory of ``ansible-playbook``; by default as configured under ``engines``, or on
            PATH.
        env: variables to add to the environment.
        timeout: seconds after which Ansible and all its processes are killed.

    Example:
        ```yaml
        /srv/plays/motd.yml:
          file.managed:
            - makedirs: True
            - contents: |
                - hosts: localhost
                  gather_facts: False
                  tasks:
                    - name: show the time
                      copy: {content: "noon\\n", dest: /etc/motd}
          ansible.playbooks:
            - connection: local
            - require:
              - file: /srv/plays/motd.yml
        ```
    """
    given = merge_arguments(
        {
            "inventory": inventory,
            "limit": limit,
            "tags": tags,
            "skip_tags": skip_tags,
            "extra_vars": extra_vars,
            "vault_password_file": vault_password_file,
            "vault_id": vault_id,
            "forks": forks,
            "become": become,
            "become_user": become_user,
            "become_method": become_method,
            "become_password_file": become_password_file,
            "connection": connection,
            "connection_password_file": connection_password_file,
            "remote_user": remote_user,
            "private_key": private_key,
            "module_path": module_path,
            "start_at_task": start_at_task,
            "flush_cache": flush_cache,
            "force_handlers": force_handlers,
            "check": check,
            "diff": diff,
            "verbosity": verbosity,
        },
        ansible_kwargs,
    )
    if ctx.test:
        given |= {"check": True, "diff": True}
    steps = Steps(ctx)
    if git_repo:
        rundir = rundir or _cache_path(ctx, git_repo)
        step = _fetch(ctx, git_repo, rundir, git_kwargs or {})
        steps.add(step)
        early = _stop_early(step, rundir)
        if early is not None:
            return replace(early, sub=tuple(steps.kept))
    path, base = locate(ctx, name, rundir)
    if not os.path.isfile(path):
        return replace(missing_playbook(ctx, path), sub=tuple(steps.kept))
    return play(
        ctx,
        Playbook(path=path, rundir=base, given=given, bin_dir=bin_dir, env=env, timeout=timeout),
        steps,
    )


def _cache_path(ctx: Context, repository: str) -> str:
    from hashlib import sha256

    name = sha256(repository.encode()).hexdigest()[:16]
    return os.path.join(cache_directory(ctx.settings), "engines", "ansible", "repositories", name)


def _fetch(ctx: Context, repository: str, target: str, git_kwargs: Mapping[str, object]) -> SubResult:
    """Fetch the playbooks as a step of the state; a password in the address is not shown."""
    from saltern.modules.lib.web import split_login
    from saltern.modules.states.git.latest import latest

    arguments = {"target": target, **git_kwargs}
    try:
        bound: dict[str, Any] = bind(schema(latest), arguments)
    except BadArgument as problem:
        raise Refused(f"git_kwargs: {problem}") from None
    result = latest(ctx, repository, **bound)
    shown = mask(split_login(repository)[0])
    return SubResult(
        name=shown,
        id=shown,
        state="git",
        fun="latest",
        outcome=result.outcome,
        comment=result.comment,
        changes=result.changes,
        data=result.data,
        warnings=result.warnings,
    )


def _stop_early(step: SubResult, rundir: str) -> Result | None:
    """The result if the working copy could not be fetched, or does not exist yet in test mode."""
    if step.outcome is Outcome.FAILED:
        return Result(outcome=Outcome.FAILED, comment=f"the playbooks could not be fetched: {step.comment}")
    if step.outcome is Outcome.WOULD_CHANGE and not os.path.isdir(rundir):
        reported = "the playbooks would be fetched; what they would do is unknown until then"
        return would_change(reported)
    return None
