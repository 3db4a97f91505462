"""Compares Salt's arguments with ours: which are supported, ignored, or have another default.

``python -m tools.arguments`` prints a line for each state that differs. The tests compare the tables of
``saltern.modules.api.salt_arguments`` with the arguments that are read here. Salt's files are parsed, never
imported.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from saltern.language.keywords import ENGINE_WORDS, INTERNAL
from saltern.modules.api.groups import unpacked_group
from saltern.modules.api.params import Schema
from saltern.modules.api.registry import STATES, Registry, schema
from saltern.modules.api.salt_arguments import ALSO_READ, REFUSED, TAKES_ARGUMENTS_OF, effect_of_ignoring

ROOT = Path(__file__).parent.parent
SALT = ROOT / "build" / "salt" / "salt" / "states"
RECORDED = (
    ROOT / "tests" / "unit" / "modules" / "api" / "salt_3006_signatures.json"
)  # of modules that 3008 dropped
PREFERRED = {"x509": "x509_v2", "network": "network"}  # of several files with one name
NEVER_ARGUMENTS = ENGINE_WORDS | INTERNAL | {"test", "sfun", "__agg__"}
COMPANIONS = frozenset({"mod_watch", "mod_aggregate", "mod_init", "mod_beacon", "mod_run_check_cmd"})
_OF_A_FILE = (
    *(
        "attrs",
        "backup",
        "create",
        "dir_mode",
        "encoding_errors",
        "file_encoding",
        "follow_symlinks",
        "group",
    ),
    *("makedirs", "mode", "selinux", "tmp_dir", "tmp_ext", "user", "win_deny_perms", "win_inheritance"),
    *("win_owner", "win_perms", "win_perms_reset"),
)
HELPERS = {  # they read keywords for a function
    "_filter_state_internal_kwargs": _OF_A_FILE,
    "_get_systemd_only": ("no_block",),
    "_test_owner": ("owner",),
    "x509util.split_file_kwargs": _OF_A_FILE,
}

REFUSED_TOO = {"at.absent": ("limit",)}  # by a function of ours that refuses all unknown ones
# Parameters that another function of the module reads, when a watched state changes.
READ_BY_MOD_WATCH = {
    "at.watch": ("timespec", "tag", "user", "job", "unique_tag"),
    "cmd.wait_call": ("func",),
    "event.wait": ("preload", "with_env", "with_grains", "with_pillar", "show_changed"),
    "service.running": ("reload", "force", "full_restart"),
}
NEEDED_HERE = "needed here; without it Salt fails, or works on an object called None"
NOT_NEEDED = "not needed here"
USUAL_OPTIONS = "options that are not given become the usual ones for the type"
# Defaults that are not Salt's, and why.
OTHER_DEFAULTS = {
    ("git.cloned", "target"): NOT_NEEDED + ": a missing one is reported with the state",
    ("git.detached", "target"): NOT_NEEDED + ": a missing one is reported with the state",
    ("git.latest", "target"): NOT_NEEDED + ": a missing one is reported with the state",
    ("host.absent", "ip"): NOT_NEEDED + ": without it the name is removed from every address",
    ("idem.state", "sls"): NOT_NEEDED + ": sls_sources may name the files",
    ("lvm.lv_absent", "vgname"): NEEDED_HERE,
    ("lvm.lv_present", "vgname"): NEEDED_HERE,
    (
        "mount.fstab_present",
        "fs_mntops",
    ): USUAL_OPTIONS,
    ("mount.mounted", "opts"): USUAL_OPTIONS,
    ("mysql_grants.absent", "database"): NEEDED_HERE,
    ("mysql_grants.absent", "grant"): NEEDED_HERE,
    ("mysql_grants.absent", "user"): NEEDED_HERE,
    ("mysql_grants.present", "database"): NEEDED_HERE,
    ("mysql_grants.present", "grant"): NEEDED_HERE,
    ("mysql_grants.present", "user"): NEEDED_HERE,
    ("ssh_auth.manage", "enc"): "the kind of a key is determined from the key",
    ("ssh_auth.present", "enc"): "the kind of a key is determined from the key",
    ("system.reboot", "timeout"): "the machine is rebooted at once, unless notice is given",
}
# States that refuse unknown arguments, although Salt's accept them as filters or options.
STRICTER = frozenset(
    {
        "at.absent",
        "docker_container.running",
        "docker_container.stopped",
        "docker_network.present",
        "iptables.flush",
        "iptables.set_policy",
        "network.routes",
        "network.system",
        "nftables.flush",
        "nftables.set_policy",
        "selinux.module",
    }
)
# States of Salt that take any argument, and refuse unknown ones themselves.
REFUSED_BY_SALT = frozenset({"x509.crl_managed", "x509.pem_managed", "x509.private_key_managed"})
CONSTANTS = {  # names in Salt's signatures
    "DEFAULT_TARGET_DELIM": "':'",
    "_DEFAULT_CONF": "'/etc/logrotate.conf'",
    "salt.utils.dockermod.CLIENT_TIMEOUT": "60",
    "()": "None",  # no arguments
}


class Signature(Struct, frozen=True, kw_only=True):
    """The parameters of one of Salt's state functions: defaults as source text, None if required."""

    params: dict[str, str | None]
    keywords: tuple[str, ...] = ()  # read from **kwargs
    open: bool = False
    doc: str = ""

    @property
    def names(self) -> list[str]:
        return [name for name in (*self.params, *self.keywords) if name not in NEVER_ARGUMENTS]


