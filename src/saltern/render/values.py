"""What a template knows about its place, in addition to ``salt``, ``grains``, ``pillar`` and ``opts``."""

from __future__ import annotations

from posixpath import dirname


def sls_names(sls: str, name: str) -> dict[str, object]:
    """The names that identify the SLS being rendered; ``name`` is its file, relative to the root."""
    folder = dirname(name)
    return {
        "sls": sls,
        "slspath": folder,
        "slsdotpath": folder.replace("/", "."),
        "slscolonpath": folder.replace("/", ":"),
        "sls_path": folder.replace("/", "_"),
    }
