"""Webhooks over TLS: a receiver that proves who it is by a certificate gets them, and no other one."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.fleet.callbacks.receivers import web_receiver

from saltern.fleet.broker.tls import CertificateFiles, prepare_certificates
from saltern.fleet.callbacks.reach import Destinations
from saltern.fleet.callbacks.webhook import NotSent, new_key, post

HERE = Destinations(("127.0.0.0/8",))


def certificates(folder: Path, *names: str) -> CertificateFiles:
    folder.mkdir()
    return prepare_certificates(str(folder), names, fleet=folder.name, now=time.time())


def send(address: str, ca: str) -> None:
    post(address, b"{}", id_="1", key=new_key(), now=time.time(), reach=HERE, ca=ca)


def test_a_receiver_with_a_certificate_of_our_own_authority_gets_it(tmp_path: Path) -> None:
    own = certificates(tmp_path / "own", "127.0.0.1")
    with web_receiver((own.server, own.server_key)) as web:
        send(web.address, own.ca)
        assert [body for _, _, body in web.requests] == [b"{}"]


@pytest.mark.parametrize("case", ["another authority", "no authority of ours", "another name"])
def test_a_receiver_that_does_not_prove_who_it_is_gets_nothing(tmp_path: Path, case: str) -> None:
    name = "elsewhere.example" if case == "another name" else "127.0.0.1"
    own = certificates(tmp_path / "own", name)
    other = certificates(tmp_path / "other", "127.0.0.1")
    trusted = {"another authority": other.ca, "no authority of ours": "", "another name": own.ca}[case]
    with web_receiver((own.server, own.server_key)) as web:
        with pytest.raises(NotSent, match="certificate verify failed"):
            send(web.address, trusted)
        assert web.requests == []


def test_a_receiver_without_tls_gets_nothing_over_https(tmp_path: Path) -> None:
    own = certificates(tmp_path / "own", "127.0.0.1")
    with web_receiver() as web:
        with pytest.raises(NotSent):
            send(web.address.replace("http://", "https://"), own.ca)
        assert web.requests == []
