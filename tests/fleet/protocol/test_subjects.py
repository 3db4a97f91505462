"""The table of subjects, and the rights that come from it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.protocol.messages import MESSAGES
from saltern.fleet.protocol.streams import STREAMS
from saltern.fleet.protocol.subjects import SUBJECTS, Kind, Role, covers, grants, is_own_reply, subjects_of

names = st.text(min_size=1, max_size=20)


@given(names, names)
def test_fields_of_any_text_come_back_from_the_subject(name: str, jid: str) -> None:
    subject = SUBJECTS["return"].of(id=name, jid=jid)
    assert subject.count(".") == 3
    assert SUBJECTS["return"].parse(subject) == {"id": name, "jid": jid}
    assert covers(SUBJECTS["return"].wild(), subject)


@given(
    names,
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=9),
        min_size=1,
        max_size=5,
    ).map("/".join),
)
def test_a_tag_becomes_several_tokens_and_comes_back(name: str, tag: str) -> None:
    subject = SUBJECTS["event"].of(id=name, tag=tag)
    assert SUBJECTS["event"].parse(subject) == {"id": name, "tag": tag}


@pytest.mark.parametrize(
    "subject", ["", "up.web1.ret", "up.web1.ret.j.k", "up._all.ret.j", "up.a=2e.ret.j", "dn.x.job"]
)
def test_what_is_no_return_is_not_parsed_as_one(subject: str) -> None:
    assert SUBJECTS["return"].parse(subject) is None


def test_an_agent_may_publish_as_itself_only() -> None:
    for permission in grants(Role.AGENT).publish:
        assert permission.startswith("up.{{name()}}.") or permission == "$JS.API.DIRECT.GET.BLOBS.blob.*"


def test_an_agent_hears_its_own_jobs_those_for_all_and_its_own_answers() -> None:
    assert set(grants(Role.AGENT).subscribe) == {
        "dn.{{name()}}.job",
        "dn.{{name()}}.ctl",
        "dn._all.job",
        "dn._site.{{tag(site)}}.job",
        "_INBOX.{{name()}}.>",
    }


def test_one_who_wants_to_join_can_ask_for_that_and_nothing_else() -> None:
    rights = grants(Role.JOINER)
    assert rights.publish == ("enrol.*",)
    assert rights.subscribe == ("_INBOX.{{name()}}.>",)


def test_no_role_but_the_controller_may_touch_streams() -> None:
    for role in (Role.AGENT, Role.JOINER):
        assert not [
            one
            for one in grants(role).publish
            if one.startswith("$JS") and "DIRECT.GET.BLOBS.blob" not in one
        ]


def test_what_finds_out_who_is_away_is_kept_by_no_stream() -> None:
    """A subject that a stream captures never answers that nobody listens."""
    poke = SUBJECTS["control"].of(id="web1")
    assert not [name for name in STREAMS for one in subjects_of(name) if covers(one, poke)]


def test_rows_name_messages_and_streams_that_exist() -> None:
    assert {row.message for row in SUBJECTS.values()} <= {*MESSAGES, ""}
    assert {row.stream for row in SUBJECTS.values()} == {*STREAMS, ""}
    kept = {Kind.CAPTURED, Kind.STORED}
    assert all(bool(row.stream) == (row.kind in kept) for row in SUBJECTS.values())


def test_no_subject_is_kept_by_two_streams_or_twice() -> None:
    kept = [one for name in STREAMS for one in subjects_of(name)]
    for one in kept:
        assert [other for other in kept if covers(other, one)] == [one]
    assert set(subjects_of("JOBS")) == {"dn.*.job", "dn._site.*.job"}


@pytest.mark.parametrize(
    ("reply", "own"),
    [
        ("_INBOX.web1.x.y", True),
        ("_INBOX.web1.", True),
        ("_INBOX.web1", False),
        ("_INBOX.web11.x", False),
        ("_INBOX.db1.x", False),
        ("dn.db1.job", False),
        ("_INBOX.web1.*", False),
        ("_INBOX.web1.>", False),
        ("", False),
    ],
)
def test_an_answer_goes_into_the_inbox_of_who_asked_and_nowhere_else(reply: str, own: bool) -> None:
    assert is_own_reply(reply, "web1") is own


@pytest.mark.parametrize(
    ("pattern", "subject", "does"),
    [
        ("a.*", "a.b", True),
        ("a.*", "a.b.c", False),
        ("a.>", "a.b.c", True),
        ("a.>", "a", False),
        ("a.*.c", "a.>", False),
        (">", "a", True),
        ("a.b", "a.*", False),
        ("a.*", "a.*", True),
    ],
)
def test_covers(pattern: str, subject: str, does: bool) -> None:
    assert covers(pattern, subject) is does
