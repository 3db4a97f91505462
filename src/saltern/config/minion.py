"""``opts`` of templates and modules: our settings, and every default option of a Salt minion.

Formulas read them (``opts['config_dir']``, ``config.get('pki_dir')``), and must not fail where an
option means nothing here. Options that only saltern has are left out until they are set, so that
``config.get`` finds a pillar key of that name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from msgspec.structs import asdict

from saltern.config.options import OPTIONS
from saltern.config.settings import Settings, cache_directory

# Our options that a minion has as well; all others are only saltern's.
SHARED = """
backup_mode cachedir cmd_safe default_top disabled_requisites env_order extension_modules failhard file_roots
global_state_conditions gpg_decrypt_must_succeed grains hash_type id lock_saltenv log_level module_dirs
pillar_merge_lists pillar_roots pillar_source_merging_strategy pillarenv renderer renderer_blacklist
renderer_whitelist saltenv state_aggregate state_auto_order state_events state_max_parallel state_output
state_output_diff state_output_profile state_top state_top_saltenv state_verbose test
top_file_merging_strategy
"""
OWN = frozenset(OPTIONS) - frozenset(SHARED.split())

FALSE = """
always_verify_signature auth_safemode beacons_before_connect cache_jobs cluster_mode cython_enable
disable_aes_with_tls discovery doc enable_fqdns_grains enable_zip_modules file_recv
fileserver_ignoresymlinks fips_mode force_color git_pillar_disable_saltenv_mapping
git_pillar_insecure_auth gitfs_disable_saltenv_mapping gitfs_insecure_auth gpg_cache grains_cache
grains_deep_merge grains_run hard_crash master_failback master_shuffle master_tops_first mine_return_job
minion_id_lowercase minion_id_remove_domain minion_sign_messages multifunc_ordered no_color
no_return_event open_mode permissive_pki_access pillar_cache pillar_includes_override_sls pillar_opts
pillar_raise_on_missing pillarenv_from_saltenv print_metadata profiling_enabled random_master
refresh_grains_cache rejected_retry restart_on_error retcode_passthrough
saltpip_disable_pip_version_check saltpip_no_deps saltpip_no_index saltpip_use_pythonpath
scheduler_before_connect sign_pub_messages skip_grains snapper_states state_queue unique_jid update_url
use_master_when_local use_os_truststore verify_master_pubkey_sign winrepo_insecure_auth zmq_filtering
"""
TRUE = """
auto_accept autoload_dynamic_modules cache_sreqs caller clean_dynamic_modules enable_gpu_grains
enable_legacy_startup_events fileserver_followsymlinks git_pillar_global_lock git_pillar_includes
git_pillar_ssl_verify gitfs_global_lock gitfs_ssl_verify gpg_decrypt_must_succeed local mine_enabled
minion_id_caching multiprocessing pillar_mask_output pub_ret recon_randomize resolve_dns_fallback
saltpip_allow_find_links ssh_merge_pillar tcp_keepalive verify_env winrepo_ssl_verify zmq_monitor
"""
NONE = """
ipv6 log_level_logfile password pillar.cache_driver reactor_niceness retry_dns_count ssl thoriumenv
username
"""
TEXT = """
ext_job_cache git_pillar_env git_pillar_fallback git_pillar_passphrase git_pillar_password
git_pillar_privkey git_pillar_proxy git_pillar_pubkey git_pillar_root git_pillar_user gitfs_fallback
gitfs_mountpoint gitfs_passphrase gitfs_password gitfs_privkey gitfs_proxy gitfs_pubkey gitfs_root
gitfs_user master_finger proxy_host proxy_password proxy_username return source_address
source_interface_name startup_states sudo_user syndic_finger top_file winrepo_fallback winrepo_passphrase
winrepo_password winrepo_privkey winrepo_proxy winrepo_pubkey winrepo_user
"""
LISTS = """
append_minionid_config_dirs arg decrypt_pillar disable_modules disable_returners engines file_ignore_glob
file_ignore_regex gitfs_remotes gitfs_saltenv gitfs_saltenv_blacklist gitfs_saltenv_whitelist
grains_blacklist grains_dirs minion_restart_command no_parse outputter_dirs render_dirs returner_dirs
sls_list start_event_grains states_dirs update_restart_services utils_dirs whitelist_modules
whitelist_state_modules
"""
MAPPINGS = """
beacons extmod_blacklist extmod_whitelist features id_function log_granular_levels providers
publisher_acl publisher_acl_blacklist schedule
"""
ZEROS = """
acceptance_wait_time_max auth_retries grains_refresh_every ipc_write_buffer log_rotate_backup_count
log_rotate_max_bytes master_alive_interval master_failback_interval ping_interval proxy_port
random_startup_delay source_publish_port source_ret_port winrepo_installer_cache_expire
"""
NUMBERS = """
acceptance_wait_time=10 auth_timeout=5 auth_tries=7 autosign_timeout=120 file_buffer_size=262144
file_recv_max_size=100 git_pillar_depth=1 git_pillar_update_interval=60 gitfs_depth=1
gitfs_update_interval=60 gpg_cache_ttl=86400 grains_cache_expiration=300 hgfs_update_interval=60
http_max_body=107374182400 keysize=2048 loop_interval=1 master_port=4506 master_tries=-1
max_event_size=1048576 mine_interval=60 minion_jid_queue_hwm=100 minionfs_update_interval=60
modules_max_memory=-1 pillar_cache_ttl=3600 process_count_max=-1 random_reauth_delay=10
reactor_refresh_interval=60 reactor_worker_hwm=10000 reactor_worker_threads=10 recon_default=1000
recon_max=10000 request_channel_timeout=60 request_channel_tries=3 retry_dns=30 return_retry_timer=5
return_retry_timer_max=10 return_retry_tries=3 roots_update_interval=60 s3fs_update_interval=60
salt_cp_chunk_size=65536 sock_pool_size=1 svnfs_update_interval=60 syndic_retries=3
tcp_authentication_retries=5 tcp_keepalive_cnt=-1 tcp_keepalive_idle=300 tcp_keepalive_intvl=-1
tcp_pub_port=4510 tcp_pull_port=4511 tcp_reconnect_backoff=1 winrepo_cache_expire_max=604800
winrepo_cache_expire_min=1800 winrepo_depth=1
"""
TEXTS = """
__cli=salt-call __role=minion cache=localfs decrypt_pillar_default=gpg decrypt_pillar_delimiter=:
default_include=minion.d/*.conf encryption_algorithm=OAEP-SHA1 event_match_type=startswith
file_client=local git_pillar_base=master git_pillar_branch=master gitfs_base=master
gpg_cache_backend=disk interface=0.0.0.0 ipc_mode=ipc keys.cache_driver=localfs_key log_datefmt=%H:%M:%S
log_datefmt_console=%H:%M:%S log_fmt_minion_id=[%(minion_id)s] log_level=warning master=salt
master_sign_key_name=master_sign master_type=str master_uri_format=default pillar_cache_backend=disk
range_server=range:80 resource_pillar_key=resources signing_algorithm=PKCS1v15-SHA1
snapper_states_config=root thorium_top=top.sls transport=zeromq winrepo_branch=master
winrepo_cachefile=winrepo.p winrepo_source_dir=salt://win/repo-ng/
"""
REFSPECS = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
# Where a minion keeps its files, below ``root_dir``.
PLACES = {
    "log_file": "var/log/salt/minion",
    "pidfile": "var/run/salt-minion.pid",
    "pki_dir": "etc/salt/pki/minion",
    "sock_dir": "var/run/salt/minion",
}
CONFIG = "/etc/salt/minion"


def options(settings: Settings, user: str) -> dict[str, object]:
    """A new dictionary for each call: templates may change it."""
    given = {
        name: value for name, value in asdict(settings).items() if name in OPTIONS and _shown(name, value)
    }
    cache = cache_directory(settings)
    config = os.path.abspath(settings.files[0]) if settings.files else CONFIG
    root = str(settings.extra.get("root_dir") or "/")
    return {
        **_usual(),
        **{name: os.path.join(root, place) for name, place in PLACES.items()},
        **given,
        "conf_file": config,
        "config_dir": os.path.dirname(config),
        "cachedir": cache,
        "__cachedir": cache,
        "extension_modules": settings.extension_modules or os.path.join(cache, "extmods"),
        "root_dir": root,
        "user": user,
        **{name: value for name, value in settings.extra.items() if name not in ("root_dir", "conf_file")},
    }


def _shown(name: str, value: object) -> bool:
    return name not in OWN or value != OPTIONS[name].default


def _usual() -> dict[str, object]:
    result = dict(_values())
    for name in LISTS.split():
        result[name] = []
    for name in MAPPINGS.split():
        result[name] = {}
    return {**result, **_nested_defaults()}


@cache
def _values() -> Mapping[str, object]:
    """The options whose values no template can change."""
    result: dict[str, object] = {
        **dict.fromkeys(FALSE.split(), False),
        **dict.fromkeys(TRUE.split(), True),
        **dict.fromkeys(NONE.split()),
        **dict.fromkeys(TEXT.split(), ""),
        **dict.fromkeys(ZEROS.split(), 0),
    }
    for pair in NUMBERS.split():
        name, _, number = pair.partition("=")
        result[name] = int(number)
    for pair in TEXTS.split():
        name, _, result[name] = pair.partition("=")
    return result


def _nested_defaults() -> dict[str, object]:
    winrepo = "https://github.com/saltstack/salt-winrepo"
    return {
        "decrypt_pillar_renderers": ["gpg"],
        "fileserver_backend": ["roots"],
        **{f"{name}_refspecs": list(REFSPECS) for name in ("git_pillar", "gitfs", "winrepo")},
        **{f"{name}_ref_types": ["branch", "tag", "sha"] for name in ("git_pillar", "gitfs")},
        "http_connect_timeout": 20.0,
        "http_request_timeout": 3600.0,
        "log_datefmt_logfile": "%Y-%m-%d %H:%M:%S",
        "log_fmt_jid": "[JID: %(jid)s]",
        "log_fmt_console": "[%(levelname)-8s] %(message)s",
        "log_fmt_logfile": "%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d]"
        " %(message)s",
        "metrics": {"enabled": False},
        "on_demand_ext_pillar": ["libvirt", "virtkey"],
        "optimization_order": [0, 1, 2],
        "thorium_interval": 0.5,
        "thorium_roots": {"base": ["/srv/thorium"]},
        "tracing": {"enabled": False},
        "winrepo_dir": "/srv/salt/win/repo",
        "winrepo_dir_ng": "/srv/salt/win/repo-ng",
        "winrepo_remotes": [f"{winrepo}.git"],
        "winrepo_remotes_ng": [f"{winrepo}-ng.git"],
    }
