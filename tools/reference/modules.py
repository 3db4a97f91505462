"""One page for each module: its functions, their docstrings, and their arguments."""

from __future__ import annotations

from saltern.modules.api.declare import StateFunction
from saltern.modules.api.registry import AnyFunction, AnyState, Registry, schema
from saltern.modules.api.salt_arguments import NO_EFFECT, UNSAFE_TO_IGNORE, UNSUPPORTED
from tools.arguments import OTHER_DEFAULTS
from tools.reference.markdown import code, docstring, example, page, prose, shown, table

TITLES = {"states": "State module", "functions": "Execution module"}
INTRO = {
    "states": "The functions for state files: `file.managed`, `cmd.run` …",
    "functions": "The functions that templates call as `salt['mod.fun'](…)`, conditions as `fun: mod.fun`,"
    " and the command line as `saltern call mod.fun`.",
}
EXAMPLES = """\
Every function has an example, and the tests run all of them in temporary copies of a Debian machine: a state
first in test mode, then for real, then again, when nothing may be left to do. A call prints the output on the
page; `…` stands for parts that differ between machines. Examples that need more than such a copy has (Docker,
its own kernel …) are listed with the reason in `tests/modules/examples/exceptions.py`; of those, at most the
answer that such a copy gives is checked.

The machine of the examples is called web1. It has the users ada, deploy and olduser and the group staffers,
a small tree and pillar in `/srv`, an application with its files in `/srv/app`, `/etc/app.conf` and
`/etc/app.ini`, a web server on port 8000, and its own package repositories. All of it is in
`tests/modules/examples/layers`.
"""


def pages(registry: Registry) -> dict[str, str]:
    """Path below docs/reference → text, for all modules and the lists of them."""
    made = {"modules/index.md": _front(registry)}
    for kind in TITLES:
        made[f"modules/{kind}/index.md"] = _index(registry, kind)
        for name in registry.names(kind):
            made[f"modules/{kind}/{name}.md"] = _module(registry, kind, name)
    return made


def _front(registry: Registry) -> str:
    rows = [
        (
            f"[{title}s]({kind}/index.md)",
            str(len(registry.names(kind))),
            str(_count(registry, kind)),
            INTRO[kind],
        )
        for kind, title in TITLES.items()
    ]
    return page(
        "Modules", table(("kind", "modules", "functions", "about"), rows), "## The examples", EXAMPLES
    )


def _count(registry: Registry, kind: str) -> int:
    return sum(len(registry.members(kind, name)) for name in registry.names(kind))


def _index(registry: Registry, kind: str) -> str:
    rows = [
        (f"[`{name}`]({name}.md)", _about(registry, kind, name), str(len(registry.members(kind, name))))
        for name in registry.names(kind)
    ]
    return page(f"{TITLES[kind]}s", INTRO[kind], table(("module", "about", "functions"), rows))


def _about(registry: Registry, kind: str, name: str) -> str:
    text = (registry.module(kind, name).__doc__ or "").strip().partition("\n\n")[0]
    return prose(" ".join(text.split())).removeprefix(f"`{name}`: ")


def _module(registry: Registry, kind: str, name: str) -> str:
    members = registry.members(kind, name)
    contents = " · ".join(f"[`{member}`](#{name}{_slug(member)})" for member in members)
    parts = [_about(registry, kind, name), contents]
    if kind == "states" and registry.companion(name, "mod_watch") is not None:
        parts.append(
            f"Reacts to `watch` and `listen`: when a watched state has changed, `{name}.mod_watch` is called."
        )
    for member in members:
        found = registry.state(name, member) if kind == "states" else registry.function(f"{name}.{member}")
        assert found is not None, f"{kind} {name}.{member} is listed, but is not there"
        parts.append(_function(name, found))
    return page(f"{TITLES[kind]} {name}", *parts)


def _slug(member: str) -> str:
    """The anchor of Markdown, without the dot between module and function."""
    return member.lower()


def _function(module: str, found: AnyState | AnyFunction) -> str:
    said, arguments = docstring(found.doc)
    known = schema(found)
    rows = [
        (
            code(param.name),
            _type(param.annotation),
            "needed" if param.required else shown(param.default),
            arguments.get(param.name, ""),
        )
        for param in known.params.values()
    ]
    parts = [f"## {module}.{found.name}", said]
    if isinstance(found, StateFunction) and "name" in arguments:
        rows.insert(0, ("`name`", "`str`", "the ID", arguments["name"]))
    if rows:
        parts.append(table(("argument", "type", "default", "meaning"), rows).rstrip())
    if known.takes_anything:
        parts.append("Takes further arguments of any name.")
    elif known.rest == "Variables":
        parts.append("Further arguments are variables for the template that is rendered.")
    elif known.rest:
        parts.append("Accepts unknown arguments, as in Salt; they are reported before the run.")
    parts += _beside_salt(known.key)
    if shown_example := example(found.doc):
        parts.append(shown_example)
    return "\n\n".join(parts)


def _beside_salt(key: str) -> list[str]:
    """Salt's arguments that have no effect here, and defaults that differ from Salt's."""
    different = [(code(name), text) for name, text in sorted(UNSUPPORTED.get(key, {}).items())]
    refused = [(code(name), text) for name, text in sorted(UNSAFE_TO_IGNORE.get(key, {}).items())]
    nothing = [(code(name), text) for name, text in sorted(NO_EFFECT.get(key, {}).items())]
    defaults = [(code(name), why) for (one, name), why in sorted(OTHER_DEFAULTS.items()) if one == key]
    return [
        f"{title}\n\n{table(heads, rows).rstrip()}"
        for title, heads, rows in (
            (
                "Not supported (the state fails):",
                ("Salt's argument", "what would happen without it"),
                refused,
            ),
            ("Not supported (reported before the run):", ("Salt's argument", "what differs"), different),
            ("Accepted without effect:", ("Salt's argument", "why"), nothing),
            ("Default that differs from Salt's:", ("argument", "why"), defaults),
        )
        if rows
    ]


def _type(annotation: str) -> str:
    return "any" if annotation == "object" else code(annotation)
