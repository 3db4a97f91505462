"""One example of each message, with every field set, and keys that are the same in every run."""

from __future__ import annotations

from saltern.fleet.protocol import messages as m
from saltern.fleet.protocol import peer_messages as p
from saltern.fleet.protocol.envelope import Issuer, Trust, certify
from saltern.fleet.protocol.keys import SealingKey, SigningKey
from saltern.fleet.protocol.message import Message
from saltern.fleet.protocol.site_messages import SiteCertificate, SiteCertificateRequest
from saltern.fleet.protocol.withdrawal import withdraw

NOW = 1_800_000_000.0
FLEET = "fleet-1"
JID = "20270115T080000.123456-a1b2c3"
DIGEST = "ab" * 32
ROOT = SigningKey(b"r" * 32)
CONTROLLER = SigningKey(b"c" * 32)
AGENT = SigningKey(b"a" * 32)
SEALING = SealingKey(b"s" * 32)
TRUST = Trust(fleet=FLEET, roots=(ROOT.public,))
CERTIFICATE = m.Certificate(
    fleet=FLEET,
    serial="c1-1",
    name="c1",
    key=CONTROLLER.public,
    issued=NOW - 3600,
    expires=NOW + 30 * 86400,
)
ISSUER = Issuer(fleet=FLEET, key=CONTROLLER, certificate=certify(ROOT, CERTIFICATE))
ENVELOPE = ISSUER.issue(
    m.Job(jid=JID, function="test.ping"), m.Audience(ids=["web1"]), now=NOW, life=600, nonce="n1"
)

EXAMPLES: tuple[Message, ...] = (
    m.Job(
        jid=JID,
        function="state.apply",
        args=["web", 1, None],
        kwargs={"pillar": {"a": [True]}},
        changing=True,
        test=True,
        environment="prod",
        tree=DIGEST,
        after="j0",
        parent="j1",
        on_interrupt="report",
        splay=30,
        time_limit=600,
        user="oidc:alice",
        rule="policy-3/web",
        returners=["file_log"],
        return_options={"ret_kwargs": {"host": "logs"}},
    ),
    m.Control(action="cancel", jid=JID, why="alice asked"),
    m.SyncRequest(
        nonce="n1",
        instance="i1",
        starts=3,
        boot="b1",
        version="0.2.0",
        cursor=9,
        running=[JID],
        unconfirmed=["j0"],
        trees={"base": DIGEST},
        facts=DIGEST,
        now=NOW,
        events=["5a17e12a.7"],
    ),
    m.SyncAnswer(
        cursor=12,
        jobs=[ENVELOPE.decode()],
        more=True,
        cancelled=["j2"],
        confirmed=[m.Confirmed(jid="j0", returned=True, records=7)],
        trees={"base": DIGEST},
        credential="eyJ.x.y",
        servers=["tls://c1:4222"],
        now=NOW,
        retry_after=2,
        next_sync=300,
        refused="",
        events=["5a17e12a.7"],
        withdrawn=[withdraw(ROOT, CERTIFICATE)],
    ),
    m.Return(
        jid=JID,
        status="failed",
        part=1,
        parts=2,
        exit_code=1,
        started=NOW,
        ended=NOW + 1,
        changed=3,
        failed=1,
        why="disk full",
        encoding="json+zlib",
        size=9,
        digest=DIGEST,
        body=b"\x00\x01",
        function="test.echo",
        by="schedule:often",
    ),
    m.Records(jid=JID, run="r1", first=4, records=[{"kind": "answer", "n": 1}]),
    m.Progress(
        jid=JID,
        done=2,
        total=9,
        state="pkg: nginx",
        outcome="failed",
        failed=1,
        comment="no such package",
        leg={"status": "running", "seq": 3000001, "steps": [{"action": "a", "status": "running"}]},
    ),
    m.Away(why="reboot", jid=JID, back_by=NOW + 600),
    m.Event(
        tag="shop/deploy/done",
        data={"version": 7},
        at=NOW,
        uid="5a17e12a.7",
        jid=JID,
        preload={"shop": 1},
    ),
    m.Alive(instance="i1", starts=3, running=[JID], version="0.2.0"),
    m.PillarRequest(nonce="n2", environment="prod", digest=DIGEST, overrides={"a": 1}),
    m.PillarAnswer(sealed=b"\x01box", digest=DIGEST, problem=""),
    m.RenderRequest(
        nonce="n3",
        jid=JID,
        source="salt://web/init.sls",
        parent="0.1",
        block="disks",
        previous={"ret": 1},
        context={"x": 1},
        question=b"\x81\xa5block\xa5disks",
    ),
    m.RenderAnswer(sealed=b"\x01box", problem="line 3: no such pillar key"),
    p.MineRequest(
        nonce="n4",
        store={"net.ip": ["10.0.0.1"]},
        function="net.ip",
        target="G@os:Debian",
        matcher="compound",
        functions=["net.ip"],
        allowed={"net.ip": "web*"},
        remove=["old"],
        clear=True,
    ),
    p.MineAnswer(data={"web1": ["10.0.0.1"]}, problem="x"),
    p.PublishRequest(
        nonce="n7",
        function="cmd.run",
        args=["uptime"],
        kwargs={"cwd": "/"},
        target="web*",
        matcher="glob",
        runner=True,
        parent=JID,
        jid="j2",
    ),
    p.PublishAnswer(
        jid=JID,
        systems=["web1", "web2"],
        returns={"web1": {"ret": "up 3 days", "out": "nested"}},
        done=True,
        refused="x",
        problem="y",
    ),
    m.Facts(nonce="n5", digest=DIGEST, grains={"os": "Debian"}),
    m.Received(digest=DIGEST, problem="x"),
    m.RenewRequest(nonce="n6", expires=NOW),
    m.RenewAnswer(credential="eyJ.x.y", spare="eyJ.x.z", problem="x"),
    m.EnrolClaim(
        nonce="n7",
        fleet=FLEET,
        id="web1.example.com",
        key=AGENT.public,
        sealing_key=SEALING.public,
        token="t1",
        at=NOW,
        facts={"os": "Debian"},
    ),
    m.EnrolRequest(signed="{}", signature=b"\x02" * 64, proof=b"\x03" * 32),
    m.EnrolAnswer(
        state="pending", fingerprint="ab:cd", credential="eyJ.x.y", spare="eyJ.x.z", why="x", retry_after=5
    ),
    CERTIFICATE,
    SiteCertificateRequest(nonce="n8", key="-----BEGIN PUBLIC KEY-----"),
    SiteCertificate(nonce="n8", certificate="-----BEGIN CERTIFICATE-----", problem="x"),
    m.Envelope(signed="{}", signature=b"\x04" * 64, certificate=ISSUER.certificate),
)
