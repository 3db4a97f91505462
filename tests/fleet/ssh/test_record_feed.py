"""Records of a journal on a host: each reaches the caller, however workers die and whatever is confirmed."""

from __future__ import annotations

import io
import json
import tempfile

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.agent.task import BATCH, JobFolder
from saltern.fleet.protocol.messages import Records
from saltern.fleet.ssh.remote.caller import SIZES, Caller
from saltern.fleet.ssh.remote.record_feed import RecordFeed
from saltern.system import atomic

JID = "20260101T000000.000000-aaaaaa"


class Sent:
    """What a caller was sent."""

    def __init__(self) -> None:
        self._out = io.BytesIO()
        self.caller = Caller(io.BufferedReader(io.BytesIO()), io.BufferedWriter(self._out))

    def messages(self) -> list[Records]:
        data, found = self._out.getvalue(), []
        while data:
            head, body = SIZES.unpack(data[: SIZES.size])
            assert json.loads(data[SIZES.size : SIZES.size + head]) == {"is": "records"}
            end = SIZES.size + head + body
            found.append(msgspec.json.decode(data[SIZES.size + head : end], type=Records))
            data = data[end:]
        return found


def write(folder: JobFolder, first: int, numbers: list[int]) -> None:
    batch = Records(jid=JID, run="r", first=first, records=numbers)
    atomic.write(folder.file(BATCH.format(first)), msgspec.json.encode(batch), durable=False)


steps = st.lists(st.sampled_from(["write", "again", "damage", "send", "stored", "session"]), max_size=40)


@given(steps)
def test_every_record_is_sent_and_none_before_the_one_ahead_of_it(doings: list[str]) -> None:
    with tempfile.TemporaryDirectory() as path:
        folder, sent = JobFolder(path), Sent()
        feed, written, last = RecordFeed(folder, sent.caller, wanted=True), 0, 0
        stored: list[int] = []
        for doing in [*doings, "session", *["send", "stored"] * len(doings)]:
            if doing == "write":
                write(folder, written, list(range(written, written + 3)))
                last, written = written, written + 3
            elif doing == "again" and written:  # a worker died before it noted how far it was
                write(folder, last, list(range(last, written + 2)))
                written += 2
            elif doing == "damage":  # a batch that was cut by a full disk, and written again
                atomic.write(folder.file(BATCH.format(written)), b'{"jid', durable=False)
                feed.send_next()
                write(folder, written, [written])
                last, written = written, written + 1
            elif doing == "send":
                feed.send_next()
            elif doing == "stored" and feed.send_next():
                one = sent.messages()[-1]
                assert one.first <= len(stored)  # no gap: a store would not take it
                stored += one.records[len(stored) - one.first :]
                feed.confirmed()
            elif doing == "session":  # cut, and begun anew
                feed = RecordFeed(folder, sent.caller, wanted=True)
        assert stored == list(range(written))
        assert folder.batches() == []


def test_what_no_caller_keeps_stays() -> None:
    with tempfile.TemporaryDirectory() as path:
        folder, sent = JobFolder(path), Sent()
        write(folder, 0, [0])
        assert not RecordFeed(folder, sent.caller, wanted=False).send_next()
        assert (sent.messages(), len(folder.batches())) == ([], 1)
