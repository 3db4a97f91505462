"""The certificate of a running broker, made anew before it ends."""

from __future__ import annotations

import os

from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.broker.tls import CertificateFiles, prepare_certificates
from saltern.system.files import read


def renew_tls(broker: EmbeddedBroker, now: float) -> bool:
    """Make the certificate anew if it ends soon, and use it for new connections; whether that was so."""
    folder = os.path.join(broker.folder, "tls")
    file = CertificateFiles(folder).server
    before = read(file)
    prepare_certificates(folder, broker.settings.names, fleet=broker.authority.fleet, now=now)
    if read(file) == before:
        return False
    broker.read_again()
    return True
