"""Answers and notices of systems that do not exist."""

from __future__ import annotations

from hypothesis import strategies as st

from saltern.fleet.protocol.notices import AnyNotice, JobEnded, Missed, Progressed, StatusChanged
from saltern.fleet.view.outcomes import Answered

JID = "20261116T070000.000000-abcdef"
STATUSES = (
    "queued", "sent", "running", "down", "returned", "failed", "refused", "expired", "cancelled",
    "indeterminate",
)  # fmt: skip


def state(
    id_: str, number: int, result: bool | None = True, comment: str = "", changes: object = None
) -> dict[str, object]:
    """The return of one state."""
    found: dict[str, object] = {
        "name": id_,
        "result": result,
        "changes": changes or {},
        "comment": comment,
        "__run_num__": number,
        "__sls__": "web",
        "__id__": id_,
        "start_time": "12:00:00.000000",
        "duration": 2.5,
    }
    return {**found, "__where__": "web/init.sls:14"} if result is False else found


def body(*states: dict[str, object], function: str = "service.running") -> dict[str, object]:
    """What ``saltern apply --out json`` prints."""
    name, _, fun = function.partition(".")
    return {"local": {f"{name}_|-{one['__id__']}_|-{one['name']}_|-{fun}": one for one in states}}


def answered(system: str, *states: dict[str, object]) -> Answered:
    failed = any(one["result"] is False for one in states)
    return Answered(
        system=system,
        status="failed" if failed else "returned",
        exit_code=2 * failed,
        body=body(*states),
        has_body=True,
    )


systems = st.sampled_from(["web1", "web2", "db1", "db2", "a b", "ü\x1b[31m", "長い名前"])
texts = st.text("abc \n\x1b漢", max_size=60)
numbers = st.integers(0, 500)


@st.composite
def notices(draw: st.DrawFn) -> list[AnyNotice]:
    """Anything that can be heard, in any order."""
    one = st.one_of(
        st.builds(
            StatusChanged,
            jid=st.sampled_from([JID, "other"]),
            system=systems,
            status=st.sampled_from(STATUSES),
            why=texts,
            exit_code=st.sampled_from([0, 1, 2, 3]),
            changed=numbers,
            failed=numbers,
            back_by=st.none() | st.floats(0, 1e18),
        ),
        st.builds(
            Progressed,
            jid=st.just(JID),
            system=systems,
            done=numbers,
            total=numbers,
            state=texts,
            outcome=st.sampled_from(["", "ok", "changed", "failed", "would change"]),
            failed=numbers,
            comment=texts,
        ),
        st.builds(JobEnded, jid=st.just(JID)),
        st.builds(Missed, count=numbers),
    )
    return draw(st.lists(one, max_size=40))
