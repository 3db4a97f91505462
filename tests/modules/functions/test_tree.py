"""``cp``, ``slsutil`` and ``defaults``: the tree, and data from it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument

Call = Callable[..., object]
Put = Callable[[str, str], str]
TEXT = "hello {{ who }}\n"


@pytest.fixture
def full(tree: Put, tmp_path: Path) -> Path:
    tree("t.j2", TEXT)
    tree("sub/deep/f.txt", "f")
    tree("sub/init.sls", "")
    tree("top.sls", "")
    tree("sub/defaults.yaml", "port: 80\nnested: {a: 1, b: 2}\n")
    tree("other/defaults.json", '{"port": 81}')
    return tmp_path / "tree"


@pytest.mark.parametrize(
    ("call", "args", "expected"),
    [
        ("cp.get_file_str", ("salt://t.j2",), TEXT),
        ("cp.get_file_str", ("salt://none",), False),
        ("cp.cache_file", ("salt://none",), False),
        ("cp.is_cached", ("salt://none",), ""),
        ("cp.is_cached", ("https://example.org/x",), ""),
        ("cp.hash_file", ("salt://none",), ""),
        (
            "cp.hash_file",
            ("salt://t.j2",),
            {"hash_type": "sha256", "hsum": hashlib.sha256(TEXT.encode()).hexdigest()},
        ),
        ("cp.list_master", ("base", "sub"), ["sub/deep/f.txt", "sub/defaults.yaml", "sub/init.sls"]),
        ("cp.list_master_dirs", (), ["other", "sub", "sub/deep"]),
        ("cp.list_states", (), ["sub", "top"]),
        ("cp.list_master", ("other",), []),
        ("cp.envs", (), ["base"]),
        ("cp.get_url", ("salt://t.j2", None), TEXT),
        ("cp.list_master_symlinks", (), {}),
        ("slsutil.file_exists", ("t.j2",), True),
        ("slsutil.file_exists", ("sub",), False),
        ("slsutil.dir_exists", ("sub/deep",), True),
        ("slsutil.dir_exists", ("t.j2",), False),
        ("slsutil.path_exists", ("sub",), True),
        ("slsutil.path_exists", ("none",), False),
        ("slsutil.findup", ("sub/deep", "t.j2"), "t.j2"),
        ("slsutil.findup", ("sub/deep", ["none", "init.sls"]), "sub/init.sls"),
        ("slsutil.find_up", ("sub/deep", "f.txt"), "sub/deep/f.txt"),
        ("defaults.get", ("sub:port",), 80),
        ("defaults.get", ("sub:none", "d"), "d"),
        ("defaults.get", ("other:port",), 81),
        ("defaults.get", ("none:x",), ""),
    ],
)
def test_the_tree_is_read_as_salt_reads_it(
    salt: Call, full: Path, call: str, args: tuple[object, ...], expected: object
) -> None:
    assert salt(call, *args) == expected


def test_a_file_of_the_tree_is_its_own_copy(salt: Call, full: Path) -> None:
    assert salt("cp.cache_file", "salt://t.j2") == str(full / "t.j2")
    assert salt("cp.cache_files", ["salt://t.j2", "salt://no"]) == [str(full / "t.j2"), False]
    assert salt("cp.cache_files", "salt://t.j2,salt://no") == [str(full / "t.j2"), False]
    assert salt("cp.cache_dir", "salt://sub/deep") == [str(full / "sub/deep/f.txt")]
    assert salt("cp.cache_file", str(full / "t.j2")) == str(full / "t.j2")


def test_files_are_copied_and_rendered(salt: Call, full: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert salt("cp.get_file", "salt://t.j2", str(out)) == str(out)
    assert out.read_text() == TEXT
    assert salt("cp.get_file", "salt://none", str(out)) == ""
    assert salt("cp.get_file", "salt://t.j2", str(tmp_path / "a/b")) is False
    assert salt("cp.get_file", "salt://t.j2", f"{tmp_path}/a/", makedirs=True) == f"{tmp_path}/a/t.j2"
    assert salt("cp.get_template", "salt://t.j2", str(out), who="me") == str(out)
    assert out.read_text() == "hello me\n"
    assert salt("cp.get_dir", "salt://sub/deep", str(tmp_path / "d")) == [f"{tmp_path}/d/deep/f.txt"]


def test_pillar_lies_over_a_formulas_defaults(ctx: Context, salt: Call, full: Path) -> None:
    ctx.pillar["sub"] = {"nested": {"b": 3}}
    assert salt("defaults.get", "sub:nested") == {"a": 1, "b": 3}


def test_rendering_takes_a_text_or_a_file(salt: Call, full: Path) -> None:
    assert salt("slsutil.renderer", string="a: {{ foo }}", foo=5) == {"a": "5"}
    assert salt("slsutil.renderer", path="salt://sub/deep/f.txt") == {}


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({}, "either a path or a string"),
        ({"path": "salt://x", "string": "y"}, "either a path or a string"),
        ({"path": "salt://none"}, "cannot find salt://none"),
    ],
)
def test_rendering_refuses_what_it_cannot_read(salt: Call, kwargs: dict[str, object], said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        salt("slsutil.renderer", **kwargs)


def test_nothing_above_is_reported(salt: Call, full: Path) -> None:
    with pytest.raises(BadArgument, match="or above it"):
        salt("slsutil.findup", "sub/deep", "none")


DATA = {"b": [1, {"c": 2}], "a": "ü"}


@pytest.mark.parametrize(
    ("kind", "kwargs", "text"),
    [
        ("json", {}, '{"b": [1, {"c": 2}], "a": "ü"}'),
        ("json", {"sort_keys": True, "ensure_ascii": True}, '{"a": "\\u00fc", "b": [1, {"c": 2}]}'),
        ("yaml", {}, "a: ü\nb:\n- 1\n- {c: 2}"),
        ("yaml", {"default_flow_style": False}, "a: ü\nb:\n- 1\n- c: 2"),
        ("python", {}, "{'a': 'ü', 'b': [1, {'c': 2}]}"),
    ],
)
def test_data_is_written(salt: Call, kind: str, kwargs: dict[str, object], text: str) -> None:
    assert salt("slsutil.serialize", kind, DATA, **kwargs) == text


@pytest.mark.parametrize(
    ("kind", "text", "data"),
    [
        ("json", '{"a": 1}', {"a": 1}),
        ("yaml", "a: [1, {b: 2}]", {"a": [1, {"b": 2}]}),
        ("toml", "[a]\nb = 1", {"a": {"b": 1}}),
        ("configparser", "[a]\nB=1\n", {"a": {"B": "1"}}),
    ],
)
def test_data_is_read(salt: Call, kind: str, text: str, data: object) -> None:
    assert salt("slsutil.deserialize", kind, text) == data


def test_sections_are_written(salt: Call) -> None:
    assert salt("slsutil.serialize", "configparser", {"a": {"b": 1}}) == "[a]\nb = 1\n\n"


@pytest.mark.parametrize(
    ("call", "args", "said"),
    [
        ("slsutil.serialize", ("jsn", {}), "did you mean 'json'"),
        ("slsutil.serialize", ("configparser", {"a": 1}), "mapping of sections"),
        ("slsutil.deserialize", ("json", "{"), "JSON.*line 1"),
        ("slsutil.deserialize", ("configparser", "a"), "wrong INI"),
        ("slsutil.merge", ({}, [1]), "only mappings can be merged"),
        ("slsutil.merge", ({}, {}, "smrt"), "no merge strategy is called 'smrt'"),
        ("defaults.update", ([], {}), "mapping of mappings"),
    ],
)
def test_mistakes_are_reported_in_words(salt: Call, call: str, args: tuple[object, ...], said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        salt(call, *args)


BASE = {"a": 1, "d": {"x": 1, "y": [1, 2]}}
OVER = {"b": 2, "d": {"x": 2, "y": [2, 3]}}
MERGED = {"a": 1, "b": 2, "d": {"x": 2, "y": [2, 3]}}
JOINED = {"a": 1, "b": 2, "d": {"x": 2, "y": [1, 2, 3]}}


def _copy() -> tuple[dict[str, object], dict[str, object]]:
    return {"a": 1, "d": {"x": 1, "y": [1, 2]}}, {"b": 2, "d": {"x": 2, "y": [2, 3]}}


@pytest.mark.parametrize(
    ("call", "kwargs", "expected", "in_place"),
    [
        ("slsutil.merge", {}, MERGED, False),
        ("slsutil.merge", {"merge_lists": True}, JOINED, False),
        ("slsutil.update", {}, MERGED, True),
        ("slsutil.update", {"merge_lists": True}, JOINED, True),
        ("slsutil.update", {"recursive_update": False}, MERGED, True),
        ("defaults.merge", {}, MERGED, True),
        ("defaults.merge", {"in_place": False}, MERGED, False),
        ("defaults.merge", {"merge_lists": True}, JOINED, True),
    ],
)
def test_merging_changes_only_what_it_says(
    salt: Call, call: str, kwargs: dict[str, object], expected: object, in_place: bool
) -> None:
    base, over = _copy()
    assert salt(call, base, over, **kwargs) == expected
    assert base == (expected if in_place else BASE)
    assert over == OVER


@pytest.mark.parametrize(
    ("call", "args", "expected"),
    [
        (
            "slsutil.merge_all",
            ([{"a": 1, "d": {"x": 1}}, {"a": 3, "d": {"y": 1}}],),
            {"a": 3, "d": {"x": 1, "y": 1}},
        ),
        ("slsutil.merge_all", ([],), {}),
        ("defaults.merge", ({"a": 1}, None), {"a": 1}),
        ("defaults.merge", ({"a": 1}, {"a": None}), {"a": None}),
        (
            "defaults.update",
            ({"a": {"x": 1}, "b": {}}, {"x": 0, "z": 9}),
            {"a": {"x": 1, "z": 9}, "b": {"x": 0, "z": 9}},
        ),
        ("defaults.deepcopy", ({"a": [1]},), {"a": [1]}),
        ("slsutil.boolstr", (True,), "true"),
        ("slsutil.boolstr", (False, "on", "off"), "off"),
        ("slsutil.boolstr", ("yes", "on", "off"), "on"),
    ],
)
def test_further_answers_are_salts(salt: Call, call: str, args: tuple[object, ...], expected: object) -> None:
    assert salt(call, *args) == expected


def test_a_banner_is_a_box(salt: Call) -> None:
    box = salt("slsutil.banner", width=40, commentchar=";", title="T", text="some text", newline=True)
    assert str(box).splitlines() == [
        ";" + "#" * 38 + ";",
        ";" + " " * 38 + ";",
        ";" + "T".center(38) + ";",
        ";" + " " * 38 + ";",
        "; some text" + " " * 28 + ";",
        ";" + "#" * 38 + ";",
    ]
    assert all(len(line) == 72 for line in str(salt("slsutil.banner")).splitlines())
