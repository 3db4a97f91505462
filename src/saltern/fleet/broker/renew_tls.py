"""Renews the certificate of a running broker before it expires."""

from __future__ import annotations

import os

from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.broker.tls import CertificateFiles, prepare_certificates
from saltern.system.files import read


def renew_tls(broker: EmbeddedBroker, now: float) -> bool:
    """Renew the certificate if it expires soon, and use it for new connections; True if it was renewed."""
    folder = os.path.join(broker.folder, "tls")
    file = CertificateFiles(folder).server
    before = read(file)
    prepare_certificates(folder, broker.settings.names, fleet=broker.authority.fleet, now=now)
    if read(file) == before:
        return False
    broker.read_again()
    return True
