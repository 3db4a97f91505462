"""Keep the returns of state runs on the minion, as files that scripts read.

``salt '*' state.apply web --return saltern``, or ``return: saltern`` in the minion's configuration. A return
of ``state.*`` and ``saltern.*`` becomes ``DIRECTORY/JID.json``, in the form of ``salt-call --out json``;
others are left out. Minion configuration, all of it optional::

    saltern:
      returns: {directory: /var/log/saltern/returns, keep: 100}
"""

import json
import os
import tempfile

DIRECTORY = "/var/log/saltern/returns"
KEEP = 100


def returner(ret):
    """Keep the return of a state run, and remove the oldest returns."""
    function = str(ret.get("fun", ""))
    if not function.startswith(("state.", "saltern.")) or not isinstance(ret.get("return"), dict):
        return
    options = (__opts__.get("saltern") or {}).get("returns") or {}
    folder = options.get("directory", DIRECTORY)
    os.makedirs(folder, 0o700, exist_ok=True)
    _write(folder, f"{os.path.basename(str(ret['jid']))}.json", {"local": ret["return"]})
    _prune(folder, max(1, int(options.get("keep", KEEP))))


def _prune(folder, keep):
    kept = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    for name in kept[:-keep]:
        os.unlink(os.path.join(folder, name))


def _write(folder, name, data):
    handle, part = tempfile.mkstemp(dir=folder, prefix=".part-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(data, file, default=str)
    os.replace(part, os.path.join(folder, name))
