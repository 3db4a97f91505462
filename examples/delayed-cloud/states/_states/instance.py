"""Instances of the cloud: made once, found by their name ever after.

What the cloud chose comes back as ``data``, on the run that makes the instance and on every later one.
"""

import json
import urllib.request


def present(name, url, size="small"):
    """An instance of this name."""
    found = next((one for one in _ask(url) if one["name"] == name), None)
    if found is not None:
        return _return(name, True, f"The instance is there: {found['id']}", data=found)
    changes = {name: {"old": None, "new": size}}
    if __opts__["test"]:  # noqa: F821 - poured in, as into every module written for Salt
        return _return(name, None, "The instance would be made", changes)
    made = _ask(url, {"name": name, "size": size})
    return _return(name, True, f"The instance was made: {made['id']}", changes, made)


def _return(name, result, comment, changes=None, data=None):
    return {"name": name, "result": result, "comment": comment, "changes": changes or {}, "data": data or {}}


def _ask(url, wanted=None):
    body = None if wanted is None else json.dumps(wanted).encode()
    with urllib.request.urlopen(url, data=body, timeout=10) as answer:
        return json.load(answer)
