"""Where a failed state stands: ``show run`` says of a run what ``apply`` has said."""

from __future__ import annotations

import json

from tests.e2e.command import Place

STATES = {
    "web.sls": """\
# every way to write a state that fails

one:
  test.fail_without_changes: []

two:
  # why it is here
  test:
    - fail_without_changes

three: {test.fail_without_changes: []}

four: test.fail_without_changes

five:
  test.nop: []
  cmd.run:
    - name: 'false'

{% for word in ('six', 'seven') %}
{{ word }}:

{% if word %}
  cmd.run:
    - name: 'exit 3 # {{ word }}'
{% endif %}
{% endfor %}

'eight: quoted':
    "test.fail_without_changes": []

nine:
  cmd.run:
    - name: 'exit 4'
    - onlyif: 'true'

ten:
  boom.go:
    - name: it raises
""",
    "_states/boom.py": "def go(name):\n    raise ValueError('no')\n",
}


def _places(place: Place, *words: str) -> dict[str, str]:
    found = json.loads(place.run(*words, "--out", "json").out)["local"]
    return {one["__id__"]: one.get("__where__", "") for one in found.values() if one["result"] is False}


def test_show_run_names_the_line_that_apply_has_named(place: Place) -> None:
    place.write(STATES)
    applied = _places(place, "apply", "web")
    assert len(applied) == 10
    assert all(where.split(":")[1].isdigit() for where in applied.values())
    assert _places(place, "show", "run", "last") == applied
