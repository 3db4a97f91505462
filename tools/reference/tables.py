"""One page for each table of the language and of the command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from saltern.cli.commands import COMMANDS
from saltern.cli.exits import EXITS
from saltern.config.foreign import FOLLOWED
from saltern.config.options import OPTIONS
from saltern.facts.grains import GROUPS
from saltern.language.keywords import KEYWORDS
from saltern.language.requisites import REQUISITES, RequisiteKind, When
from saltern.lint.rules import RULES, Rule
from saltern.render.filters import FILTERS, TESTS
from saltern.render.pipe import RENDERERS, SALTS
from saltern.report.findings import WRITERS
from saltern.report.outputs import OUTPUTS, OutputOptions
from saltern.targeting.compound import LETTERS
from saltern.targeting.match import MATCHERS
from tools.reference import access, api, chains, controller, fleet, source, words
from tools.reference.markdown import code, page, prose, shown, table

SOURCE = Path(__file__).parent.parent.parent / "src" / "saltern"

WHEN = {
    When.BEFORE: "the targets run first",
    When.REHEARSED: "the targets are tried in test mode first, and run afterwards",
    When.AFTER: "at the end of the run",
    When.COMPILE: "while compiling",
}


def commands() -> str:
    parts = [
        "Every command has `--help`; this page shows its output.",
        table(("command", "what it does"), [(f"[`{n}`](#saltern-{n})", c.help) for n, c in COMMANDS.items()]),
    ]
    for name in COMMANDS:
        parts.append(f"## saltern {name}\n\n```text\n{_help(name)}```")
    return page("Commands", *parts)


def _help(name: str) -> str:
    """The text at a width of 100 columns, whatever the terminal."""
    environ = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "saltern", name, "--help"],
        env=environ,
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stdout


def options() -> str:
    unread = unread_options()
    rows = [
        (
            code(row.name),
            ", ".join(map(code, filter(None, row.choices))) or row.shape,
            shown(row.default),
            prose(row.doc)
            + (" **Accepted, but without effect in this version.**" if row.name in unread else ""),
        )
        for row in OPTIONS.values()
    ]
    return page(
        "Configuration options",
        "A later one of these overrides the earlier ones: the configuration file, the environment variable "
        "`SALTERN_` with the name in capitals, a flag on the command line.",
        "The file is the one that `--config` or `SALTERN_CONFIG` names, or else the first of"
        " `/etc/saltern/saltern.yaml`, `~/.config/saltern/saltern.yaml` and `/etc/salt/minion`."
        " The file of a Salt minion works, too: keys that only Salt uses are ignored, but `config.get` "
        "finds them.",
        table(("option", "value", "default", "meaning"), rows),
        "These keys of Salt are supported as well, but only in the file.",
        table(("key", "meaning"), [(code(name), prose(doc)) for name, doc in FOLLOWED.items()]),
    )


def unread_options() -> set[str]:
    """Options that the code does not read, so that the page does not document them."""
    text = "\n".join(
        file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py") if file.parent.name != "config"
    )
    shown_with = {name for name in OutputOptions.__struct_fields__ if name.startswith("state_")}
    asked = set(re.findall(r"settings\.(\w+)", text)) | set(re.findall(r"(?<!dest=)[\"'](\w+)[\"']", text))
    return set(OPTIONS) - asked - shown_with - {"cachedir", "id"}  # these two: by functions of `config`


def requisites() -> str:
    rows = [
        (code(kind.name), code(f"{kind.name}_in") if kind.has_in else "", prose(kind.doc), WHEN[kind.when])
        for kind in REQUISITES.values()
    ]
    return page(
        "Requisites",
        "A requisite is a list of targets: `- type: ID or name`, a bare `- ID`, or `- sls: NAME`. Patterns"
        " (`*`, `?`, `[…]`) are allowed. The `_in` form is written on the other side: `require_in: [{file: "
        "x}]`"
        " gives `x` a `require`.",
        table(("requisite", "reverse form", "meaning", "when"), rows),
        "All requisites of a state are evaluated together: a failure takes precedence, then a requisite "
        "that holds the state back, then a signal to react. The table shows the possible results of each "
        "kind.",
        table(("requisite", "skipped, which is no failure", "blocked, which is a failure"), _answers()),
        "See [the concept](../concepts/requisites.md) and `examples/requisites`.",
    )


def _answers() -> list[tuple[str, str, str]]:
    return [
        (code(kind.name), kind.held or "never", _failing(kind))
        for kind in REQUISITES.values()
        if kind.when in (When.BEFORE, When.REHEARSED)
    ]


def _failing(kind: RequisiteKind) -> str:
    votes = [vote.name for vote in kind.first]
    if "FAIL" not in votes:
        return "never"
    return "if any target failed" if votes[0] == "FAIL" else "if every target failed"


def keywords() -> str:
    rows = [(code(row.name), prose(row.shape), prose(row.doc)) for row in KEYWORDS.values()]
    return page(
        "Keywords",
        "Arguments of a state that the engine itself reads. They are not passed on to the"
        " function, unless it has a parameter of that name (as `cmd.run` has `runas`).",
        table(("keyword", "value", "meaning"), rows),
        "Others are `name`, `names` and the [requisites](requisites.md). `examples/keywords` uses them in a"
        " run.",
    )


def renderers() -> str:
    rows = [
        (code(name), kind.makes, prose(kind.doc), code(kind.extra) if kind.extra else "nothing")
        for name, kind in RENDERERS.items()
    ]
    return page(
        "Renderers",
        "The first line of a file may name a pipe of renderers: `#!jinja|yaml`, `#!py`, `#!mako|json`."
        " Without it, the option `renderer` is used (`jinja|yaml`).",
        table(("renderer", "makes", "what it is", "to install"), rows),
        "Those of an installed Salt are run by its library, but not in an untrusted tree:",
        table(
            ("renderer", "what it is", "to install, beside Salt"),
            [(code(name), prose(doc), needs or "nothing") for name, (doc, needs) in SALTS.items()],
        ),
        "Renderers that produce text come first, one that produces data comes last; those that produce "
        "values come after it, or before it for a text that is encrypted as a whole. See "
        "`examples/renderers`.",
    )


def filters() -> str:
    from saltern.render.filters import resolve, resolve_test

    def rows(names: dict[str, str], find: object) -> list[tuple[str, str]]:
        assert callable(find)
        return [(code(name), _first(find(name)) or words.FILTERS[name]) for name in sorted(names)]

    return page(
        "Jinja filters and tests",
        "In addition to those of Jinja itself.",
        "## Filters",
        table(("filter", "result"), rows(FILTERS, resolve)),
        "## Tests",
        table(("test", "true if"), rows(TESTS, resolve_test)),
        "## Tags",
        "`{% do %}`, `{% load_yaml as x %}…{% endload %}`, `load_json`, `load_text`,"
        " `{% import_yaml 'file' as x %}`, `import_json`, `import_text`,"
        " `{% profile as 'label' %}…{% endprofile %}`, `{% break %}` and `{% continue %}`.",
    )


def _first(function: object) -> str:
    text = (getattr(function, "__doc__", "") or "").strip().partition("\n\n")[0]
    return prose(" ".join(text.split()))


def grains() -> str:
    rows = [
        (", ".join(map(code, group.names)), code(f"facts/{group.look.replace('.', '.py:')}"))
        for group in GROUPS
    ]
    return page(
        "Grains",
        "Facts about a machine. Grains are collected in groups, and only when one of a group is read. "
        "`saltern show grains` reads all.",
        "These override the detected ones, each overriding those before it: `grains` in the configuration, "
        "then a"
        " grains file: the one that `--grains` or `grains_file` names, or else `/etc/salt/grains`,"
        " `/etc/saltern/grains` and `grains` beside the configuration.",
        table(("grains", "found by"), rows),
    )


def matchers() -> str:
    letters = {how: letter for letter, how in LETTERS.items()}
    rows = [
        (code(name), code(f"{letters[name]}@") if name in letters else "", words.MATCHERS[name])
        for name in MATCHERS
    ]
    return page(
        "Matchers",
        "The kinds of targets in top files, in `match.*` functions and in `global_state_conditions`. A top"
        " file names one with `- match: NAME`; without it a target is `compound`.",
        table(("matcher", "letter in compound", "meaning"), rows),
    )


def exit_codes() -> str:
    return page(
        "Exit codes",
        table(("code", "meaning"), [(str(number), text) for number, text in EXITS.items()]),
        "In test mode a state that would change something counts as a success; `--detailed-exitcode` shows"
        " the difference.",
    )


def outputs() -> str:
    return page(
        "Outputs",
        "The values of `--out`.",
        table(("output", "what it is"), [(code(name), words.OUTPUTS[name]) for name in OUTPUTS]),
        "See [Output and scripts](../guides/output-and-scripts.md).",
    )


def check() -> str:
    asked = [rule for rule in RULES.values() if rule.text or rule.run or rule.tree]
    told = [rule for rule in RULES.values() if rule not in asked]
    head = ("rule", "level", "`--fix`", "what it finds")

    def rows(rules: list[Rule]) -> list[tuple[str, str, str, str]]:
        return [
            (
                f"[`{rule.name}`](errors.md#{rule.name})",
                rule.severity.value if rule.on else f"off ({rule.severity.value})",
                "yes" if rule.fixes else "",
                prose(rule.doc),
            )
            for rule in rules
        ]

    return page(
        "Rules of `saltern check`",
        "A rule can be switched on and off, and made a warning or an error, in the configuration"
        " (`check: {rules: {NAME: off}}`), on the command line (`--rule NAME`, `--rule NAME=error`,"
        " `--ignore NAME`), and for one place by a comment `saltern: ignore NAME` on the line or the one"
        " above."
        " `saltern check --list` prints this table. [How to use it](../guides/check.md).",
        table(head, rows(asked)),
        "The compiler itself reports these. Some of them are errors here, but warnings in `apply`.",
        table(head, rows(told)),
        "Every other [problem](errors.md) prevents a file from compiling, and is always reported.",
        "## Formats",
        table(("`--out`", "what it is"), [(code(name), words.FINDINGS[name]) for name in WRITERS]),
    )


PAGES = {
    "access.md": access.access,
    "api.md": api.api,
    "chain-file.md": chains.chain_file,
    "chain-statuses.md": chains.chain_statuses,
    "check.md": check,
    "controller-options.md": controller.options,
    "database.md": controller.database,
    "job-statuses.md": controller.statuses,
    "messages.md": fleet.messages,
    "source.md": source.source,
    "subjects.md": fleet.subjects,
    "commands.md": commands,
    "options.md": options,
    "requisites.md": requisites,
    "keywords.md": keywords,
    "renderers.md": renderers,
    "filters.md": filters,
    "grains.md": grains,
    "matchers.md": matchers,
    "outputs.md": outputs,
    "exit-codes.md": exit_codes,
}
