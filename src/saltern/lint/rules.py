"""Every rule of ``saltern check``, one row each.

A rule with a function checks texts, runs or the tree. A rule without one is reported by the compiler, and has
a row so that it can be switched off or made more or less severe. Problems without a row keep a file from
compiling, and are always reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from saltern.language.diagnostics import Severity
from saltern.lint import delayed, layout, states, templates, trees, yaml_traps
from saltern.lint.findings import Findings
from saltern.lint.page import Page

ERROR, WARNING = Severity.ERROR, Severity.WARNING


class Rule(Struct, frozen=True, kw_only=True):
    """``on``: used by default; ``fixes``: ``--fix`` can fix what it finds."""

    name: str
    doc: str
    severity: Severity = WARNING
    on: bool = True
    fixes: bool = False
    text: Callable[[Page, Findings], None] | None = None
    run: Callable[[states.Unit, Findings], None] | None = None
    tree: Callable[[trees.Survey, Findings], None] | None = None


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        # layout
        Rule(
            name="tab-indent",
            doc="A line is indented with a tab; YAML allows only spaces.",
            severity=ERROR,
            fixes=True,
            text=layout.tab_indent,
        ),
        Rule(
            name="trailing-whitespace",
            doc="A line ends with white space.",
            fixes=True,
            text=layout.trailing_whitespace,
        ),
        Rule(
            name="missing-final-newline",
            doc="The last line of the file does not end with a newline.",
            fixes=True,
            text=layout.missing_final_newline,
        ),
        Rule(
            name="old-renderer-spelling",
            doc="The first line names its renderers in an old spelling, such as `yaml_jinja`.",
            fixes=True,
            text=layout.old_renderer_spelling,
        ),
        # values
        Rule(
            name="unquoted-octal",
            doc="A file mode is a bare number with a leading zero, which not every YAML parser reads as"
            " octal.",
            fixes=True,
            text=yaml_traps.unquoted_octal,
        ),
        Rule(
            name="base-sixty",
            doc="Digits separated by a colon, such as `22:30`, are read as a single number by YAML.",
            fixes=True,
            text=yaml_traps.base_sixty,
        ),
        Rule(
            name="unquoted-text",
            doc="The value of a text argument, such as `name` or `version`, is a word or a number that YAML"
            " changes:"
            " `yes` becomes true, `1.10` becomes 1.1.",
            fixes=True,
            text=yaml_traps.unquoted_text,
        ),
        Rule(
            name="literal-secret",
            doc="A password or a token is in a state file, where anyone can read it.",
            text=yaml_traps.literal_secret,
        ),
        Rule(
            name="jinja-in-comment",
            doc="A YAML comment contains a template, which is rendered and can fail as if it were not in a"
            " comment.",
            text=yaml_traps.jinja_in_comment,
        ),
        Rule(
            name="unquoted-jinja",
            doc="A value begins with `{{` and is neither quoted nor encoded: YAML interprets the rendered"
            " text.",
            on=False,
            text=yaml_traps.unquoted_jinja,
        ),
        # states
        Rule(
            name="command-unguarded",
            doc="A command runs in every run, since no condition says when there is nothing to do.",
            run=states.command_unguarded,
        ),
        Rule(
            name="watch-without-reaction",
            doc="A state has a `watch`, but its module does not react to changes.",
            run=states.watch_without_reaction,
        ),
        Rule(
            name="order-with-requisites",
            doc="A state has both `order` and requisites, which may contradict each other.",
            run=states.order_with_requisites,
        ),
        Rule(
            name="argument-value",
            doc="The value of an argument does not fit the signature of the function.",
            severity=ERROR,
            run=states.argument_value,
        ),
        Rule(
            name="argument-twice",
            doc="An argument is given more than once; only the last one counts.",
            tree=trees.argument_twice,
        ),
        Rule(
            name="path-relative",
            doc="The path of a file state is not absolute.",
            severity=ERROR,
            run=states.path_relative,
        ),
        Rule(
            name="source-missing",
            doc="A `salt://` source is not in the file roots.",
            severity=ERROR,
            run=states.source_missing,
        ),
        Rule(
            name="source-template",
            doc="The `source` of a state that names a `template` has a mistake, or no such engine exists. A"
            " template that calls functions is not rendered: only its syntax is checked.",
            severity=ERROR,
            run=templates.source_template,
        ),
        Rule(
            name="requisite-not-included",
            doc="A requisite names a state of a file that is part of the run, but that this file does not"
            " include:"
            " applied alone, this file would not compile.",
            run=states.requisite_not_included,
        ),
        # files
        Rule(
            name="include-twice",
            doc="A file includes another one twice.",
            tree=trees.include_twice,
        ),
        Rule(
            name="include-cycle",
            doc="Files include each other in a cycle.",
            tree=trees.include_cycle,
        ),
        Rule(
            name="sls-unreachable",
            doc="The name of a file contains a dot, so no SLS name leads to it.",
            tree=trees.sls_unreachable,
        ),
        Rule(
            name="sls-unused",
            doc="No top file assigns this SLS to a machine, and nothing includes it.",
            on=False,
            tree=trees.sls_unused,
        ),
        Rule(
            name="id-in-two-files",
            doc="Two files that are never part of one run declare the same ID.",
            on=False,
            tree=trees.id_in_two_files,
        ),
        # delayed rendering
        Rule(
            name="prev-ret-changes",
            doc="A key of `prev_ret.changes` is read without a default, although a second run has no"
            " changes.",
            text=delayed.prev_ret_changes,
        ),
        Rule(
            name="prev-ret-unquoted",
            doc="A value of `prev_ret` is written into YAML neither quoted nor encoded.",
            fixes=True,
            text=delayed.prev_ret_unquoted,
        ),
        Rule(
            name="delayed-unused",
            doc="No state calls this delayed block.",
            tree=trees.delayed_unused,
        ),
        Rule(
            name="delayed-unknown",
            doc="A state calls a delayed block that its file does not have.",
            severity=ERROR,
        ),
        Rule(
            name="delayed-limit-low",
            doc="More states call a delayed block than its `delayed_repeat_limit` allows.",
        ),
        Rule(
            name="delayed-end-unnamed",
            doc="The end of a delayed block does not name it.",
            on=False,
            fixes=True,
            text=delayed.end_unnamed,
        ),
        Rule(
            name="delayed-draft-spelling",
            doc="A delayed block is marked in the spelling of the first draft: `{% delayed_block %}`.",
            on=False,
            fixes=True,
            text=delayed.draft_spelling,
        ),
        # reported by the compiler
        Rule(
            name="short-form-colon",
            doc="A function ends with a colon, and nothing is below it.",
            severity=ERROR,
            fixes=True,
        ),
        Rule(name="state-unknown", doc="No module has this state.", severity=ERROR),
        Rule(name="argument-unknown", doc="The state takes no such argument.", severity=ERROR),
        Rule(name="argument-missing", doc="The state needs an argument that is not given.", severity=ERROR),
        Rule(
            name="argument-bare",
            doc="A bare `true` or `false` is among the arguments of a state; it has no effect.",
        ),
        Rule(
            name="argument-suspicious",
            doc="An argument of a state that accepts any argument looks like a misspelt argument or"
            " requisite.",
        ),
        Rule(
            name="argument-unsupported",
            doc="Salt accepts this argument; here it has no effect, and the message says what differs.",
        ),
        Rule(name="requisite-unknown", doc="A requisite names a state that does not exist.", severity=ERROR),
        Rule(
            name="requisite-in-unknown",
            doc="A `require_in` or a similar requisite names a state that does not exist.",
        ),
        Rule(
            name="requisite-repeated",
            doc="A state has the same requisite in two lists; both count here, but only the last one in"
            " Salt.",
        ),
        Rule(name="requisite-matches-nothing", doc="The pattern of a requisite matches no state."),
        Rule(name="id-conflict", doc="Two files of one run declare the same ID.", severity=ERROR),
        Rule(name="sls-not-found", doc="A file that is named does not exist.", severity=ERROR),
        Rule(
            name="template-undefined",
            doc="A template uses a name that does not exist with the given grains and pillar.",
            severity=ERROR,
        ),
        Rule(name="condition-ignored", doc="A condition has a form that is ignored."),
        Rule(name="exclude-matches-nothing", doc="An `exclude` names something that is not part of the run."),
        Rule(name="extend-by-argument", doc="An `extend` matches an argument of a state, not its name."),
        Rule(name="extend-overridden", doc="Two files extend the same argument."),
        Rule(name="function-too-long", doc="The name of a function has more than one dot."),
        Rule(name="name-not-text", doc="The name of a state is a number or a boolean."),
        Rule(name="names-empty", doc="`names` is an empty list, but one state runs nevertheless."),
        Rule(name="order-unknown", doc="`order` is neither a number nor `first` nor `last`."),
        Rule(name="use-unknown", doc="A `use` names a state that does not exist."),
        Rule(name="top-target", doc="A target of the top file cannot be read, and matches no machine."),
    )
}

Choices = dict[str, Severity | None]  # None: off


def usual() -> Choices:
    return {name: rule.severity if rule.on else None for name, rule in RULES.items()}


def chosen_rules(choices: Choices) -> Iterator[Rule]:
    """The rules that are used."""
    return (rule for name, rule in RULES.items() if choices[name] is not None)
