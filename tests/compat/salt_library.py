"""Runs Salt's own state modules, unchanged: a program of its own, with Salt on its path.

``python salt_library.py SITE_PACKAGES WORK MODE`` prints what came of each row of ``CALLS`` as JSON.
``first``: Salt's states with Salt's execution modules; ``last``: as saltern does it, its own modules first;
both in test mode. ``real``: those of ``REAL`` in earnest, twice. ``undone``: those of ``UNDONE`` twice, and
twice what undoes them; this changes the machine.
For programs of ``TOOLS`` that this machine lacks, empty scripts stand in: only to be found, as nothing is
changed. An answer says which ones.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..", "src")

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIJ4yqFDu0ZlTmOK0c3Rzj4sTr1q1sDqYxqPcY3ycmPQ1"
DATABASE = {"db_host": "127.0.0.1", "db_port": 1, "db_user": "saltern-t-none"}

# module → function, name, arguments. WORK in a text is a scratch directory.
CALLS: dict[str, tuple[str, str, dict[str, object]]] = {
    "alias": ("present", "saltern-t-alias", {"target": "root"}),
    "apache": ("configfile", "WORK/apache.conf", {"config": [{"Listen": "80"}]}),
    "archive": ("extracted", "WORK/unpacked", {"source": "WORK/one.tar", "enforce_toplevel": False}),
    "at": (
        "present",
        "saltern-t-at",
        {"timespec": "noon", "job": "true", "tag": "saltern_t_at", "unique_tag": True},
    ),
    "blockdev": ("tuned", "/dev/saltern-t-none", {"read-ahead": 1024}),
    "cmd": ("run", "echo hello", {}),
    "cron": ("present", "saltern-t-job", {"user": "root", "minute": "5"}),
    "debconf": ("set", "saltern-t-package", {"data": {"a/b": {"type": "string", "value": "c"}}}),
    "disk": ("status", "/", {"maximum": "100%"}),
    "environ": ("setenv", "SALTERN_T", {"value": "1"}),
    "event": ("send", "saltern/t", {"data": {"a": 1}}),
    "file": ("managed", "WORK/managed", {"contents": "hello\n"}),
    "firewall": ("check", "127.0.0.1", {"port": 1}),
    "git": ("latest", "file:///saltern-t-none.git", {"target": "WORK/clone"}),
    "gpg": ("absent", "ABCDEF0123456789", {"gnupghome": "WORK/gnupg"}),
    "grains": ("present", "saltern-t-grain", {"value": "1"}),
    "group": ("present", "saltern-t-group", {"gid": 64999}),
    "highstate_doc": ("note", "a note", {"contents": "text"}),
    "host": ("present", "saltern-t-host", {"ip": "192.0.2.7"}),
    "http": ("query", "http://127.0.0.1:1/", {"status": 200}),
    "ini": ("options_present", "WORK/one.ini", {"sections": {"a": {"b": "c"}}}),
    "ipset": ("set_present", "saltern-t-set", {"set_type": "hash:ip"}),
    "iptables": ("chain_present", "SALTERN-T", {}),
    "kmod": ("absent", "saltern_t_module", {}),
    "locale": ("present", "saltern_T.UTF-8", {}),
    "logrotate": ("set", "saltern-t", {"key": "rotate", "value": "2", "conf_file": "WORK/logrotate.conf"}),
    "loop": ("until_no_eval", "test.ping", {"expected": True}),
    "lvm": ("pv_present", "/dev/saltern-t-none", {}),
    "raid": ("present", "/dev/md99", {"level": 1, "devices": ["/dev/saltern-t-none"]}),
    "module": ("run", "calls", {"test.ping": []}),
    "mount": ("mounted", "WORK/mnt", {"device": "/dev/saltern-t-none", "fstype": "ext4"}),
    "network": ("routes", "saltern-t-route", {"routes": []}),
    "nftables": ("table_present", "saltern_t", {}),
    "pip": ("installed", "saltern-t-nothing", {"bin_env": "WORK/none"}),
    "pkg": ("installed", "saltern-t-nothing", {"refresh": False}),
    "pkgbuild": ("repo", "WORK/packages", {}),
    "pkgrepo": ("absent", "deb http://192.0.2.7/ saltern-t main", {}),
    "postgres_database": ("present", "saltern-t-db", DATABASE),
    "postgres_extension": ("present", "saltern-t-ext", DATABASE),
    "postgres_group": ("present", "saltern-t-group", DATABASE),
    "postgres_initdb": ("present", "WORK/pgdata", {}),
    "postgres_language": ("present", "saltern-t-lang", {**DATABASE, "maintenance_db": "none"}),
    "postgres_privileges": (
        "present",
        "saltern-t-user",
        {**DATABASE, "object_name": "none", "object_type": "table", "privileges": ["SELECT"]},
    ),
    "postgres_schema": ("present", "saltern-t-schema", {**DATABASE, "dbname": "none"}),
    "postgres_tablespace": ("present", "saltern-t-space", {**DATABASE, "directory": "WORK"}),
    "postgres_user": ("present", "saltern-t-user", DATABASE),
    "process": ("absent", "saltern-t-process", {}),
    "pyenv": ("absent", "python-0.0", {}),
    "rabbitmq_cluster": ("joined", "saltern-t", {"host": "none"}),
    "rabbitmq_plugin": ("enabled", "saltern-t-plugin", {}),
    "rabbitmq_policy": ("present", "saltern-t", {"pattern": ".*", "definition": "{}"}),
    "rabbitmq_upstream": ("present", "saltern-t", {"uri": "amqp://none"}),
    "rabbitmq_user": ("present", "saltern-t", {"password": "none"}),
    "rabbitmq_vhost": ("present", "saltern-t", {}),
    "salt": ("runner", "test.arg", {}),
    "salt_proxy": ("configure_proxy", "saltern-t-proxy", {}),
    "saltutil": ("sync_all", "everything", {}),
    "ssh_auth": ("present", KEY, {"user": "root", "enc": "ed25519", "config": "WORK/authorized_keys"}),
    "ssh_known_hosts": ("absent", "saltern-t-host", {"user": "root", "config": "WORK/known_hosts"}),
    "ssh_pki": ("private_key_managed", "WORK/id_ed25519", {"algo": "ed25519"}),
    "stateconf": ("set", "parameters", {}),
    "status": ("process", "saltern-t-process", {}),
    "sysctl": ("present", "net.ipv4.saltern_t", {"value": 1, "config": "WORK/sysctl.conf"}),
    "sysfs": ("present", "kernel/mm/saltern_t", {"value": "1"}),
    "syslog_ng": ("reloaded", "saltern-t", {}),
    "test": ("succeed_with_changes", "saltern-t", {}),
    "timezone": ("system", "Antarctica/Troll", {}),
    "user": ("present", "saltern-t-user", {"uid": 64999}),
    "virtualenv": ("managed", "WORK/venv", {}),
    "winrepo": ("genrepo", "saltern-t", {}),
    "x509": ("private_key_managed", "WORK/key.pem", {"algo": "ec"}),
}

# module → the programs without which it does not load, or does nothing.
RABBIT = "rabbitmqctl rabbitmq-plugins"
TOOLS: dict[str, str] = {
    "apache": "apache2ctl",
    "at": "at atq atrm",
    "blockdev": "blockdev",
    "cron": "crontab",
    "debconf": "debconf-show debconf-set-selections debconf-get-selections",
    "gpg": "gpg",
    "ipset": "ipset",
    "iptables": "iptables iptables-save ip6tables ip6tables-save",
    "kmod": "lsmod",
    "lvm": "lvm pvdisplay vgdisplay lvdisplay",
    "nftables": "nft",
    "rabbitmq_cluster": RABBIT,
    "rabbitmq_plugin": RABBIT,
    "rabbitmq_policy": RABBIT,
    "rabbitmq_upstream": RABBIT,
    "rabbitmq_user": RABBIT,
    "rabbitmq_vhost": RABBIT,
    "raid": "mdadm",
    "syslog_ng": "syslog-ng syslog-ng-ctl",
    "virtualenv": "virtualenv",
}

# Rows that only write below WORK.
REAL = ("archive", "environ", "file", "ini", "logrotate", "ssh_auth", "ssh_pki", "x509")

# Rows that change the machine, and the function and arguments that take it back.
UNDONE: dict[str, tuple[str, dict[str, object]]] = {
    "at": ("absent", {"tag": "saltern_t_at"}),
    "cron": ("absent", {"user": "root"}),
    "group": ("absent", {}),
    "host": ("absent", {"ip": "192.0.2.7"}),
    "user": ("absent", {"purge": True, "force": True}),
}


def main(site: str, work: str, mode: str) -> None:
    sys.path[:0] = [SOURCE, HERE]
    sys.path.append(site)
    lacking = _prepare(work)
    answers = [
        {**_answer(work, mode, *row), "stand_ins": lacking & set(TOOLS.get(row[0], "").split())}
        for row in _rows(mode)
    ]
    print(json.dumps(answers, default=list))


def _rows(mode: str) -> list[tuple[str, str, str, dict[str, object]]]:
    """Module, function, name, arguments; in the order they are called."""
    if mode == "undone":
        done = [(module, *CALLS[module]) for module in UNDONE]
        undone = [(module, fun, CALLS[module][1], args) for module, (fun, args) in UNDONE.items()]
        return [*done, *done, *undone, *undone]
    return [(module, *CALLS[module]) for module in ([*REAL, *REAL] if mode == "real" else CALLS)]


def _prepare(work: str) -> set[str]:
    """Gives the programs that others stand in for."""
    import shutil
    import tarfile

    tools = os.path.join(work, "bin")
    os.makedirs(tools, exist_ok=True)
    lacking = {tool for names in TOOLS.values() for tool in names.split() if shutil.which(tool) is None}
    for tool in lacking:
        path = os.path.join(tools, tool)
        with open(path, "w") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(path, 0o755)
    os.environ["PATH"] = f"{os.environ['PATH']}:{tools}"
    with open(os.path.join(work, "logrotate.conf"), "w") as file:
        file.write("rotate 4\n")
    with tarfile.open(os.path.join(work, "one.tar"), "w") as archive:
        archive.add(os.path.join(work, "logrotate.conf"), arcname="one")
    return lacking


def _session(work: str, mode: str) -> object:
    from saltern.compat.library import Library
    from saltern.config.settings import Settings
    from saltern.engine.session import Session
    from saltern.modules.api.registry import Registry

    roots = {"base": [os.path.join(work, "tree")]}
    os.makedirs(roots["base"][0], exist_ok=True)
    settings = Settings(
        id="here",
        file_roots=roots,
        pillar_roots={"base": [os.path.join(work, "none")]},
        grains_file=os.devnull,
        cachedir=os.path.join(work, "cache"),
        test=mode not in ("real", "undone"),
    )
    library = Library(settings)
    shelves = ((library.installed,), ()) if mode != "last" else ((), (library.installed,))
    registry = Registry(before=shelves[0], after=shelves[1])
    session = Session(settings, registry=registry)
    library.bind(session.run, registry)
    return session


def _answer(
    work: str, mode: str, module: str, fun: str, name: str, args: Mapping[str, object]
) -> dict[str, object]:
    from saltern.engine.session import Session
    from saltern.engine.single import single
    from saltern.language.diagnostics import SalternError

    session = _session(work, mode)
    assert isinstance(session, Session)
    try:
        placed = {key: _placed(value, work) for key, value in args.items()}
        report = single(session, f"{module}.{fun}", str(_placed(name, work)), placed)
    except SalternError as problem:
        return {"function": f"{module}.{fun}", "missing": str(problem)}
    result = report.answers[0].result
    return {
        "function": f"{module}.{fun}",
        "result": result.outcome.value,
        "comment": result.comment,
        "changes": result.changes,
        "provider": result.extra.get("provider", ""),
    }


def _placed(value: object, work: str) -> object:
    if isinstance(value, dict):
        return {key: _placed(inner, work) for key, inner in value.items()}
    return value.replace("WORK", work) if isinstance(value, str) else value


if __name__ == "__main__":
    main(*sys.argv[1:])
