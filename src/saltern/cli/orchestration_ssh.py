"""The systems of an orchestration with ``--roster``: one job over SSH for each call."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from types import SimpleNamespace

from msgspec import UNSET

from saltern.cli.ssh_hosts import chosen_hosts, make_reach, read
from saltern.config.settings import Settings, state_directory
from saltern.fleet.protocol.batch import Batch
from saltern.fleet.protocol.messages import Job
from saltern.fleet.ssh.controller import SshController
from saltern.fleet.ssh.drive import Work
from saltern.fleet.ssh.pillar import HostPillar, sources_of
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.task import task_of
from saltern.fleet.ssh.tree import local_tree
from saltern.modules.api.orchestration import RemoteCall


def job_maker(args: SimpleNamespace, settings: Settings) -> Callable[[RemoteCall, str], SshController]:
    """A function that makes the job of a call. It reads the roster each time: a state may have added a
    host.
    """
    directory = os.path.join(state_directory(settings), "ssh")

    def begin(call: RemoteCall, jid: str) -> SshController:
        hosts = chosen_hosts(SimpleNamespace(**{**vars(args), "on": call.target}), read(args))
        if call.subset:
            hosts = random.Random(jid).sample(hosts, min(call.subset, len(hosts)))
        os.makedirs(directory, 0o700, exist_ok=True)
        tree = local_tree(settings.file_roots, os.path.join(directory, "digests"))
        pillar = HostPillar(sources_of(settings))
        job = Job(
            jid=jid,
            function=call.function,
            args=list(call.args),
            kwargs=dict(call.kwargs),
            test=call.test,
            environment=call.environment,
            returners=list(call.returners) or UNSET,
            return_options=dict(call.return_options) or UNSET,
        )

        def work_for(host: Host) -> Work:
            return Work(task=task_of(job, host), tree=tree, pillar=pillar)

        batch = (
            Batch(size=call.batch, wait=call.batch_wait, failures=call.batch_failures) if call.batch else None
        )
        return SshController(jid, hosts, make_reach(args), work_for, batch=batch, close=pillar.close)

    return begin
