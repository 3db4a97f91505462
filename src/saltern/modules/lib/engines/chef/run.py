"""One run of ``chef-client`` or ``chef-solo``, its resources reported while it runs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument, unknown_argument
from saltern.modules.lib.engines.chef.events import Resources
from saltern.modules.lib.engines.drive import drive, unparsed_step
from saltern.modules.lib.engines.error_lines import ErrorLines
from saltern.modules.lib.engines.find import find
from saltern.modules.lib.engines.flags import flags
from saltern.modules.lib.engines.marked_lines import INSIDE, Listener
from saltern.modules.lib.engines.missing_input import absent
from saltern.modules.lib.engines.scratch import Scratch, json_text, path_on_disk
from saltern.modules.lib.engines.steps import Steps, Verdict, conclude

INSTALL = "Chef Infra Client from chef.io, or Cinc Client from cinc.sh"
NOTES = {
    35: "Chef has scheduled a reboot",
    37: "Chef says that the machine needs a reboot",
    213: "Chef has upgraded itself during the run",
}
CODES = {1: "the run failed", 2: "interrupted", 3: "ended", 41: "a reboot failed", 43: "a bad configuration"}
FATAL = re.compile(r"FATAL: (?!-+$|Stacktrace dumped|PLEASE PROVIDE)(.*)")
DEFAULTS = {"client": "/etc/chef/client.rb", "solo": "/etc/chef/solo.rb"}
# argument of the state → option of Chef
OPTIONS = {
    "environment": "--environment",
    "node_name": "--node-name",
    "runlist": "--runlist",
    "override_runlist": "--override-runlist",
    "named_run_list": "--named-run-list",
    "server": "--server",
    "validation_key": "--validation_key",
    "client_key": "--client_key",
    "localmode": "--local-mode",
    "legacy_mode": "--legacy-mode",
    "recipe_url": "--recipe-url",
    "config_file_jail": "--config-file-jail",
    "log_level": "--log_level",
    "logfile": "--logfile",
    "pid": "--pid",
    "user": "--user",
    "group": "--group",
    "run_lock_timeout": "--run-lock-timeout",
    "whyrun": "--why-run",
    "chef_license": "--chef-license",
}
LISTS = ("runlist", "override_runlist")


class Wanted(Struct, frozen=True, kw_only=True):
    """What to run: ``client`` or ``solo``. ``given`` are the options, by the names of ``OPTIONS``."""

    mode: str
    given: Mapping[str, object]
    config: str | None = None
    attributes: object = None
    recipes: Sequence[str] = ()
    cwd: str | None = None
    bin_dir: str | None = None
    env: object = None
    timeout: float | None = None


def with_dashes(known: Mapping[str, object], more: Mapping[str, object]) -> dict[str, object]:
    """The options, with names in Salt's form, with dashes, or with underscores."""
    given = dict(known)
    for name, value in more.items():
        plain = name.replace("-", "_")
        if plain not in known:
            raise BadArgument(unknown_argument(name, known))
        given[plain] = value
    return given


def run(ctx: Context, wanted: Wanted) -> Result:
    """Run Chef. A missing program, unreadable recipes and a failed resource are failed results."""
    name = f"chef-{wanted.mode}"
    config = _config(ctx, wanted)
    if wanted.config and not os.path.isfile(config):
        return absent(ctx, "configuration of Chef", config)
    recipes = [os.path.join(wanted.cwd or "", path_on_disk(ctx, one)) for one in wanted.recipes]
    for recipe in recipes:
        if not os.path.isfile(recipe):
            return absent(ctx, "recipe", recipe)
    program = find(ctx, name, engine="chef", install=INSTALL, bin_dir=wanted.bin_dir)
    steps = Steps(ctx)
    resources = Resources(steps)
    listener = Listener(resources.handlers)
    errors = ErrorLines(error_text)
    with Scratch(ctx) as scratch:
        ended = drive(
            ctx,
            "chef",
            [program, *_options(ctx, scratch, wanted, config), *recipes],
            out=errors.read_line,
            err=listener.read_line,
            cwd=wanted.cwd,
            env=environment(wanted.env),
            timeout=wanted.timeout,
        )
    resources.over()
    if ended.code == 0 and "plan" not in listener.heard:
        steps.add(unparsed_step(ended, "it has not reported its resources"))
    note = NOTES.get(ended.code)
    return conclude(
        name,
        steps,
        ended,
        Verdict(
            what="resource",
            fine=(0, *NOTES),
            codes=CODES,
            data={"why_run": bool(wanted.given.get("whyrun"))},
            why=errors.why(steps, ended),
            warnings=(*listener.warnings, *([note] if note else [])),
        ),
    )


def error_text(line: str) -> str:
    """The message of a fatal error of Chef; empty for other lines."""
    found = FATAL.search(line)
    return found[1] if found else ""


def _options(ctx: Context, scratch: Scratch, wanted: Wanted, config: str) -> list[str]:
    given = {**wanted.given}
    for name in LISTS:
        value = given.get(name)
        given[name] = ",".join(map(str, value)) if isinstance(value, list) else value
    once = ["--once"] if wanted.mode == "client" else []
    listening = scratch.write("client.rb", configuration(config))
    attributes = _attributes(ctx, scratch, wanted.attributes)
    return ["--no-color", *once, f"--config={listening}", *attributes, *flags(OPTIONS, given)]


def _config(ctx: Context, wanted: Wanted) -> str:
    place = path_on_disk(ctx, wanted.config) if wanted.config else DEFAULTS[wanted.mode]
    return os.path.join(wanted.cwd or "", os.path.expanduser(place))


def configuration(place: str) -> str:
    """The user's own configuration, if there is one, and after it the event handler."""
    lines = [f"config_dir {quote(os.path.dirname(place))}"]
    if os.path.isfile(place):
        lines.append(f"from_file {quote(place)}")
    lines += [
        f"require {quote(os.path.join(INSIDE, 'saltern_chef.rb'))}",
        "event_handlers << SalternChef.new",
    ]
    return "\n".join([*lines, ""])


def quote(text: str) -> str:
    """The text as a Ruby literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _attributes(ctx: Context, scratch: Scratch, given: object) -> list[str]:
    """The path of the attributes; a mapping is written to a private file, since it may contain secrets."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"--json-attributes={scratch.write('attributes.json', json_text(given))}"]
    if not isinstance(given, str):
        raise BadArgument("json_attributes must be a mapping, a file or a URL")
    return [f"--json-attributes={path_on_disk(ctx, given)}"]
