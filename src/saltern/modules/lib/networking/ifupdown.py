"""Debian's ifupdown: /etc/network/interfaces and its includes, scripts for routes, and the host name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.lib.networking import checks, ifupdown_options, resolver, stanzas
from saltern.modules.lib.networking.model import DesiredInterface, Route

INTERFACES = "/etc/network/interfaces"
MORE = "/etc/network/interfaces.d"
UP, DOWN = "/etc/network/if-up.d", "/etc/network/if-down.d"
DEFAULTS = "/etc/default/networking"
HOSTNAME = "/etc/hostname"
RUN_PARTS = re.compile(r"[A-Za-z0-9_-]+")  # the names of files that ifup reads and runs


class Ifupdown:
    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    # -- interfaces ---------------------------------------------------------------------------------

    def interface_lines(self, name: str, kind: str = "eth") -> list[str]:
        """The lines of an interface; for the kind ``source``, every such line of the main file."""
        if kind == "source":
            blocks = stanzas.parse(self._ctx.host.read(INTERFACES) or "")
            return [
                f"source {block.names[0]}\n" for block in blocks if block.kind == "source" and block.names
            ]
        blocks = [block for path in self._files() for block in stanzas.parse(self._ctx.host.read(path) or "")]
        return stanzas.lines_of(blocks, name)

    def _files(self) -> list[str]:
        """The main file and its includes; ifup follows includes only in files of its own directory."""
        from glob import glob

        found = [INTERFACES]
        for block in stanzas.parse(self._ctx.host.read(INTERFACES) or ""):
            for pattern in block.names:
                place = os.path.join(os.path.dirname(INTERFACES), pattern)
                if block.kind == "source":
                    found += sorted(path for path in glob(place) if os.path.isfile(path))
                elif block.kind == "source-directory":
                    found += [path for path in sorted(glob(f"{place}/*")) if _runs(path)]
        return list(dict.fromkeys(found))

    def wanted_interface(self, want: DesiredInterface) -> list[str]:
        lines = ifupdown_options.lines(want)
        if want.kind != "source":
            return lines
        now = self.interface_lines(want.name, "source")
        return now if lines[0] in now else [*now, *lines]

    def store_interface(self, want: DesiredInterface, lines: Sequence[str]) -> None:
        """Write the interface to the requested file, or the one that has it; other files lose it."""
        host = self._ctx.host
        if want.kind == "source":
            text = (host.read(INTERFACES) or "").rstrip()
            return host.write(INTERFACES, f"{text}\n{lines[-1]}".lstrip("\n"))
        target = self._target(want)
        for path in self._files():
            text = host.read(path) or ""
            if path != target and any(stanzas.concerns(block, want.name) for block in stanzas.parse(text)):
                host.write(path, stanzas.replace_stanza(text, want.name, []))
        host.makedirs(os.path.dirname(target))
        return host.write(target, stanzas.replace_stanza(host.read(target) or "", want.name, list(lines)))

    def _target(self, want: DesiredInterface) -> str:
        if asked := want.settings.get("filename"):
            return os.path.join(MORE, checks.word("filename", asked))
        for path in self._files():
            blocks = stanzas.parse(self._ctx.host.read(path) or "")
            if any(block.kind == "iface" and want.name in block.names for block in blocks):
                return path
        return INTERFACES

    def up(self, name: str) -> str:
        return tool(self._ctx, "ifup", name).out

    def down(self, name: str) -> str:
        return tool(self._ctx, "ifdown", name).out

    def restart(self) -> None:
        restart = self._ctx.functions["service.restart"]
        restart("networking")

    # -- routes -------------------------------------------------------------------------------------

    def route_files(self, name: str) -> list[str]:
        script = f"route-{name.replace('.', '_').replace(':', '_')}"  # run-parts ignores names with dots
        return [f"{UP}/{script}", f"{DOWN}/{script}"]

    def wanted_routes(self, name: str, routes: Sequence[Route]) -> dict[str, str]:
        up, down = self.route_files(name)
        if not routes:
            return {up: "", down: ""}
        return {up: _script(name, routes, "replace"), down: _script(name, routes, "del")}

    # -- the machine --------------------------------------------------------------------------------

    def settings_lines(self) -> list[str]:
        host = self._ctx.host
        domain, search = resolver.names(host.read(resolver.RESOLV) or "")
        return _settings(
            _configured_start(host.read(DEFAULTS) or ""), (host.read(HOSTNAME) or "").strip(), domain, search
        )

    def wanted_settings(self, settings: Mapping[str, object]) -> list[str]:
        now = dict(line.split("=", 1) for line in self.settings_lines())
        enabled = settings.get("enabled")
        networking = now["NETWORKING"] if enabled is None else checks.yes_no("enabled", enabled)
        host, _, domain = resolver.host_name(settings.get("hostname") or now["HOSTNAME"]).partition(".")
        search = settings.get("search")
        return _settings(
            networking,
            host,
            domain or now["DOMAIN"],
            now["SEARCH"] if search is None else checks.each(checks.word)("search", search),
        )

    def store_settings(self, lines: Sequence[str]) -> None:
        host, wanted = self._ctx.host, dict(line.split("=", 1) for line in lines)
        now = dict(line.split("=", 1) for line in self.settings_lines())
        if wanted["NETWORKING"] != now["NETWORKING"]:
            host.write(DEFAULTS, _with_configured(host.read(DEFAULTS) or "", wanted["NETWORKING"]))
        if wanted["HOSTNAME"] != now["HOSTNAME"]:
            host.write(HOSTNAME, f"{wanted['HOSTNAME']}\n")
        if (wanted["DOMAIN"], wanted["SEARCH"]) != (now["DOMAIN"], now["SEARCH"]):
            text = host.read(resolver.RESOLV) or ""
            host.write(resolver.RESOLV, resolver.with_names(text, wanted["DOMAIN"], wanted["SEARCH"]))


def _runs(path: str) -> bool:
    return os.path.isfile(path) and RUN_PARTS.fullmatch(os.path.basename(path)) is not None


def _script(name: str, routes: Sequence[Route], verb: str) -> str:
    lines = ["#!/bin/sh", f'[ "$IFACE" = "{name}" ] || exit 0']
    for one in routes:
        family = ["-6"] if one.version == 6 else []
        way = [*(["via", one.gateway] if one.gateway else []), "dev", name]
        words = [
            "ip",
            *family,
            "route",
            verb,
            one.network,
            *way,
            *(["metric", one.metric] if one.metric else []),
        ]
        lines += [*([f"# {one.label}"] if one.label else []), " ".join(words)]
    return "\n".join([*lines, ""])


def _settings(networking: str, host: str, domain: str, search: str) -> list[str]:
    return [f"NETWORKING={networking}", f"HOSTNAME={host}", f"DOMAIN={domain}", f"SEARCH={search}"]


CONFIGURED = re.compile(r"^CONFIGURE_INTERFACES=[\"']?(yes|no)[\"']?[ \t]*$", re.MULTILINE)


def _configured_start(text: str) -> str:
    """Whether interfaces are brought up at boot; the default is yes."""
    found = CONFIGURED.findall(text)
    return found[-1] if found else "yes"


def _with_configured(text: str, value: str) -> str:
    line = f"CONFIGURE_INTERFACES={value}"
    if CONFIGURED.search(text):
        return CONFIGURED.sub(line, text)
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n"
