"""A tree whose pillar has one secret of each origin, and states that do with each what states do.

Each value is random, so whatever shows it is found by its text: in what is printed, and in every file that is
written. ``leaks`` also looks for the forms that the masks promise: quoted, escaped, by lines, in base64.
"""

from __future__ import annotations

import base64
import json
import secrets
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec
import pyrage
from nacl.secret import SecretBox
from tests.e2e.command import Place
from tests.secrets.keyring import KeyRing, indented
from tests.secrets.sops_file import SopsFile
from tests.sources.vault_server import TOKEN, vault_server

ORIGINS = ("gpg", "lines", "quoted", "text", "age", "nacl", "vault", "env", "yaml", "sqlite", "number")
# What states do with a secret: for each origin, in the directory ``at``.
EACH = r"""{% set q, other = "'", "'\"'\"'" %}
{% for origin in ORIGINS %}
{{ at }}{{ origin }}:
  file.managed:
    - makedirs: true
    - contents: {{ ('user = app\nvalue = ' ~ pillar[origin] ~ '\n') | json }}
'echo {{ origin }}':
  cmd.run:
    - name: {{ ('echo "$WORD"; echo ' ~ q ~ (pillar[origin] | string | replace(q, other)) ~ q) | json }}
    - env: [{WORD: {{ pillar[origin] | json }}}]
    - register: told_{{ origin }}
again-{{ origin }}:
  test.configurable_test_state:
    - changes: true
    - result: false
    - comment: 'it said ${delayed:told_{{ origin }}.data.stdout}'
echoed-{{ origin }}:
  module.run: [{test.echo: [{{ pillar[origin] | json }}]}]
sent-{{ origin }}:
  event.send: [{name: shop/{{ origin }}}, {data: {x: {{ pillar[origin] | json }}}}]
own-{{ origin }}:
  own.done: [{word: {{ pillar[origin] | json }}}, {fire_event: true}]
broken-{{ origin }}:
  own.broken: [{word: {{ pillar[origin] | json }}}]
"""
# What they do with one alone.
ONCE = """\
encoded:
  cmd.run: [{name: 'echo {{ pillar.gpg | base64_encode }} {{ pillar.quoted | urlencode }}'}]
beside:
  cmd.run: [{name: 'echo {{ pillar.gpg }}'}, {parallel: true}]
"""
SLSES = ("gpg", "text", "sops", "nacl", "sdb")  # of the pillar
MAIN = r"""{% set at = 'AT/' %}
EACH
wrong-{{ origin }}:
  file.managed: [{name: {{ pillar[origin] | json }}}]
{% endfor %}
ONCE
slot-beside:
  test.configurable_test_state:
    - parallel: true
    - changes: true
    - result: true
    - comment: __slot__:salt:sdb.get(sdb://os/LATE_PARALLEL)
template-beside:
  file.managed:
    - name: AT/late
    - source: salt://late.txt
    - template: jinja
    - parallel: true
listed:
  cmd.run:
    - name: cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' > AT/processes
    - env: [{WORD: '{{ pillar.gpg }}'}]
caller:
  cmd.run: [{name: echo x}, {delayed_slses: [late]}]
"""
LATE = """\
{% set word = salt['sdb.get']('sdb://os/LATE_FRAME') %}
late:
  cmd.run: [{name: 'echo {{ word }}; exit 2'}]
late-file:
  file.managed: [{name: AT/frame}, {contents: '{{ word }}'}]
"""
STATE = """\
import logging

log = logging.getLogger(__name__)


def done(name, word):
    log.error("working with %s", word)
    print("printed", word)
    return {"name": name, "result": True, "changes": {"new": word, "list": [word]}, "comment": f"used {word}"}


def broken(name, word):
    raise ValueError(f"cannot use {word!r}")
"""


def states_of(text: str) -> str:
    """The states, with ``EACH`` and ``ONCE`` filled in."""
    return text.replace("EACH", EACH).replace("ONCE\n", ONCE).replace("ORIGINS", repr(list(ORIGINS)))


def top_of(*more: str) -> str:
    """The top file of the pillar, with the secrets behind ``more``."""
    return f"base: {{'*': [{', '.join((*more, *SLSES))}]}}\n"


