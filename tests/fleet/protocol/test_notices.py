"""Notices travel as JSON, each with its kind."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from saltern.fleet.protocol.notices import (
    AnyNotice,
    Happened,
    JobEnded,
    Missed,
    PresenceChanged,
    Progressed,
    Returned,
    StatusChanged,
    Submitted,
)

SAMPLES: list[tuple[AnyNotice, str]] = [
    (StatusChanged(jid="j", system="a", status="x"), '{"kind":"status","jid":"j","system":"a","status":"x"}'),
    (Progressed(jid="j", system="a", done=1), '{"kind":"progress","jid":"j","system":"a","done":1}'),
    (JobEnded(jid="j", counts={"x": 1}, number=4), '{"kind":"ended","number":4,"jid":"j","counts":{"x":1}}'),
    (
        JobEnded(jid="j", counts={"x": 1}, number=4, returns=1),
        '{"kind":"ended","number":4,"jid":"j","counts":{"x":1},"returns":1}',
    ),
    (
        Submitted(jid="j", expected=["a"], away={"a": None}, expires=9.5, known=False, cursor=3, number=3),
        '{"kind":"submitted","number":3,"jid":"j","expected":["a"],"away":{"a":null},"expires":9.5,'
        '"known":false,"cursor":3}',
    ),
    (
        Returned(jid="j", system="a", status="returned", changed=1, body={"k": [1]}),
        '{"kind":"return","jid":"j","system":"a","status":"returned","changed":1,"body":{"k":[1]}}',
    ),
    (PresenceChanged(system="a", online=False), '{"kind":"presence","system":"a","online":false}'),
    (Happened(tag="x/y", data={"k": 1}), '{"kind":"event","tag":"x/y","data":{"k":1}}'),
    (Missed(count=7), '{"kind":"missed","count":7}'),
]


@pytest.mark.parametrize(("notice", "text"), SAMPLES)
def test_a_recorded_notice_stays_readable(notice: AnyNotice, text: str) -> None:
    assert msgspec.json.encode(notice).decode() == text
    assert msgspec.json.decode(text, type=AnyNotice) == notice


def test_every_kind_has_a_sample() -> None:
    assert {type(notice) for notice, _ in SAMPLES} == {*get_args(AnyNotice)}


def test_a_field_that_is_not_known_is_skipped() -> None:
    text = '{"kind":"missed","count":7,"later":true}'
    assert msgspec.json.decode(text, type=AnyNotice) == Missed(count=7)
