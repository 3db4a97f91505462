"""Extra arguments are template variables: the same files, from the same tree, as the real Salt writes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests import kit

SALT = Path(__file__).parents[3] / "build" / "salt" / "programs" / "salt-call"
TEMPLATE = "{{ port|default('no port') }} {{ other|default('no other') }} {{ users|default('no users') }}\n"
TREE = {
    "t": TEMPLATE,
    "d/one": TEMPLATE,
    "d/in/two": TEMPLATE,
    "run.sh": "#!/bin/sh\necho '{{ port }} {{ other|default('no other') }}' > {{ place }}/script\n",
}
MAIN = """\
{{ pillar.scratch }}/plain:
  file.managed: [{source: salt://t}, {template: jinja}, {port: 1}]
{{ pillar.scratch }}/context_wins:
  file.managed: [{source: salt://t}, {template: jinja}, {port: 1}, {other: 2}, {context: {port: 3}}]
{{ pillar.scratch }}/defaults_win:
  file.managed: [{source: salt://t}, {template: jinja}, {port: 1}, {defaults: {port: 3, other: 4}}]
{{ pillar.scratch }}/wrong_indentation:
  file.managed:
    - source: salt://t
    - template: jinja
    - context:
      port: 5
      other: {a: [1]}
{{ pillar.scratch }}/near_an_argument:
  file.managed: [{source: salt://t}, {template: jinja}, {users: ada}]
{{ pillar.scratch }}/contents_have_none:
  file.managed: [{contents: "{{ '{{ port|default(0) }}' }}"}, {template: jinja}, {port: 1}]
{{ pillar.scratch }}/no_template:
  file.managed: [{source: salt://t}, {port: 1}]
{{ pillar.scratch }}/directory:
  file.recurse: [{source: salt://d}, {template: jinja}, {port: 1}, {other: 2}, {context: {other: 3}}]
salt://run.sh:
  cmd.script: [{template: jinja}, {port: 1}, {other: 2}, {place: {{ pillar.scratch }}}]
"""


def written(scratch: str) -> dict[str, str]:
    found = {}
    for folder, _, names in os.walk(scratch):
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, scratch)] = Path(path).read_text()
    return found


def test_variables_reach_templates_below_defaults_and_context() -> None:
    with kit.tree({**TREE, "main.sls": MAIN}) as made:
        outcome = kit.attempt(made, kit.request_for({"main.sls": ""}))
        assert outcome.code == 0, [answer.result.comment for answer in outcome.answers]
        assert written(made.scratch) == {
            "plain": "1 no other no users\n",
            "context_wins": "3 2 no users\n",
            "defaults_win": "3 4 no users\n",
            "wrong_indentation": "5 {'a': [1]} no users\n",
            "near_an_argument": "no port no other ada\n",
            "contents_have_none": "0\n",
            "no_template": TEMPLATE,
            "directory/one": "1 3 no users\n",
            "directory/in/two": "1 3 no users\n",
            "script": "1 2\n",
        }
        codes = sorted(one.rpartition("[")[2].partition("]")[0] for one in outcome.warnings)
        assert codes == ["argument-unknown", "argument-unknown"]  # those that no template can use


@pytest.mark.skipif(not SALT.is_file(), reason="no Salt here: see 'make salt'")
def test_salt_writes_the_same(tmp_path: Path) -> None:
    with kit.tree({**TREE, "main.sls": MAIN}) as made:
        kit.attempt(made, kit.request_for({"main.sls": ""}))
        ours = written(made.scratch)
    roots, scratch, etc = (tmp_path / name for name in ("roots", "scratch", "etc"))
    for name, text in {**TREE, "main.sls": MAIN}.items():
        (roots / name).parent.mkdir(parents=True, exist_ok=True)
        (roots / name).write_text(text)
    etc.mkdir()
    (etc / "minion").write_text(
        f"root_dir: {tmp_path}/root\nid: m\nfile_client: local\nfile_roots: {{base: [{roots}]}}\n"
    )
    scratch.mkdir()
    argv = [
        str(SALT),
        "--local",
        "--config-dir",
        str(etc),
        "state.apply",
        "main",
        f"pillar={{scratch: {scratch}}}",
    ]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert written(str(scratch)) == ours, ran.stdout + ran.stderr


@pytest.mark.parametrize("fun", ["append", "prepend"])
def test_append_and_prepend_take_variables_too(fun: str) -> None:
    """Salt refuses them there; trees written for older ones have them."""
    args = "[{source: salt://t}, {template: jinja}, {port: 1}]"
    main = f"{{{{ pillar.scratch }}}}/f:\n  file.{fun}: {args}\n"
    with kit.tree({"t": TEMPLATE, "main.sls": main}) as made:
        assert kit.attempt(made, kit.request_for({"main.sls": ""})).code == 0
        assert written(made.scratch) == {"f": "1 no other no users\n"}


def test_a_block_takes_variables_too() -> None:
    main = """\
{{ pillar.scratch }}/f:
  file.blockreplace: [{source: salt://t}, {port: 1}, {append_if_not_found: true}, {backup: false}]
"""
    with kit.tree({"t": TEMPLATE, "main.sls": main, "scratch/f": ""}) as made:
        assert kit.attempt(made, kit.request_for({"main.sls": ""})).code == 0
        assert "1 no other no users\n" in written(made.scratch)["f"]


@pytest.mark.parametrize(
    "args",
    [
        "file.append: [{text: x}, {makedir: true}]",
        "file.prepend: [{text: x}, {makedir: true}]",
        "file.blockreplace: [{content: x}, {apend_if_not_found: true}]",
        "file.managed: [{content: x}]",
        "file.managed: [{sorce: 'salt://t'}, {template: jinja}]",
        "file.managed: [{source: 'salt://t'}, {template: jinja}, {pillar: {}}]",
    ],
)
def test_what_no_template_can_use_fails_where_it_decides_what_is_done(args: str) -> None:
    main = f"{{{{ pillar.scratch }}}}/f:\n  {args}\n"
    with kit.tree({"t": TEMPLATE, "main.sls": main}) as made:
        assert kit.attempt(made, kit.request_for({"main.sls": ""})).code == 2
        assert written(made.scratch) == {}


@pytest.mark.parametrize(
    "args", ["file.managed: [{content: x}]", "file.managed: [{contents: x}, {mod: 644}]"]
)
def test_strict_refuses_before_anything_runs(args: str) -> None:
    main = f"{{{{ pillar.scratch }}}}/f:\n  {args}\n"
    with kit.tree({"main.sls": main}, config={"strict": True}) as made:
        outcome = kit.attempt(made, kit.request_for({"main.sls": ""}))
        assert outcome.code == 3 and "did you mean" in outcome.texts[0]
        assert written(made.scratch) == {}


def test_owner_is_another_word_for_user() -> None:
    main = """\
{{ pillar.scratch }}/f: {file.managed: [{contents: x}, {owner: nobody}]}
{{ pillar.scratch }}/d: {file.directory: [{owner: nobody}]}
{{ pillar.scratch }}/l: {file.symlink: [{target: /x}, {owner: nobody}]}
{{ pillar.scratch }}/deep/h:
  file.hardlink: [{target: {{ pillar.scratch }}/f}, {makedirs: true}, {owner: nobody}]
"""
    if os.geteuid():
        pytest.skip("only root may give files away")
    with kit.tree({"main.sls": main}) as made:
        outcome = kit.attempt(made, kit.request_for({"main.sls": ""}))
        assert outcome.code == 0 and not outcome.warnings
        import pwd

        nobody = pwd.getpwnam("nobody").pw_uid
        owners = {name: os.lstat(f"{made.scratch}/{name}").st_uid for name in ("f", "d", "l", "deep")}
        assert owners == dict.fromkeys(owners, nobody)


def test_mappings_are_collected_for_templates() -> None:
    main = """\
first:
  file.accumulated:
    - filename: {{ pillar.scratch }}/f
    - text: {host: a, port: 1}
    - require_in: [{file: '{{ pillar.scratch }}/f'}]
second:
  file.accumulated:
    - name: first
    - filename: {{ pillar.scratch }}/f
    - text: [{host: b}, plain, {host: a, port: 1}]
    - require_in: [{file: '{{ pillar.scratch }}/f'}]
{{ pillar.scratch }}/f:
  file.managed: [{source: salt://t}, {template: jinja}]
"""
    template = "{% for one in accumulator['first'] %}{{ one.host|default(one) }};{% endfor %}"
    with kit.tree({"t": template, "main.sls": main}) as made:
        outcome = kit.attempt(made, kit.request_for({"main.sls": ""}))
        assert (outcome.code, outcome.warnings) == (0, [])
        assert written(made.scratch)["f"].strip() == "a;b;plain;"
