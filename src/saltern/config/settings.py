"""The settings of the engine: one field per row of ``options.OPTIONS``, with Salt's names and defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

Roots = dict[str, list[str]]
COMMITS = "source_commits"  # in ``extra``: the commit of each repository among the roots
WITHIN = "SALTERN_RUN"  # the number of the run, in the environment of its programs


def _states() -> Roots:
    return {"base": ["/srv/salt"]}


def _pillar() -> Roots:
    return {"base": ["/srv/pillar"]}


def _hostname() -> str:
    return os.uname().nodename


class Settings(Struct, frozen=True, kw_only=True):
    """The configuration of a run. ``options.OPTIONS`` describes each field.

    ``extra`` keeps every configuration key that is not an option, so that ``config.get`` finds
    it; ``files`` are the files that were read, in that order.
    """

    id: str = field(default_factory=_hostname)
    file_roots: Roots = field(default_factory=_states)
    pillar_roots: Roots = field(default_factory=_pillar)
    git_update_interval: float = 60.0
    file_tree: str = ""
    agent_socket: str = ""
    agent_job: str = ""
    saltenv: str | None = None
    pillarenv: str | None = None
    lock_saltenv: bool = False
    env_order: list[str] = []
    default_top: str = "base"
    delayed_repeat_limit: int | None = 1
    delayed_max_depth: int = 50
    delayed_max_frames: int = 1000
    delayed_callback_timeout: float = 300.0
    state_dir: str = ""
    reboot_command: list[str] = []
    reboot_cancel_command: list[str] = []
    poweroff_command: list[str] = []
    keep_runs: int = 100
    output_limit: int = 16 << 20
    output_file_limit: int = 1 << 30
    queue_runs: float = 600
    salt_minion: str = ""
    chains_in_memory: bool = False
    state_top: str = "top.sls"
    state_top_saltenv: str | None = None
    top_file_merging_strategy: str = "merge"
    nodegroups: dict[str, object] = {}
    controller: str = ""
    test: bool = False
    strict: bool = False
    check: dict[str, object] = {}

    renderer: str = "jinja|yaml"
    renderer_blacklist: list[str] = []
    renderer_whitelist: list[str] = []
    gpg_keydir: str = ""
    sops_age_key_file: str = ""
    gpg_decrypt_must_succeed: bool = True
    jinja_env: dict[str, object] = {}
    jinja_sls_env: dict[str, object] = {}
    allow_undefined: bool = False
    render_time_limit: float = 30.0
    render_memory_limit: int = 1024**3
    max_sls_size: int = 10 * 1024 * 1024
    max_yaml_depth: int = 100
    max_yaml_nodes: int = 1_000_000
    archive_max_entries: int = 1_000_000
    archive_max_size: int = 32 << 30
    archive_max_ratio: int = 200

    pillar_source_merging_strategy: str = "smart"
    pillar_merge_lists: bool = False
    grains: dict[str, object] = {}
    grains_file: str = ""

    failhard: bool = False
    state_auto_order: bool = True
    state_aggregate: bool | list[str] = False
    state_max_parallel: int = 0
    state_events: bool = False
    disabled_requisites: list[str] = []
    global_state_conditions: dict[str, object] = {}
    minion_options: dict[str, object] = {}
    diff_new_files: bool = False
    refresh_in_test: bool = True
    cmd_safe: bool = True
    backup_mode: str = ""
    hash_type: str = "sha256"

    cachedir: str = ""
    module_dirs: list[str] = []
    extension_modules: str = ""
    plan_signers: str = ""

    log_level: str = "warning"
    color: bool | str = "auto"
    state_verbose: bool = True
    state_output: str = "full"
    state_output_diff: bool = False
    state_output_profile: bool = True
    state_output_pct: bool = False
    state_tabular: bool | str = False
    state_compress_ids: bool = False
    state_output_exclude: list[str] = []
    state_output_terse: list[str] = []

    extra: dict[str, object] = {}
    files: list[str] = []


def has_repositories(settings: Settings) -> bool:
    """True if any root is a git repository. Every run asks, so this imports nothing of git."""
    roots = (settings.file_roots, settings.pillar_roots)
    named = any(one.startswith("git+") for some in roots for dirs in some.values() for one in dirs)
    return named or (bool(settings.extra.get("gitfs_remotes")) and not settings.file_tree)


def commits_of(extra: Mapping[str, object]) -> dict[str, str]:
    """The commits of a run's repositories, by address."""
    found = extra.get(COMMITS)
    return {str(one): str(commit) for one, commit in found.items()} if isinstance(found, Mapping) else {}


def with_commits(settings: Settings, commits: Mapping[str, str]) -> Settings:
    """The settings with these commits; they override the existing ones."""
    known = commits_of(settings.extra)
    if not commits.items() - known.items():
        return settings
    return replace(settings, extra={**settings.extra, COMMITS: {**known, **commits}})


def cache_directory(settings: Settings) -> str:
    """The directory where this user may keep files between runs. It may not exist yet."""
    if settings.cachedir:
        return settings.cachedir
    if os.geteuid() == 0:
        return "/var/cache/saltern"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "saltern")


def state_directory(settings: Settings) -> str:
    """The directory for data that must survive a reboot."""
    if settings.state_dir:
        return settings.state_dir
    if os.geteuid() == 0:
        return "/var/lib/saltern"
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "saltern")
