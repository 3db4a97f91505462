"""Makes the parts of a controller from its paths and its settings: identity, database, broker, options."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from typing import Any

from saltern.fleet.broker.config import BrokerSettings
from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.callbacks.mail import MailServer
from saltern.fleet.callbacks.reach import Destinations
from saltern.fleet.controller.addresses import Addresses
from saltern.fleet.controller.callbacks import CallbackOptions
from saltern.fleet.controller.foreign_broker import ForeignBroker
from saltern.fleet.controller.identity import ControllerIdentity, load_or_make_identity
from saltern.fleet.controller.members import Member, server_name
from saltern.fleet.controller.members import servers as member_servers
from saltern.fleet.controller.parts import PartOptions
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.peers import PeerOptions
from saltern.fleet.controller.reactor.options import ReactorOptions
from saltern.fleet.controller.recover import generation, reader_name
from saltern.fleet.controller.setting_readers import ALL
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.controller.ssh.desk import DeskOptions
from saltern.fleet.controller.ssh.roster import usual_sources
from saltern.fleet.files.conceal import Concealment
from saltern.fleet.files.keeper import Roots
from saltern.fleet.pillar.compile import engine_options, extra_options
from saltern.fleet.pillar.desk import PillarOptions
from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.drive import Reach
from saltern.fleet.ssh.pillar import PillarSources
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.secrets import Passwords, no_prompt
from saltern.fleet.ssh.transport.openssh import SshOptions
from saltern.fleet.ssh.transport.routes import Routes, make_transport
from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.migrate import migrate
from saltern.language.delayed import UNLIMITED

log = logging.getLogger(__name__)

GIB = 1024**3
Broker = EmbeddedBroker | ForeignBroker


class Builder:
    """Makes the parts of one controller."""

    def __init__(
        self, paths: ControllerPaths, settings: ControllerSettings, *, now: Callable[[], float]
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._now = now

    def identity(self) -> ControllerIdentity:
        name = self._settings.name or socket.gethostname().split(".")[0] or "controller"
        keys = self._paths.keys
        return load_or_make_identity(keys, fleet=self._settings.fleet, name=name, now=self._now())

    def database(self) -> Database:
        database = open_database(self._settings.database or f"sqlite:///{self._paths.database}")
        migrate(database)
        return database

    def broker(
        self, identity: ControllerIdentity, addresses: Addresses, members: dict[str, Member]
    ) -> Broker:
        """The controller's own broker, or the one that the configuration names."""
        settings, folder, fleet = self._settings, self._paths.broker, identity.file.fleet
        how = BrokerSettings(
            host=addresses.host,
            port=addresses.broker_port,
            names=addresses.names,
            server_name=server_name(identity.file.name),
            max_file_store=settings.broker_store * GIB,
            cluster=None if settings.bus else addresses.cluster(members),
        )
        if settings.bus:
            return ForeignBroker(folder, fleet, settings.bus, how, ca=settings.bus_ca, now=self._now)
        made = EmbeddedBroker(
            folder,
            fleet,
            how,
            binary=settings.broker_program,
            now=self._now,
            crashed=lambda why: log.error("%s", why),
        )
        made.peers = member_servers(members.values())
        return made

    def options(self, identity: ControllerIdentity, broker: Broker, database: Database) -> PartOptions:
        settings = self._settings
        with database.read() as connection:
            reader = reader_name(generation(connection))
        return PartOptions(
            name=identity.file.name,
            roots=identity.file.roots,
            servers=tuple(dict.fromkeys((*broker.servers, *broker.peers))),
            nodegroups=settings.nodegroups,
            limits=settings.limits,
            next_sync=settings.sync_seconds,
            files=self._files(),
            pillar=self._pillar(),
            repeat_limit=settings.delayed_repeat_limit,
            ssh=self._ssh(),
            roster=self._rosters,
            replicas=replicas_of(broker),
            reader=reader,
            reactor=self._reactor(identity),
            peers=PeerOptions(publish=settings.peer, run=settings.peer_run),
            callbacks=self._callbacks(),
            health_checks=self._settings.health_checks,
            vault_seed=broker.authority.account.seed,
        )

    def _reactor(self, identity: ControllerIdentity) -> ReactorOptions:
        settings, pillar = self._settings, self._pillar()
        given = settings.reactor
        return ReactorOptions(
            id=f"{identity.file.name}_master",
            rules=() if isinstance(given, str) else given,
            file=given if isinstance(given, str) else "",
            engine=engine_options(pillar.config),
            extra=extra_options(pillar.config, []),
            rate=settings.reactor_rate,
            depth=settings.reactor_depth,
            family=settings.reactor_family,
            patience=settings.reactor_patience,
            socket=settings.socket or self._paths.socket,
        )

    def _callbacks(self) -> CallbackOptions:
        """Where callbacks may go, and which server takes mails."""
        settings = self._settings
        security: Any = settings.mail_security
        mail = MailServer(
            host=settings.mail_host,
            port=settings.mail_port,
            sender=settings.mail_from or f"saltern@{socket.getfqdn()}",
            security=security,
            user=settings.mail_user,
            password_file=settings.mail_password_file,
            ca=settings.mail_ca,
        )
        reach = Destinations(settings.callbacks_allow, settings.callbacks_deny)
        return CallbackOptions(reach=reach, ca=settings.callbacks_ca, mail=mail)

    def _files(self) -> Roots:
        """Where the files of the fleet are."""
        return Roots(
            roots=self._settings.file_roots or {"base": [self._paths.root("salt")]},
            directory=self._paths.files,
            versions=self._settings.retention_trees,
            git_interval=self._settings.git_seconds,
            hidden=self._find_concealment(),
        )

    def _find_concealment(self) -> Concealment:
        """Which files are rendered here."""
        settings = self._settings
        names = settings.file_roots or {"base": []}
        usual = settings.render.get(ALL, "agent")
        limit = settings.delayed_repeat_limit
        return Concealment(
            environments=frozenset(
                name for name in names if settings.render.get(name, usual) == "controller"
            ),
            patterns=settings.render_files,
            limit=UNLIMITED if limit == -1 else limit,
        )

    def _rosters(self) -> tuple[str, ...]:
        """The rosters that the configuration names, else the default ones beside it."""
        return self._settings.roster or usual_sources(self._paths.config)

    def _ssh(self) -> DeskOptions:
        pillar = self._pillar()
        options = {
            "pillar_roots": pillar.pillar_roots,
            "file_roots": pillar.file_roots,
            "nodegroups": pillar.nodegroups,
            "pillar_source_merging_strategy": pillar.merging,
            "pillar_merge_lists": pillar.merge_lists,
            **engine_options(pillar.config),
        }
        config = extra_options(pillar.config, [])
        return DeskOptions(
            make_reach=self._reach,
            pillar=PillarSources(
                options=options, ext_pillar=pillar.ext_pillar, pinned=pillar.pinned, config=config
            ),
            roots={name: list(roots) for name, roots in pillar.file_roots.items()},
        )

    def _reach(self) -> Reach:
        """How hosts of the roster are reached: without asking a person for a password."""
        settings, folder = self._settings, self._paths.ssh
        passwords = Passwords(no_prompt)
        options = SshOptions(known_hosts=settings.ssh_known_hosts, accept_new=settings.ssh_accept_new_keys)
        transport = Routes(make_transport(settings.ssh_transport, options, passwords.of))
        bundles = Bundles(os.path.join(folder, "bundles"))
        return Reach(transport, passwords.of, Limits(settings.ssh_connections), bundles)

    def _pillar(self) -> PillarOptions:
        settings = self._settings
        return PillarOptions(
            pillar_roots=settings.pillar_roots or {"base": [self._paths.root("pillar")]},
            file_roots=settings.file_roots or {"base": [self._paths.root("salt")]},
            nodegroups=settings.nodegroups,
            ext_pillar=settings.ext_pillar,
            config=settings.pillar_config,
            merging=settings.pillar_source_merging_strategy,
            merge_lists=settings.pillar_merge_lists,
            pinned=settings.pinned_grains,
            life=settings.pillar_seconds,
        )


def replicas_of(broker: Broker) -> int:
    """How many brokers keep each stream."""
    return broker.settings.cluster.replicas if broker.settings.cluster else 1
