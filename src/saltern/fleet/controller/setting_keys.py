"""Every key of ``controller.yaml`` with what it takes, one row each."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from saltern.fleet.access.peers import read_peers
from saltern.fleet.controller import setting_readers as readers


class Key(Struct, frozen=True, kw_only=True):
    """One key of the file, with a dot for one inside a section; ``needs`` ends the sentence "… must be"."""

    reader: Callable[[object], object]
    needs: str
    about: str


_PORT = readers.number(0, 65_535)
_DAYS, _ROWS = readers.amount(0.01, 36_500), readers.number(100, 1_000_000_000)
KEYS: dict[str, Key] = {
    "fleet": Key(
        reader=readers.word,
        needs="one word",
        about="the name of the fleet, which cannot be changed later; generated at the first start",
    ),
    "name": Key(
        reader=readers.word,
        needs="one word",
        about="the name of this controller; the name of the machine by default",
    ),
    "host": Key(
        reader=readers.text, needs="an address", about="where the broker listens; `0.0.0.0` by default"
    ),
    "port": Key(reader=_PORT, needs="a port", about="the port of the broker, for agents; 4222 by default"),
    "names": Key(
        reader=readers.names,
        needs="a list of host names or addresses",
        about="by which agents reach the broker; those of the machine by default",
    ),
    "database": Key(
        reader=readers.database,
        needs="sqlite:////path or postgresql://user@host/name",
        about="where the database is; a SQLite file by default",
    ),
    "bus": Key(
        reader=readers.bus,
        needs="nats://HOST:PORT or tls://HOST:PORT",
        about="an existing NATS, in place of the controller's own broker",
    ),
    "bus_ca": Key(
        reader=readers.text, needs="a path", about="the CA of that NATS; those of the machine by default"
    ),
    "broker.program": Key(
        reader=readers.text, needs="a path", about="the nats-server to run, in place of the packaged one"
    ),
    "broker.store": Key(
        reader=readers.number(1, 100_000), needs="a number of GiB", about="how much its streams may take"
    ),
    "cluster.host": Key(
        reader=readers.text, needs="an address", about="where the broker listens for the other brokers"
    ),
    "cluster.port": Key(
        reader=_PORT, needs="a port", about="the port for the other brokers; 6222 by default"
    ),
    "cluster.routes": Key(
        reader=readers.names,
        needs="a list of HOST:PORT",
        about="the brokers of all controllers, this one included",
    ),
    "api.host": Key(
        reader=readers.text,
        needs="an address",
        about="where the API listens with TLS; as the broker by default",
    ),
    "api.port": Key(reader=_PORT, needs="a port", about="the port of the API; 4510 by default"),
    "api.certificate": Key(
        reader=readers.text, needs="a path", about="its certificate; one of the fleet's own CA by default"
    ),
    "api.key": Key(reader=readers.text, needs="a path", about="the key of that certificate"),
    "api.proxies": Key(
        reader=readers.names, needs="a list of addresses", about="proxies whose headers are trusted"
    ),
    "api.prefix": Key(
        reader=readers.text, needs="a path", about="the path below which a proxy serves the API"
    ),
    "api.console": Key(
        reader=readers.flag,
        needs="true or false",
        about="whether the API also serves the console; true by default",
    ),
    "socket": Key(reader=readers.text, needs="a path", about="the UNIX socket of the API"),
    "file_roots": Key(
        reader=readers.roots,
        needs="environments with directories",
        about="the files of the fleet; a root may be a git remote, `git+https://HOST/REPOSITORY@REF`",
    ),
    "pillar_roots": Key(
        reader=readers.roots, needs="environments with directories", about="the pillar of the fleet"
    ),
    "ext_pillar": Key(
        reader=readers.sources,
        needs="a list of NAME: ARGUMENTS",
        about="pillar from elsewhere: functions in `_pillar` of the roots, `cmd_yaml`, `cmd_json`, `file`",
    ),
    "pillar_config": Key(
        reader=readers.mapping,
        needs="a mapping",
        about="the configuration of renderers and pillar sources: `gpg_keydir`, `vault`, stores of sdb",
    ),
    "pillar_source_merging_strategy": Key(
        reader=readers.strategy,
        needs="one of smart, recurse, aggregate, overwrite, list, none",
        about="as in Salt",
    ),
    "pillar_merge_lists": Key(reader=readers.flag, needs="true or false", about="as in Salt"),
    "pillar.seconds": Key(
        reader=readers.amount(0, 86_400),
        needs="0 to 86400 seconds",
        about="how long a compiled pillar stays valid while files and facts are the same",
    ),
    "pinned_grains": Key(
        reader=readers.read_pins,
        needs="systems with grains",
        about="grains that the pillar uses whatever the system reports, by its id",
    ),
    "render": Key(
        reader=readers.where,
        needs="controller or agent, for all environments or by environment",
        about="where state files are rendered; their text does not leave the controller if it renders them",
    ),
    "render_files": Key(
        reader=readers.paths,
        needs="a list of globs",
        about="files of such an environment that agents do not get; by default `*.sls`, and templates outside"
        " directories called `files` and `templates`",
    ),
    "delayed_repeat_limit": Key(
        reader=readers.repeat_limit,
        needs="a number from 1 on, or None",
        about="how often one run may have a delayed block or SLS without its own limit rendered here",
    ),
    "nodegroups": Key(
        reader=readers.groups, needs="names with targets", about="as in Salt: `N@NAME` in a target"
    ),
    "roster": Key(
        reader=readers.paths,
        needs="a path, or a list of paths",
        about="systems without an agent, reached over SSH: files and directories as `--roster` takes them;"
        " by default `roster` and `roster.d` beside this file",
    ),
    "ssh.known_hosts": Key(
        reader=readers.text, needs="a path", about="the file of known host keys, in place of the user's"
    ),
    "ssh.accept_new_keys": Key(
        reader=readers.flag,
        needs="true or false",
        about="whether unknown host keys are accepted; changed ones never are",
    ),
    "ssh.connections": Key(
        reader=readers.number(1, 10_000), needs="a number from 1 on", about="how many are open at a time"
    ),
    "ssh.transport": Key(
        reader=readers.transport,
        needs="openssh or asyncssh",
        about="openssh: the system's ssh; asyncssh: the library, without a process for each system",
    ),
    "retention.jobs.days": Key(reader=_DAYS, needs="a number of days", about="how long ended jobs are kept"),
    "retention.jobs.rows": Key(reader=_ROWS, needs="a number from 100 on", about="how many jobs are kept"),
    "retention.events.days": Key(reader=_DAYS, needs="a number of days", about="how long events are kept"),
    "retention.events.rows": Key(
        reader=_ROWS, needs="a number from 100 on", about="how many events are kept"
    ),
    "retention.approvals.days": Key(
        reader=_DAYS, needs="a number of days", about="how long decided requests for approval are kept"
    ),
    "retention.approvals.rows": Key(
        reader=_ROWS, needs="a number from 100 on", about="how many requests for approval are kept"
    ),
    "retention.policies.days": Key(
        reader=_DAYS, needs="a number of days", about="how long old versions of the policy are kept"
    ),
    "retention.policies.rows": Key(
        reader=_ROWS, needs="a number from 100 on", about="how many versions of the policy are kept"
    ),
    "retention.chains.days": Key(
        reader=_DAYS, needs="a number of days", about="how long ended runs of chains are kept, with outputs"
    ),
    "retention.chains.rows": Key(
        reader=_ROWS, needs="a number from 100 on", about="how many runs of chains are kept"
    ),
    "retention.notifications.days": Key(
        reader=_DAYS, needs="a number of days", about="how long sent notifications are kept"
    ),
    "retention.notifications.rows": Key(
        reader=_ROWS, needs="a number from 100 on", about="how many notifications are kept"
    ),
    "retention.trees": Key(
        reader=readers.number(2, 10_000),
        needs="a number from 2 on",
        about="how many versions of the files of each environment are kept",
    ),
    "git.seconds": Key(
        reader=readers.amount(0, 86_400),
        needs="0 to 86400 seconds",
        about="how often git remotes are fetched",
    ),
    "reactor": Key(
        reader=readers.reactor,
        needs="a list of 'TAG: [FILES]', or the path of a file with one",
        about="as in Salt: reactions to events, by globs of their tags; files are paths or `salt://`",
    ),
    "reactor_rate": Key(
        reader=readers.amount(0.1, 10_000),
        needs="a number from 0.1 on",
        about="how many reactions are carried out a second",
    ),
    "reactor_depth": Key(
        reader=readers.number(1, 100),
        needs="a number from 1 to 100",
        about="how many reactions may trigger each other before they are stopped",
    ),
    "reactor_family": Key(
        reader=readers.number(1, 100_000),
        needs="a number from 1 on",
        about="how many reactions one event may cause in total, including those caused by their jobs",
    ),
    "reactor_patience": Key(
        reader=readers.amount(1, 604_800),
        needs="1 to 604800 seconds",
        about="the age at which an event is too old to react to, after the controller was down",
    ),
    "peer": Key(
        reader=read_peers,
        needs="ids with lists of functions, both as regular expressions",
        about="as in Salt: which systems may run which functions on others with `publish.publish`; an entry"
        " is a function, or a target with functions. Without it no system may",
    ),
    "peer_run": Key(
        reader=read_peers,
        needs="ids with lists of runners, both as regular expressions",
        about="as in Salt: which systems may run which runners with `publish.runner`; without it none may",
    ),
    "sync.seconds": Key(
        reader=readers.amount(5, 86_400),
        needs="5 to 86400 seconds",
        about="how often agents ask what they missed",
    ),
    "callbacks.allow": Key(
        reader=readers.networks,
        needs="a list of addresses or networks",
        about="where webhooks may go in spite of `callbacks.deny`, such as `10.0.0.5` or `127.0.0.0/8`",
    ),
    "callbacks.deny": Key(
        reader=readers.networks,
        needs="a list of addresses or networks",
        about="where webhooks may not go, whatever a name resolves to; by default this machine, link-local"
        " addresses (where clouds keep credentials), multicast and reserved ones",
    ),
    "callbacks.ca": Key(
        reader=readers.text, needs="a path", about="the CAs of receivers; those of the machine by default"
    ),
    "health_checks": Key(
        reader=readers.commands,
        needs="names with commands, each a list of words",
        about="commands that a run of a chain may run on this controller after a wave, by name",
    ),
    "mail.host": Key(reader=readers.text, needs="a host", about="the mail server that takes notifications"),
    "mail.port": Key(reader=_PORT, needs="a port", about="its port; 25 by default, 465 with `tls`"),
    "mail.from": Key(
        reader=readers.text,
        needs="an address",
        about="the sender of notifications; `saltern@HOST` by default",
    ),
    "mail.security": Key(
        reader=readers.security,
        needs="none, starttls or tls",
        about="how the connection is encrypted; `starttls` by default",
    ),
    "mail.user": Key(reader=readers.text, needs="a name", about="the name to log in there with"),
    "mail.password_file": Key(reader=readers.text, needs="a path", about="the file that has the password"),
    "mail.ca": Key(reader=readers.text, needs="a path", about="its CAs; those of the machine by default"),
}
