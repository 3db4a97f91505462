"""Every function and filter that answers in an untrusted tree computes, and does nothing else.

Each is called with the hook of the guard in place, and with nothing readable but Python and the tree: whoever
opens a file of the machine, looks a name up or starts a program is found out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from saltern.modules.api.pure_functions import PURE
from saltern.render.filters import FILTERS, OF_THE_MACHINE

# Arguments for each; a function without a row fails the test.
CALLS: dict[str, list[object]] = {
    **{f"config.{name}": ["id"] for name in ("get", "option", "merge", "dot_vals", "valid_fileproto")},
    "config.manage_mode": ["0644"],
    **{f"pillar.{name}": ["a"] for name in ("get", "item", "raw", "ls", "keys", "fetch", "obfuscate")},
    **{f"{name}.filter_by": [{"default": {"a": 1}}] for name in ("pillar", "grains", "match")},
    **{f"grains.{name}": ["os"] for name in ("get", "item", "fetch", "has_value")},
    "grains.equals": ["os", "x"],
    "grains.items": [],
    "grains.ls": [],
    **{f"match.{name}": ["*"] for name in ("compound", "glob", "list", "pcre")},
    **{f"match.{name}": ["os:*"] for name in ("grain", "pillar", "pillar_exact")},
    **{f"match.{name}": ["os:.*"] for name in ("grain_pcre", "pillar_pcre")},
    "match.search_by": [{"a": ["*"]}],
    "match.ifelse": ["*", "a", "b"],
    "defaults.get": ["web:port"],
    **{f"defaults.{name}": [{"a": 1}, {"b": 2}] for name in ("merge", "update")},
    "defaults.deepcopy": [{"a": 1}],
    **{f"slsutil.{name}": [{"a": 1}, {"b": 2}] for name in ("merge", "update")},
    "slsutil.merge_all": [[{"a": 1}, {"b": 2}]],
    "slsutil.serialize": ["json", {"a": 1}],
    "slsutil.deserialize": ["yaml", "a: 1"],
    "slsutil.boolstr": [True],
    "slsutil.banner": [],
    **{f"slsutil.{name}_exists": ["web"] for name in ("file", "dir", "path")},
    "slsutil.findup": ["web", "top.sls"],
    "slsutil.deepcopy": [{"a": 1}],
    **{f"cp.{name}": [] for name in ("list_master", "list_master_dirs", "list_states", "envs")},
    **{f"test.{name}": [] for name in ("ping", "true", "false", "version", "kwarg")},
    **{f"test.{name}": ["a"] for name in ("echo", "outputter", "arg", "arg_clean", "arg_type", "arg_repr")},
    "random.get_str": [8],
    "random.rand_int": [1, 5],
    "random.sample": [[1, 2, 3], 2],
    "random.shuffle": [[1, 2, 3]],
    "random.hash": ["a"],
    "random.str_encode": ["a"],
    **{f"hashutil.{name}": ["a"] for name in ("digest", "base64_b64encode", "base64_encodestring")},
    **{f"hashutil.{name}": ["YQ=="] for name in ("base64_b64decode", "base64_decodestring")},
    "hashutil.hmac_compute": ["a", "b"],
    "hashutil.hmac_signature": ["a", "b", "YQ=="],
    "hashutil.github_signature": ["a", "b", "sha1=61"],
    **{f"file.{name}": ["/etc/passwd"] for name in ("basename", "dirname", "join", "normpath")},
    "file.pardir": [],
    "network.ip_in_subnet": ["10.0.0.1", "10.0.0.0/8"],
    "network.calc_net": ["10.0.0.1", "255.0.0.0"],
    "network.convert_cidr": ["10.0.0.0/8"],
    **{f"network.{name}": ["10.0.0.1"] for name in ("is_loopback", "is_private", "reverse_ip", "iphexval")},
}
# What a filter may be handed: whatever it makes of it, it may not look around.
HANDED: list[list[object]] = [
    ["/etc/passwd"],
    ["localhost", 80],
    [["localhost", "/etc"]],
    [{"a": "/etc/passwd"}],
    [{"a": 1}, "a"],
    [7],
    ["10.0.0.0/8", "10.0.0.1"],
    ["2020-01-01", "%Y"],
]
SCRIPT = """\
import json, sys
calls, filters, handed = json.loads(sys.stdin.read())
from saltern.config.settings import Settings
from saltern.render.filters import resolve
from saltern.engine.session import Session
from saltern.facts.grains import QUIET_FILES
from saltern.system import guard
session = Session(Settings(file_roots={"base": [sys.argv[1]]}, pillar_roots={}), pillar={"a": 1}, trust=False)
session.load_pillar()
heard = []

class Heard(guard.Refused):
    def __init__(self, *args):  # whoever catches it has asked nevertheless
        super().__init__(*args)
        heard.append(str(self))

guard.Refused = Heard
guard.refuse([sys.argv[1], *QUIET_FILES])

def outcome(call):
    heard.clear()
    try:
        call()
    except Exception:
        pass
    return "; ".join(heard)

told = {name: outcome(lambda: session.salt[name](*args)) for name, args in calls.items()}
for name in filters:
    for args in handed:
        told[name] = told.get(name) or outcome(lambda: resolve(name)(*args))
print(json.dumps(told))
"""


def refusals(folder: Path, functions: dict[str, list[object]], filters: list[str]) -> dict[str, str]:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)],
        input=json.dumps([functions, filters, HANDED]),
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: why for name, why in json.loads(ran.stdout).items() if why}


def test_each_of_the_list_computes(tmp_path: Path) -> None:
    assert CALLS.keys() == PURE
    (tmp_path / "web").mkdir()
    (tmp_path / "top.sls").write_text("")
    assert refusals(tmp_path, CALLS, sorted(FILTERS.keys() - OF_THE_MACHINE)) == {}


def test_the_test_can_fail(tmp_path: Path) -> None:
    touching: dict[str, list[object]] = {
        "cmd.run": ["id"],
        "file.read": ["/etc/passwd"],
        "network.connect": ["localhost", 80],
        "network.get_fqdn": [],
        "temp.file": [],
    }
    found = refusals(tmp_path, touching, ["dns_check", "http_query", "file_hashsum", "list_files"])
    assert {"cmd.run", "file.read", "temp.file", "dns_check", "list_files"} <= found.keys()
