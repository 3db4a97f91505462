"""Certificates of controllers are renewed while they run, also of those that do not have the root key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fleet.controller.kit import Bench, running_bench
from tests.fleet.harness import run

from saltern.fleet.controller.certificates import NAME, CertificateKeeper, due
from saltern.fleet.controller.identity import (
    LIFE,
    RENEW,
    ControllerIdentity,
    FleetFile,
    load_identity,
    load_or_make_identity,
    new_certificate,
    save_member,
)
from saltern.fleet.controller.members import Member, set_member
from saltern.fleet.protocol.envelope import Trust, check_certificate
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.store.settings import write_setting

DAY = 86_400.0


class Pair:
    """Two controllers of one fleet: ``c1`` has the root key, ``c2`` has not."""

    def __init__(self, folder: Path, bench: Bench) -> None:
        self.bench = bench
        self.folders = {name: str(folder / name) for name in ("c1", "c2")}
        now = bench.clock()
        self.first = load_or_make_identity(self.folders["c1"], fleet="f", name="c1", now=now)
        file, key = replace(self.first.file, name="c2"), SigningKey.new()
        assert self.first.root is not None
        save_member(self.folders["c2"], file, key, new_certificate(self.first.root, file, key.public, now))
        self.second = load_identity(self.folders["c2"])
        self.trust = Trust(fleet="f", roots=self.first.file.roots)
        self.issuers = {"c1": self.first.issuer, "c2": self.second.issuer}

    def keeper(self, identity: ControllerIdentity) -> CertificateKeeper:
        name = identity.file.name
        return CertificateKeeper(
            self.folders[name],
            identity,
            self.issuers[name],
            self.bench.calls,
            self.bench.health,
            now=self.bench.clock,
        )

    def left(self, name: str) -> float:
        """Days that the certificate counts with which this controller signs."""
        now = self.bench.clock()
        return (check_certificate(self.issuers[name].certificate, self.trust, now).expires - now) / DAY

    async def note(self, name: str, member: Member) -> None:
        await self.bench.calls.write(set_member, name, member)


def test_both_have_a_new_certificate_before_the_old_one_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            pair = Pair(tmp_path, bench)
            one, two = pair.keeper(pair.first), pair.keeper(pair.second)
            await pair.note("c2", Member(certificate=pair.second.certificate))
            for _ in range(5):  # years, in steps that are shorter than what is left at a renewal
                bench.clock.ahead += LIFE - RENEW + DAY
                await two.step()  # nothing is there yet: it keeps what it has
                await one.step()
                await two.step()
                assert min(pair.left("c1"), pair.left("c2")) > RENEW / DAY
            assert load_identity(pair.folders["c2"]).certificate == pair.issuers["c2"].certificate
            assert load_identity(pair.folders["c1"]).certificate == pair.issuers["c1"].certificate
            assert bench.health.expires - bench.clock() > RENEW

    run(scenario())


def test_a_certificate_that_does_not_end_soon_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            pair = Pair(tmp_path, bench)
            await pair.note("c2", Member(certificate=pair.second.certificate))
            before = dict(pair.issuers)
            for keeper in (pair.keeper(pair.first), pair.keeper(pair.second)):
                await keeper.step()
            assert pair.issuers == before

    run(scenario())


@given(
    ahead=st.floats(0, 3 * LIFE),
    forged=st.booleans(),
    other_name=st.booleans(),
    missing=st.booleans(),
)
def test_only_a_certificate_of_the_root_that_still_counts_is_renewed(
    ahead: float, forged: bool, other_name: bool, missing: bool
) -> None:
    now = 1_800_000_000.0
    root, stranger, key = SigningKey.new(), SigningKey.new(), SigningKey.new()
    file = FleetFile(fleet="f", name="other" if other_name else "c2", roots=(root.public,))
    signed = new_certificate(stranger if forged else root, file, key.public, now)
    known = {"c2": Member(certificate=None if missing else signed)}
    found = due(Trust(fleet="f", roots=(root.public,)), known, now + ahead)
    fits = not (forged or other_name or missing)
    assert bool(found) == (fits and LIFE - RENEW <= ahead <= LIFE + 300.0) or abs(ahead - LIFE) <= 600.0


@pytest.mark.parametrize("what", ["another key", "another root", "another controller"])
def test_what_another_one_put_into_the_database_is_not_taken(tmp_path: Path, what: str) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            pair = Pair(tmp_path, bench)
            bench.clock.ahead = LIFE - RENEW + DAY
            root, file = pair.first.root, pair.second.file
            assert root is not None
            made = new_certificate(
                SigningKey.new() if what == "another root" else root,
                replace(file, name="c9") if what == "another controller" else file,
                SigningKey.new().public if what == "another key" else pair.second.key.public,
                bench.clock(),
            )
            await bench.calls.write(write_setting, NAME, {"c2": made})
            await pair.keeper(pair.second).step()
            assert pair.issuers["c2"].certificate == pair.second.certificate

    run(scenario())
