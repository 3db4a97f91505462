"""Random cases for ``augeas.change``, which Salt has until 3006.

It is compared with that version, if the library for Python is installed (Debian 12: ``python3-augeas``).
Commands that Augeas refuses end Salt's state with a trace back, which is not compared.
"""

from __future__ import annotations

from tests.compat.chance import Case, Chance, Maker

HOSTS = (
    "127.0.0.1 localhost lo me",
    "10.0.0.1 one",
    "# a remark",
    "",
    "10.0.0.2\ttwo three # why",
    "::1 ip6",
)
OF_HOSTS = (
    ["set 1/canonical new"],
    ["set 1/ipaddr 10.0.0.7"],
    ["set \"*[ipaddr = '10.0.0.1']/canonical\" other"],
    ["set /files/etc/hosts/1/canonical whole"],
    ["set 01/ipaddr 10.0.0.8", "set 01/canonical eight"],
    ["ins alias before 1/canonical", "rm 1/alias"],
    ["ins 01 after *[last()]", "set 01/ipaddr 10.0.0.9", "set 01/canonical 'nine'"],
    ["setm * canonical same"],
    ["rm 1"],
    ["remove *[canonical='none']"],
    ["rm 1/ipaddr"],
    ["mv 1 /files/etc/hosts/09"],
    ["setm *[ipaddr='10.0.0.1'] canonical"],
    ["no 1"],
    ["set 1/canonical a b"],
    ["set"],
)
SETTINGS = ("A=1", "B='two words'", "# a remark", "export C=3", "", "D=four")
OF_SETTINGS = (
    ["set A 2"],
    ["set B \"'two words'\""],
    ["set NEW 1"],
    ["rm B", "rm C"],
    ["set C/export"],
    ["mv A /files{}/Z"],
    ["insert NEW before *[1]", "set NEW 0"],
    ['set A "it\'s"'],
)


def augeas_change(chance: Chance) -> Case:
    if chance.random() < 0.4:
        return {"name": "x", **settings(chance)}
    files = {"/etc/hosts": "10.0.0.5 five\n" + chance.distinct(HOSTS, 6)}
    if chance.random() < 0.1:  # all lenses take their time
        return {"name": "x", "args": {"changes": ["set /files/etc/hosts/1/canonical new"]}, "files": files}
    args: Case = {"context": "/files/etc/hosts", "lens": "Hosts.lns"}
    changes = [*chance.choice(OF_HOSTS), *(chance.choice(OF_HOSTS) if chance.random() < 0.4 else ())]
    return {"name": "x", "args": args | {"changes": changes}, "files": files}


def settings(chance: Chance) -> Case:
    args: Case = {"context": "/filesWORK/a", "lens": "Shellvars.lns"}
    if chance.random() < 0.1:  # of a file that stays missing Salt reports a change in each run
        return {"args": args | {"changes": ["set A 2"]}}
    changes = [one.format("WORK/a") for one in chance.choice(OF_SETTINGS)]
    return {"args": args | {"changes": changes}, "files": {"a": chance.distinct(SETTINGS, 6)}}


AUGEAS: dict[str, Maker] = {"augeas.change": augeas_change}
