"""``renderer_blacklist`` and ``renderer_whitelist``, for every way to render."""

from __future__ import annotations

import pytest
from tests.e2e.command import Place

PY = "open({mark!r}, 'w')\ndef run():\n    return {{}}\n"
WAYS: dict[str, dict[str, str]] = {
    "a state file": {"a.sls": "#!py\n{py}"},
    "behind jinja": {"a.sls": "#!jinja|py\n{py}"},
    "slsutil.renderer of a text": {
        "a.sls": "{{{{ salt['slsutil.renderer'](string='{one}', default_renderer='py') }}}}\n"
    },
    "slsutil.renderer of a file": {
        "a.sls": "{{{{ salt['slsutil.renderer']('salt://t.py') }}}}\n",
        "t.py": "#!py\n{py}",
    },
    "a file state": {
        "a.sls": "{out}:\n  file.managed:\n    - source: salt://t\n    - template: py\n",
        "t": "{py}",
    },
    "cmd.run": {
        "a.sls": "x:\n  cmd.script:\n    - source: salt://t\n    - template: mako\n",
        "t": "<% open('{mark}', 'w') %>",
    },
    "cp.get_template": {
        "a.sls": "{{{{ salt['cp.get_template']('salt://t', '{out}', template='mako') }}}}",
        "t": "<% open('{mark}', 'w') %>",
    },
    "the pillar": {"a.sls": "x:\n  test.nop: []\n", "pillar/top.sls": "#!py\n{py}"},
    "a file that is rendered late": {
        "a.sls": "x:\n  test.nop:\n    - delayed_render: [{{sls: t}}]\n",
        "t.sls": "#!py\n{py}",
    },
}


@pytest.mark.parametrize("option", ["renderer_blacklist: [py, mako]", "renderer_whitelist: [jinja, yaml]"])
@pytest.mark.parametrize("way", WAYS)
def test_a_forbidden_renderer_runs_nothing(place: Place, way: str, option: str) -> None:
    mark, out = str(place.base / "mark"), str(place.base / "out")
    words = {"py": PY.format(mark=mark), "mark": mark, "out": out, "one": f"open(\\'{mark}\\', \\'w\\')"}
    place.write({name: text.format(**words) for name, text in WAYS[way].items()})
    place.write({"etc/saltern.yaml": f"{option}\n"})
    done = place.run("apply", "a")
    assert done.code in (2, 3, 5), done.err
    assert "is not allowed here" in done.out + done.err
    assert not (place.base / "mark").exists()


@pytest.mark.parametrize("option", ["renderer_blacklist: [jinja]", "renderer_whitelist: [json]"])
def test_the_usual_renderers_can_be_forbidden(place: Place, option: str) -> None:
    place.write({"a.sls": "x:\n  test.nop: []\n", "etc/saltern.yaml": f"{option}\n"})
    assert "[renderer-refused]" in place.run("apply", "a").err
