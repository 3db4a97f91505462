"""The seal of a plan: its digest and the controller's signature, made once and verified before it is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert, json, to_builtins

from saltern.fleet.chains.saved_plan import SIGNED, SavedPlan, canonical, digest, facts_digest
from saltern.fleet.protocol.codec import decode
from saltern.fleet.protocol.envelope import Issuer, Refused, Trust, check_certificate
from saltern.fleet.protocol.keys import is_signed
from saltern.fleet.protocol.messages import Certificate, Signed
from saltern.language.diagnostics import Diagnostic, OperationError


class Seal(Struct, frozen=True):
    """The key of this controller, and the roots that certify those of others."""

    issuer: Issuer
    roots: tuple[bytes, ...]

    def seal_plan(self, plan: SavedPlan, estimate: object) -> dict[str, Any]:
        """The values of the row of a newly sealed plan."""
        signature = self.issuer.key.sign(SIGNED + canonical(plan))
        body = {
            "plan": to_builtins(plan),
            "estimate": to_builtins(estimate),
            "signature": signature.hex(),
            "certificate": {
                "text": self.issuer.certificate.text,
                "signature": self.issuer.certificate.signature.hex(),
            },
        }
        return {"sha256": digest(plan), "facts": facts_digest(plan), "body": json.encode(body)}

    def open_plan(self, row: Mapping[str, Any]) -> SavedPlan:
        """The plan, if its seal is valid; raises ``OperationError`` if it was changed since."""
        body = json.decode(row["body"])
        plan = convert(body["plan"], SavedPlan)
        if digest(plan) != row["sha256"] or not self._is_signed(body, plan):
            what = f"the plan {row['id']} is not what was sealed: its digest or its signature is wrong"
            raise OperationError(Diagnostic(code="chain-plan-seal", what=what, fix="make it anew"))
        return plan

    def _is_signed(self, body: Mapping[str, Any], plan: SavedPlan) -> bool:
        signed = Signed(
            text=body["certificate"]["text"], signature=bytes.fromhex(body["certificate"]["signature"])
        )
        made = decode(Certificate, signed.text.encode()).issued
        try:  # it had to be valid when it was used, not now
            trust = Trust(fleet=self.issuer.fleet, roots=self.roots)
            certificate = check_certificate(signed, trust, made)
        except Refused:
            return False
        return is_signed(certificate.key, SIGNED + canonical(plan), bytes.fromhex(body["signature"]))


def signer_of(body: Mapping[str, Any]) -> str:
    """The name of the controller that has signed a plan."""
    return str(decode(Certificate, body["certificate"]["text"].encode()).name)
