"""dnf, zypper, pacman and apk themselves, in a copy of this machine that is thrown away.

``SALTERN_RECORD=tests/modules/pkg/recorded`` (as an absolute path) writes down what they said, for
``test_recorded_managers``.
"""

from __future__ import annotations

import os
from shutil import which

import pytest
from tests.modules.pkg.copies import KEPT, in_a_copy
from tests.modules.pkg.recording import Recorder, save
from tests.modules.pkg.scenarios import SCENARIOS, Scenario, packages_are_held_and_released
from tests.modules.pkg.shops import SHOPS, Shop

BESIDE = {
    "dnf": ("rpmbuild", "createrepo_c"),
    "zypper": ("rpmbuild", "createrepo_c"),
    "pacman": ("repo-add", "bsdtar"),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("kind", SHOPS, ids=lambda one: one.tool)
@in_a_copy()
def test_a_manager_does(kind: type[Shop], scenario: Scenario) -> None:
    missing = [one for one in (kind.tool, *BESIDE.get(kind.tool, ())) if which(one) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    if scenario is packages_are_held_and_released and kind.tool == "apk":
        pytest.skip("apk cannot hold packages")
    host = Recorder()
    scenario(kind(host))
    # pacman holds packages in a file, which a recording does not have.
    if KEPT in os.environ and (kind.tool, scenario) != ("pacman", packages_are_held_and_released):
        save(host, os.environ[KEPT], kind.tool, scenario.__name__)
