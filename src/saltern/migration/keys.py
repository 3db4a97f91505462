"""The fate of each key of a Salt master and minion: one row each."""

from __future__ import annotations

from msgspec import Struct

SAME, CHANGED, NEEDLESS, MISSING = "same", "changed", "needless", "missing"


class Fate(Struct, frozen=True):
    """``kind`` is the fate of a key, ``advice`` what the reader has to do."""

    kind: str
    advice: str = ""


_AS_IS = Fate(SAME)
_NATS = Fate(NEEDLESS, "agents connect to the controller's broker; see port and host in controller.yaml")
_KEYS = Fate(CHANGED, "systems join with a token: saltern fleet tokens")
_LOGS = Fate(NEEDLESS, "logs go to the journal of systemd")
_ENGINES = Fate(MISSING, "keep the master for its engines, or send events: saltern events send")
_RETURNERS = Fate(CHANGED, "all returns are in the controller's database and available through the API")
_AGENT = Fate(SAME, "in agent.yaml")
_PILLAR = Fate(CHANGED, "moved below pillar_config in controller.yaml")
_GIT = Fate(
    CHANGED, "git remotes are roots in file_roots of controller.yaml: git+https://HOST/REPOSITORY@REF"
)
_MASTER_SCHEDULE = Fate(CHANGED, "saltern schedule add: docs/guides/windows-and-schedules.md")
_CLOUD = Fate(MISSING, "keep the master for it")
_SITES = Fate(CHANGED, "a location with a broker of its own is a site: docs/guides/sites.md")
_TUNING = Fate(NEEDLESS, "it only tunes Salt itself")

MASTER: dict[str, Fate] = {
    "file_roots": _AS_IS,
    "pillar_roots": _AS_IS,
    "ext_pillar": _AS_IS,
    "pillar_source_merging_strategy": _AS_IS,
    "pillar_merge_lists": _AS_IS,
    "nodegroups": _AS_IS,
    "fileserver_backend": Fate(CHANGED, "roots and git remotes are both in file_roots of controller.yaml"),
    "gitfs_remotes": _GIT,
    "gitfs_base": Fate(CHANGED, "the reference is part of the root: …@REF"),
    "publisher_acl": Fate(
        CHANGED, "converted to policy.yaml; check it, then: saltern policy set policy.yaml"
    ),
    "external_auth": Fate(
        CHANGED, "converted to policy.yaml; check it, then: saltern policy set policy.yaml"
    ),
    "publisher_acl_blacklist": Fate(CHANGED, "write a rule that refuses: docs/guides/who-may-do-what.md"),
    "peer": _AS_IS,
    "peer_run": _AS_IS,
    "reactor": Fate(SAME, "saltern reactor test TAG DATA shows the reactions to an event"),
    "reactor_refresh_interval": _TUNING,
    "reactor_worker_threads": _TUNING,
    "reactor_worker_hwm": _TUNING,
    "engines": _ENGINES,
    "schedule": _MASTER_SCHEDULE,
    "gpg_keydir": _PILLAR,
    "vault": _PILLAR,
    "sqlite3": _PILLAR,
    "mysql": _PILLAR,
    "postgres": _PILLAR,
    "master_job_cache": _RETURNERS,
    "ext_job_cache": _RETURNERS,
    "event_return": _RETURNERS,
    "keep_jobs": Fate(CHANGED, "retention.jobs.days in controller.yaml"),
    "keep_jobs_seconds": Fate(CHANGED, "retention.jobs.days in controller.yaml"),
    "auto_accept": _KEYS,
    "autosign_file": _KEYS,
    "autosign_grains_dir": _KEYS,
    "autoreject_file": _KEYS,
    "open_mode": _KEYS,
    "interface": _NATS,
    "publish_port": _NATS,
    "ret_port": _NATS,
    "transport": _NATS,
    "ssl": _NATS,
    "master_tops": Fate(CHANGED, "top files per system are read by the agent; put master_tops in its file"),
    "order_masters": _SITES,
    "syndic_master": _SITES,
    "rest_cherrypy": Fate(CHANGED, "the controller has an HTTP API: docs/guides/api.md"),
    "rest_tornado": Fate(CHANGED, "the controller has an HTTP API: docs/guides/api.md"),
    "netapi_enable_clients": Fate(CHANGED, "the controller has an HTTP API: docs/guides/api.md"),
    "log_level": _LOGS,
    "log_file": _LOGS,
    "timeout": Fate(CHANGED, "--wait and --expires of each command"),
    "cachedir": _TUNING,
    "pki_dir": _KEYS,
    "root_dir": _TUNING,
    "user": Fate(CHANGED, "User= in the unit of the controller"),
}
MINION: dict[str, Fate] = {
    "id": Fate(CHANGED, "saltern agent join TOKEN --id ID"),
    "master": Fate(CHANGED, "the token of an agent contains the address of the controller"),
    "master_port": _NATS,
    "publish_port": _NATS,
    "transport": _NATS,
    "mine_functions": _AGENT,
    "mine_interval": _AGENT,
    "beacons": _AGENT,
    "schedule": _AGENT,
    "schedule_returner": _AGENT,
    "schedules": _AGENT,
    "engines": _ENGINES,
    "returner": _RETURNERS,
    "startup_states": Fate(CHANGED, "a schedule of the agent that runs at its start: docs/guides/agent.md"),
    "log_level": _LOGS,
    "log_file": _LOGS,
    "cachedir": _TUNING,
    "pki_dir": _KEYS,
    "root_dir": _TUNING,
    "user": Fate(CHANGED, "the agent runs as root"),
}
PREFIXES: dict[str, Fate] = {
    "autosign_": _KEYS,
    "cloud": _CLOUD,
    "git_pillar_": _PILLAR,
    "gitfs_": _GIT,
    "log_": _LOGS,
    "rest_": Fate(CHANGED, "the controller has an HTTP API: docs/guides/api.md"),
    "return": _RETURNERS,
    "syndic_": _SITES,
    "winrepo_": Fate(MISSING, "saltern does not run on Windows"),
    "zmq_": _NATS,
    "worker_": _TUNING,
    "tcp_": _NATS,
}

AGENT_KEYS = frozenset(name for name, fate in MINION.items() if fate is _AGENT)
"""Keys of a minion that an agent reads, too, and that are not options of a run."""


def is_for_pillar(key: str) -> bool:
    """True if a key of the master is one of ``pillar_config``."""
    return fate_of(key, MASTER) is _PILLAR


def fate_of(key: str, table: dict[str, Fate]) -> Fate | None:
    """The fate of a key; None if no table has it."""
    if key in table:
        return table[key]
    return next((fate for prefix, fate in PREFIXES.items() if key.startswith(prefix)), None)