class Difference(Struct, frozen=True, kw_only=True):
    """One state function, compared with Salt's."""

    key: str
    unknown: tuple[str, ...]  # arguments of Salt that are neither ours nor in the tables
    defaults: dict[str, tuple[str | None, str | None]]  # Salt's and ours, where they differ


def signatures(salt: Path = SALT) -> dict[str, Signature]:
    """Salt's functions by ``module.function``, from its files and from records of an older version."""
    found: dict[str, Signature] = {}
    if RECORDED.exists():
        for key, row in json.loads(RECORDED.read_text("utf-8")).items():
            found[key] = Signature(
                params=row["params"], keywords=tuple(row["keywords"]), open=row["open"], doc=row["doc"]
            )
    for path in sorted(salt.glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        names = _assigned(tree)
        module = names.get("__virtualname__") or path.stem
        if PREFERRED.get(str(module), path.stem) != path.stem:
            continue
        aliases = names.get("__func_alias__", {})
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                name = aliases.get(node.name, node.name) if isinstance(aliases, dict) else node.name
                found[f"{module}.{name}"] = signature(node)
    return found


def _assigned(tree: ast.Module) -> dict[str, object]:
    """The literals that a module assigns to names."""
    found: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def signature(node: ast.FunctionDef) -> Signature:
    args = node.args
    positional = [one.arg for one in (*args.posonlyargs, *args.args)]
    texts = [ast.unparse(one) for one in args.defaults]
    needed: list[str | None] = [None] * (len(positional) - len(texts))
    params = dict(zip(positional, [*needed, *texts], strict=True))
    for one, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        params[one.arg] = None if default is None else ast.unparse(default)
    keywords = sorted({*_read_keywords(node, args.kwarg.arg)} - params.keys()) if args.kwarg else []
    doc = ast.get_docstring(node) or ""
    return Signature(params=params, keywords=tuple(keywords), open=args.kwarg is not None, doc=doc)


def _read_keywords(node: ast.FunctionDef, kwargs: str) -> Iterator[str]:
    """Names that the function reads from its ``**kwargs``."""

    def is_it(one: ast.AST) -> bool:
        return isinstance(one, ast.Name) and one.id == kwargs

    def text(one: ast.AST) -> Iterator[str]:
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value

    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and is_it(one.value):
            yield from text(one.slice)
        elif isinstance(one, ast.Compare) and any(map(is_it, one.comparators)):
            yield from text(one.left)
        elif isinstance(one, ast.Call):
            if isinstance(one.func, ast.Attribute) and is_it(one.func.value) and one.args:
                yield from text(one.args[0])
            if any(is_it(arg) for arg in one.args):
                yield from HELPERS.get(ast.unparse(one.func), ())
                yield from _of_a_set(one.func)


def _of_a_set(func: ast.expr) -> Iterator[str]:
    """``{"cipher", "text"}.intersection(kwargs)``."""
    if isinstance(func, ast.Attribute) and func.attr == "intersection" and isinstance(func.value, ast.Set):
        yield from ast.literal_eval(func.value)


def states(registry: Registry) -> Iterator[tuple[str, Schema]]:
    """Every built-in state function."""
    for module in STATES:
        for name in registry.members("states", module):
            function = registry.state(module, name)
            if function is not None and name not in COMPANIONS:
                yield f"{module}.{name}", schema(function)


def differences(registry: Registry, salt: dict[str, Signature]) -> Iterator[Difference]:
    for key, ours in states(registry):
        if key in salt:
            yield Difference(
                key=key,
                unknown=tuple(_unknown(registry, key, ours, salt[key])),
                defaults=_defaults(ours, salt[key]),
            )


def _unknown(registry: Registry, key: str, ours: Schema, theirs: Signature) -> Iterator[str]:
    if ours.takes_anything:
        return
    known = {*ours.params, *ALSO_READ.get(key, ()), *REFUSED.get(key, ()), *REFUSED_TOO.get(key, ())}
    for other in TAKES_ARGUMENTS_OF.get(key, ()):
        function = registry.state(*other.split("."))
        assert function is not None
        known |= schema(function).params.keys()
    for name in theirs.names:
        if name not in known and effect_of_ignoring(key, name) is None:
            yield name


def _defaults(ours: Schema, theirs: Signature) -> dict[str, tuple[str | None, str | None]]:
    found: dict[str, tuple[str | None, str | None]] = {}
    for name, param in ours.params.items():
        have = None if param.required else repr(param.default)
        wanted = theirs.params.get(name, have)
        wanted = CONSTANTS.get(wanted or "", wanted)
        if param.annotation == "bool" and wanted == "None":
            wanted = "False"  # a flag that is not given is not set
        if have != wanted:
            found[name] = (wanted, have)
    return found


def unused_parameters(registry: Registry) -> dict[str, list[str]]:
    """Parameters that a state function accepts and its body never reads, by function."""
    found: dict[str, list[str]] = {}
    for key, ours in states(registry):
        function = registry.state(*key.split("."))
        assert function is not None
        source = textwrap.dedent(inspect.getsource(function.body))
        node = ast.parse(source).body[0]
        assert isinstance(node, ast.FunctionDef)
        read = {one.id for part in node.body for one in ast.walk(part) if isinstance(one, ast.Name)}
        group = unpacked_group(function.body) if node.args.kwarg and node.args.kwarg.arg in read else None
        elsewhere = (*READ_BY_MOD_WATCH.get(key, ()), *(group.keys if group else ()))
        left = [name for name in ours.params if name not in read and name not in elsewhere]
        if "locals" not in read and left:
            found[key] = left
    return found


def main() -> None:
    registry = Registry()
    for row in differences(registry, signatures()):
        if row.unknown:
            print(f"{row.key}: not known here: {', '.join(row.unknown)}")
        for name, (theirs, ours) in row.defaults.items():
            why = OTHER_DEFAULTS.get((row.key, name), "no reason is recorded")
            print(
                f"{row.key}: default of {name}: {theirs or 'needed'} in Salt, {ours or 'needed'} here: {why}"
            )
    for key, names in unused_parameters(registry).items():
        print(f"{key}: accepted, never read: {', '.join(names)}")


if __name__ == "__main__":
    main()
