"""``--on TARGET --roster FILE``: run a verb on systems over SSH, from this process."""

from __future__ import annotations

import os
import sys
import time
from types import SimpleNamespace
from typing import Any

import msgspec
from msgspec import UNSET

from saltern.cli.follow import Shown, follow_job, new_followed
from saltern.cli.from_options import session
from saltern.cli.job_call import Call, typed_return_options
from saltern.cli.ssh_hosts import chosen_hosts, make_reach, read
from saltern.config.settings import state_directory
from saltern.fleet.protocol.batch import Batch
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.protocol.messages import Job
from saltern.fleet.ssh.controller import SshController
from saltern.fleet.ssh.drive import Work
from saltern.fleet.ssh.kept_blocks import SUFFIX, KeptBlocks
from saltern.fleet.ssh.pillar import HostPillar, sources_of
from saltern.fleet.ssh.records import Record, Records
from saltern.fleet.ssh.render import HostRender
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.task import task_of
from saltern.fleet.ssh.tree import local_tree
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.returner_names import returner_names

FOUND_AGAIN = "the same command with --resume follows it again, and Ctrl-C there asks whether to cancel it"


def run_over_ssh(args: SimpleNamespace, call: Call, shown: Shown, batch: Batch | None) -> int:
    """Run the call on the targeted hosts, and print it as a job of a fleet; return the exit code."""
    hosts = chosen_hosts(args, read(args))
    settings = session(args).settings
    directory = os.path.join(state_directory(settings), "ssh")
    os.makedirs(directory, 0o700, exist_ok=True)
    tree = local_tree(settings.file_roots, os.path.join(directory, "digests"))
    pillar = HostPillar(sources_of(settings))
    jid = _jid(args, call, [host.id for host in hosts], Records(os.path.join(directory, "jobs")))

    job = _job(jid, call, args)

    kept = KeptBlocks(os.path.join(directory, "jobs", f"{jid}{SUFFIX}"))
    render = HostRender(sources_of(settings), tree, job, kept)

    def work_for(host: Host) -> Work:
        return Work(task=task_of(job, host), tree=tree, pillar=pillar, render=render.answer)

    async def close() -> None:
        await pillar.close()
        await render.close()

    controller = SshController(jid, hosts, make_reach(args), work_for, batch=batch, close=close)
    ask = {"function": call.function, "test": call.test, "batch": batch.size if batch is not None else ""}
    try:
        job_there = new_followed(controller.submit(), ask)
        job_there.found_again = FOUND_AGAIN
        return follow_job(controller, job_there, shown)
    finally:
        controller.close()
        for system in controller.finished_hosts():
            kept.forget(system)
        for problem in render.problems:
            print(f"saltern: {problem}", file=sys.stderr)


def _jid(args: SimpleNamespace, call: Call, hosts: list[str], records: Records) -> str:
    """The number of the job: a new one, or with --resume that of the newest job with the same call."""
    wanted: dict[str, Any] = msgspec.to_builtins(call)
    if not args.resume_job:
        jid = new_jid(time.time())
        records.write(Record(jid=jid, call=wanted, hosts=hosts))
        return jid
    known = records.latest(wanted)
    if known is None:
        what = "no job with this command was started over SSH from this machine"
        raise OperationError(Diagnostic(code="no-job", what=what, fix="leave --resume out"))
    return known.jid


def _job(jid: str, call: Call, args: SimpleNamespace) -> Job:
    return Job(
        jid=jid,
        function=call.function,
        args=call.args,
        kwargs=call.kwargs,
        test=call.test,
        environment=args.saltenv or "base",
        returners=returner_names(args.returners) or UNSET,
        return_options=typed_return_options(args) or UNSET,
    )
