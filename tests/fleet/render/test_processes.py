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
    here = Place(directory)
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