class Canaries:
    """The tree, and its secrets by origin."""

    def __init__(self, place: Place, ring: KeyRing, vault: str) -> None:
        self.place = place
        self.at = place.base / "made"
        self.at.mkdir(mode=0o700)
        self.words: dict[str, str] = {name: f"{name[0]}{secrets.token_hex(7)}" for name in ORIGINS}
        self.words["lines"] = "-----BEGIN KEY-----\n" + "".join(
            f"{secrets.token_urlsafe(30)}\n" for _ in range(3)
        )
        self.words["quoted"] = f'it\'s "so" <grün> & $x {secrets.token_hex(4)}'
        self.words["number"] = str(secrets.randbelow(10**12) + 10**12)
        self.late = {
            name: f"z{secrets.token_hex(7)}" for name in ("LATE_PARALLEL", "LATE_FRAME", "LATE_FILE")
        }
        self.vault_data: dict[str, dict[str, object]] = {"secret/web": {"vault": self.words["vault"]}}
        self.env = {"CANARY": self.words["env"], **self.late}
        self._write(ring, vault)

    def _write(self, ring: KeyRing, vault: str) -> None:
        base, words = self.place.base, self.words
        (base / "keep").mkdir(mode=0o700)
        (base / "keep/store.yaml").write_text(json.dumps({"yaml": words["yaml"]}))
        with closing(sqlite3.connect(base / "keep/store.db")) as database:
            database.execute("CREATE TABLE sdb (key TEXT PRIMARY KEY, value BLOB)")
            database.execute(
                "INSERT INTO sdb VALUES ('sqlite', ?)", (msgspec.msgpack.encode(words["sqlite"]),)
            )
            database.commit()
        identity = pyrage.x25519.Identity.generate()
        (base / "keep/age.txt").write_text(str(identity))
        key = secrets.token_bytes(32)
        (base / "keep/nacl").write_text(base64.b64encode(key).decode())
        box = base64.b64encode(SecretBox(key).encrypt(words["nacl"].encode())).decode()
        sops = SopsFile({"age": words["age"], "number": int(words["number"])}, identity.to_public())
        blocks = ((name, ring.encrypted(words[name])) for name in ("gpg", "lines", "quoted"))
        rows = "".join(f"{name}: {indented(block)}\n" for name, block in blocks)
        self.place.write(
            {
                "pillar/top.sls": top_of(),
                "pillar/gpg.sls": f"#!yaml|gpg\n{rows}",
                "pillar/text.sls": f"#!gpg|yaml\n{ring.encrypted('text: ' + words['text'] + chr(10))}",
                "pillar/sops.sls": f"#!json|sops\n{sops.json()}",
                "pillar/nacl.sls": f"#!yaml|nacl\nnacl: 'NACL[{box}]'\n",
                "pillar/sdb.sls": "env: sdb://os/CANARY\nyaml: sdb://files/yaml\n"
                "sqlite: {{ salt['sdb.get']('sdb://lite/sqlite') }}\n",
                "etc/saltern.yaml": json.dumps(self._config(ring, vault)),
                "main.sls": states_of(MAIN).replace("AT/", f"{self.at}/"),
                "late.sls": LATE.replace("AT/", f"{self.at}/"),
                "late.txt": "{{ salt['sdb.get']('sdb://os/LATE_FILE') }}\n",
                "_states/own.py": STATE,
            }
        )

    def _config(self, ring: KeyRing, vault: str) -> dict[str, object]:
        keep = self.place.base / "keep"
        return {
            "gpg_keydir": str(ring.path),
            "sops_age_key_file": str(keep / "age.txt"),
            "nacl.config": {"sk_file": str(keep / "nacl"), "box_type": "secretbox"},
            "os": {"driver": "env"},
            "files": {"driver": "yaml", "files": [str(keep / "store.yaml")]},
            "lite": {"driver": "sqlite3", "database": str(keep / "store.db")},
            "vault": {"url": vault, "auth": {"token": TOKEN}},
            "ext_pillar": [{"vault": "path=secret/web"}],
        }

    def leaks(self, text: str) -> list[str]:
        """Lines that show a secret, with the origin of it."""
        found = []
        for origin, form in self.forms():
            if form in text:
                at = text.index(form)
                found.append(f"{origin}: …{text[max(at - 200, 0) : at + len(form) + 40]}")
        return found

    def forms(self) -> Iterator[tuple[str, str]]:
        for origin, word in {**self.words, **self.late, "token": TOKEN}.items():
            forms = {word, json.dumps(word)[1:-1], repr(word)[1:-1], quote(word, safe="")}
            forms |= {line for line in word.split("\n") if len(line) > 25}
            forms.add(base64.b64encode(word.encode()).decode().rstrip("="))
            yield from ((origin, form) for form in forms if form)

    def files_with_leaks(self) -> list[str]:
        """Files below the place that hold one, other than what states made and what stores hold."""
        base = self.place.base
        return self.leaks_below(base, (self.at, base / "keep", base / "etc"))

    def leaks_below(self, top: Path, kept: Collection[Path] = ()) -> list[str]:
        """The same for all files below ``top`` but those in the directories that are ``kept``."""
        return [
            f"{path.relative_to(top)}: {leak}"
            for path in top.rglob("*")
            if path.is_file() and not any(path.is_relative_to(one) for one in kept)
            for leak in self.leaks(path.read_bytes().decode("utf-8", "replace"))
        ]


@contextmanager
def canaries(place: Place, ring: KeyRing) -> Iterator[Canaries]:
    data: dict[str, dict[str, object]] = {}
    with vault_server(data) as url:
        made = Canaries(place, ring, url)
        data.update(made.vault_data)
        yield made
