"""``saltern explain`` answers why, for states and for codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.views.trees import saltern

from saltern.views import codes

Capture = pytest.CaptureFixture[str]


def explained(site: Path, capsys: Capture, *words: str) -> str:
    assert saltern("explain", *words, "--file-root", str(site)) == 0
    return capsys.readouterr().out


def test_a_state_that_was_pulled_forward_tells_by_whom_and_where_it_would_have_been(
    site: Path, capsys: Capture
) -> None:
    told = explained(site, capsys, "package", "web")
    assert "runs as number 4 of 6" in told
    assert "pulled forward by require of test.nop 'service'" in told
    assert "without that it would be number 5 of 6" in told
    assert "require: test.nop 'service' (number 5, " in told
    assert f"written at {site}/web.sls:17" in told


def test_a_state_of_an_included_file_tells_the_way_to_it_and_who_waits_for_the_whole_file(
    site: Path, capsys: Capture
) -> None:
    told = explained(site, capsys, "users", "web")
    assert "included by web → base" in told
    assert "require (all of base): test.succeed_with_changes 'config'" in told
    assert "require: test.nop 'groups' (number 1" in told


def test_a_state_that_waits_for_a_file_says_how_much_that_is(site: Path, capsys: Capture) -> None:
    assert "require: all of sls 'base' (2 states)" in explained(site, capsys, "config", "web")


def test_what_is_rendered_after_a_state_is_part_of_its_explanation(site: Path, capsys: Capture) -> None:
    told = explained(site, capsys, "/tmp/x-<b>&\"'", "late")
    assert "rendered right after it:" in told
    assert f"block accounts ({site}/late.sls:" in told


def test_an_explanation_can_be_read_by_programs(site: Path, capsys: Capture) -> None:
    [one] = json.loads(explained(site, capsys, "service", "web", "--out", "json"))["local"]
    assert (one["position"], one["total"]) == (5, 6)
    assert one["source"].splitlines()[0] == "service:"
    assert one["source"].endswith("- test: package")
    assert [row["kind"] for row in one["waits_for"]] == ["require", "watch"]


def test_an_unknown_state_is_reported_with_the_nearest_name(site: Path, capsys: Capture) -> None:
    assert saltern("explain", "servce", "web", "--file-root", str(site)) == 1
    said = capsys.readouterr().err
    assert "[explain-unknown]" in said
    assert "service" in said


def test_a_code_has_its_page_with_or_without_brackets(capsys: Capture) -> None:
    assert saltern("explain", "[requisite-unknown]") == 0
    told = capsys.readouterr().out
    assert told.startswith("requisite-unknown\n")
    assert "is misspelt" in told


def test_all_codes_are_listed(capsys: Capture) -> None:
    assert saltern("explain") == 0
    told = capsys.readouterr().out.split()
    assert set(codes.known_codes()) <= set(told)


def test_a_misspelled_code_is_not_answered_with_a_missing_tree(capsys: Capture) -> None:
    assert saltern("explain", "requisite-unkown", "--file-root", "/nowhere/at/all") == 1
    assert "did you mean 'requisite-unknown'?" in capsys.readouterr().err


def test_colours_set_apart_what_is_looked_for(site: Path, capsys: Capture) -> None:
    told = explained(site, capsys, "package", "web", "--color")
    assert "\x1b[1mtest.succeed_without_changes 'package'\x1b[0m" in told
    assert "\x1b[0;33mrequire\x1b[0m: test.nop 'service'" in told
