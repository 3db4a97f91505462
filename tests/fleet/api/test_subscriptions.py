"""Who is notified of what happens to chains, as people ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.api.kit import running_api

from saltern.language.diagnostics import OperationError

URL = "https://hooks.example.org/T0/secret"


def test_subscriptions_are_kept_shown_without_secrets_and_removed(tmp_path: Path) -> None:
    with running_api(tmp_path) as api:
        own = api.client().subscriptions
        made = own.set("ops", "webhook", URL, events=["run.*"], chains=["nightly"])
        assert made["secret"].startswith("whsec_") and made["address"] == "https://hooks.example.org/…"
        again = own.set("ops", "webhook", URL, enabled=False)
        assert (again["secret"], again["enabled"], again["events"]) == ("", False, ["run.*", "gate.open"])
        own.set("ann", "mail", "ann@example.org", events=["gate.open"])
        rows = list(own.list())
        assert [(row["name"], row["waiting"], row["dead"]) for row in rows] == [("ann", 0, 0), ("ops", 0, 0)]
        assert "secret" not in str(rows)
        assert (list(own.deliveries("ops")), own.retry("ops")) == ([], 0)
        own.remove("ops")
        assert [row["name"] for row in own.list()] == ["ann"]


@pytest.mark.parametrize(
    ("kind", "address", "more"),
    [
        ("webhook", "http://169.254.169.254/latest/meta-data", {}),
        ("webhook", "http://[::1]/", {}),
        ("webhook", "file:///etc/passwd", {}),
        ("mail", "ann@example.org, bob@example.org", {}),
        ("mail", "no mailbox", {}),
        ("webhook", URL, {"events": ["run.fail"]}),
        ("webhook", URL, {"secret": "short"}),
    ],
)
def test_what_cannot_or_must_not_be_delivered_is_refused(
    tmp_path: Path, kind: str, address: str, more: dict[str, object]
) -> None:
    with running_api(tmp_path) as api:
        own = api.client().subscriptions
        with pytest.raises(OperationError, match="subscription-"):
            own.set("x", kind, address, **more)
        assert list(own.list()) == []
        for unknown in (lambda: own.remove("x"), lambda: own.retry("x"), lambda: list(own.deliveries("x"))):
            with pytest.raises(OperationError, match="no subscription is called"):
                unknown()
