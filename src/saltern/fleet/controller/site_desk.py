"""Certificates for the brokers of sites: a controller that knows the site certifies the site's key."""

from __future__ import annotations

import logging
from collections.abc import Callable

from saltern.fleet.broker.sites import own_name, read_sites, split_address
from saltern.fleet.broker.tls import CertificateFiles, sign_key
from saltern.fleet.bus.ports import Bus, Message
from saltern.fleet.bus.service import Refuser
from saltern.fleet.controller.calls import Calls
from saltern.fleet.protocol.codec import BadMessage, decode, encode
from saltern.fleet.protocol.site_messages import SiteCertificate, SiteCertificateRequest
from saltern.fleet.protocol.subjects import SUBJECTS, is_own_reply
from saltern.fleet.store import audit

log = logging.getLogger(__name__)

CERTIFICATE = SUBJECTS["site-certificate"]


class SiteDesk:
    """Answers for one controller. All controllers receive the request; those that do not know the site are
    silent.

    ``folder`` is that of the controller's broker.
    """

    def __init__(
        self, bus: Bus, calls: Calls, folder: str, refused: Refuser, *, now: Callable[[], float]
    ) -> None:
        self._bus = bus
        self._calls = calls
        self._folder = folder
        self._refused = refused
        self._now = now

    async def start(self) -> None:
        await self._bus.subscribe(CERTIFICATE.wild(), self._on, sender=1)

    async def _on(self, message: Message) -> None:
        fields = CERTIFICATE.parse(message.subject)
        sites = read_sites(self._folder)
        if fields is None or sites is None or (site := sites.sites.get(fields["site"])) is None:
            return
        name = fields["site"]
        if not is_own_reply(message.reply, own_name(name)):
            self._refused(
                own_name(name), "foreign-reply", "it asks for its answer at the address of another system"
            )
            return
        try:
            ask = decode(SiteCertificateRequest, message.data)
            hosts = tuple(dict.fromkeys(split_address(one)[0] for one in site.addresses))
            certificate = sign_key(CertificateFiles(f"{self._folder}/tls"), hosts, ask.key, self._now())
        except (BadMessage, ValueError) as problem:
            self._refused(own_name(name), "malformed", str(problem))
            return
        await self._calls.write(audit.append, f"site:{name}", "site.certificate", {"name": name}, self._now())
        log.warning("the broker of the site %s has a new certificate", name)
        await self._bus.publish(
            message.reply, encode(SiteCertificate(nonce=ask.nonce, certificate=certificate))
        )
