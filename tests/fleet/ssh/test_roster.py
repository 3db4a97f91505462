"""Rosters and inventories of every kind, and what is said of bad ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.ssh.roster.host import Host, Roster
from saltern.fleet.ssh.roster.read import read_roster
from saltern.language.diagnostics import OperationError


def roster(tmp_path: Path, text: str, name: str = "hosts.yaml") -> Roster:
    path = tmp_path / name
    path.write_text(text)
    return read_roster([str(path)])


def one(found: Roster) -> Host:
    (host,) = found.hosts.values()
    return host


def problem(tmp_path: Path, text: str, name: str = "hosts.yaml") -> str:
    with pytest.raises(OperationError) as caught:
        roster(tmp_path, text, name)
    return str(caught.value).replace(str(tmp_path), "DIR")


class TestSalt:
    def test_all_that_is_said_of_a_system(self, tmp_path: Path) -> None:
        host = one(
            roster(
                tmp_path,
                "web1:\n  host: 192.0.2.7\n  user: admin\n  port: 2222\n  sudo: True\n  sudo_user: app\n"
                "  tty: yes\n  priv: /keys/id\n  timeout: 9\n  thin_dir: /opt/x\n  identities_only: True\n"
                "  ssh_options: ['Compression=yes']\n  minion_opts: {grains: {role: web}}\n"
                "  grains: {size: 2}\n",
            )
        )
        assert (host.id, host.address, host.user, host.port) == ("web1", "192.0.2.7", "admin", 2222)
        assert (host.become, host.become_user, host.terminal) == ("sudo", "app", True)
        assert (host.keys, host.connect_limit, host.directory) == (("/keys/id",), 9.0, "/opt/x")
        assert host.settings == ("Compression=yes", "IdentitiesOnly=yes")
        assert host.grains == {"role": "web", "size": 2}
        assert host.where is not None
        assert host.where.line == 1

    def test_an_address_alone(self, tmp_path: Path) -> None:
        found = roster(tmp_path, "web1: 192.0.2.7\nweb2: web2.example.org\n")
        assert [(host.id, host.address) for host in found.hosts.values()] == [
            ("web1", "192.0.2.7"),
            ("web2", "web2.example.org"),
        ]

    def test_the_password_of_ssh_is_that_of_sudo_and_is_never_shown(self, tmp_path: Path) -> None:
        host = one(roster(tmp_path, "web1: {host: h, passwd: s3cret, sudo: true}\n"))
        assert host.password.text == host.become_password.text == "s3cret"
        assert "s3cret" not in repr(host)

    def test_all_problems_at_once_with_their_lines(self, tmp_path: Path) -> None:
        text = "web1:\n  host: h\n  port: seventy\nweb2:\n  user: x\nweb3: 7\n"
        said = problem(tmp_path, text + "web4:\n  host: h\n  sudo: perhaps\n")
        assert "DIR/hosts.yaml:3" in said
        assert "'port' of 'web1' must be a number from 1 to 65535, and is 'seventy'" in said
        assert "'web2' has no 'host'" in said
        assert "DIR/hosts.yaml:6" in said
        assert "'sudo' of 'web4' must be true or false" in said

    def test_a_bad_password_is_not_quoted(self, tmp_path: Path) -> None:
        assert "hush" not in problem(tmp_path, "web1: {host: h, passwd: [hush]}\n")

    def test_an_unknown_key_is_a_warning_with_the_near_name(self, tmp_path: Path) -> None:
        found = roster(tmp_path, "web1:\n  host: h\n  usr: joe\n")
        (warning,) = found.warnings
        assert "has no 'usr'" in warning.what
        assert "user" in warning.fix

    def test_what_salt_has_and_we_do_not_is_said(self, tmp_path: Path) -> None:
        (warning,) = roster(tmp_path, "web1: {host: h, priv_passwd: x}\n").warnings
        assert "ssh-add" in warning.what


INI = """
# the web servers
alone.example.org:2200

[web]
web[01:03].example.org ansible_user=deploy
10.0.0.9 ansible_port=22 note="a b"  # last

[db]
db-[a:c] ansible_host=192.0.2.9

[prod:children]
web
db

