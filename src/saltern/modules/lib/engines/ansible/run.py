"""One run of ``ansible-playbook``, its results reported while it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.result import Result, failed, would_change
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.lib.engines.ansible.command import extra_vars, inventory, options
from saltern.modules.lib.engines.ansible.events import Reader
from saltern.modules.lib.engines.drive import Ended, drive, unparsed_step
from saltern.modules.lib.engines.find import search
from saltern.modules.lib.engines.scratch import Scratch, path_on_disk
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude

INSTALL = "pip install ansible-core, or the Debian package ansible-core"
USUAL_PLUGINS = "~/.ansible/plugins/callback:/usr/share/ansible/plugins/callback"
CODES = {
    1: "an error",
    2: "a host failed",
    4: "a host cannot be reached, or the playbook cannot be read",
    5: "a wrong option",
    6: "a host failed and another cannot be reached",
    99: "interrupted",
    250: "an error of Ansible itself",
}
ONLY_SHOW = ("syntax_check", "list_hosts", "list_tags", "list_tasks")
MOST_NAMED = 3


class Playbook(Struct, frozen=True, kw_only=True):
    """What to run and where; ``given`` are the options, by the names of ``command.OPTIONS``."""

    path: str
    rundir: str
    given: Mapping[str, object]
    bin_dir: str | None = None
    env: object = None
    timeout: float | None = None


def locate(ctx: Context, name: str, rundir: str | None) -> tuple[str, str]:
    """The path of the playbook and the directory to run it in."""
    path = path_on_disk(ctx, name)
    base = os.path.expanduser(rundir) if rundir else os.path.dirname(path)
    if not os.path.isabs(base):
        raise BadArgument(f"the playbook {name} is not an absolute path: give its directory as rundir")
    return os.path.join(base, path), base


def missing_playbook(ctx: Context, path: str) -> Result:
    """The result if the playbook does not exist; in test mode an earlier state may create it."""
    if ctx.test:
        reported = f"no playbook is at {path}; it would be run if an earlier state creates it"
        return would_change(reported, data={"playbook": path})
    return failed(f"no playbook is at {path}", playbook=path)


def play(ctx: Context, playbook: Playbook, steps: Steps) -> Result:
    """Run a playbook. A missing program, an unreadable playbook and a failed host are failed results."""
    program = search(ctx, "ansible-playbook", engine="ansible", install=INSTALL, bin_dir=playbook.bin_dir)
    if isinstance(program, Refused):
        return replace(failed(str(program)), data=program.data, sub=tuple(steps.kept))
    reader = Reader(steps)
    with Scratch(ctx) as scratch:
        given = playbook.given
        argv = [program, *options(given)]
        if "inventory" in given:
            argv += inventory(ctx, scratch, given["inventory"])
        if "extra_vars" in given:
            argv += extra_vars(scratch, given["extra_vars"])
        ended = drive(
            ctx,
            "ansible",
            [*argv, "--", playbook.path],
            out=_nothing,
            err=reader.read_line,
            cwd=playbook.rundir,
            env=surroundings(environment(playbook.env)),
            timeout=playbook.timeout,
        )
    return _result(playbook, steps, reader, ended)


def _nothing(_line: str) -> None:
    """Ignore a line: Ansible's output for people is in the log."""


def surroundings(given: Mapping[str, str]) -> dict[str, str]:
    """The environment: our plugin beside the user's, no colours in the log, and a locale that Ansible
    accepts.
    """
    before = {**os.environ, **given}
    plugins = os.path.join(os.path.dirname(__file__), "plugin")
    others = before.get("ANSIBLE_CALLBACK_PLUGINS", USUAL_PLUGINS)
    locale = before.get("LC_ALL") or before.get("LC_CTYPE") or before.get("LANG") or ""
    return {
        **given,
        **({} if "utf" in locale.lower() else {"LC_ALL": "C.UTF-8"}),
        "ANSIBLE_CALLBACK_PLUGINS": f"{plugins}:{others}",
        "ANSIBLE_FORCE_COLOR": "0",
        "ANSIBLE_NOCOLOR": "1",
        "SALTERN_ANSIBLE_STEPS": "1",
    }


def _result(playbook: Playbook, steps: Steps, reader: Reader, ended: Ended) -> Result:
    reader.broken_off()
    shows = any(playbook.given.get(name) for name in ONLY_SHOW)
    if not reader.heard and ended.code == 0 and not shows:
        steps.add(
            unparsed_step(ended, "it has not reported its results: could the callback plugin not be loaded?")
        )
    data: dict[str, object] = {"playbook": playbook.path, "rundir": playbook.rundir, "hosts": reader.hosts}
    if shows:
        data["shown"] = ended.tail
    return conclude(
        "ansible-playbook",
        steps,
        ended,
        Verdict(
            what="result",
            codes=CODES,
            data=data,
            why=_why(steps, reader, ended),
            warnings=reader.warnings,
        ),
    )


def _why(steps: Steps, reader: Reader, ended: Ended) -> str:
    if steps.failures:
        more = " …" if len(steps.failures) > MOST_NAMED else ""
        return f"failed: {', '.join(steps.failures[:MOST_NAMED])}{more}"
    return "\n".join(reader.errors).strip() or ("" if reader.heard else ended.tail)
