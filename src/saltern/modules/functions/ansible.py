"""``ansible``: run playbooks, and list hosts and the version."""

from __future__ import annotations

import os

from saltern.language.result import Outcome, SubResult
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import error_text
from saltern.modules.api.refused import Refused
from saltern.modules.lib.engines.ansible.command import inventory as inventory_options
from saltern.modules.lib.engines.ansible.command import merge_arguments
from saltern.modules.lib.engines.ansible.run import (
    INSTALL,
    Playbook,
    locate,
    missing_playbook,
    play,
    surroundings,
)
from saltern.modules.lib.engines.find import find
from saltern.modules.lib.engines.scratch import Scratch
from saltern.modules.lib.engines.steps import Steps


@function
def playbooks(
    ctx: Context,
    /,
    playbook: str,
    rundir: str | None = None,
    bin_dir: str | None = None,
    timeout: float | None = None,
    **kwargs: object,
) -> dict[str, object]:
    """Run a playbook, and return its results as data.

    Args:
        playbook: a path, relative to ``rundir`` if that is given, or ``salt://…``.
        rundir: the directory to run in; that of the playbook if not set.
        bin_dir: the directory of ``ansible-playbook``; by default as configured under ``engines``, or on
            PATH.
        timeout: seconds after which Ansible is killed.
        kwargs: the options of the state of the same name (``inventory``, ``limit``, ``tags``, ``extra_vars``,
            ``check`` …), and ``syntax_check``, ``list_hosts``, ``list_tags``, ``list_tasks``.

    Example:
        ```console
        $ saltern call ansible.playbooks /srv/plays/site.yml inventory=web1,web2, check=True
        ```
    """
    steps = Steps(ctx)
    path, base = locate(ctx, playbook, rundir)
    if not os.path.isfile(path):
        raise Refused(missing_playbook(ctx, path).comment)
    wanted = Playbook(
        path=path,
        rundir=base,
        given=merge_arguments({"diff": True}, kwargs),
        bin_dir=bin_dir,
        timeout=timeout,
    )
    result = play(ctx, wanted, steps)
    return {
        "result": result.outcome is not Outcome.FAILED,
        "comment": result.comment,
        **result.data,
        "steps": [_step_facts(step) for step in steps.kept],
    }


def _step_facts(step: SubResult) -> dict[str, object]:
    shown: dict[str, object] = {
        "id": step.id,
        "fun": step.fun,
        "result": step.outcome.value,
        "changes": step.changes,
        "comment": step.comment,
        "ran": step.ran,
    }
    return {**shown, "items": [_step_facts(item) for item in step.sub]} if step.sub else shown


@function
def targets(ctx: Context, inventory: str | None = None, bin_dir: str | None = None) -> dict[str, object]:
    """The hosts and groups of an inventory, with their variables.

    Args:
        inventory: a file, a ``salt://`` file or a ``host,host,`` list; Ansible's own if not set.
        bin_dir: the directory of ``ansible-inventory``.

    Example:
        ```console
        $ saltern call ansible.targets inventory=web1,web2,
        ```
    """
    import json

    with Scratch(ctx) as scratch:
        words = list(inventory_options(ctx, scratch, inventory)) if inventory else []
        text = _output(ctx, "ansible-inventory", "--list", *words, bin_dir=bin_dir)
    found: dict[str, object] = json.loads(text)
    return found


@function
def version(ctx: Context, bin_dir: str | None = None) -> str:
    """The version of ansible-core.

    Args:
        bin_dir: the directory of ``ansible``.

    Example:
        ```console
        $ saltern call ansible.version
        ```
    """
    first = _output(ctx, "ansible", "--version", bin_dir=bin_dir).partition("\n")[0]
    return first.rpartition(" ")[2].rstrip("]")


def _output(ctx: Context, program: str, *words: str, bin_dir: str | None) -> str:
    path = find(ctx, program, engine="ansible", install=INSTALL, bin_dir=bin_dir)
    ran = ctx.host.run([path, *words], env=surroundings({}), user=ctx.runas)
    if ran.code:
        raise Refused(f"{program}: {error_text(ran)}")
    return ran.out