[prod:vars]
ansible_become=true
region = eu-1
ansible_ssh_common_args=-o ProxyCommand=none -J bastion

[web:vars]
region=eu-2
"""


class TestAnsible:
    def test_an_ini_file(self, tmp_path: Path) -> None:
        found = roster(tmp_path, INI, "hosts")
        assert list(found.hosts) == [
            "alone.example.org",
            "web01.example.org",
            "web02.example.org",
            "web03.example.org",
            "10.0.0.9",
            "db-a",
            "db-b",
            "db-c",
        ]
        assert found.groups["prod"] == [name for name in found.hosts if name != "alone.example.org"]
        assert found.hosts["alone.example.org"].port == 2200
        assert found.groups["ungrouped"] == ["alone.example.org"]
        web = found.hosts["web02.example.org"]
        assert (web.user, web.become, web.jump, web.settings) == (
            "deploy",
            "sudo",
            "bastion",
            ("ProxyCommand=none",),
        )
        assert web.variables == {"region": "eu-2"}
        assert found.hosts["db-a"].address == "192.0.2.9"
        assert found.hosts["db-a"].variables == {"region": "eu-1"}
        assert found.hosts["10.0.0.9"].variables["note"] == "a b"

    def test_a_yaml_file_with_children_in_children(self, tmp_path: Path) -> None:
        found = roster(
            tmp_path,
            "all:\n  vars: {ansible_user: root}\n  hosts: {mail: }\n  children:\n    web:\n      hosts:\n"
            "        web[1:2]: {ansible_port: 2022}\n"
            "      children: {edge: {hosts: {edge1: {ansible_user: e}}}}\n",
        )
        assert found.groups == {"ungrouped": ["mail"], "web": ["web1", "web2", "edge1"], "edge": ["edge1"]}
        assert [host.user for host in found.hosts.values()] == ["root", "root", "root", "e"]

    def test_variables_beside_the_inventory(self, tmp_path: Path) -> None:
        for name, text in {
            "group_vars/web.yml": "ansible_user: from_file\n",
            "group_vars/all/a.yaml": "region: x\n",
            "host_vars/w2": "ansible_user: own\n",
        }.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = roster(tmp_path, "[web]\nw1\nw2\n[web:vars]\nansible_user=inline\n", "hosts")
        assert [host.user for host in found.hosts.values()] == ["from_file", "own"]
        assert found.hosts["w1"].variables == {"region": "x"}

    def test_a_program(self, tmp_path: Path) -> None:
        path = tmp_path / "inventory"
        path.write_text(
            '#!/bin/sh\necho \'{"web": {"hosts": ["w1"], "vars": {"ansible_user": "u"}},'
            ' "_meta": {"hostvars": {"w1": {"ansible_port": 99}}}}\'\n'
        )
        path.chmod(0o755)
        host = one(read_roster([str(path)]))
        assert (host.user, host.port, host.groups) == ("u", 99, frozenset({"web"}))

    def test_a_program_that_fails(self, tmp_path: Path) -> None:
        path = tmp_path / "inventory"
        path.write_text("#!/bin/sh\necho no credentials >&2; exit 3\n")
        path.chmod(0o755)
        with pytest.raises(OperationError, match="ended with 3: no credentials"):
            read_roster([str(path)])

    def test_a_connection_to_this_machine(self, tmp_path: Path) -> None:
        assert one(roster(tmp_path, "[x]\nlocalhost ansible_connection=local\n", "hosts")).local

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("[web\nx\n[b]\n", "DIR/hosts:1"),
            ("[web:things]\nx\n[web]\n", "'[web:things]' is not a section"),
            ("[web]\nx user\n", "'user' sets nothing"),
            ("[web]\nx[3:1]\n", "a range that goes up"),
            ("[web]\nx[1:999999999]\n", "at most 100,000 names"),
            ("[web]\nx ansible_port=http\n", "'ansible_port' of 'x' must be a number from 1 to 65535"),
            ("[web]\nx ansible_user='{{ me }}'\n", "is a template, which only Ansible can fill in"),
            ("[web]\nx ansible_become=1 ansible_become_method=runas\n", "becomes root by 'runas'"),
            ("[a:children]\nb\n[b:children]\na\n", "is below itself"),
            ('[web]\nx note="open\n', "open quote"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_place(self, tmp_path: Path, text: str, expected: str) -> None:
        assert expected in problem(tmp_path, text, "hosts")


class TestOtherSources:
    def test_a_list_of_addresses(self) -> None:
        found = read_roster(["root@web[1:2]:2022,db,[2001:db8::7]:22,me@192.0.2.1"])
        assert [(host.id, host.user, host.port) for host in found.hosts.values()] == [
            ("web1", "root", 2022),
            ("web2", "root", 2022),
            ("db", "", None),
            ("2001:db8::7", "", 22),
            ("192.0.2.1", "me", None),
        ]

    @pytest.mark.parametrize("bad", ["-oProxyCommand=x", "a@@b", "h:99999", "h:x"])
    def test_what_is_no_address(self, bad: str) -> None:
        with pytest.raises(OperationError):
            read_roster([bad])

    def test_names_of_an_ssh_configuration(self, tmp_path: Path) -> None:
        (tmp_path / "more").write_text("Host inner\n")
        found = roster(
            tmp_path,
            "Host web1 web2\n  HostName 192.0.2.1\nHost *.example !x\nInclude more\nInclude config\n",
            "config",
        )
        assert list(found.hosts) == ["web1", "web2", "inner"]
        assert {host.config for host in found.hosts.values()} == {str(tmp_path / "config")}

    def test_an_ssh_configuration_as_people_have_it(self, tmp_path: Path) -> None:
        (tmp_path / "conf.d").mkdir()
        (tmp_path / "conf.d" / "b.conf").write_text("Host behind\n  ProxyJump bastion\n")
        (tmp_path / "conf.d" / "a.conf").write_text("Host bastion\n")
        text = (
            "  # a comment\nAddKeysToAgent yes\nServerAliveInterval=60\n\nInclude conf.d/*.conf\n"
            'Host=equals\nHost\ttab "quoted" *.example.org !no # and why\n'
            'Match host foo exec "true"\n  User x\nhost lower\n'
        )
        found = roster(tmp_path, text, "config")
        assert list(found.hosts) == ["bastion", "behind", "equals", "tab", "quoted", "lower"]

    def test_a_directory(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_text("web1: h\n")
        (tmp_path / "b.ini").write_text("[g]\nweb2\n")
        (tmp_path / "b.ini.bak").write_text("[g]\nweb9\n")
        assert list(read_roster([str(tmp_path)]).hosts) == ["web1", "web2"]

    def test_one_name_twice(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_text("web1: h\n")
        (tmp_path / "b.ini").write_text("[g]\nweb1\n")
        with pytest.raises(OperationError, match="'web1' is listed twice"):
            read_roster([str(tmp_path)])

    def test_a_file_that_is_not_there(self) -> None:
        with pytest.raises(OperationError, match="there is no roster"):
            read_roster(["/nosuch/hosts.yaml"])

    def test_a_template(self, tmp_path: Path) -> None:
        path = tmp_path / "r.yaml"
        path.write_text("{% for n in (1, 2) %}\n{% endfor %}\n")
        found = read_roster([str(path)], render=lambda text, file: f"web1: {os.path.basename(file)}\n")
        assert one(found).address == "r.yaml"


@given(st.text(max_size=200))
def test_any_text_is_a_roster_or_a_problem(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("r") / "hosts"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        found = read_roster([str(path)])
    except OperationError as problem:
        assert problem.diagnostics
    else:
        assert all(host.address for host in found.hosts.values())


def test_the_fleet_checks_a_roster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from saltern.cli.fleet import main

    path = tmp_path / "hosts.yaml"
    path.write_text("web1: {host: 192.0.2.7, user: admin}\n")
    assert main(["roster", "check", str(path)]) == 0
    assert capsys.readouterr().out == "web1  admin@192.0.2.7\n"
    path.write_text("web1: {host: 192.0.2.7, port: many}\n")
    with pytest.raises(OperationError) as caught:
        main(["roster", "check", str(path)])
    assert "hosts.yaml:1" in str(caught.value)
    with pytest.raises(OperationError):
        main(["roster"])
