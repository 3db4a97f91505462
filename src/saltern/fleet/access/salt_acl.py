"""A Salt master's ``publisher_acl``, ``external_auth`` and ``nodegroups`` → rules, groups, and notes.

Salt allows what any entry allows, as do rules without conditions. What cannot be written as a rule is left
out and reported: an import never allows more than Salt did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from saltern.fleet.access.policy import Rule
from saltern.fleet.access.salt_patterns import as_globs, as_name_globs, as_wide_globs
from saltern.fleet.access.salt_targets import group_target, policy_target

Path = tuple[str, ...]
FUNCTION = re.compile(r"[\w.*-]+")
EXTERNAL = ("pam",)


class Note(Struct, frozen=True, kw_only=True):
    """Something that was left out or remains to be done; ``path`` is the key in the master's
    configuration.
    """

    what: str
    fix: str = ""
    path: Path = ()


class Imported(Struct, kw_only=True):
    """The result of importing a configuration."""

    rules: list[Rule] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    login: dict[str, object] = field(default_factory=dict)
    accounts: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def note(self, what: str, path: Path, fix: str = "") -> None:
        self.notes.append(Note(what=what, fix=fix, path=path))


def import_acl(master: Mapping[str, object]) -> Imported:
    """The rules of a master's configuration, those that deny first."""
    made = Imported()
    _import_nodegroups(_mapping(master, "nodegroups", made), made)
    _import_blacklist(_mapping(master, "publisher_acl_blacklist", made), made)
    acl = _mapping(master, "publisher_acl", made)
    if acl:
        made.login["socket"] = True
        _import_people(acl, _People(prefix="local:", group="group:local:"), ("publisher_acl",), made)
    for backend, people in _mapping(master, "external_auth", made).items():
        _import_backend(str(backend), people, made)
    if master.get("permissive_acl") is not None or master.get("keep_acl_in_token"):
        what = "'permissive_acl' and 'keep_acl_in_token' have no counterpart: each request is decided anew"
        made.note(what, ("permissive_acl",))
    return made


class _People(Struct, frozen=True):
    """How the names of a backend are written in the policy."""

    prefix: str
    group: str

    def patterns(self, name: str) -> tuple[str, ...] | None:
        if name.startswith("%") or name.endswith("%"):
            return (f"{self.group}{name.strip('%')}",)
        globs = as_name_globs(name)
        return None if globs is None else tuple(f"{self.prefix}{one}" for one in globs)


def _import_nodegroups(found: Mapping[str, object], made: Imported) -> None:
    for name, value in found.items():
        target = group_target(value)
        if target is None:
            made.note(f"the nodegroup {name!r} is not a target", ("nodegroups", str(name)))
        else:
            made.groups[str(name)] = target


def _import_blacklist(found: Mapping[str, object], made: Imported) -> None:
    people = [
        one
        for user in _texts(found.get("users"))
        for one in as_wide_globs(user) or _note_lost(user, "users", made)
    ]
    modules = [
        one
        for name in _texts(found.get("modules"))
        for one in _module(name) or _note_lost(name, "modules", made)
    ]
    if people:
        who = tuple(f"local:{one}" for one in people)
        made.rules.append(Rule(name="blacklisted users", who=who, functions=("*",), deny=True))
    if modules:
        made.rules.append(Rule(name="blacklisted modules", who=("*",), functions=tuple(modules), deny=True))


def _module(name: str) -> tuple[str, ...] | None:
    """A blacklisted function or module; ``cmd`` alone means all of it."""
    globs = as_wide_globs(name)
    return tuple(one if "." in one or "*" in one else f"{one}.*" for one in globs) if globs else None


def _note_lost(text: str, key: str, made: Imported) -> tuple[str, ...]:
    what = f"{text!r} cannot be written with wildcards, and is not denied"
    made.note(
        what, ("publisher_acl_blacklist", key), "write a rule with 'deny: true' by hand, before the others"
    )
    return ()


