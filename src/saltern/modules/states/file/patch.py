"""``file.patch``: apply a patch unless it is applied already."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files import sources
from saltern.modules.lib.files.content import render_source, template_of
from saltern.modules.lib.files.diffs import difference
from saltern.modules.lib.files.facts import absolute, facts
from saltern.system import files
from saltern.system.process import NOT_FOUND, Ran
from saltern.system.temporary import private_directory

TOUCHED = re.compile(r"^(?:patching|checking) file (.+?)(?: \(.*\))?$", re.MULTILINE)


class Job(Struct, frozen=True):
    """A patch and its options."""

    path: str
    patch: bytes
    strip: int | None
    options: tuple[str, ...]
    reject_file: str


@state(name_is="path")
def patch(
    ctx: Context,
    /,
    name: str,
    *,
    source: str | list[str] | None = None,
    source_hash: str | None = None,
    source_hash_name: str | None = None,
    skip_verify: bool = False,
    template: str | None = None,
    context: object = None,
    defaults: object = None,
    options: str = "",
    reject_file: str | None = None,
    strip: int | None = None,
    **_: Ignored,
) -> Result:
    """Apply a patch to a file or a directory, unless it is applied already. Needs the program ``patch``.

    Args:
        name: the absolute path of the file; or of a directory, for a patch of several files.
        source: the patch: ``salt://``, a path, or a URL.
        source_hash, source_hash_name, skip_verify: as for ``file.managed``.
        template, context, defaults: render the patch first.
        options: further options of ``patch``.
        reject_file: the file for the parts that do not apply.
        strip: how many leading directories to remove from the names in the patch.

    Example:
        ```yaml
        /srv/app/list.txt:
          file.patch:
            - source: salt://web/list.patch
        ```
    """
    ctx.facts = {"path": name}
    path = absolute(name)
    if not source:
        raise Refused("source is missing")
    if files.look(path, follow=True) is None:
        raise Refused(f"{path} does not exist")
    fetch = sources.Fetch(
        source_hash=source_hash or "", source_hash_name=source_hash_name or "", skip_verify=skip_verify
    )
    found = sources.find(ctx, source, fetch)
    text = render_source(ctx, path, found, template_of(template, context, defaults))
    job = Job(path, text, strip, tuple(_split(options)), reject_file or "")
    return _on_directory(ctx, job) if os.path.isdir(path) else _on_file(ctx, job)


def _split(options: str) -> list[str]:
    import shlex

    return shlex.split(options)


def _run(ctx: Context, job: Job, *words: str, cwd: str | None = None) -> Ran:
    strip = () if job.strip is None else (f"--strip={job.strip}",)
    argv = ["patch", "--batch", "--forward", *strip, *job.options, *words]
    ran = ctx.host.run(argv, stdin=job.patch, cwd=cwd, merge_err=True, env={"LC_ALL": "C"})
    if ran.code == NOT_FOUND:
        raise Refused("the program 'patch' is not installed")
    return ran


def _refusal(job: Job, ran: Ran) -> Refused:
    hint = "" if job.reject_file else "; give reject_file to keep the rejected parts"
    return Refused(f"the patch does not apply to {job.path}, nothing was changed{hint}\n{ran.out.strip()}")


def _on_file(ctx: Context, job: Job) -> Result:
    """Write the patched text beside the file, then replace the file atomically."""
    seen = files.see(job.path)
    if seen is None or seen.data is None:
        raise Refused(f"{job.path}is not a regular file")
    with private_directory("patch") as scratch:
        out = os.path.join(scratch, "patched")
        rejects = f"--reject-file={job.reject_file or os.path.join(scratch, 'rejected')}"
        if not _run(ctx, job, "--reverse", "--dry-run", rejects, f"--output={out}", job.path).code:
            return result_of(
                ctx, {}, "The patch is already applied", facts(ctx, job.path, seen.stat, seen.data)
            )
        ran = _run(ctx, job, rejects, f"--output={out}", job.path)
        new = files.read(out)
    if ran.code or new is None:
        raise _refusal(job, ran)
    changes: dict[str, object] = {"diff": difference(seen.data, new)}
    if not ctx.test:
        files.write(job.path, new)
        seen = files.Seen(os.stat(job.path), new)
    known = facts(ctx, job.path, seen.stat, seen.data)
    return result_of(
        ctx, changes, Words(would="The patch fits and would be applied", done="The patch is applied"), known
    )


def _on_directory(ctx: Context, job: Job) -> Result:
    found = files.look(job.path, follow=True)
    rejects = [f"--reject-file={job.reject_file or '-'}"]
    if not _run(ctx, job, "--reverse", "--dry-run", *rejects, cwd=job.path).code:
        return result_of(ctx, {}, "The patch is already applied", facts(ctx, job.path, found))
    tried = _run(ctx, job, "--dry-run", *rejects, cwd=job.path)
    if tried.code:
        raise _refusal(job, tried)
    changes: dict[str, object] = {"patched": TOUCHED.findall(tried.out)}
    if not ctx.test:
        ran = _run(ctx, job, *rejects, cwd=job.path)
        if ran.code:
            raise _refusal(job, ran)
    known = facts(ctx, job.path, found)
    return result_of(
        ctx, changes, Words(would="The patch fits and would be applied", done="The patch is applied"), known
    )
