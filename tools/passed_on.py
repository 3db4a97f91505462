"""Finds arguments that Salt's states accept without naming them, because they pass them on, and that are
unknown here. ``python -m tools.passed_on`` prints them.

A state with ``**kwargs`` accepts the arguments of the functions that it calls; those functions are listed
here, and Salt's files are parsed for their arguments, as in ``tools.arguments``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from saltern.modules.api.registry import Registry, schema
from saltern.modules.api.salt_arguments import FURTHER, effect_of_ignoring
from saltern.modules.functions.http import UNUSED
from saltern.modules.lib.networking import names
from saltern.modules.lib.volumes.arguments import SWITCHES, VALUES
from tools.arguments import NEVER_ARGUMENTS, SALT, Signature, signature

Place = tuple[str, str]  # a file of Salt's, and a function in it

_INSTALL: tuple[Place, ...] = tuple((f"modules/{one}pkg.py", "install") for one in ("apt", "yum", "zypper"))
PASSED_ON: Mapping[str, tuple[Place, ...]] = {
    "cmd.run": (("modules/cmdmod.py", "run_all"),),
    "cmd.script": (("modules/cmdmod.py", "script"),),
    "http.query": (("utils/http.py", "query"),),
    "http.wait_for_successful_query": (("utils/http.py", "query"), ("states/http.py", "query")),
    "pip.installed": (("modules/pip.py", "install"),),
    "pkg.downloaded": (*_INSTALL, ("modules/yumpkg.py", "download")),
    "pkg.group_installed": (("modules/yumpkg.py", "group_install"), ("modules/yumpkg.py", "install")),
    "pkg.installed": _INSTALL,
    "pkg.latest": (
        *_INSTALL,
        ("modules/aptpkg.py", "latest_version"),
        ("modules/yumpkg.py", "latest_version"),
    ),
    "pkg.purged": tuple((f"modules/{one}pkg.py", "purge") for one in ("apt", "yum", "zypper")),
    "pkg.removed": tuple((f"modules/{one}pkg.py", "remove") for one in ("apt", "yum", "zypper")),
    "pkg.uptodate": tuple(
        (f"modules/{one}pkg.py", function)
        for one in ("apt", "yum", "zypper")
        for function in ("upgrade", "list_upgrades")
    ),
    "pkgrepo.absent": tuple((f"modules/{one}pkg.py", "del_repo") for one in ("apt", "yum", "zypper")),
    "pkgrepo.managed": tuple((f"modules/{one}pkg.py", "mod_repo") for one in ("apt", "yum", "zypper")),
    "service.running": (("modules/systemd_service.py", "start"), ("modules/systemd_service.py", "enable")),
    "virtualenv.managed": (("modules/virtualenv_mod.py", "create"),),
}
# The state sets these itself, they are for a feature that is missing here, or Salt fails with them.
NOT_REACHED: Mapping[str, frozenset[str]] = {
    "cmd.run": frozenset({"cmd", "encoded_cmd", "python_shell"}),
    "cmd.script": frozenset({"python_shell", "pillar", "pillarenv"}),
    "http.query": frozenset({"url", "text", "headers", "decode"}),
    "pkg.group_installed": frozenset({"pkgs", "sources", "version"}),
    "pkg.installed": frozenset({"test"}),
    "pkg.latest": frozenset({"version", "show_installed"}),
    "pkgrepo.absent": frozenset({"repo", "strict_config", "ppa_auth"}),
    "pkgrepo.managed": frozenset({"repo"}),
    "virtualenv.managed": frozenset({"path"}),
}
# Values of a section or of an entry, which are written unchanged.
WRITTEN = frozenset({"priority", "type", "trusted", "Trusted", "url", "cache"})
INTERFACE_FILES = ("debian_ip", "rh_ip", "netplan_ip", "nm_ip")
# From the description of the whole machine, or from Salt's own tables.
NOT_OF_AN_INTERFACE = frozenset(
    {"apply_hostname", "bridging", "domainname", "iface_type", "networking", "nozeroconf", "pppoe"}
    | {"require_reboot", "searchdomain"}
)


def functions(path: Path) -> dict[str, Signature]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name: signature(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def unknown(registry: Registry, salt: Path = SALT.parent) -> Iterator[tuple[str, list[str]]]:
    """Each state with the arguments that its functions take, and that are neither ours nor known by name."""
    for key, places in PASSED_ON.items():
        taken = [name for file, function in places for name in functions(salt / file)[function].names]
        known = known_here(registry, key) | NOT_REACHED.get(key, frozenset())
        yield (
            key,
            sorted(
                {
                    name
                    for name in taken
                    if name not in known
                    and not name.startswith("__")
                    and effect_of_ignoring(key, name) is None
                }
            ),
        )
    yield "network.managed", sorted(interface_settings(salt) - known_here(registry, "network.managed"))
    for program, own in LVM.items():
        options = _valid(salt / "modules" / "linux_lvm.py", program)
        yield own, sorted(options - {*VALUES[program].split(), *SWITCHES[program].split()})


LVM = {"pvcreate": "lvm.pv_present", "vgcreate": "lvm.vg_present", "lvcreate": "lvm.lv_present"}


def known_here(registry: Registry, key: str) -> frozenset[str]:
    module, _, name = key.partition(".")
    function = registry.state(module, name)
    assert function is not None
    found = {*schema(function).params, *FURTHER.get(key, ()), *NEVER_ARGUMENTS, "name"}
    if module == "http":
        asked = registry.function("http.query")
        assert asked is not None
        found |= {*schema(asked).params, *UNUSED, "url"}
        query = registry.state("http", "query")
        assert query is not None
        found |= schema(query).params.keys()
    if module == "pkgrepo":
        found |= WRITTEN
    if key == "network.managed":
        found |= names.known_names() | NOT_OF_AN_INTERFACE
    return frozenset(found)


def interface_settings(salt: Path) -> set[str]:
    """The settings that Salt's modules for the files of a network read."""
    text = "".join((salt / "modules" / f"{one}.py").read_text("utf-8") for one in INTERFACE_FILES)
    read = re.findall(r"\b(?:opts|settings|kwargs|iface)(?:\.get\(|\.pop\(|\[)\s*\"([\w-]+)\"", text)
    return {*read, *re.findall(r"\"([\w-]+)\" (?:not )?in (?:opts|settings|kwargs|iface)\b", text)}


def _valid(path: Path, function: str) -> set[str]:
    """The options that a function of linux_lvm passes on: its tuples ``valid`` and ``no_parameter``."""
    tree = ast.parse(path.read_text("utf-8"))
    (body,) = (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == function)
    rows = [
        ast.literal_eval(one.value)
        for one in ast.walk(body)
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) in ("valid", "no_parameter")
    ]
    return {name for row in rows for name in ([row] if isinstance(row, str) else row)}


def main() -> None:
    for key, left in unknown(Registry()):
        if left:
            print(f"{key}: passed on by Salt, not known here: {', '.join(left)}")


if __name__ == "__main__":
    main()
