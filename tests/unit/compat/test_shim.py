"""What stands in for ``salt.…`` where Salt is not installed."""

from __future__ import annotations

import importlib
import os
import pkgutil
from pathlib import Path

import pytest

from saltern.compat import shim
from saltern.compat.imports import import_shim
from saltern.compat.shim import exceptions
from saltern.compat.shim.utils import (
    args,
    data,
    dictdiffer,
    dictupdate,
    files,
    stringutils,
    url,
    versions,
    yaml,
)
from saltern.compat.shim.utils import json as salt_json
from saltern.compat.shim.utils import path as salt_path
from saltern.compat.shim.utils import state as salt_state


def test_every_module_of_it_can_be_imported() -> None:
    names = [found.name for found in pkgutil.walk_packages(shim.__path__, f"{shim.__name__}.")]
    assert len(names) > 25
    for name in names:
        importlib.import_module(name)


def test_import_gives_the_package_and_from_gives_the_module() -> None:
    assert import_shim("salt.utils.files", ()) is shim
    assert import_shim("salt.utils.files", ("fopen",)) is files
    assert import_shim("salt.utils", ("files",)).files is files
    with pytest.raises(ModuleNotFoundError, match="saltern does not include"):
        import_shim("salt.master", ())


def test_old_names_lead_to_where_they_are_now() -> None:
    utils = importlib.import_module("saltern.compat.shim.utils")
    assert utils.fopen is files.fopen
    assert utils.which is salt_path.which
    with pytest.raises(AttributeError):
        utils.nothing  # noqa: B018


def test_exceptions_are_the_family_that_modules_catch() -> None:
    assert issubclass(exceptions.SaltInvocationError, TypeError)
    told = exceptions.CommandExecutionError("no", info={"a": 1})
    assert isinstance(told, exceptions.SaltException)
    assert "no" in str(told) and told.info == {"a": 1}
    assert issubclass(vars(exceptions)["ArgumentValueError"], exceptions.CommandExecutionError)


def test_data_is_reached_repacked_and_compared() -> None:
    assert data.traverse_dict_and_list({"a": [{"b": 1}]}, "a:0:b") == 1
    assert all(map(data.is_true, ("yes", 1, "true", "2")))
    assert not any(map(data.is_true, ("0", None, [], "maybe")))
    assert data.repack_dictlist([{"a": 1}, "b"]) == {"a": 1, "b": None}
    assert data.repack_dictlist([{"a": 1, "b": 2}]) == {}
    assert data.repack_dictlist([{"a": [{"b": 1}]}], recurse=True) == {"a": {"b": 1}}
    assert data.decode({b"a": [b"b", (b"c",)]}, preserve_tuples=True) == {"a": ["b", ("c",)]}
    assert data.recursive_diff({"a": 1, "b": {"c": 1, "d": 2}}, {"a": 1, "b": {"c": 2, "d": 2}, "e": 3}) == {
        "old": {"b": {"c": 1}},
        "new": {"b": {"c": 2}, "e": 3},
    }
    assert data.filter_falsey({"a": 0, "b": 1, "c": {"d": ""}}, recurse_depth=1) == {"b": 1}
    assert data.CaseInsensitiveDict({"A": 1})["a"] == 1
    assert data.subdict_match({"a": {"b": ["x", "y"]}}, "a:b:y")
    assert data.filter_by({"Debian": {"x": 1}, "default": {"x": 0}}, "os", {"os": "Debian"}) == {"x": 1}


def test_mappings_are_updated_in_place_and_diffed() -> None:
    given = {"a": {"b": [1]}}
    assert dictupdate.update(given, {"a": {"b": [2], "c": 3}}, merge_lists=True) is given
    assert given == {"a": {"b": [1, 2], "c": 3}}
    with pytest.raises(TypeError):
        dictupdate.update([], {})
    found = dictdiffer.diff({"a": 1, "b": 2}, {"a": 2, "c": 1})
    assert (found.added(), found.removed(), found.changed(), found.unchanged()) == (
        {"b"},
        {"c"},
        {"a"},
        set(),
    )


def test_texts_arguments_and_addresses() -> None:
    assert stringutils.to_str(b"caf\xc3\xa9") == "café"
    assert stringutils.to_bytes("é") == b"\xc3\xa9"
    assert stringutils.dequote("'a'") == "a"
    assert stringutils.check_include_exclude("a/b.py", "*.py", "E@^c")
    assert "+b\n" in stringutils.get_diff("a\n", "b\n")
    assert args.clean_kwargs(a=1, __pub_user="x") == {"a": 1}
    assert args.parse_function("f(1, a='b')") == ("f", [1], {"a": "b"})
    assert args.arg_lookup(lambda a, b=1: None) == {"args": ["a"], "kwargs": {"b": 1}}
    assert args.yamlify_arg("yes") is True
    assert url.split_env("salt://a/b?saltenv=dev") == ("salt://a/b", "dev")
    assert url.redact_http_basic_auth("https://u:p@h/x") == "https://<redacted>@h/x"


def test_versions_are_compared_as_numbers() -> None:
    assert versions.version_cmp("1.10", "1.9") == 1
    assert versions.compare("1:1.0", "==", "1.0", ignore_epoch=True)
    assert versions.LooseVersion("3006.1") < versions.LooseVersion("3006.10")
    assert versions.Version("1.2") == "1.2"


def test_files_json_and_yaml(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    with files.fopen(path, "w") as handle:
        handle.write("é")
    os.chmod(path, 0o640)
    files.copyfile(path, str(tmp_path / "copy"))
    assert files.normalize_mode(0o644) == "0420"
    assert files.normalize_mode("644") == "0644"
    assert files.guess_archive_type("x.tar.gz") == "tar"
    assert salt_path.join("/a", "/b", "c") == "/a/b/c"
    assert salt_path.which_bin(["saltern-t-none", "sh"])
    assert salt_json.find_json('noise\n{"a": 1}\nmore') == {"a": 1}
    assert yaml.safe_load("a: [1, yes]") == {"a": [1, True]}
    assert yaml.safe_dump({"a": [1]}, default_flow_style=False) == "a:\n- 1\n"
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load("a: [")


def test_the_return_of_another_state_goes_into_ones_own() -> None:
    ret = {"name": "a", "result": True, "changes": {}, "comment": "one"}
    other = {"name": "b", "result": False, "changes": {"x": 1}, "comment": "two"}
    salt_state.merge_subreturn(ret, other)
    assert ret == {"name": "a", "result": False, "changes": {"b": {"x": 1}}, "comment": "one\ntwo"}
    assert not salt_state.check_result({"a": ret})
