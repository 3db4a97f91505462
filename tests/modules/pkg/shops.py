"""Repositories with packages of the test's own making, for the package managers Debian has beside apt.

To be opened in a copy of the machine (``copies``): they write their settings to ``/etc``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.modules.pkg import apks
from tests.modules.pkg.calls import Calls, make_run

from saltern.modules.api.context import Run
from saltern.system.host import Host, LocalHost

ROOT = Path("/srv/shop")  # of the copy, and always the same, so that recordings are


def run(*argv: object, cwd: Path | None = None) -> str:
    ran = subprocess.run([str(one) for one in argv], capture_output=True, text=True, cwd=cwd)
    assert ran.returncode == 0, f"{argv}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def write(path: str | Path, text: str) -> Path:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


class Shop(Calls):
    """``publish`` puts a package into a repository, ``main`` unless said otherwise."""

    family = ""
    tool = ""
    exact = "{}-1"  # a version as the tool tells it

    def __init__(self, host: Host | None = None) -> None:
        self.host = host or LocalHost()

    def fresh_run(self) -> Run:
        return make_run(ROOT, self.host, {"os_family": self.family, "os": self.family})

    def prepare_holds(self) -> None:
        """What has to be there for packages to be held."""

    def v(self, version: str) -> str:
        return self.exact.format(version)

    def publish(self, name: str, version: str = "1.0", *, repo: str = "main", **tags: str) -> None:
        """``tags`` are what packages say of others: requires, provides, conflicts, obsoletes."""


NAME_FORMAT = "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"


class RpmShop(Shop):
    directory = ""

    def __init__(self, host: Host | None = None) -> None:
        super().__init__(host)
        # Debian's rpm keeps its database in the home of the user.
        write("/etc/rpm/macros", "%_dbpath /var/lib/rpm\n")
        run("rpm", "--initdb")
        write("/etc/dnf/dnf.conf", "[main]\ngpgcheck=0\nbest=True\nclean_requirements_on_remove=True\n")
        write("/etc/dnf/vars/releasever", "9\n")
        for repo, enabled in (("main", 1), ("extra", 0)):
            (ROOT / repo).mkdir(parents=True)
            rows = f"name={repo}\nbaseurl=file://{ROOT / repo}\ngpgcheck=0\nenabled={enabled}\n"
            # To dnf a section called main would be its own settings.
            write(f"{self.directory}/{repo}.repo", f"[{repo}-repo]\n{rows}")
            run("createrepo_c", "-q", ROOT / repo)

    def versions(self) -> dict[str, str]:
        rows = run("rpm", "-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\n").splitlines()
        return dict(sorted(row.split(" ", 1) for row in rows))

    def build(self, name: str, version: str = "1.0", target: Path = ROOT / "files", **tags: str) -> str:
        place = ROOT / "build"
        epoch, colon, plain = version.rpartition(":")
        arch = tags.pop("arch", "noarch")
        head = {"Name": name, "Version": plain, "Release": "1", "Summary": "for tests", "License": "MIT"}
        if colon:
            head["Epoch"] = epoch
        if arch == "noarch":
            head["BuildArch"] = arch
        lines = [f"{key.capitalize()}: {value}" for key, value in (head | tags).items()]
        folder = f"/usr/share/{name}-{plain}" if name.startswith("kernel") else f"/usr/share/{name}"
        lines += ["%description", "for tests", "%install", f"mkdir -p %{{buildroot}}{folder}"]
        lines += [f"echo {plain} > %{{buildroot}}{folder}/version", "%files", folder]
        write(place / f"{name}.spec", "\n".join(lines) + "\n")
        defined = {"_topdir": place, "_rpmdir": target, "_build_name_fmt": NAME_FORMAT}
        words = [word for key, value in defined.items() for word in ("--define", f"{key} {value}")]
        personality = "i686" if arch == "i686" else "linux64"
        run("setarch", personality, "rpmbuild", "--target", arch, "-bb", *words, place / f"{name}.spec")
        return str(target / f"{name}-{plain}-1.{arch}.rpm")

    def publish(self, name: str, version: str = "1.0", *, repo: str = "main", **tags: str) -> None:
        self.build(name, version, ROOT / repo, **tags)
        comps = ROOT / "comps.xml"
        run("createrepo_c", "-q", *(["-g", comps] if comps.exists() else []), ROOT / repo)


PLUGINS = "usr/lib/python3/dist-packages"


class DnfShop(RpmShop):
    family = "RedHat"
    tool = "dnf"
    directory = "/etc/yum.repos.d"

    def prepare_holds(self) -> None:
        """The plugin is in a package that Debian does not let live beside zypper, so it is unpacked here."""
        place = ROOT / "plugins"
        place.mkdir()
        argv = ["apt-get", "download", "-o", "APT::Sandbox::User=root", "dnf-plugins-core"]
        if subprocess.run(argv, cwd=place, capture_output=True).returncode:
            pytest.skip("dnf-plugins-core cannot be fetched")
        run("dpkg-deb", "-x", *place.glob("*.deb"), place)
        shutil.copytree(place / PLUGINS / "dnfpluginscore", f"/{PLUGINS}/dnfpluginscore", dirs_exist_ok=True)
        for name in (f"{PLUGINS}/dnf-plugins/versionlock.py", "etc/dnf/plugins/versionlock.conf"):
            write(f"/{name}", (place / name).read_text())
        write("/etc/dnf/plugins/versionlock.list", "")


class ZypperShop(RpmShop):
    family = "Suse"
    tool = "zypper"
    directory = "/etc/zypp/repos.d"


WORDS = {"requires": "depend", "conflicts": "conflict", "obsoletes": "replaces", "provides": "provides"}


class PacmanShop(Shop):
    family = "Arch"
    tool = "pacman"

    def __init__(self, host: Host | None = None) -> None:
        super().__init__(host)
        repos = "".join(f"[{repo}-repo]\nServer = file://{ROOT / repo}\n" for repo in ("main", "extra"))
        write("/etc/pacman.conf", f"[options]\nArchitecture = auto\nSigLevel = Never\n{repos}")
        for place in ("/var/lib/pacman", "/var/cache/pacman/pkg", ROOT / "main", ROOT / "extra"):
            Path(place).mkdir(parents=True, exist_ok=True)
        self.moment = 1_000_000_000
        for repo in ("main", "extra"):
            self._list(repo)

    def versions(self) -> dict[str, str]:
        text = subprocess.run(["pacman", "-Q"], capture_output=True, text=True).stdout
        return dict(sorted(row.split(" ", 1) for row in text.splitlines()))

    def build(self, name: str, version: str = "1.0", target: Path = ROOT / "files", **tags: str) -> str:
        place = ROOT / "build" / f"{name}-{version}"
        write(place / "usr/share" / name / "version", f"{version}\n")
        rows = {"pkgname": name, "pkgbase": name, "pkgver": f"{version}-1", "pkgdesc": "for tests"}
        rows |= {"url": "https://x.example", "builddate": "1700000000", "packager": "nobody", "size": "10"}
        rows |= {"arch": "any", "license": "MIT"} | {WORDS.get(key, key): one for key, one in tags.items()}
        write(place / ".PKGINFO", "".join(f"{key} = {value}\n" for key, value in rows.items()))
        target.mkdir(parents=True, exist_ok=True)
        path = target / f"{name}-{version}-1-any.pkg.tar.gz"
        run("tar", "-czf", path, ".PKGINFO", "usr", cwd=place)
        return str(path)

    def publish(self, name: str, version: str = "1.0", *, repo: str = "main", **tags: str) -> None:
        self._list(repo, self.build(name, version, ROOT / repo, **tags))

    def _list(self, repo: str, *paths: str) -> None:
        database = ROOT / repo / f"{repo}-repo.db.tar.gz"
        run("repo-add", "-q", database, *paths)
        # It fetches only what is newer, and tells so by the second.
        self.moment += 60
        os.utime(database, (self.moment, self.moment))


class ApkShop(Shop):
    family = "Alpine"
    tool = "apk"
    exact = "{}-r0"

    def __init__(self, host: Host | None = None) -> None:
        super().__init__(host)
        self.key = apks.make_key(ROOT / "key.pem", Path("/etc/apk/keys/shop.rsa.pub"))
        write("/etc/apk/arch", "x86_64\n")
        write("/etc/apk/repositories", f"{ROOT / 'main'}\n@extra {ROOT / 'extra'}\n")
        run("apk", "add", "--initdb")
        for repo in ("main", "extra"):
            (ROOT / repo / "x86_64").mkdir(parents=True)

    def versions(self) -> dict[str, str]:
        rows = [row.split()[0] for row in run("apk", "list", "--installed").splitlines()]
        return {name.rsplit("-", 2)[0]: name for name in sorted(rows)}

    def build(self, name: str, version: str = "1.0", target: Path = ROOT / "files", **tags: str) -> str:
        target.mkdir(parents=True, exist_ok=True)
        rows = {WORDS.get(key, key): one for key, one in tags.items()}
        if conflict := rows.pop("conflict", ""):
            rows["depend"] = f"!{conflict}"
        path = target / f"{name}-{version}-r0.apk"
        path.write_bytes(apks.package(name, f"{version}-r0", rows, self.key))
        return str(path)

    def publish(self, name: str, version: str = "1.0", *, repo: str = "main", **tags: str) -> None:
        place = ROOT / repo / "x86_64"
        self.build(name, version, place, **tags)
        index = place / "APKINDEX.tar.gz"
        index.unlink(missing_ok=True)
        run("apk", "index", "-q", "-o", index, *sorted(place.glob("*.apk")))
        index.write_bytes(apks.signed(index.read_bytes(), self.key))


class RecordedShop(Shop):
    """A shop whose tool only answers from a recording: what is published was published then."""

    def __init__(self, real: type[Shop], host: Host) -> None:
        self.family, self.tool, self.exact = real.family, real.tool, real.exact
        super().__init__(host)

    def versions(self) -> dict[str, str]:
        return {}


SHOPS: Sequence[type[Shop]] = (DnfShop, ZypperShop, PacmanShop, ApkShop)
