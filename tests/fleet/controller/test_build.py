"""What a broker keeps when it joins a cluster, or leaves it."""

from __future__ import annotations

from pathlib import Path

from saltern.fleet.broker.stream_folder import set_streams_aside


def test_streams_are_set_aside_once_at_each_change(tmp_path: Path) -> None:
    for clustered in (False, True, True, False, False):
        set_streams_aside(str(tmp_path), clustered=clustered)
        seen = (
            sorted(one.name for one in (tmp_path / "streams").iterdir())
            if (tmp_path / "streams").exists()
            else []
        )
        (tmp_path / "streams").mkdir(exist_ok=True)
        (tmp_path / "streams" / ("cluster" if clustered else "single")).touch()
        assert seen in ([], ["cluster" if clustered else "single"])
    assert (tmp_path / "streams.before-cluster" / "single").exists()
    assert (tmp_path / "streams.before-single" / "cluster").exists()
