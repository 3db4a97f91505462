"""The environment as a mapping."""

from __future__ import annotations

import os

import pytest

from saltern.system.environ import environment


def test_it_is_the_environment_as_it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment() == dict(os.environ)
    monkeypatch.setenv("SALTERN_A", "1")
    assert environment()["SALTERN_A"] == "1"
    monkeypatch.setenv("SALTERN_A", "2")
    assert environment()["SALTERN_A"] == "2"
    monkeypatch.delenv("SALTERN_A")
    assert environment() == dict(os.environ)


def test_what_a_caller_does_with_it_changes_nothing() -> None:
    environment()["SALTERN_B"] = "x"
    assert "SALTERN_B" not in environment()
    assert "SALTERN_B" not in os.environ


def test_an_environment_of_another_kind_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"A": "b"})
    assert environment() == {"A": "b"}


def test_bytes_that_are_no_text_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environb, b"SALTERN_C", b"\xff")
    assert os.fsencode(environment()["SALTERN_C"]) == b"\xff"