def _import_backend(backend: str, people: object, made: Imported) -> None:
    path = ("external_auth", backend)
    if not isinstance(people, Mapping):
        made.note(f"external_auth: {backend}: is not a mapping of names", path)
        return
    if backend == "auto":
        made.note(
            "'auto' accepts everyone, and is left out", path, "use accounts: saltern operators add NAME"
        )
        return
    if backend in EXTERNAL:
        made.login.setdefault("pam", {})
        kind = _People(prefix="pam:", group="group:pam:")
    else:
        what = f"{backend!r} is not a way to log in here; its names become local accounts"
        made.note(what, path, "use an OpenID Connect provider, or add the accounts that are listed below")
        kind = _People(prefix="", group="group:")
        made.accounts += [str(name) for name in people if not str(name).endswith("%") and str(name) != "*"]
    _import_people(people, kind, path, made)


def _import_people(found: Mapping[str, object], kind: _People, path: Path, made: Imported) -> None:
    for name, entries in found.items():
        here = (*path, str(name))
        who = kind.patterns(str(name))
        if str(name).startswith("^") or who is None:
            made.note(
                f"the name {str(name)!r} cannot be written with wildcards", here, "write its rules by hand"
            )
            continue
        if str(name) == "*" and len(found) > 1:
            what = f"'*' means those that no other name matches, but here it would mean all: {kind.prefix}*"
            made.note(f"{what}; it is left out", here, "name the people, or write the rule by hand")
            continue
        for number, (target, functions) in enumerate(_entries(entries, here, made), 1):
            rule = Rule(name=f"{'/'.join(here)} {number}", who=who, functions=functions, target=target)
            made.rules.append(rule)


def _entries(entries: object, path: Path, made: Imported) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Pairs of a target and functions; all functions for all systems are in one pair."""
    everywhere: list[str] = []
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, str):
            everywhere += _functions([entry], path, made)
        elif isinstance(entry, Mapping) and len(entry) == 1:
            ((target, functions),) = entry.items()
            yield from _target_rules(str(target), functions, path, made)
        else:
            made.note(f"the entry {str(entry)[:80]!r} is not understood", path)
    if everywhere:
        yield "*", tuple(everywhere)


def _target_rules(
    target: str, functions: object, path: Path, made: Imported
) -> Iterator[tuple[str, tuple[str, ...]]]:
    if target.startswith("@"):
        _functions([target], path, made)
        return
    meant = policy_target(target, made.groups)
    if meant is None:
        made.note(
            f"the target {target!r} cannot be asked by a controller", path, "use ids, grains or a group"
        )
        return
    found = _functions(functions if isinstance(functions, list) else [functions], path, made)
    if found:
        yield meant, tuple(found)


def _functions(given: list[object], path: Path, made: Imported) -> list[str]:
    found: list[str] = []
    for one in given:
        globs = as_globs(one) if isinstance(one, str) else None
        if globs is None or not all(FUNCTION.fullmatch(glob) for glob in globs):
            made.note(*_why(one, path))
            continue
        found += globs
    return found


def _why(one: object, path: Path) -> tuple[str, Path, str]:
    if isinstance(one, Mapping):
        name = ", ".join(map(str, one))
        what = f"{name!r} is allowed only with certain arguments, which rules cannot express; it is left out"
        return what, path, "put the call into a state file of its own, and allow that"
    if isinstance(one, str) and one.startswith("@"):
        what = f"{one!r} (runners, wheel, jobs) has no counterpart among rules"
        return (
            what,
            path,
            "give a role: viewer for @jobs, admin for @wheel; orchestration has its own functions",
        )
    return f"{str(one)!r} cannot be written with wildcards; it is left out", path, "write the rule by hand"


def _mapping(master: Mapping[str, object], key: str, made: Imported) -> Mapping[str, object]:
    found = master.get(key) or {}
    if isinstance(found, Mapping):
        return found
    made.note(f"{key!r} is not a mapping", (key,))
    return {}


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
