"""The arguments of a state that the engine reads, one row each.

Such an argument is not passed on to the state function, unless the function has a parameter
of the same name (``cmd.run`` has ``runas``).
"""

from __future__ import annotations

from msgspec import Struct

from saltern.language.requisites import IN_FORMS, REQUISITES


class Keyword(Struct, frozen=True):
    name: str
    shape: str
    doc: str


KEYWORDS: dict[str, Keyword] = {
    row.name: row
    for row in (
        Keyword(
            "order", "number, first, last", "Its position in the run; overrides the order of definition."
        ),
        Keyword("failhard", "true or false", "If this state fails, end the run."),
        Keyword("onlyif", "command, {fun: …}, or a list", "Run only if all of these hold."),
        Keyword("unless", "command, {fun: …}, or a list", "Skip if all of these hold."),
        Keyword("creates", "path or list of paths", "Skip if all of these exist."),
        Keyword("check_cmd", "command or list", "After the state ran, these decide whether it succeeded."),
        Keyword("cmd_opts_exclude", "name or list", "Arguments that are not passed on to onlyif and unless."),
        Keyword("retry", "true, or {attempts, until, interval, splay}", "Try again until it succeeds."),
        Keyword(
            "parallel", "true or false", "Run in a separate process, in parallel with the following states."
        ),
        Keyword("aggregate", "true, false or list", "Let the module combine several of these into one step."),
        Keyword("onfail_stop", "true or false", "If false, a failure that is handled does not fail the run."),
        Keyword("fire_event", "true or a tag", "Send an event when this state has finished."),
        Keyword("reload_modules", "true or false", "Load modules again if this state changed something."),
        Keyword("force_reload_modules", "true or false", "Load modules again in any case."),
        Keyword("reload_grains", "true or false", "Collect grains again after this state."),
        Keyword("reload_pillar", "true or false", "Compile pillar again after this state."),
        Keyword("runas", "user", "The user for every command this state runs."),
        Keyword("runas_password", "text", "The password of that user, on systems that need one."),
        Keyword("umask", "octal number", "The umask while the function runs."),
        Keyword("saltenv", "environment", "The environment in which `salt://` is looked up for this state."),
        Keyword(
            "resume",
            "rerun, skip, fail or ask; or {probe: command}",
            "What to do with this state if the run broke while it was running, so that its result is "
            "unknown.",
        ),
        Keyword("register", "a name", "Keep its return for `${delayed:NAME.path}` in later states."),
        Keyword("delayed_render", "list of block: or sls:", "Rendered and run right after this state."),
        Keyword(
            "delayed_blocks", "list of names", "The same for blocks, in the spelling of the first draft."
        ),
        Keyword(
            "delayed_slses", "list of names", "The same for SLS files, in the spelling of the first draft."
        ),
        Keyword(
            "no_log",
            "true or false",
            "Hide its name, its arguments and its messages in all outputs.",
        ),
    )
}

# Evaluated before the state is called; they may skip it.
CONDITIONS: frozenset[str] = frozenset({"onlyif", "unless", "creates"})

# Not passed on, beside the keywords and the requisites: the engine's own names.
INTERNAL: frozenset[str] = frozenset({"name", "names", "state", "fun", "__id__", "__sls__", "__env__"})

# `aggregate` is read by the engine and still passed to functions that take it, as in Salt.
ENGINE_WORDS: frozenset[str] = frozenset((*KEYWORDS, *REQUISITES, *IN_FORMS))
