"""Keys of a Salt minion or master configuration that are not options of saltern, but are no mistakes.

Some are followed (``FOLLOWED``). The others mean nothing to a local engine and are accepted silently, so
that an existing file can be used unchanged. Keys that would change a result if they were ignored
(``s3fs_…``, ``svnfs_…``) are omitted on purpose: they are reported as not used.
"""

from __future__ import annotations

# Salt's keys that are read from ``Settings.extra``, and what they do.
FOLLOWED: dict[str, str] = {
    "default_include": "Where `schedule` keeps its file.",
    "enable_fqdns_grains": "False: the names of the machine's addresses are not looked up for grains.",
    "engines": "Where the programs of [other tools](../guides/engines.md) are.",
    "ext_pillar": "Pillar from modules in `_pillar`, or from an installed Salt; overrides that of the files.",
    "fileserver_backend": "Whether `gitfs_remotes` are used, and whether they come before `file_roots`.",
    "gitfs_remotes": "[Git repositories](../guides/git-sources.md) among the roots; `gitfs_…` is for all.",
    "git_pillar_base": "The branch of the pillar source `git` that is `base`; and more `git_pillar_…`.",
    "git_pillar_includes": "False: the repositories of the pillar source `git` see only their own files.",
    "git_pillar_update_interval": "Seconds after which the pillar source `git` asks its remotes again.",
    "file_client": "`local`: `saltern compare` asks Salt without its master.",
    "mine_functions": "What an agent publishes for others: [the mine](../guides/mine.md).",
    "mine_interval": "Minutes after which an agent publishes it again; 60 by default.",
    "jinja_lstrip_blocks": "As `lstrip_blocks` in `jinja_env` and `jinja_sls_env`.",
    "jinja_trim_blocks": "As `trim_blocks` in `jinja_env` and `jinja_sls_env`.",
    "master": "The grain `master`.",
    "master_tops": "More SLS for this machine, from a command (`ext_nodes`) or from modules in `_tops`.",
    "master_tops_first": "What `master_tops` gives comes before what the top file gives.",
    "mysql": "The database of the source `mysql` of `ext_pillar`.",
    "pillar_raise_on_missing": "`pillar.get` without a default fails if the key is missing.",
    "pillarenv_from_saltenv": "The pillar comes from the environment of the states.",
    "postgres": "The database of the source `postgres` of `ext_pillar`.",
    "providers": "The module for a name, such as `{service: sysv}`.",
    "root_dir": "The prefix of paths in `opts`, such as `pki_dir`.",
    "sqlite3": "The database of the source `sqlite3` of `ext_pillar`.",
    "user": "The user of the minion, as Salt modules see it.",
    "vault": "The server that the source `vault` and the driver `vault` of `sdb` ask.",
    "x509_signing_policies": "The signing policies of `x509`, by name.",
}

# Families of keys, by their prefix.
_FAMILIES = (
    "acceptance_",
    "auth_",
    "autosign_",
    "beacons",
    "cluster_",
    "eauth_",
    "event_",
    "fileserver_",
    "git_pillar_",
    "gitfs_",
    "http_",
    "keep_",
    "key_",
    "log_",
    "master",
    "mine_",
    "minion_",
    "minionfs_",
    "netapi_",
    "pillar_cache",
    "ping_",
    "proxy",
    "pub_",
    "queue_",
    "random_",
    "reactor",
    "recon_",
    "request_",
    "rest_",
    "ret_",
    "return",
    "roster",
    "runner_",
    "saltpip_",
    "schedule",
    "snapper_",
    "source_",
    "ssh_",
    "sudo_",
    "syndic_",
    "tcp_",
    "thin_",
    "thorium",
    "token_",
    "winrepo_",
    "worker_",
    "zmq_",
)

_SINGLE = """
add_proxymodule_to_opts always_verify_signature append_domain append_minionid_config_dirs archive_jobs
auto_accept autoload_dynamic_modules ca_bundle cache cache_jobs cache_sreqs clean_dynamic_modules
cli_summary client_acl_verify con_cache conf_file cython_enable disable_modules disable_returners discovery
drop_messages_signature_fail enable_gpu_grains enable_legacy_startup_events enable_lspci enable_ssh_minions
enable_zip_modules encryption_algorithm engines_dirs ext_job_cache external_auth extmod_blacklist
extmod_whitelist features file_buffer_size file_client file_recv file_recv_max_size fips_mode
gather_job_timeout grains_cache grains_cache_expiration grains_deep_merge grains_dirs
grains_refresh_every grains_refresh_pre_exec id_function include interface ipc_mode ipc_write_buffer ipv6
job_cache keysize local loop_interval max_event_size max_minions max_open_files memcache_expire_seconds
modules_max_memory multiprocessing no_proxy open_mode optimization_order order_masters output output_file
outputter_dirs peer peer_run permissive_acl permissive_pki_access pidfile pki_dir preserve_minion_cache
process_count_max publish_port publish_session publisher_acl publisher_acl_blacklist range_server
rejected_retry render_dirs resolve_dns_fallback retry_dns retry_dns_count returner_dirs rotate_aes_key saltern
salt_cp_chunk_size serial show_jid show_timeout sign_pub_messages signing_algorithm sls_list sock_dir
sock_pool_size ssl startup_states state_queue states_dirs tgt_type timeout top_file transport unique_jid
update_restart_services update_url use_master_when_local use_os_truststore use_superseded utils_dirs
verify_env verify_master_pubkey_sign whitelist_modules
"""
_KEYS = frozenset(_SINGLE.split())


def is_foreign(key: str) -> bool:
    """True if ``key`` is followed, belongs to other parts of Salt, or to a module (``mysql.host``)."""
    return key in FOLLOWED or key in _KEYS or key.startswith(_FAMILIES) or "." in key
