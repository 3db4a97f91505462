"""The renderer ``nacl``, and the same pillar through Salt."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from nacl.public import PrivateKey, SealedBox
from nacl.secret import SecretBox
from tests.e2e.command import Place
from tests.secrets.salt_pillar import salt_pillar


def written(place: Place, box_type: str) -> Path:
    """A pillar with boxes, and a configuration that Salt reads as well."""
    key = PrivateKey.generate()
    box = SealedBox(key.public_key) if box_type == "sealedbox" else SecretBox(key.encode())
    (place.base / "key").write_bytes(base64.b64encode(key.encode()) + b"\n")

    def sealed(text: str) -> str:
        return f"NACL[{base64.b64encode(box.encrypt(text.encode())).decode()}]"

    data = {
        "a": sealed("hunter2222"),
        "b": [sealed("in a list"), {"c": "NACL"}],
        "d": f"x {sealed('inside')}",
        "n": 1,
    }
    place.write(
        {"pillar/top.sls": "base: {'*': [data]}\n", "pillar/data.sls": f"#!yaml|nacl\n{json.dumps(data)}\n"}
    )
    minion = {
        "file_client": "local",
        "id": "here",
        "root_dir": str(place.base / "salt-root"),
        "file_roots": {"base": [str(place.states)]},
        "pillar_roots": {"base": [str(place.base / "pillar")]},
        "nacl.config": {"sk_file": str(place.base / "key"), "box_type": box_type},
    }
    place.write({"etc/saltern.yaml": json.dumps(minion), "etc/minion": json.dumps(minion)})
    return place.base / "etc"


@pytest.mark.parametrize("box_type", ["sealedbox", "secretbox"])
def test_boxes_are_opened_as_salt_opens_them_and_masked(place: Place, box_type: str) -> None:
    config = written(place, box_type)
    done = place.run("show", "pillar", "--out", "json", "--show-secrets")
    assert done.code == 0, done.err
    ours = json.loads(done.out)["local"]
    assert ours["a"] == "hunter2222"
    assert ours["b"] == ["in a list", {"c": "NACL"}]
    theirs = salt_pillar(config)  # bytes, as Python shows them; ours are text
    assert json.loads(json.dumps(theirs).replace("b'", "").replace("'\"", '"')) == ours
    assert "hunter2222" not in place.run("show", "pillar", "--out", "json").out


@pytest.mark.parametrize("case", ["another key", "no key", "damaged"])
def test_a_box_that_cannot_be_opened_is_reported_with_its_line(place: Place, case: str) -> None:
    written(place, "sealedbox")
    if case == "another key":
        (place.base / "key").write_bytes(base64.b64encode(PrivateKey.generate().encode()))
    elif case == "no key":
        (place.base / "key").unlink()
    else:
        place.write({"pillar/data.sls": "#!yaml|nacl\n\na: NACL[abc]\n"})
    done = place.run("show", "pillar")
    assert done.code != 0
    assert "[nacl-decrypt]" in done.err
    assert f"data.sls:{3 if case == 'damaged' else 2}" in done.err
