"""Files that a real controller renders for a real agent."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.render.fleet_kit import SECRET, Place

pytestmark = [pytest.mark.slow]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    directory = Path(tempfile.mkdtemp(prefix="sr-")).resolve()  # short: it holds sockets
    roots = f"{directory}/controller"
    here = Place(
        directory,
        f"file_roots: {{base: [{roots}/salt], vault: [{roots}/vault]}}\n"
        "render: {vault: controller}\n"
        "delayed_repeat_limit: 2\n",
    )
    here.fleet.write("controller/pillar/top.sls", "base:\n  '*':\n    - word\n")
    here.fleet.write("controller/pillar/word.sls", "word: pear\n")
    try:
        here.fleet.start(("web1",))
        yield here
    finally:
        here.fleet.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_a_file_and_its_blocks_are_rendered_on_the_controller(place: Place) -> None:
    place.write(
        "hidden.sls",
        f"""#!controller|jinja|yaml
{{# {SECRET}comment #}}
{{% set colour = 'red' %}}
first:
  test.configurable_test_state:
    - name: {{{{ grains.id }}}}-{{{{ pillar.word }}}}
    - changes: false
    - result: true
    - comment: hello
    - delayed_render:
      - block: later
        context: {{zone: north}}

#!delayed_block later scoped
# {SECRET}block
second:
  test.show_notification:
    - text: {{{{ [prev_ret.comment, colour, zone, grains.id, pillar.word] | join(' ') }}}}
    - delayed_render:
      - block: last
#!delayed_block last
# {SECRET}inner
third:
  test.show_notification:
    - text: {{{{ prev_ret.name }}}}
#!end_delayed_block last
#!end_delayed_block later
""",
    )
    found = place.apply("hidden")
    assert found["first"]["name"] == "web1-pear"
    assert found["second"]["comment"] == "hello red north web1 pear"
    assert found["third"]["comment"] == "second"
    assert [found[name]["__run_num__"] for name in ("first", "second", "third")] == [0, 1, 2]
    assert place.holders(SECRET, "web1") == []
    assert place.holders("stub", "web1") != []


VAULT = {
    "top.sls": f"# {SECRET}top\nvault:\n  'web*':\n    - app\n",
    "app/init.sls": f"""# {SECRET}app
{{% from 'app/map.jinja' import place with context %}}
include:
  - .part
{{{{ place }}}}:
  file.managed:
    - source: salt://app/files/motd.jinja
    - template: jinja
    - makedirs: true
    - require:
      - test: part
    - delayed_render:
      - sls: app.after
""",
    "app/part.sls": f"# {SECRET}part\npart:\n  test.nop\n",
    "app/after.sls": f"#!delayed_sls\n# {SECRET}after\nafter {{{{ prev_ret.data.path }}}}:\n  test.nop\n",
    "app/map.jinja": f"{{# {SECRET}map #}}{{% set place = pillar['place'] ~ '/motd-' ~ grains.id %}}\n",
    "app/files/motd.jinja": "this is {{ grains.id }}\n",
}


def test_an_environment_is_rendered_on_the_controller_as_a_whole(place: Place) -> None:
    for name, text in VAULT.items():
        place.fleet.write(f"controller/vault/{name}", text)
    words = ("--saltenv", "vault", "--pillar", f"{{place: {place.base}/out}}")
    tried = place.apply("app", *words, "--test")
    path = f"{place.base}/out/motd-web1"
    assert tried[path]["result"] is None
    assert tried["sls:app.after"]["comment"] == f"not rendered: known after {path} is applied"
    found = place.apply(*words)
    assert Path(path).read_text() == "this is web1\n"
    assert list(found) == ["part", path, f"after {path}"]
    again = place.apply("app", *words)
    assert [one["result"] for one in again.values()] == [True, True, True]
    assert place.holders(SECRET, "web1") == []


def test_files_rendered_here_and_there_include_each_other(place: Place) -> None:
    place.write("here.sls", "include:\n  - there\nhere:\n  test.nop:\n    - require:\n      - test: there\n")
    place.write(
        "there.sls",
        f"#!controller|jinja|yaml\n# {SECRET}\ninclude:\n  - leaf\nthere:\n  test.nop:\n"
        "    - delayed_render:\n      - sls: late\n",
    )
    place.write("leaf.sls", "leaf:\n  test.nop\n")
    place.write("late.sls", "#!delayed_sls scoped\nlate {{ prev_ret.__id__ }}:\n  test.nop\n")
    assert list(place.apply("here")) == ["leaf", "there", "late there", "here"]
    assert place.holders(SECRET, "web1") == []


def test_what_cannot_be_rendered_is_reported_without_the_text(place: Place) -> None:
    place.write(
        "wrong.sls",
        "#!controller|jinja|yaml\na:\n  test.nop:\n    - delayed_render: [{block: B}]\n"
        f"#!delayed_block B\nb:\n  test.nop:\n    - name: {{{{ {SECRET.strip('-')}missing }}}}\n"
        "#!end_delayed_block\n",
    )
    found = place.apply("wrong")["B"]
    assert found["result"] is False
    assert "salt://wrong.sls:8" in found["comment"]
    assert "[template-undefined]" in found["comment"]
    assert SECRET.strip("-") not in found["comment"]
    assert place.holders(SECRET.strip("-"), "web1") == []
    with place.fleet.client() as client:
        told = [*client.events(tag="saltern/render/*")]
    assert f"{SECRET.strip('-')}missing" in told[-1]["data"]["problem"]


def test_functions_that_would_look_at_the_controller_are_refused(place: Place) -> None:
    place.write(
        "looks.sls", "#!controller|jinja|yaml\na:\n  test.nop:\n    - name: {{ salt['cmd.run']('id') }}\n"
    )
    done = place.run("apply", "looks", "--on", "web1")
    assert done.returncode != 0
    assert "salt://looks.sls:4" in done.stdout + done.stderr


def test_a_hidden_file_is_no_source_and_no_template_for_agents(place: Place) -> None:
    place.write("hidden_part.jinja", f"{{#!controller#}}{{% set x = '{SECRET}' %}}\n")
    place.write("uses.sls", f"{place.base}/x:\n  file.managed:\n    - source: salt://hidden_part.jinja\n")
    place.write("imports.sls", "{% from 'hidden_part.jinja' import x %}\na:\n  test.nop: [{name: {{ x }}}]\n")
    done = place.run("apply", "uses", "--on", "web1")
    assert "is rendered on the controller, and its text stays there" in done.stdout + done.stderr
    done = place.run("apply", "imports", "--on", "web1")
    assert "only files that it renders can import it" in done.stdout + done.stderr
    place.write("there.sls", "#!controller|jinja|yaml\nthere:\n  test.nop\n")
    shown = place.run("show", "rendered", "there", "--on", "web1")
    assert "its text stays there" in shown.stdout + shown.stderr


def test_the_limit_of_the_controller_counts(place: Place) -> None:
    place.write(
        "many.sls",
        "#!controller|jinja|yaml\na:\n  test.nop:\n    - names: [one, two, three]\n"
        "    - delayed_render: [{block: B}]\n#!delayed_block B\n{{ prev_ret.name }} b:\n  test.nop\n"
        "#!end_delayed_block\n",
    )
    found = place.run("apply", "many", "--on", "web1", "--out", "json").stdout
    assert "may be rendered 2 times" in found
    assert "one b" in found and "two b" in found and "three b" not in found
