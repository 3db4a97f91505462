"""One run of ``puppet apply``, its resources reported while it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.engines.drive import drive, unparsed_step
from saltern.modules.lib.engines.error_lines import ErrorLines
from saltern.modules.lib.engines.find import find
from saltern.modules.lib.engines.flags import flags
from saltern.modules.lib.engines.marked_lines import INSIDE, Listener
from saltern.modules.lib.engines.missing_input import absent
from saltern.modules.lib.engines.puppet.events import Resources
from saltern.modules.lib.engines.scratch import Scratch, path_on_disk
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude

INSTALL = "the Debian package puppet-agent, or one of Puppet's own"
FINE = (0, 2)  # with --detailed-exitcodes: nothing to do; something was changed
CODES = {
    1: "the manifest cannot be compiled, or the run was ended",
    4: "resources failed",
    6: "some resources were changed and others failed",
}
ALWAYS = ("--detailed-exitcodes", "--color=false")
# argument of the state → option of Puppet
OPTIONS = {
    "modulepath": "--modulepath",
    "hiera_config": "--hiera_config",
    "environment": "--environment",
    "environmentpath": "--environmentpath",
    "confdir": "--confdir",
    "vardir": "--vardir",
    "certname": "--certname",
    "tags": "--tags",
    "skip_tags": "--skip_tags",
    "ordering": "--ordering",
    "loadclasses": "--loadclasses",
    "noop": "--noop",
    "show_diff": "--show_diff",
    "verbose": "--verbose",
    "debug": "--debug",
}


class Wanted(Struct, frozen=True, kw_only=True):
    """What to run. ``given`` are the options by the names of ``OPTIONS``, ``settings`` any of Puppet's."""

    name: str
    given: Mapping[str, object]
    settings: Mapping[str, object]
    facts: Mapping[str, object]
    code: str | None = None
    catalog: str | None = None
    cwd: str | None = None
    bin_dir: str | None = None
    env: object = None
    timeout: float | None = None


def run(ctx: Context, wanted: Wanted) -> Result:
    """Run Puppet. A missing program, an unreadable manifest and a failed resource are failed results."""
    place = _place(ctx, wanted)
    if place and not os.path.exists(place):
        return absent(ctx, "catalog" if wanted.catalog else "manifest", place)
    program = find(ctx, "puppet", engine="puppet", install=INSTALL, bin_dir=wanted.bin_dir)
    steps = Steps(ctx)
    resources = Resources(steps)
    listener = Listener(resources.handlers)
    errors = ErrorLines(error_text)
    with Scratch(ctx) as scratch:
        ended = drive(
            ctx,
            "puppet",
            [real_program(program), "apply", *ALWAYS, *_options(wanted), *_source(scratch, wanted, place)],
            out=listener.read_line,
            err=errors.read_line,
            cwd=wanted.cwd,
            env=surroundings({**_facts(wanted.facts), **environment(wanted.env)}),
            timeout=wanted.timeout,
        )
    resources.over()
    if ended.code in FINE and "end" not in listener.heard:
        steps.add(unparsed_step(ended, "it has not reported its resources"))
    return conclude(
        "puppet",
        steps,
        ended,
        Verdict(
            what="resource",
            fine=FINE,
            codes=CODES,
            data={"manifest": place},
            why=errors.why(steps, ended),
            warnings=listener.warnings,
        ),
    )


def error_text(line: str) -> str:
    """The line if it is an error of Puppet; errors of Facter are harmless."""
    return line if line.startswith("Error: ") and not line.startswith("Error: Facter") else ""


def real_program(program: str) -> str:
    """The real program: Puppet's own packages link to a script that prevents loading the listener."""
    real = os.path.realpath(program)
    beside = os.path.join(os.path.dirname(real), os.path.basename(program))
    return beside if os.path.basename(real) == "wrapper.sh" and os.access(beside, os.X_OK) else program


def surroundings(given: Mapping[str, str]) -> dict[str, str]:
    """The environment that loads the listener, which restores both variables for Puppet's child processes."""
    before = {**os.environ, **given}
    return {
        **given,
        **{f"SALTERN_{name}": before[name] for name in ("RUBYOPT", "RUBYLIB") if name in before},
        "RUBYOPT": f"{before.get('RUBYOPT', '')} -rsaltern_puppet".strip(),
        "RUBYLIB": os.pathsep.join(filter(None, (INSIDE, before.get("RUBYLIB", "")))),
    }


def _options(wanted: Wanted) -> list[str]:
    given = {**wanted.given}
    for name, separator in (("modulepath", os.pathsep), ("tags", ","), ("skip_tags", ",")):
        value = given.get(name)
        given[name] = separator.join(map(str, value)) if isinstance(value, list) and value else None
    return [*flags(OPTIONS, given), *(_setting(name, value) for name, value in wanted.settings.items())]


def _setting(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    if not isinstance(value, str | int | float):
        raise BadArgument(f"settings: {name} is neither text nor a number")
    return f"--{name}={value}"


def _facts(facts: Mapping[str, object]) -> dict[str, str]:
    """The facts as environment variables for Facter."""
    odd = [name for name, value in facts.items() if not isinstance(value, str | int | float)]
    if odd:
        raise BadArgument(f"facts must be texts or numbers: {', '.join(odd)}; put others into Hiera")
    words = {True: "true", False: "false"}
    return {
        f"FACTER_{name}": words[value] if isinstance(value, bool) else str(value)
        for name, value in facts.items()
    }


def _place(ctx: Context, wanted: Wanted) -> str:
    """The path of the manifest or the catalog; empty for code."""
    if wanted.code is not None:
        return ""
    place = os.path.join(wanted.cwd or "", path_on_disk(ctx, wanted.catalog or wanted.name))
    if not os.path.isabs(place):
        raise BadArgument(f"{place} is not an absolute path: give its directory as cwd")
    return place


def _source(scratch: Scratch, wanted: Wanted, place: str) -> list[str]:
    """The file to apply; code is written to a private file, since it may contain secrets."""
    if wanted.code is not None:
        return [scratch.write("manifest.pp", wanted.code)]
    return [f"--catalog={place}"] if wanted.catalog else [place]
